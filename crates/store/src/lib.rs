//! A run's profile: read where it was kept, made where it was not.

mod reading;
mod rules;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use proust_profile::Profile;
use proust_profile::notes::RunNote;
use proust_profile::tables::{self, PROFILE_FOLDER, Provenance, TablesError};
use thiserror::Error;

pub use reading::read_side_by_side;
pub use rules::WaitRules;

use proust_account::blame::{Blame, KeptBlame};
use proust_account::classes::{ClassError, Classes};
use proust_account::ledger::{KeptRows, Ledger, LedgerError};
use proust_findings::{self, Finding, Whole};
use proust_query::OperationSums;

use proust_ingest::{
    ANALYSIS_VERSION, CallPaths, Counter, IngestError, Progress, Stage, Symbols, from_binaries, ingest,
    sources,
};

/// File beside the profile's tables.
const LEDGER: &str = "ledger.json";
/// File beside it: its rows.
const LEDGER_ROWS: &str = "ledger_rows.json";
/// File beside it: what was found in the whole run.
const FINDINGS: &str = "findings.json";
/// File beside it: the causes of what was lost.
const BLAME: &str = "blame.json";
/// File beside it: the operations, summed up.
const OPERATIONS: &str = "operations.json";
/// How often progress is reported.
const INTERVAL: Duration = Duration::from_millis(50);

/// Why a run's profile cannot be had.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The run cannot be analysed.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The user's rules for waits cannot be read.
    #[error(transparent)]
    Rules(#[from] ClassError),
    /// There are no logs, and the profile that was kept cannot be read.
    #[error(
        "the logs of the run in {} are gone, and what was kept of it cannot be read: {source}; record the \
         program again",
        dir.display()
    )]
    NoSource {
        /// The run's folder.
        dir: PathBuf,
        /// The profile's error.
        source: TablesError,
    },
    /// Its processes and threads contradict each other: there is no account of it.
    #[error("no ledger can be drawn up of this run: {0}")]
    Ledger(#[from] LedgerError),
}

/// A run, with the call paths of parallel regions that are wanted of it: each has a profile of its own.
#[derive(Clone, Copy, Debug)]
pub struct View<'d> {
    /// The run's folder.
    pub dir: &'d Path,
    /// How threads in parallel regions are shown.
    pub paths: CallPaths,
}

impl<'d> View<'d> {
    /// As the user sees it.
    pub fn of_user(dir: &'d Path) -> View<'d> {
        View { dir, paths: CallPaths::User }
    }

    /// Where its profile is kept.
    pub fn folder(&self) -> PathBuf {
        let more = match self.paths {
            CallPaths::User => "",
            CallPaths::Expert => "-expert",
            CallPaths::Machine => "-machine",
        };
        self.dir.join(format!("{PROFILE_FOLDER}{more}"))
    }

    /// Its profile, as [`open`] and [`open_without_samples`] give the user's.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(&self, parts: Parts, progress: &mut dyn FnMut(Progress)) -> Result<Profile, StoreError> {
        let symbols = from_binaries();
        self.open_by(parts, &symbols, &WaitRules::of_user()?, progress)
    }

    /// Reads the samples and events of a profile that was opened without them.
    ///
    /// # Errors
    /// [`TablesError`] when the profile was not kept, or is damaged.
    pub fn read_rows(&self, profile: &mut Profile) -> Result<(), TablesError> {
        let folder = self.folder();
        profile.samples = tables::read_samples(&folder, profile)?;
        profile.events = tables::read_events(&folder, profile)?;
        profile.releases = tables::read_releases(&folder, profile)?;
        profile.stays = tables::read_stays(&folder, profile)?;
        Ok(())
    }

    /// Reads the samples and events of a profile that was opened without them, by way of the logs where the
    /// tables are damaged.
    ///
    /// # Errors
    /// As [`open`].
    pub fn complete(&self, profile: &mut Profile) -> Result<(), StoreError> {
        if !profile.samples.is_empty() || !profile.events.is_empty() {
            return Ok(());
        }
        match self.read_rows(profile) {
            // It was just made and could not be kept: there are none.
            Ok(()) | Err(TablesError::Missing { .. }) => Ok(()),
            Err(_) => {
                *profile = self.open(Parts::All, &mut |_| ())?;
                Ok(())
            }
        }
    }

