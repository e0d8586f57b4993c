//! Runs of a sweep, read from their folders.

use std::path::PathBuf;

use super::swept::Swept;
use crate::findings;
use crate::store::{self, StoreError, read_side_by_side};

/// Where a run is.
#[derive(Clone, Debug)]
pub struct Source {
    /// Threads of all its ranks.
    pub count: u32,
    /// How it is named.
    pub name: String,
    /// Its folder.
    pub dir: PathBuf,
}

/// Reads them, in their order. A run that was not analysed yet is.
pub fn read(sources: &[Source]) -> Vec<Result<Swept, StoreError>> {
    read_side_by_side(sources, one)
}

fn one(source: &Source) -> Result<Swept, StoreError> {
    let mut profile = store::open_without_samples(&source.dir, &mut |_| ())?;
    if let Some(ledger) = store::ledger_with_rows(&source.dir, &profile) {
        return Ok(Swept::new(source.count, &source.name, &profile, &ledger));
    }
    // It could not be kept, or is damaged: then it is drawn up again.
    if profile.samples.is_empty() && profile.events.is_empty() {
        profile = store::open(&source.dir, &mut |_| ())?;
    }
    let (ledger, _) = findings::findings(&profile, None)?;
    Ok(Swept::new(source.count, &source.name, &profile, &ledger))
}
