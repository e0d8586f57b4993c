//! From the logs to all that is kept of a run.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use proust_account::classes::Classes;
use proust_account::ledger::LedgerError;
use proust_account::stored::StoredTimelines;
use proust_findings::Whole;
use proust_ingest::{CallPaths, Counter, IngestError, Making, Progress, Stage, Symbols, ingest};
use proust_profile::tables::{self, Building, Provenance, TablesError};
use proust_profile::{Profile, Spool};
use proust_query::summarised_if_fewer;

use super::freshness;
use super::kept_timelines;
use super::memory;
use super::rules::WaitRules;
use super::whole;

/// How often progress is reported.
const INTERVAL: Duration = Duration::from_millis(50);

/// An analysis in memory, with all its rows.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) profile: Profile,
    /// What follows from it; an error where its processes contradict each other.
    pub(super) whole: Result<Whole, LedgerError>,
    pub(super) timelines: StoredTimelines,
}

/// What an analysis is made from.
#[derive(Clone, Copy)]
pub(super) struct Input<'r> {
    pub(super) dir: &'r Path,
    pub(super) paths: CallPaths,
    pub(super) symbols: &'r dyn Symbols,
    pub(super) rules: &'r WaitRules,
}

impl Input<'_> {
    /// Analyses the run and keeps the result; second, why that was not possible, if so.
    pub(super) fn analyse(
        self,
        provenance: &Provenance,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Made, Option<TablesError>), IngestError> {
        with_progress(progress, |counter| {
            let spool = Spool::new(self.dir, memory::for_rows());
            let making = Making { paths: self.paths, symbols: self.symbols, spool: &spool };
            let mut profile = ingest(self.dir, making, counter)?;
            profile.facts.wait_rules.clone_from(&self.rules.text);
            mark_services(&mut profile);
            counter.begin(Stage::Keeping, 0);
            let folder = freshness::folder(self.dir, self.paths);
            let made = Made::of(profile, &folder, provenance, &spool);
            if spool.is_damaged() { Err(IngestError::Spool { dir: self.dir.into() }) } else { Ok(made) }
        })
    }
}

impl Made {
    /// Finds what follows from a profile with its rows, and keeps all of it in `folder`; second, why that was
    /// not possible, if so.
    fn of(
        profile: Profile,
        folder: &Path,
        provenance: &Provenance,
        spool: &Spool,
    ) -> (Made, Option<TablesError>) {
        match Made::kept(&profile, folder, provenance, spool) {
            Ok((whole, timelines)) => (Made { profile, whole, timelines }, None),
            // Everything still follows from what is in memory.
            Err(error) => {
                let timelines = StoredTimelines::of(&profile);
                let whole = Whole::of_timelines(&profile, &timelines, None);
                (Made { profile, whole, timelines }, Some(error))
            }
        }
    }

    /// Timelines are written first, and all else is made from them as they were written: they are never in
    /// memory as a whole.
    fn kept(
        profile: &Profile,
        folder: &Path,
        provenance: &Provenance,
        spool: &Spool,
    ) -> Result<(Result<Whole, LedgerError>, StoredTimelines), TablesError> {
        let mut building = Building::begin(folder)?;
        let timelines = kept_timelines::add(&mut building, profile)?;
        let whole = Whole::of_timelines(profile, &timelines, None);
        if timelines.is_damaged() {
            return Err(kept_timelines::damaged_while_made(&building));
        }
        tables::add(&mut building, profile)?;
        if let Ok(whole) = &whole {
            whole::add(&mut building, whole)?;
            if let Some(summaries) = summarised_if_fewer(profile, &whole.ledger) {
                building.add_summaries(&summaries)?;
            }
        }
        if spool.is_damaged() {
            return Err(TablesError::Damaged { path: folder.into(), what: "rows were lost".into() });
        }
        building.publish(provenance)?;
        Ok((whole, timelines))
    }
}

/// Makes `profile` the analysis of the run in `dir`, with what follows from it: for profiles that come from
/// no log.
///
/// # Errors
/// [`TablesError`] when the storage refuses, or the profile contradicts itself.
pub fn keep(dir: &Path, profile: &Profile, provenance: &Provenance) -> Result<(), TablesError> {
    let folder = freshness::folder(dir, CallPaths::User);
    Made::kept(profile, &folder, provenance, &Spool::default()).map(|_| ())
}

/// Does `work` on another thread and reports it to `progress` from this one.
fn with_progress<T: Send>(progress: &mut dyn FnMut(Progress), work: impl FnOnce(&Counter) -> T + Send) -> T {
    let counter = Counter::default();
    thread::scope(|scope| {
        // Dropped when the work ends, even by a panic.
        let (working, done) = mpsc::channel::<()>();
        let counter = &counter;
        let worker = scope.spawn(move || {
            let _working = working;
            work(counter)
        });
        while done.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
            progress(counter.now());
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Marks the threads that runtimes have for themselves, by the rules that the profile keeps.
fn mark_services(profile: &mut Profile) {
    let services = Classes::of_profile(profile).services(profile);
    for (location, service) in profile.locations.iter_mut().zip(services) {
        location.service = service;
    }
}
