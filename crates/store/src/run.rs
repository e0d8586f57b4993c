//! The handle to a run.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};

use proust_account::blame::Blame;
use proust_account::ledger::Ledger;
use proust_account::stored::StoredTimelines;
use proust_findings::{Finding, Whole};
use proust_ingest::{CallPaths, Progress, Symbols, from_binaries};
use proust_profile::Profile;
use proust_profile::run_file::{RunFile, RunFileError};
use proust_profile::tables::{Kept, Provenance, TablesError};
use proust_query::{OperationSums, Summaries};

use super::analysis::{Input, Made};
use super::error::StoreError;
use super::freshness::{self, Found};
use super::kept_timelines;
use super::note::{Note, Outdated};
use super::rules::WaitRules;
use super::whole;

/// A run: all that is known of it, each part loaded or computed when it is first asked for, and at most once.
///
/// What the run's analysis is made from is found out once, by [`Run::open`]. All parts come from one
/// analysis: the one that was kept and fitted then, or the one that this handle has made, whatever happens to
/// the run's folder meanwhile.
pub struct Run {
    dir: PathBuf,
    paths: CallPaths,
    symbols: Box<dyn Symbols>,
    rules: WaitRules,
    provenance: Provenance,
    kept: Option<Kept>,
    notes: RefCell<Vec<Note>>,
    file: OnceCell<Result<RunFile, RunFileError>>,
    made: OnceCell<Made>,
    definitions: OnceCell<Profile>,
    /// Without and with statistics over locations.
    summaries: [OnceCell<Option<Summaries>>; 2],
    profile: OnceCell<Profile>,
    profile_with_rows: OnceCell<Profile>,
    ledger: OnceCell<Ledger>,
    ledger_with_rows: OnceCell<Ledger>,
    findings: OnceCell<Vec<Finding>>,
    blame: OnceCell<Blame>,
    operations: OnceCell<OperationSums>,
    timelines: OnceCell<StoredTimelines>,
    /// Computed from the rows of a kept analysis whose own timelines are damaged.
    timelines_of_rows: OnceCell<StoredTimelines>,
    /// Computed from the rows of a kept analysis whose own results cannot be read.
    whole: OnceCell<Whole>,
}

impl Run {
    /// The run in `dir`, with call paths as the user sees them.
    ///
    /// # Errors
    /// [`StoreError`] when there is no such folder, the user's rules cannot be read, or the logs are gone and
    /// what was kept of them is damaged.
    pub fn open(dir: &Path) -> Result<Run, StoreError> {
        Run::open_with_paths(dir, CallPaths::User)
    }

    /// As [`Run::open`], with the call paths that are wanted.
    ///
    /// # Errors
    /// As [`Run::open`].
    pub fn open_with_paths(dir: &Path, paths: CallPaths) -> Result<Run, StoreError> {
        Run::open_by(dir, paths, Box::new(from_binaries()), WaitRules::of_user()?)
    }

    /// As [`Run::open_with_paths`], by these rules instead of the user's, and with another source of names.
    ///
    /// # Errors
    /// As [`Run::open`].
    pub fn open_by(
        dir: &Path,
        paths: CallPaths,
        symbols: Box<dyn Symbols>,
        rules: WaitRules,
    ) -> Result<Run, StoreError> {
        let provenance = freshness::provenance(dir, &rules)?;
        let mut notes = Vec::new();
        let kept = match freshness::find(&freshness::folder(dir, paths), &provenance) {
            Found::Fitting(kept) => Some(kept),
            Found::Nothing => None,
            Found::Outdated(why) => {
                notes.push(Note::MadeAgain { dir: dir.display().to_string(), why });
                None
            }
            Found::Lost(source) => return Err(StoreError::NoSource { dir: dir.into(), source }),
        };
        Ok(Run {
            dir: dir.into(),
            paths,
            symbols,
            rules,
            provenance,
            kept,
            notes: RefCell::new(notes),
            file: OnceCell::new(),
            made: OnceCell::new(),
            definitions: OnceCell::new(),
            summaries: Default::default(),
            profile: OnceCell::new(),
            profile_with_rows: OnceCell::new(),
            ledger: OnceCell::new(),
            ledger_with_rows: OnceCell::new(),
            findings: OnceCell::new(),
            blame: OnceCell::new(),
            operations: OnceCell::new(),
            timelines: OnceCell::new(),
            timelines_of_rows: OnceCell::new(),
            whole: OnceCell::new(),
        })
    }