    /// The account of the whole run with its rows, and the findings: as they were kept, or else drawn up of
    /// all that is in `profile`, which is completed for it.
    ///
    /// # Errors
    /// As [`open`], and when the profile's processes contradict each other.
    pub fn accounted(&self, profile: &mut Profile) -> Result<(Ledger, Vec<Finding>), StoreError> {
        if let Some(kept) = self.ledger_with_rows(profile).zip(self.findings()) {
            return Ok(kept);
        }
        self.complete(profile)?;
        Ok(proust_findings::findings(profile, None)?)
    }

    /// The account of the whole run, without its rows, as it was kept with the profile; None where it was
    /// not, is damaged, or does not fit the logs.
    pub fn ledger(&self) -> Option<Ledger> {
        serde_json::from_slice(&self.kept_file(LEDGER)?).ok()
    }

    /// As [`View::ledger`], with its rows, which take longer to read.
    pub fn ledger_with_rows(&self, profile: &Profile) -> Option<Ledger> {
        let mut ledger = self.ledger()?;
        let text = tables::read_more(&self.folder(), LEDGER_ROWS).ok()?;
        let rows: KeptRows = serde_json::from_slice(&text).ok()?;
        rows.give_to(&mut ledger, profile.locations.len(), profile.contexts.len())?;
        Some(ledger)
    }

    /// The findings of the whole run, as they were kept with the profile; None under the same conditions as
    /// [`View::ledger`].
    pub fn findings(&self) -> Option<Vec<Finding>> {
        serde_json::from_slice(&self.kept_file(FINDINGS)?).ok()
    }

    /// The causes of what the whole run lost, as they were kept with the profile; None under the same
    /// conditions as [`View::ledger`].
    pub fn blame(&self, profile: &Profile) -> Option<Blame> {
        let kept: KeptBlame = serde_json::from_slice(&self.kept_file(BLAME)?).ok()?;
        kept.of_profile(profile)
    }

    /// All operations of the run, summed up, as they were kept with the profile; None under the same
    /// conditions as [`View::ledger`].
    pub fn operations(&self, profile: &Profile) -> Option<OperationSums> {
        let kept: OperationSums = serde_json::from_slice(&self.kept_file(OPERATIONS)?).ok()?;
        Some(kept).filter(|kept| kept.fits(profile))
    }

    /// Keeps a profile as that of the run, and with it what takes all its rows to find.
    ///
    /// # Errors
    /// [`TablesError`] when the storage refuses, or the profile contradicts itself.
    pub fn keep(&self, profile: &Profile, provenance: &Provenance) -> Result<(), TablesError> {
        let whole = Whole::of(profile, None).ok();
        let more = whole.and_then(|whole| {
            Some(vec![
                (LEDGER, serde_json::to_vec(&whole.ledger).ok()?),
                (LEDGER_ROWS, serde_json::to_vec(&KeptRows::of(&whole.ledger)).ok()?),
                (FINDINGS, serde_json::to_vec(&whole.findings).ok()?),
                (BLAME, serde_json::to_vec(&KeptBlame::of(&whole.blame)).ok()?),
                (OPERATIONS, serde_json::to_vec(&whole.operations).ok()?),
            ])
        });
        tables::write_with(&self.folder(), profile, provenance, &more.unwrap_or_default())
    }

