//! All of a profile on disk, as Parquet tables.
//!
//! ```text
//! profile/contexts.parquet, functions.parquet, modules.parquet, processes.parquet, locations.parquet,
//!         operations.parquet, values.parquet, samples.parquet, events.parquet, releases.parquet,
//!         regions.parquet, segments.parquet, stays.parquet, process_samples.parquet
//!                                              one row per item; ids are row numbers
//! profile/facts.json                           the run's facts, its quality, and what it was made from
//! profile/…                                    what a later stage keeps beside it ([`write_with`])
//! profile/check.json                           length and digest of each of these files
//! ```
//!
//! Any Parquet reader can open the tables. They are written into a temporary folder that is then renamed, so
//! that a reader sees a whole profile or none.
//!
//! Nothing read is trusted: each file's digest is verified before it is parsed (the Parquet library may panic
//! on damaged input), and every invariant of [`Profile`] after. Samples, events, releases and stays, by far
//! the largest tables, can be left out ([`read_without_samples`]) and read later ([`read_samples`],
//! [`read_events`], [`read_releases`]).

mod columns;
mod decode;
mod digest;
mod encode;
mod error;
mod folder;
mod reader;

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use digest::digest;
pub use error::TablesError;

use crate::{EventRow, Profile, Quality, ReleaseRow, RunFacts, SampleRow, StayRow};
use folder::{CheckFile, Replacement};

/// Name of the profile's folder in a run's folder.
pub const PROFILE_FOLDER: &str = "profile";
/// Version of the tables; a profile of another version is made again from the logs.
pub const SCHEMA: u32 = 6;

/// A file that a profile was made from, as it was then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Path inside the run's folder.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// [`digest()`] of the parts that change whenever the file is written to. Not a time: copies of a run
    /// have other times, and a log that is written through a mapping may keep its own.
    pub digest: u64,
}

/// What a profile was made from, to see whether it still fits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of the analysis that made it.
    pub analysis: u32,
    /// Digest of the rules by which waits were classified.
    #[serde(default)]
    pub rules: u64,
    /// The files it was made from, by name.
    pub sources: Vec<SourceFile>,
}

/// Contents of `facts.json`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct FactsFile {
    schema: u32,
    provenance: Provenance,
    facts: RunFacts,
    quality: Quality,
}

/// The fields that decide whether the rest of `facts.json` can be read.
#[derive(Deserialize)]
struct FactsHead {
    schema: u32,
}

/// Writes `profile` to the folder `dir`, replacing what is there.
///
/// # Errors
/// [`TablesError::Io`] when the storage refuses, [`TablesError::Broken`] when the profile contradicts itself.
pub fn write(dir: &Path, profile: &Profile, provenance: &Provenance) -> Result<(), TablesError> {
    write_with(dir, profile, provenance, &[])
}

/// As [`write()`], with more files, by name: results that follow from the profile and take long to compute.
///
/// # Errors
/// As [`write()`].
pub fn write_with(
    dir: &Path,
    profile: &Profile,
    provenance: &Provenance,
    more: &[(&str, Vec<u8>)],
) -> Result<(), TablesError> {
    profile.check().map_err(|source| TablesError::Broken { path: dir.into(), source })?;
    let replacement = Replacement::begin(dir)?;
    let facts = FactsFile {
        schema: SCHEMA,
        provenance: provenance.clone(),
        facts: profile.facts.clone(),
        quality: profile.quality.clone(),
    };
    let json = |source| TablesError::Json { path: dir.join(folder::FACTS), source };
    let text = serde_json::to_vec_pretty(&facts).map_err(json)?;
    // A number that is not finite is written as null and could never be read again.
    serde_json::from_slice::<FactsFile>(&text).map_err(json)?;
    replacement.add(folder::FACTS, &text)?;
    encode::write_all(profile, |name, columns| {
        let bytes = columns::to_parquet(columns)
            .map_err(|source| TablesError::Parquet { path: dir.join(name), source })?;
        replacement.add(name, &bytes)
    })?;
    for (name, bytes) in more {
        replacement.add(name, bytes)?;
    }
    replacement.finish()
}

/// Reads a file that was written beside the profile ([`write_with`]).
///
/// # Errors
/// As [`read`].
pub fn read_more(dir: &Path, name: &str) -> Result<Vec<u8>, TablesError> {
    CheckFile::read(dir)?.verified(dir, name)
}

