//! The timelines of states of a run, as files beside the profile's tables: streams, and their levels.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

use proust_account::stored::{self, StoredTimelines};
use proust_profile::Profile;
use proust_profile::tables::{Building, Kept, TablesError};

use super::memory;

const STATES: &str = "states.streams";
const LEVELS: &str = "states.levels";

/// Makes those of a profile with its rows, and adds them to an analysis that is being built. Answers them as
/// they can be read from there, whatever becomes of the analysis.
pub(super) fn add(building: &mut Building, profile: &Profile) -> Result<StoredTimelines, TablesError> {
    let states = building.add_file(STATES, |file| {
        stored::write(profile, memory::for_locations(), BufWriter::with_capacity(1 << 18, file))
    })?;
    let levels = building.add_file(LEVELS, |levels| stored::write_levels(states.try_clone()?, levels))?;
    let io = |source: io::Error| TablesError::Io { path: building.path(STATES), action: "read", source };
    StoredTimelines::open(states, Some(levels)).map_err(io)
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
    damaged(kept.folder().join(STATES))
}

/// The same, of an analysis that is being built.
pub(super) fn damaged_while_made(building: &Building) -> TablesError {
    damaged(building.path(STATES))
}

fn damaged(path: PathBuf) -> TablesError {
    TablesError::Damaged { path, what: "a part of it has changed".into() }
}
