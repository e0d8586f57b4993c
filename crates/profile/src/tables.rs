//! All of a profile on disk: Parquet tables, and streams of what has a time and a location.
//!
//! ```text
//! profile/manifest.json     schema, what the profile was made from, its folder, length and digest of files
//! profile/analysis-…/       one profile; it never changes
//!   contexts.parquet, functions.parquet, modules.parquet, processes.parquet, locations.parquet,
//!   operations.parquet, values.parquet, inside.parquet,
//!   regions.parquet, segments.parquet, intervals.parquet,
//!   interval_contexts.parquet, executions.parquet, execution_sums.parquet, process_samples.parquet,
//!   communicators.parquet,
//!   traffic.parquet, gatherings.parquet, exchanges.parquet, unmatched.parquet
//!                           one row per item; ids are row numbers
//!   samples.streams         the samples ([`Samples`](crate::Samples))
//!   events.streams          the operations ([`Events`](crate::Events))
//!   releases.streams        the releases ([`Releases`](crate::Releases))
//!   stays.streams           the stays in parallel regions ([`Stays`](crate::Stays))
//!   transfers.streams       what calls sent and received ([`Transfers`](crate::Transfers))
//!   partner_waits.streams   the waits for partners ([`PartnerWaits`](crate::PartnerWaits))
//!   facts.json              the run's facts and its quality
//!   summaries.parquet, summaries.json
//!                           of a run of many locations: what their amounts are together
//!   …                       what a later stage keeps beside it ([`Building::add`],
//!                           [`Building::add_numbers`])
//! ```
//!
//! Any Parquet reader can open the tables. A profile is built in a folder of its own ([`Building`]) and takes
//! its place by the rename of one file, the manifest, so that a reader ([`Kept`]) sees a whole profile or
//! none, and keeps the one that it opened.
//!
//! Nothing read is trusted: each file's digest is verified before it is parsed (the Parquet library may panic
//! on damaged input), and every invariant of [`Profile`] after. Samples, events, releases, stays, executions,
//! waits for partners and transfers, by far the largest tables, are read apart ([`Kept::rows`]).

mod building;
mod columns;
mod decode;
mod digest;
mod encode;
mod error;
mod kept;
mod manifest;
mod numbers;
mod reader;
mod rows;
mod summaries;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use building::Building;
pub use digest::digest;
pub use error::TablesError;
pub use kept::Kept;
pub use manifest::MANIFEST;
pub use numbers::{NumberTable, Numbers, PART_ROWS, Part};
pub use rows::Rows;

use crate::messages::record::encoded;
use crate::{Profile, Quality, RunFacts};

/// Name of the profile's folder in a run's folder.
pub const PROFILE_FOLDER: &str = "profile";
/// Version of the tables; a profile of another version is made again from the logs.
pub const SCHEMA: u32 = 30;
/// File of the run's facts.
const FACTS: &str = "facts.json";
const SAMPLES: &str = "samples.streams";
const EVENTS: &str = "events.streams";
const RELEASES: &str = "releases.streams";
const STAYS: &str = "stays.streams";
const TRANSFERS: &str = "transfers.streams";
const PARTNER_WAITS: &str = "partner_waits.streams";

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
    facts: RunFacts,
    quality: Quality,
}

/// Writes `profile` to the folder `dir`, replacing what is there.
///
/// # Errors
/// [`TablesError::Io`] when the storage refuses, [`TablesError::Broken`] when the profile contradicts itself.
pub fn write(dir: &Path, profile: &Profile, provenance: &Provenance) -> Result<(), TablesError> {
    let mut building = Building::begin(dir)?;
    add(&mut building, profile)?;
    building.publish(provenance)
}

/// Adds all files of `profile` to one that is being built.
///
/// # Errors
/// As [`write()`].
pub fn add(building: &mut Building, profile: &Profile) -> Result<(), TablesError> {
    let broken = |source| TablesError::Broken { path: building.path(""), source };
    profile.check().map_err(broken)?;
    let facts = FactsFile { facts: profile.facts.clone(), quality: profile.quality.clone() };
    let json = |source| TablesError::Json { path: building.path(FACTS), source };
    let text = serde_json::to_vec_pretty(&facts).map_err(json)?;
    // A number that is not finite is written as null and could never be read again.
    serde_json::from_slice::<FactsFile>(&text).map_err(json)?;
    building.add(FACTS, &text)?;
    building.add_written(SAMPLES, |to| profile.samples.write_to(to))?;
    building.add_written(EVENTS, |to| profile.events.write_to(to))?;
    building.add_written(RELEASES, |to| profile.releases.write_to(to))?;
    building.add_written(STAYS, |to| profile.stays.write_to(to))?;
    building.add_written(TRANSFERS, |to| profile.transfers.write_to(to))?;
    building.add_written(PARTNER_WAITS, |to| encoded(&profile.partner_waits).write_to(to))?;
    encode::write_all(profile, |name, columns| {
        let bytes = columns::to_parquet(columns)
            .map_err(|source| TablesError::Parquet { path: building.path(name), source })?;
        building.add(name, &bytes)
    })
}

/// Reads the whole profile in the folder `dir`.
///
/// # Errors
/// [`TablesError`]; all but [`TablesError::Missing`] mean that the profile can be removed and made again.
pub fn read(dir: &Path) -> Result<Profile, TablesError> {
    let kept = Kept::open(dir)?;
    let mut profile = kept.profile_without_rows()?;
    kept.rows(&profile)?.give_to(&mut profile);
    Ok(profile)
}
