//! The timelines of states of a run, as files beside the profile's tables: streams, and their levels.

use std::fs::File;
use std::io::{self, BufWriter};

use proust_account::ledger::Run;
use proust_account::stored::{self, StoredTimelines};
use proust_profile::tables::{Building, Kept, TablesError};

const STATES: &str = "states.streams";
const LEVELS: &str = "states.levels";

/// Adds them to an analysis that is being built. Answers them as they can be read from there, whatever becomes
/// of the analysis.
pub(super) fn add(building: &mut Building, run: &Run) -> Result<Option<StoredTimelines>, TablesError> {
    let states =
        building.add_file(STATES, |file| stored::write(run, BufWriter::with_capacity(1 << 18, file)))?;
    let levels = building.add_file(LEVELS, |levels| stored::write_levels(states.try_clone()?, levels))?;
    Ok(StoredTimelines::open(states, Some(levels)).ok())
}

/// Those of an analysis that was kept. Levels that cannot be opened are done without: they hold nothing that
/// the streams do not.
pub(super) fn open(kept: &Kept) -> Result<StoredTimelines, TablesError> {
    let levels: Option<File> = kept.file(LEVELS).ok();
    let io = |source: io::Error| TablesError::Io { path: kept.folder().join(STATES), action: "read", source };
    let timelines = StoredTimelines::open(kept.file(STATES)?, levels).map_err(io)?;
    if timelines.is_damaged() { Err(damage(kept)) } else { Ok(timelines) }
}

/// Damage that was noticed while they were read.
pub(super) fn damage(kept: &Kept) -> TablesError {
    let path = kept.folder().join(STATES);
    TablesError::Damaged { path, what: "a part of it has changed".into() }
}
