//! Small files of JSON that a reader sees old or new, never in part.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use serde::Serialize;

/// For the owner alone, whatever the mask of permissions: the recording shows what a user's programs do.
const MODE: u32 = 0o600;

/// Writes `value` to the file `path` by way of a temporary one beside it.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = write_to(&temporary, value).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // Nothing can be done about a leftover that cannot be removed either.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_to(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(MODE).open(path)?;
    file.set_permissions(fs::Permissions::from_mode(MODE))?;
    file.write_all(&text)?;
    // Without it a crash of the machine right after the rename could leave an empty file.
    file.sync_all()
}
