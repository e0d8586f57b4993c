//! What an analysis is made from, and whether one that was kept still fits.

use std::path::{Path, PathBuf};

use proust_ingest::{ANALYSIS_VERSION, CallPaths, IngestError, sources};
use proust_profile::tables::{Kept, MANIFEST, PROFILE_FOLDER, Provenance, TablesError};

use super::note::Outdated;
use super::rules::WaitRules;

/// Where the analysis of a run with these call paths is kept: each has a profile of its own.
pub(super) fn folder(dir: &Path, paths: CallPaths) -> PathBuf {
    let more = match paths {
        CallPaths::User => "",
        CallPaths::Expert => "-expert",
        CallPaths::Machine => "-machine",
    };
    dir.join(format!("{PROFILE_FOLDER}{more}"))
}

/// Whether anything is kept of an analysis of this run, fitting or not: a look that costs nothing.
pub fn is_kept(dir: &Path) -> bool {
    folder(dir, CallPaths::User).join(MANIFEST).exists()
}

/// What an analysis of this run is made from, by these rules. With a thousand logs it takes a while: the
/// head of each chunk of each log is read.
pub(super) fn provenance(dir: &Path, rules: &WaitRules) -> Result<Provenance, IngestError> {
    Ok(Provenance { analysis: ANALYSIS_VERSION, rules: rules.digest, sources: sources(dir)? })
}

/// What was found where the analysis is kept.
#[derive(Debug)]
pub(super) enum Found {
    /// One that fits.
    Fitting(Kept),
    /// None.
    Nothing,
    /// One that does not fit, or cannot be read.
    Outdated(Outdated),
    /// The same of a run that has no logs to make another one from.
    Lost(TablesError),
}

/// Looks for an analysis that fits. A run whose logs were removed to save room still has the one that was
/// made of them.
pub(super) fn find(folder: &Path, expected: &Provenance) -> Found {
    let is_last = expected.sources.is_empty();
    match Kept::open(folder) {
        Ok(kept) if is_last => Found::Fitting(kept),
        Ok(kept) => match difference(kept.provenance(), expected) {
            None => Found::Fitting(kept),
            Some(outdated) => Found::Outdated(outdated),
        },
        Err(TablesError::Missing { .. }) => Found::Nothing,
        Err(error) if is_last => Found::Lost(error),
        Err(TablesError::OtherSchema { .. }) => Found::Outdated(Outdated::Version),
        Err(error) => Found::Outdated(Outdated::Damaged { damage: error.to_string() }),
    }
}

fn difference(kept: &Provenance, expected: &Provenance) -> Option<Outdated> {
    if kept.analysis != expected.analysis {
        Some(Outdated::Version)
    } else if kept.sources != expected.sources {
        Some(Outdated::Logs)
    } else if kept.rules != expected.rules {
        Some(Outdated::Rules)
    } else {
        None
    }
}
