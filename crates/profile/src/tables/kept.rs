//! A profile on disk, opened: what was opened stays readable whatever takes its place.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::error::TablesError;
use super::manifest::{FileCheck, Manifest};
use super::reader::Table;
use super::{
    EVENTS, FACTS, FactsFile, PARTNER_WAITS, Provenance, RELEASES, Rows, SAMPLES, STAYS, TRANSFERS, decode,
    encode,
};
use crate::{ByLocation, PartnerWaitRow, Profile, Row};

/// Rows that take no more are read at once.
const IN_MEMORY_BYTES: u64 = 1 << 20;
const CHANGED: &str = "its contents have changed";

/// How often another profile may take the place of the one that is being opened.
const ATTEMPTS: usize = 8;

/// A profile on disk.
///
/// All its files are opened at once and read when they are needed: a profile that is replaced meanwhile, and
/// whose folder is removed, can still be read from these descriptors, on any file system.
#[derive(Debug)]
pub struct Kept {
    folder: PathBuf,
    manifest: Manifest,
    files: BTreeMap<String, io::Result<File>>,
}

impl Kept {
    /// Opens the profile in the folder `dir`.
    ///
    /// # Errors
    /// [`TablesError`]; all but [`TablesError::Missing`] mean that the profile can be made again in its
    /// place. A file that cannot be opened is an error of its reader.
    pub fn open(dir: &Path) -> Result<Kept, TablesError> {
        let mut kept = Kept::of(dir, Manifest::read(dir)?);
        for _ in 0..ATTEMPTS {
            if kept.files.values().all(|file| !is_gone(file)) {
                break;
            }
            // The folder is removed after another has taken its place; a single file is missing for good.
            let manifest = Manifest::read(dir)?;
            if kept.manifest.folder == manifest.folder {
                break;
            }
            kept = Kept::of(dir, manifest);
        }
        Ok(kept)
    }

    fn of(dir: &Path, manifest: Manifest) -> Kept {
        let folder = dir.join(&manifest.folder);
        let open = |name: &String| (name.clone(), File::open(folder.join(name)));
        let files = manifest.files.keys().map(open).collect();
        Kept { folder, manifest, files }
    }

    /// What it was made from.
    pub fn provenance(&self) -> &Provenance {
        &self.manifest.provenance
    }

    /// The folder of its files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it has a file of this name.
    pub fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// The bytes of a file, which are those that were written.
    ///
    /// # Errors
    /// [`TablesError`] when there is no such file, it cannot be read, or it has changed.
    pub fn bytes(&self, name: &str) -> Result<Vec<u8>, TablesError> {
        let (file, expected) = self.opened(name)?;
        let mut bytes = vec![0; expected.bytes as usize];
        file.read_exact_at(&mut bytes, 0).map_err(|error| self.unread(name, &error))?;
        if FileCheck::of(&bytes) != *expected {
            return Err(self.damaged(name, CHANGED.into()));
        }
        Ok(bytes)
    }

    /// A file whose parts have checks of their own, as long as it was written.
    ///
    /// # Errors
    /// [`TablesError`] when there is no such file, it cannot be read, or it has another length.
    pub fn file(&self, name: &str) -> Result<File, TablesError> {
        let (file, _) = self.opened(name)?;
        file.try_clone().map_err(|error| self.unread(name, &error))
    }

    /// A file of the expected length.
    fn opened(&self, name: &str) -> Result<(&File, &FileCheck), TablesError> {
        let (Some(expected), Some(file)) = (self.manifest.files.get(name), self.files.get(name)) else {
            let what = format!("its manifest does not mention {name}");
            return Err(TablesError::Damaged { path: self.folder.clone(), what });
        };
        let file = file.as_ref().map_err(|error| self.unread(name, error))?;
        let length = file.metadata().map_err(|error| self.unread(name, &error))?.len();
        if length != expected.bytes {
            return Err(self.damaged(name, format!("{length} bytes instead of {}", expected.bytes)));
        }
        Ok((file, expected))
    }

    fn unread(&self, name: &str, source: &io::Error) -> TablesError {
        let source = io::Error::new(source.kind(), source.to_string());
        TablesError::Io { path: self.folder.join(name), action: "read", source }
    }

    fn damaged(&self, name: &str, what: String) -> TablesError {
        TablesError::Damaged { path: self.folder.join(name), what }
    }

    pub(super) fn table(&self, name: &str) -> Result<Table, TablesError> {
        Table::open(self.folder.join(name), self.bytes(name)?)
    }

    /// Rows, of which only as much is in memory as is being read if they are many.
    fn streams<R: Row>(&self, name: &str) -> Result<ByLocation<R>, TablesError> {
        let (file, expected) = self.opened(name)?;
        let bytes = if expected.bytes <= IN_MEMORY_BYTES {
            self.bytes(name)?.into()
        } else {
            let unread = |error| self.unread(name, &error);
            if FileCheck::of_file(file).map_err(unread)? != *expected {
                return Err(self.damaged(name, CHANGED.into()));
            }
            file.try_clone().map_err(unread)?.into()
        };
        ByLocation::read(bytes).map_err(|what| self.damaged(name, what))
    }

    /// Facts, quality, definitions and amounts: all of the profile but its rows.
    ///
    /// # Errors
    /// [`TablesError`] when they cannot be read, or contradict each other.
    pub fn profile_without_rows(&self) -> Result<Profile, TablesError> {
        let mut profile = self.unchecked_definitions()?;
        profile.values = decode::read_values(&self.table(encode::VALUES)?)?;
        profile.check().map_err(|source| self.broken(source))?;
        Ok(profile)
    }

    /// The same without the amounts, for questions that summary rows answer ([`Kept::summaries`]).
    ///
    /// # Errors
    /// As [`Kept::profile_without_rows`].
    pub fn definitions(&self) -> Result<Profile, TablesError> {
        let profile = self.unchecked_definitions()?;
        profile.check().map_err(|source| self.broken(source))?;
        Ok(profile)
    }

    fn unchecked_definitions(&self) -> Result<Profile, TablesError> {
        let path = self.folder.join(FACTS);
        let facts: FactsFile = serde_json::from_slice(&self.bytes(FACTS)?)
            .map_err(|source| TablesError::Json { path, source })?;
        let mut profile = Profile { facts: facts.facts, quality: facts.quality, ..Profile::default() };
        decode::read_definitions(&mut profile, |name| self.table(name))?;
        Ok(profile)
    }

    /// The rows of the profile, of which `profile` is the rest.
    ///
    /// # Errors
    /// [`TablesError`] when they cannot be read, or contradict the rest.
    pub fn rows(&self, profile: &Profile) -> Result<Rows, TablesError> {
        let rows = Rows {
            samples: self.streams(SAMPLES)?,
            events: self.streams(EVENTS)?,
            releases: self.streams(RELEASES)?,
            stays: self.streams(STAYS)?,
            executions: decode::read_executions(&self.table(encode::EXECUTIONS)?)?,
            partner_waits: self.streams::<PartnerWaitRow>(PARTNER_WAITS)?.iter().collect(),
            transfers: self.streams(TRANSFERS)?,
        };
        rows.check(profile).map_err(|source| self.broken(source))?;
        Ok(rows)
    }

    fn broken(&self, source: crate::BrokenInvariant) -> TablesError {
        TablesError::Broken { path: self.folder.clone(), source }
    }
}

fn is_gone(file: &io::Result<File>) -> bool {
    file.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}