    /// Its folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether there is an analysis of the run as it is now. Without one the first question takes a while.
    pub fn is_analysed(&self) -> bool {
        self.kept.is_some() || self.made.get().is_some()
    }

    /// Analyses the run if that was not done yet, and reports that to `progress`. Whatever is asked does so,
    /// too, in silence.
    ///
    /// # Errors
    /// [`StoreError`] when nothing in it can be read.
    pub fn analyse(&self, progress: &mut dyn FnMut(Progress)) -> Result<(), StoreError> {
        if self.kept.is_none() {
            self.made(progress)?;
        }
        Ok(())
    }

    /// What its user should know beside the answers so far.
    pub fn notes(&self) -> Vec<Note> {
        self.notes.borrow().clone()
    }

    /// What `record` wrote of the run as a whole.
    ///
    /// # Errors
    /// [`RunFileError`] when the file is gone, damaged, or of another version.
    pub fn file(&self) -> Result<&RunFile, &RunFileError> {
        self.file.get_or_init(|| RunFile::read(&self.dir)).as_ref()
    }

    /// Its profile; the rows may be missing: samples, events, releases, stays.
    ///
    /// # Errors
    /// [`StoreError`] when the run cannot be analysed.
    pub fn profile(&self) -> Result<&Profile, StoreError> {
        if let Some(profile) = self.profile_with_rows.get() {
            return Ok(profile);
        }
        self.part(
            &self.profile,
            |made| &made.profile,
            |kept| kept.profile_without_rows().map(|profile| self.placed(profile)),
        )
    }

    /// Its profile; amounts and rows may be missing.
    ///
    /// # Errors
    /// As [`Run::profile`].
    pub fn definitions(&self) -> Result<&Profile, StoreError> {
        if let Some(profile) = self.profile_with_rows.get().or(self.profile.get()) {
            return Ok(profile);
        }
        self.part(
            &self.definitions,
            |made| &made.profile,
            |kept| kept.definitions().map(|profile| self.placed(profile)),
        )
    }

    /// The summaries of the whole run, where they are kept; with statistics over its locations only if these
    /// are wanted. Damaged ones are as good as none: what they sum up still answers.
    pub fn summaries(&self, with_statistics: bool) -> Option<&Summaries> {
        let (Some(kept), None) = (&self.kept, self.made.get()) else { return None };
        let read = || Summaries::of(kept.summaries(with_statistics).ok()??, self.definitions().ok()?);
        self.summaries[usize::from(with_statistics)].get_or_init(read).as_ref()
    }

    /// Its profile with the rows.
    ///
    /// # Errors
    /// As [`Run::profile`].
    pub fn profile_with_rows(&self) -> Result<&Profile, StoreError> {
        self.part(
            &self.profile_with_rows,
            |made| &made.profile,
            |kept| {
                let mut profile = match self.profile.get() {
                    Some(profile) => profile.clone(),
                    None => self.placed(kept.profile_without_rows()?),
                };
                kept.rows(&profile)?.give_to(&mut profile);
                Ok(profile)
            },
        )
    }

    /// The account of the whole run; its rows may be missing.
    ///
    /// # Errors
    /// As [`Run::profile`], and [`StoreError::Ledger`] when the run's processes contradict each other.
    pub fn ledger(&self) -> Result<&Ledger, StoreError> {
        if let Some(ledger) = self.ledger_with_rows.get() {
            return Ok(ledger);
        }
        self.result(&self.ledger, |whole| &whole.ledger, whole::ledger)
    }

