//! The manifest of a profile: the one file that says which folder holds it, and what each file there must be.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::digest::{digest, digest_of};
use super::error::TablesError;
use super::{Provenance, SCHEMA};

/// Name of the manifest in the profile's folder.
pub const MANIFEST: &str = "manifest.json";

/// Length and digest of a file as it was written. A file whose parts have checks of their own has no digest:
/// it is read in parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileCheck {
    pub(super) bytes: u64,
    /// Hexadecimal, because JSON numbers hold only 53 bits everywhere.
    digest: Option<String>,
}

impl FileCheck {
    pub(super) fn of(bytes: &[u8]) -> FileCheck {
        FileCheck { bytes: bytes.len() as u64, digest: Some(format!("{:016x}", digest(bytes))) }
    }

    /// That of a file as it is now.
    pub(super) fn of_file(mut file: &File) -> io::Result<FileCheck> {
        let bytes = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(0))?;
        let digest = digest_of(file, bytes)?;
        Ok(FileCheck { bytes, digest: Some(format!("{digest:016x}")) })
    }

    /// That of a file of so many bytes whose parts have checks.
    pub(super) fn of_parts(bytes: u64) -> FileCheck {
        FileCheck { bytes, digest: None }
    }
}

/// Contents of [`MANIFEST`].
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) schema: u32,
    /// The folder beside it that holds the files.
    pub(super) folder: String,
    pub(super) provenance: Provenance,
    pub(super) files: BTreeMap<String, FileCheck>,
}

/// The field that decides whether the rest can be read.
#[derive(Deserialize)]
struct Head {
    schema: u32,
}

impl Manifest {
    /// The manifest of the profile in `dir`.
    pub(super) fn read(dir: &Path) -> Result<Manifest, TablesError> {
        let path = dir.join(MANIFEST);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(without_manifest(dir)),
            Err(source) => return Err(TablesError::Io { path, action: "read", source }),
        };
        let json = |source| TablesError::Json { path: path.clone(), source };
        let head: Head = serde_json::from_slice(&text).map_err(json)?;
        if head.schema != SCHEMA {
            return Err(TablesError::OtherSchema { path, found: head.schema });
        }
        serde_json::from_slice(&text).map_err(json)
    }
}

/// A profile without a manifest is none, or one of a schema that had none.
fn without_manifest(dir: &Path) -> TablesError {
    let path = dir.join(super::FACTS);
    let head = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Head>(&text).ok());
    match head {
        Some(Head { schema }) => TablesError::OtherSchema { path, found: schema },
        None => TablesError::Missing { path: dir.into() },
    }
}