/// Reads the whole profile in the folder `dir`.
///
/// # Errors
/// [`TablesError`]; all but [`TablesError::Missing`] mean that the profile can be removed and made again.
pub fn read(dir: &Path) -> Result<Profile, TablesError> {
    let mut profile = read_without_samples(dir)?;
    profile.samples = read_samples(dir, &profile)?;
    profile.events = read_events(dir, &profile)?;
    profile.releases = read_releases(dir, &profile)?;
    profile.stays = read_stays(dir, &profile)?;
    Ok(profile)
}

/// Reads all but the samples, events, releases and stays of the profile in the folder `dir`.
///
/// # Errors
/// As [`read`].
pub fn read_without_samples(dir: &Path) -> Result<Profile, TablesError> {
    let check = CheckFile::read(dir)?;
    let facts: FactsFile = read_facts(dir, &check)?;
    let mut profile = Profile { facts: facts.facts, quality: facts.quality, ..Profile::default() };
    decode::read_all_but_rows(&mut profile, |name| check.table(dir, name))?;
    profile.check().map_err(|source| TablesError::Broken { path: dir.into(), source })?;
    Ok(profile)
}

/// Reads the samples of the profile in the folder `dir`, of which `profile` is the rest.
///
/// # Errors
/// As [`read`].
pub fn read_samples(dir: &Path, profile: &Profile) -> Result<Vec<SampleRow>, TablesError> {
    let check = CheckFile::read(dir)?;
    let samples = decode::read_samples(&check.table(dir, encode::SAMPLES)?)?;
    crate::invariants::check_samples(&samples, profile)
        .map_err(|source| TablesError::Broken { path: dir.into(), source })?;
    Ok(samples)
}

/// Reads the events of the profile in the folder `dir`, of which `profile` is the rest.
///
/// # Errors
/// As [`read`].
pub fn read_events(dir: &Path, profile: &Profile) -> Result<Vec<EventRow>, TablesError> {
    let check = CheckFile::read(dir)?;
    let events = decode::read_events(&check.table(dir, encode::EVENTS)?)?;
    crate::invariants::check_events(&events, profile)
        .map_err(|source| TablesError::Broken { path: dir.into(), source })?;
    Ok(events)
}

/// Reads the releases of the profile in the folder `dir`, of which `profile` is the rest.
///
/// # Errors
/// As [`read`].
pub fn read_releases(dir: &Path, profile: &Profile) -> Result<Vec<ReleaseRow>, TablesError> {
    let check = CheckFile::read(dir)?;
    let releases = decode::read_releases(&check.table(dir, encode::RELEASES)?)?;
    crate::invariants::check_releases(&releases, profile)
        .map_err(|source| TablesError::Broken { path: dir.into(), source })?;
    Ok(releases)
}

/// Reads the stays of the profile in the folder `dir`, of which `profile` is the rest.
///
/// # Errors
/// As [`read`].
pub fn read_stays(dir: &Path, profile: &Profile) -> Result<Vec<StayRow>, TablesError> {
    let check = CheckFile::read(dir)?;
    let stays = decode::read_stays(&check.table(dir, encode::STAYS)?)?;
    crate::invariants::check_stays(&stays, profile)
        .map_err(|source| TablesError::Broken { path: dir.into(), source })?;
    Ok(stays)
}

/// Reads what the profile in the folder `dir` was made from; much faster than reading the profile.
///
/// # Errors
/// As [`read`].
pub fn read_provenance(dir: &Path) -> Result<Provenance, TablesError> {
    let check = CheckFile::read(dir)?;
    Ok(read_facts(dir, &check)?.provenance)
}

/// Removes the profile in the folder `dir`, if there is one.
///
/// # Errors
/// [`TablesError::Io`] when the storage refuses.
pub fn remove(dir: &Path) -> Result<(), TablesError> {
    match fs::remove_dir_all(dir) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(TablesError::Io { path: dir.into(), action: "removed", source })
        }
        _ => Ok(()),
    }
}

fn read_facts(dir: &Path, check: &CheckFile) -> Result<FactsFile, TablesError> {
    let path = dir.join(folder::FACTS);
    let text = check.verified(dir, folder::FACTS)?;
    let json = |source| TablesError::Json { path: path.clone(), source };
    let head: FactsHead = serde_json::from_slice(&text).map_err(json)?;
    if head.schema != SCHEMA {
        return Err(TablesError::OtherSchema { path, found: head.schema });
    }
    serde_json::from_slice(&text).map_err(json)
}