    /// The account of the whole run with its rows.
    ///
    /// # Errors
    /// As [`Run::ledger`].
    pub fn ledger_with_rows(&self) -> Result<&Ledger, StoreError> {
        let profile = self.definitions()?;
        self.result(
            &self.ledger_with_rows,
            |whole| &whole.ledger,
            |kept| {
                let mut ledger = self.ledger.get().cloned().map_or_else(|| whole::ledger(kept), Ok)?;
                whole::ledger_rows(kept, &mut ledger, profile)?;
                Ok(ledger)
            },
        )
    }

    /// The findings of the whole run.
    ///
    /// # Errors
    /// As [`Run::ledger`].
    pub fn findings(&self) -> Result<&[Finding], StoreError> {
        Ok(self.result(&self.findings, |whole| &whole.findings, whole::findings)?)
    }

    /// The causes of what the whole run lost.
    ///
    /// # Errors
    /// As [`Run::ledger`].
    pub fn blame(&self) -> Result<&Blame, StoreError> {
        let profile = self.definitions()?;
        self.result(&self.blame, |whole| &whole.blame, |kept| whole::blame(kept, profile))
    }

    /// All operations of the run, summed up.
    ///
    /// # Errors
    /// As [`Run::ledger`].
    pub fn operations(&self) -> Result<&OperationSums, StoreError> {
        let profile = self.definitions()?;
        self.result(&self.operations, |whole| &whole.operations, |kept| whole::operations(kept, profile))
    }

    /// The timelines of states of its locations. Whoever has read them asks [`Run::was_damaged`].
    ///
    /// # Errors
    /// As [`Run::profile`].
    pub fn timelines(&self) -> Result<&StoredTimelines, StoreError> {
        if let Some(of_rows) = self.timelines_of_rows.get() {
            return Ok(of_rows);
        }
        if let (Some(kept), None) = (&self.kept, self.made.get()) {
            if let Some(timelines) = self.timelines.get() {
                return Ok(timelines);
            }
            match kept_timelines::open(kept) {
                Ok(timelines) => return Ok(self.timelines.get_or_init(|| timelines)),
                Err(damage) => self.make_timelines_again(damage)?,
            }
            return self.timelines();
        }
        Ok(&self.made(&mut |_| ())?.timelines)
    }

    /// Whether all rows that were asked for were there: if not, what was made of them is wrong.
    ///
    /// # Errors
    /// [`StoreError::LostRows`].
    pub fn rows_were_read(&self) -> Result<(), StoreError> {
        let is_lost = self.profile_with_rows.get().is_some_and(Profile::lost_rows);
        if is_lost { Err(StoreError::LostRows { dir: self.dir.clone() }) } else { Ok(()) }
    }

    /// Whether the timelines turned out to be damaged while they were read. They have been made again then,
    /// and so must be what was made of them.
    ///
    /// # Errors
    /// As [`Run::profile`] and [`Run::rows_were_read`].
    pub fn was_damaged(&self) -> Result<bool, StoreError> {
        self.rows_were_read()?;
        let is_damaged = self.timelines.get().is_some_and(StoredTimelines::is_damaged);
        let (Some(kept), None, None, true) =
            (&self.kept, self.made.get(), self.timelines_of_rows.get(), is_damaged)
        else {
            return Ok(false);
        };
        self.make_timelines_again(kept_timelines::damage(kept))?;
        Ok(true)
    }

    fn make_timelines_again(&self, damage: TablesError) -> Result<(), StoreError> {
        if self.provenance.sources.is_empty() {
            self.note_damage(&damage);
            let of_rows = StoredTimelines::of(self.profile_with_rows()?);
            self.timelines_of_rows.get_or_init(|| of_rows);
        } else {
            self.made_again(damage)?;
        }
        Ok(())
    }

