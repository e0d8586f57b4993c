//! From the logs to all that is kept of a run.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use proust_account::classes::Classes;
use proust_account::ledger::{LedgerError, Run as Timelines};
use proust_account::stored::StoredTimelines;
use proust_account::timelines::timelines;
use proust_findings::Whole;
use proust_ingest::{CallPaths, Counter, IngestError, Progress, Stage, Symbols, ingest};
use proust_profile::Profile;
use proust_profile::tables::{self, Building, Provenance, TablesError};

use super::freshness;
use super::kept_timelines;
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
    /// Its timelines, as they were kept.
    timelines: OnceCell<StoredTimelines>,
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
            let mut profile = ingest(self.dir, self.paths, self.symbols, counter)?;
            profile.facts.wait_rules.clone_from(&self.rules.text);
            mark_services(&mut profile);
            counter.begin(Stage::Keeping, 0);
            let run = timelines(&profile);
            let whole = Whole::of_run(&profile, &run, None);
            let made = Made { profile, whole, timelines: OnceCell::new() };
            let folder = freshness::folder(self.dir, self.paths);
            let not_kept = made.keep(&run, &folder, provenance).err();
            Ok((made, not_kept))
        })
    }
}

impl Made {
    /// `run` has the timelines of its profile.
    fn keep(&self, run: &Timelines, folder: &Path, provenance: &Provenance) -> Result<(), TablesError> {
        let mut building = Building::begin(folder)?;
        tables::add(&mut building, &self.profile)?;
        let timelines = kept_timelines::add(&mut building, run)?;
        if let Ok(whole) = &self.whole {
            whole::add(&mut building, whole)?;
        }
        building.publish(provenance)?;
        if let Some(timelines) = timelines {
            self.timelines.get_or_init(|| timelines);
        }
        Ok(())
    }

    /// Its timelines of states.
    pub(super) fn timelines(&self) -> &StoredTimelines {
        self.timelines.get_or_init(|| StoredTimelines::of(&timelines(&self.profile)))
    }
}

/// Makes `profile` the analysis of the run in `dir`, with what follows from it: for profiles that come from
/// no log.
///
/// # Errors
/// [`TablesError`] when the storage refuses, or the profile contradicts itself.
pub fn keep(dir: &Path, profile: Profile, provenance: &Provenance) -> Result<(), TablesError> {
    let run = timelines(&profile);
    let whole = Whole::of_run(&profile, &run, None);
    let made = Made { profile, whole, timelines: OnceCell::new() };
    made.keep(&run, &freshness::folder(dir, CallPaths::User), provenance)
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
