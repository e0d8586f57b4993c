//! Runs of a sweep, read from their folders on all processors.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::swept::Swept;
use crate::findings;
use crate::store::{self, StoreError};

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
///
/// Not on rayon's threads: an analysis hands its work to these and waits for it, and if all of them waited so there would be
/// none left to do it.
pub fn read(sources: &[Source]) -> Vec<Result<Swept, StoreError>> {
    let readers = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let mut found: Vec<Option<Result<Swept, StoreError>>> = sources.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let read_some = || {
            let mut read = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(source) = sources.get(at) else { return read };
                read.push((at, one(source)));
            }
        };
        let readers: Vec<_> = (0..readers.min(sources.len())).map(|_| scope.spawn(read_some)).collect();
        for reader in readers {
            let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            for (at, run) in read {
                found[at] = Some(run);
            }
        }
    });
    found.into_iter().flatten().collect()
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
    let ledger = findings::findings(&profile, None).map(|(ledger, _)| ledger).unwrap_or_default();
    Ok(Swept::new(source.count, &source.name, &profile, &ledger))
}