    /// A part of the analysis that this handle has made, or of the kept one; where that is damaged, of one
    /// that is made now.
    fn part<'r, T>(
        &'r self,
        cell: &'r OnceCell<T>,
        of_made: impl Fn(&'r Made) -> &'r T,
        read: impl FnOnce(&Kept) -> Result<T, TablesError>,
    ) -> Result<&'r T, StoreError> {
        if let Some(part) = cell.get() {
            return Ok(part);
        }
        let (Some(kept), None) = (&self.kept, self.made.get()) else {
            return Ok(of_made(self.made(&mut |_| ())?));
        };
        match read(kept) {
            Ok(part) => Ok(cell.get_or_init(|| part)),
            Err(damage) => Ok(of_made(self.made_again(damage)?)),
        }
    }

    /// A part that follows from the rows: as it was kept, or computed from them.
    fn result<'r, T>(
        &'r self,
        cell: &'r OnceCell<T>,
        of_whole: impl Fn(&'r Whole) -> &'r T,
        read: impl FnOnce(&Kept) -> Result<T, TablesError>,
    ) -> Result<&'r T, StoreError> {
        if let Some(part) = cell.get().or_else(|| self.whole.get().map(&of_whole)) {
            return Ok(part);
        }
        let of_made = |made: &'r Made| made.whole.as_ref().map(&of_whole).map_err(|error| (*error).into());
        let (Some(kept), None) = (&self.kept, self.made.get()) else {
            return of_made(self.made(&mut |_| ())?);
        };
        if !kept.has(whole::LEDGER) {
            // It is not damaged: none could be drawn up, and trying it again says why.
            return self.computed().map(of_whole);
        }
        match read(kept) {
            Ok(part) => Ok(cell.get_or_init(|| part)),
            Err(damage) if self.provenance.sources.is_empty() => {
                self.note_damage(&damage);
                self.computed().map(of_whole)
            }
            Err(damage) => of_made(self.made_again(damage)?),
        }
    }

    fn note_damage(&self, damage: &TablesError) {
        let why = Outdated::Damaged { damage: damage.to_string() };
        self.notes.borrow_mut().push(Note::MadeAgain { dir: self.dir.display().to_string(), why });
    }

    /// What follows from the rows of the analysis that was kept.
    fn computed(&self) -> Result<&Whole, StoreError> {
        let whole = Whole::of(self.profile_with_rows()?, None)?;
        Ok(self.whole.get_or_init(|| whole))
    }

    /// The analysis of the logs.
    fn made(&self, progress: &mut dyn FnMut(Progress)) -> Result<&Made, StoreError> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let made = self.analysed(progress)?;
        Ok(self.made.get_or_init(|| made))
    }

    /// The analysis of the logs in the place of a damaged one, of which parts may be in use.
    fn made_again(&self, damage: TablesError) -> Result<&Made, StoreError> {
        if self.provenance.sources.is_empty() {
            return Err(StoreError::NoSource { dir: self.dir.clone(), source: damage });
        }
        self.note_damage(&damage);
        let made = self.analysed(&mut |_| ())?;
        let in_use = self.profile.get().or(self.profile_with_rows.get());
        let is_other = |profile: &Profile| !is_same(profile, &made.profile);
        if in_use.is_some_and(|profile| is_other(profile) || profile.values != made.profile.values)
            || self.definitions.get().is_some_and(is_other)
        {
            return Err(StoreError::Changed { dir: self.dir.clone() });
        }
        Ok(self.made.get_or_init(|| made))
    }

    fn analysed(&self, progress: &mut dyn FnMut(Progress)) -> Result<Made, StoreError> {
        let Run { dir, paths, symbols, rules, .. } = self;
        let input = Input { dir, paths: *paths, symbols: &**symbols, rules };
        let (mut made, not_kept) = input.analyse(&self.provenance, progress)?;
        if let Some(error) = not_kept {
            let (dir, error) = (dir.display().to_string(), error.to_string());
            self.notes.borrow_mut().push(Note::NotKept { dir, error });
        }
        made.profile = self.placed(made.profile);
        Ok(made)
    }

    /// A profile that knows its folder, which may have been moved since the profile was kept.
    fn placed(&self, mut profile: Profile) -> Profile {
        profile.facts.dir = self.dir.to_string_lossy().into_owned();
        profile
    }
}

/// Whether two profiles, with or without their amounts and rows, are of the same run at the same time: what
/// refers to one of them then fits the other.
fn is_same(a: &Profile, b: &Profile) -> bool {
    a.processes == b.processes
        && a.locations == b.locations
        && a.functions == b.functions
        && a.contexts == b.contexts
        && a.operations == b.operations
        && a.regions == b.regions
}
