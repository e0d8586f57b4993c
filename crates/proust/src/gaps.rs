//! The gaps in a run's data, for the reader of a page that has no room for them.

use proust_compare::scaling::Swept;
use proust_profile::Quality;
use proust_profile::notes::Gap;
use proust_report::{GapsOfRun, SweepNote, gaps_text};

/// Notes on standard error that the data of this run are incomplete, if they are.
pub fn note(run: &str, quality: &Quality) {
    let gaps = Gap::all_of(quality);
    if !gaps.is_empty() {
        message!("note: {}", gaps_text(run, &gaps));
    }
}

/// The same of the runs of a sweep; None where nothing is missing.
pub fn of_sweep(runs: &[Swept], sweep: Option<&str>) -> Option<SweepNote> {
    const SHOWN: usize = 3;
    let of_run = |run: &Swept| GapsOfRun { run: run.name.clone(), gaps: Gap::all_of(&run.quality) };
    let mut first: Vec<GapsOfRun> = runs.iter().map(of_run).filter(|run| !run.gaps.is_empty()).collect();
    let runs = first.len();
    first.truncate(SHOWN);
    (runs > 0).then(|| SweepNote::IncompleteRuns { sweep: sweep.map(str::to_owned), runs, first })
}
