//! Runs of a sweep, read from their folders.

use std::path::PathBuf;

use super::swept::Swept;
use proust_store::{self, StoreError, View, read_side_by_side};

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
    let mut profile = proust_store::open_without_samples(&source.dir, &mut |_| ())?;
    let (ledger, _) = View::of_user(&source.dir).accounted(&mut profile)?;
    Ok(Swept::new(source.count, &source.name, &profile, &ledger))
}
