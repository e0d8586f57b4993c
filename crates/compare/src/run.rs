//! A run as a comparison takes it: what is needed of its profile, and not the profile.

use proust_profile::{LocationId, Metric, Ns, Profile, RunFacts};
use rustc_hash::FxHashMap;

use super::disturbance::Disturbance;
use super::outline::Outline;
use super::sampling::Sampled;
use proust_account::ledger::{Account, Accounts, Ledger, LedgerError, PassiveTimes};
use proust_findings::Finding;
use proust_query::{Filter, Key, Measure, ScopeNote, ScopedAccount, Selection, with_times};

/// A run to be compared.
#[derive(Clone, Debug)]
pub struct ComparedRun {
    /// The run as a whole.
    pub facts: RunFacts,
    /// Its account. Without rows.
    pub ledger: Ledger,
    /// What was found in it.
    pub findings: Vec<Finding>,
    /// Its contexts and what they took.
    pub outline: Outline,
    /// CPU time of all threads.
    pub cpu: Ns,
    /// Its threads, in the order in which they began.
    pub threads: Vec<ComparedThread>,
    /// How much others were in its way.
    pub disturbance: Disturbance,
    /// Samples taken.
    pub samples: u64,
    /// Whether its executables were compiled with debug information.
    pub has_lines: bool,
}

/// A thread of a run.
#[derive(Clone, Debug)]
pub struct ComparedThread {
    /// Its location in the profile.
    pub location: LocationId,
    /// The file name of its process's executable.
    pub process: String,
    /// Its process's rank.
    pub rank: Option<u32>,
    /// Its name.
    pub name: String,
    /// From its begin to its end.
    pub wall: Ns,
    /// Its CPU time.
    pub cpu: Ns,
    /// What it spent on accounts.
    pub accounts: Accounts,
    /// What it was passive for.
    pub passive: PassiveTimes,
}

impl ComparedRun {
    /// Takes the needed parts of a run, with these measures by context, and the basis of their errors. The
    /// ledger needs its rows where a measure does.
    pub fn new(
        profile: &Profile,
        ledger: &Ledger,
        findings: Vec<Finding>,
        measures: &[Measure],
        spread: &[Measure],
    ) -> ComparedRun {
        let selection = Selection::all(profile).with_rows(ledger);
        ComparedRun::of(&selection, ledger, findings, measures, spread)
    }

    /// The same of the part of a run that a filter selects: its contexts, its account ([`ScopedAccount`]),
    /// and the findings whose causes or losses lie there. The profile needs its samples and operations.
    ///
    /// # Errors
    /// When the profile's processes and locations contradict each other.
    pub fn part(
        profile: &Profile,
        filter: &Filter,
        findings: &[Finding],
        measures: &[Measure],
    ) -> Result<(ComparedRun, Vec<ScopeNote>), LedgerError> {
        let selection = Selection::new(profile, filter);
        let scoped = ScopedAccount::of(&selection, &with_times(profile, filter), None, None, None)?;
        let is_here = |finding: &&Finding| {
            let victims = finding.victims.iter().filter_map(|victim| victim.place.context);
            let mut places = finding.cause.context.into_iter().chain(victims);
            places.any(|id| id.index() < profile.contexts.len() && selection.has_context(id))
        };
        // They are about all of the time and all threads.
        let has_findings = filter.clauses.iter().all(|clause| clause.key == Key::Interval);
        let findings = findings.iter().filter(|_| has_findings).filter(is_here).cloned().collect();
        let selection = Selection::new(profile, filter).with_rows(&scoped.ledger);
        let mut run = ComparedRun::of(&selection, scoped.account(), findings, measures, &[]);
        if scoped.is_of_part() {
            run.facts.wall = Ns::of(scoped.account().wall_ns);
        }
        let mut cpu: FxHashMap<LocationId, Ns> = FxHashMap::default();
        for value in selection.values().iter().filter(|value| value.metric == Metric::Cpu) {
            *cpu.entry(value.location).or_default() += Ns::of(value.amount);
        }
        for thread in &mut run.threads {
            thread.cpu = cpu.get(&thread.location).copied().unwrap_or_default();
        }
        Ok((run, selection.notes().to_vec()))
    }