    fn open_by(
        &self,
        parts: Parts,
        symbols: &dyn Symbols,
        rules: &WaitRules,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Profile, StoreError> {
        let (dir, folder) = (self.dir, self.folder());
        let provenance = provenance(dir, rules)?;
        let kept = kept(&folder, parts, &provenance);
        match kept {
            Ok(mut profile) => {
                // The folder may have been moved since.
                profile.facts.dir = dir.to_string_lossy().into_owned();
                return Ok(profile);
            }
            Err(TablesError::Missing { .. }) => {}
            // Without logs there is nothing to make another one from.
            Err(source) if provenance.sources.is_empty() => {
                return Err(StoreError::NoSource { dir: dir.into(), source });
            }
            Err(_) => {}
        }
        let mut profile = with_progress(progress, |counter| {
            let mut profile = ingest(dir, self.paths, symbols, counter)?;
            profile.facts.wait_rules.clone_from(&rules.text);
            mark_services(&mut profile);
            counter.begin(Stage::Keeping, 0);
            // Most pages then do without the rows that it takes.
            let kept = self.keep(&profile, &provenance);
            Ok::<_, IngestError>((profile, kept))
        })
        .map(|(mut profile, kept)| {
            if let Err(error) = kept {
                profile.quality.notes.push(RunNote::NotKept { error: error.to_string() });
            }
            profile
        })?;
        profile.facts.dir = dir.to_string_lossy().into_owned();
        Ok(profile)
    }

    /// A file beside the profile, if that fits the logs.
    fn kept_file(&self, name: &str) -> Option<Vec<u8>> {
        let provenance = provenance(self.dir, &WaitRules::of_user().ok()?).ok()?;
        let folder = self.folder();
        if !fits(&folder, &provenance).ok()? {
            return None;
        }
        tables::read_more(&folder, name).ok()
    }
}

/// The profile of the run in `dir`, samples and events included.
///
/// A profile that was kept is taken if it was made by this version from the logs as they are now; else the
/// run is analysed, with reports to `progress`, and the profile is kept. Where it cannot be kept, a note in
/// the profile says so.
///
/// # Errors
/// [`StoreError`] when the folder is not a run, or nothing in it can be read.
pub fn open(dir: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Profile, StoreError> {
    open_with(dir, Parts::All, &from_binaries(), progress)
}

/// As [`open`], without the samples and events where the profile was kept: pages that ask for no time range
/// need none. [`read_rows`] reads them.
///
/// # Errors
/// As [`open`].
pub fn open_without_samples(dir: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Profile, StoreError> {
    open_with(dir, Parts::WithoutSamples, &from_binaries(), progress)
}

/// Reads the samples and events of a profile that was opened without them.
///
/// # Errors
/// [`TablesError`] when the profile was not kept, or is damaged.
pub fn read_rows(dir: &Path, profile: &mut Profile) -> Result<(), TablesError> {
    View::of_user(dir).read_rows(profile)
}

/// [`View::ledger`] of the user's.
pub fn ledger(dir: &Path) -> Option<Ledger> {
    View::of_user(dir).ledger()
}

/// [`View::findings`] of the user's.
pub fn findings(dir: &Path) -> Option<Vec<Finding>> {
    View::of_user(dir).findings()
}

/// [`View::ledger_with_rows`] of the user's.
pub fn ledger_with_rows(dir: &Path, profile: &Profile) -> Option<Ledger> {
    View::of_user(dir).ledger_with_rows(profile)
}

/// Which parts of a profile are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Everything.
    All,
    /// Everything but the samples and events; they may be there nevertheless.
    WithoutSamples,
}

/// As [`open`], with the parts that are wanted and another source of names.
///
/// # Errors
/// As [`open`].
pub fn open_with(
    dir: &Path,
    parts: Parts,
    symbols: &dyn Symbols,
    progress: &mut dyn FnMut(Progress),
) -> Result<Profile, StoreError> {
    open_by(dir, parts, symbols, &WaitRules::of_user()?, progress)
}

/// As [`open_with`], by these rules instead of the user's.
///
/// # Errors
/// As [`open`].
pub fn open_by(
    dir: &Path,
    parts: Parts,
    symbols: &dyn Symbols,
    rules: &WaitRules,
    progress: &mut dyn FnMut(Progress),
) -> Result<Profile, StoreError> {
    View::of_user(dir).open_by(parts, symbols, rules, progress)
}

/// What a profile of this run is made from, by these rules.
fn provenance(dir: &Path, rules: &WaitRules) -> Result<Provenance, IngestError> {
    Ok(Provenance { analysis: ANALYSIS_VERSION, rules: rules.digest, sources: sources(dir)? })
}

/// The profile that was kept, if it fits.
fn kept(folder: &Path, parts: Parts, expected: &Provenance) -> Result<Profile, TablesError> {
    if !fits(folder, expected)? {
        return Err(TablesError::Missing { path: folder.into() });
    }
    match parts {
        Parts::All => tables::read(folder),
        Parts::WithoutSamples => tables::read_without_samples(folder),
    }
}

/// Whether what was kept was made from these logs by these rules. A run whose logs were removed to save room
/// still has its profile.
fn fits(folder: &Path, expected: &Provenance) -> Result<bool, TablesError> {
    Ok(expected.sources.is_empty() || tables::read_provenance(folder)? == *expected)
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
