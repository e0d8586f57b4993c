//! A file appears whole or not at all: it is written beside, synchronised, and renamed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file under its provisional name, `NAME.part`. Dropped before it is published, it is removed; if the
/// process is killed, it stays, and the next writer of the same file overwrites it.
pub(crate) struct Publication {
    path: PathBuf,
    part: PathBuf,
    file: File,
    published: bool,
}

impl Publication {
    /// Fails with [`io::ErrorKind::WouldBlock`] while another process writes the same file.
    pub fn begin(path: &Path) -> io::Result<Publication> {
        let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        name.push(".part");
        let part = path.with_file_name(name);
        loop {
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&part)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // Between opening and locking another writer may have published this very file.
            if has_name(&file, &part)? {
                file.set_len(0)?;
                return Ok(Publication { path: path.to_owned(), part, file, published: false });
            }
        }
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name. It is on disk before that: a name never leads to half a file.
    pub fn publish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.part, &self.path)?;
        self.published = true;
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        File::open(folder)?.sync_all()
    }
}

impl Drop for Publication {
    fn drop(&mut self) {
        if !self.published {
            // What is left over is overwritten by the next writer.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

/// Whether an open file is still the one with this name.
pub(crate) fn has_name(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match path.metadata() {
        Ok(named) => Ok((named.dev(), named.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
