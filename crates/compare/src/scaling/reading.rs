//! Runs of a sweep, read from their folders.

use std::path::PathBuf;

use super::swept::Swept;
use proust_store::{Run, StoreError, is_kept, read_side_by_side};

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

/// Reads those that were analysed before, in their order. `analyse` opens the others, one after the other.
pub fn read(
    sources: &[Source],
    analyse: impl Fn(&Source) -> Result<Run, StoreError>,
) -> Vec<Result<Swept, StoreError>> {
    let first: Vec<Option<Result<Swept, StoreError>>> = sources
        .iter()
        .map(|source| (!is_kept(&source.dir)).then(|| analyse(source).and_then(|run| swept(source, &run))))
        .collect();
    let rest: Vec<&Source> =
        sources.iter().zip(&first).filter(|(_, first)| first.is_none()).map(|(source, _)| source).collect();
    let mut rest = read_side_by_side(&rest, |source| swept(source, &Run::open(&source.dir)?)).into_iter();
    first.into_iter().filter_map(|first| first.or_else(|| rest.next())).collect()
}

/// Reads runs that nobody gave a count, in their order: the count of each is 0 until it is
/// [entered](super::gathered()).
pub fn read_without_counts(
    dirs: &[PathBuf],
    analyse: impl Fn(&Source) -> Result<Run, StoreError>,
) -> Vec<Result<Swept, StoreError>> {
    let source =
        |dir: &PathBuf| Source { count: 0, name: dir.to_string_lossy().into_owned(), dir: dir.clone() };
    read(&dirs.iter().map(source).collect::<Vec<_>>(), analyse)
}

fn swept(source: &Source, run: &Run) -> Result<Swept, StoreError> {
    Ok(Swept::new(source.count, &source.name, run.profile()?, run.ledger_with_rows()?))
}