    /// What a selection with rows has; `ledger` is its account.
    fn of(
        selection: &Selection<'_>,
        ledger: &Ledger,
        findings: Vec<Finding>,
        measures: &[Measure],
        spread: &[Measure],
    ) -> ComparedRun {
        let profile = selection.profile();
        let measures = measures.iter().copied().chain([Measure::Queued]);
        let outline = Outline::new(selection, measures, spread);
        let cpu = Ns::from_seconds(outline.total(Metric::Cpu));
        let mut threads: Vec<ComparedThread> =
            ledger.locations.iter().filter_map(|of| ComparedThread::new(profile, of)).collect();
        let begin = |thread: &ComparedThread| profile.locations[thread.location].start;
        threads.sort_by_key(|thread| (begin(thread), thread.location));
        ComparedRun {
            facts: profile.facts.clone(),
            ledger: Ledger {
                spent: Vec::new(),
                blamed: Vec::new(),
                passive: Vec::new(),
                caused: Vec::new(),
                ..ledger.clone()
            },
            findings,
            outline,
            cpu,
            threads,
            disturbance: Disturbance::of(ledger, cpu, profile.facts.available_processors),
            samples: profile.quality.samples,
            has_lines: has_lines(profile),
        }
    }

    /// What the samples of a place say. A sample more or less may always fall there, unless it is all of the
    /// program.
    pub fn sampled(&self, cpu: Ns, error: Ns, queued: Ns) -> Sampled {
        let one = if self.samples > 0 { self.cpu / self.samples as f64 } else { Ns::ZERO };
        let is_all = cpu >= self.cpu * (1.0 - 1e-9);
        let error = if is_all { error } else { error.hypot(one) };
        Sampled { cpu, error, queued, short: Ns::ZERO }
    }

    /// The time of an account.
    pub fn account(&self, account: Account) -> Ns {
        Ns::of(self.ledger.accounts[account])
    }
}

/// Whether the program's own functions have lines. Those of its libraries, and the parts of the C library
/// that are linked into every program, may have some where nothing else has.
pub fn has_lines(profile: &Profile) -> bool {
    let is_program = |path: &str| profile.processes.iter().any(|process| process.executable == path);
    let own = profile
        .functions
        .iter()
        .filter(|function| function.module.is_some_and(|module| is_program(&profile.modules[module].path)));
    let (with, without) = own.fold((0, 0), |(with, without), function| match function.file {
        Some(_) => (with + 1, without),
        None => (with, without + 1),
    });
    with > 0 && with >= without || with + without == 0
}

impl ComparedThread {
    fn new(profile: &Profile, of: &proust_account::ledger::LocationAccounts) -> Option<ComparedThread> {
        let location = profile.locations.get(of.location)?;
        let process = profile.processes.get(location.process)?;
        Some(ComparedThread {
            location: of.location,
            process: process.name.clone(),
            rank: process.rank,
            name: location.name.clone(),
            wall: Ns::of(of.wall_ns),
            cpu: location.cpu,
            accounts: of.accounts,
            passive: of.passive,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proust_profile::{Function, Module, ModuleId, Process};

    #[test]
    fn lines_of_libraries_are_none_of_the_program() {
        let module = |path: &str| Module { path: path.into(), ..Module::default() };
        let function = |module, file: Option<&str>| Function {
            name: "f".into(),
            module: Some(module),
            file: file.map(Into::into),
            ..Function::default()
        };
        let profile = |functions| Profile {
            processes: vec![Process { executable: "/bin/solve".into(), ..Process::default() }].into(),
            modules: vec![module("/bin/solve"), module("/lib/libc.so.6")].into(),
            functions,
            ..Profile::default()
        };
        assert!(!has_lines(&profile(
            vec![
                function(ModuleId(0), None),
                function(ModuleId(1), Some("a.c")),
                function(ModuleId(1), Some("a.c"))
            ]
            .into()
        )));
        assert!(has_lines(&profile(
            vec![
                function(ModuleId(0), Some("a.c")),
                function(ModuleId(1), None),
                function(ModuleId(1), None)
            ]
            .into()
        )));
    }
}
