//! The input of all kinds of findings.

use std::collections::BTreeSet;

use proust_profile::{
    ContextId, FunctionId, LocationId, Metric, Nature, Ns, OperationId, OperationKind, ProcessId, Profile,
    SampleRow,
};
use rustc_hash::FxHashMap;

use super::alike::{Alike, phases, starts};
use super::calls::{Calls, calls};
use super::finding::{Finding, Kind, Sure, Victim};
use super::loop_frames;
use super::place::{Place, Places, Weight};
use super::regions::Regions;
use super::stretches::{Stretch, Stretches};
use super::thresholds::{self as limits, Checks};
use proust_account::blame::{Blame, Lock, LockId, Queues};
use proust_account::ledger::{Account, Ledger, LocationAccounts, PassiveReason, Run, Spans};
use proust_account::timelines::OperationStates;
use proust_profile::event_metrics::Operations;
use proust_query::intervals::Intervals;
use proust_query::{OperationSums, Sampling};

/// A run as the kinds of findings see it.
#[derive(Debug)]
pub struct Facts<'r> {
    pub(super) profile: &'r Profile,
    pub(super) ledger: &'r Ledger,
    pub(super) blame: &'r Blame,
    /// The queues at the locks.
    pub(super) queues: Queues,
    pub(super) places: Places<'r>,
    /// Whether each context is in an event loop.
    in_loop: Vec<bool>,
    pub(super) operations: Operations,
    /// All operations, summed up by place.
    pub(super) calls: Vec<Calls>,
    /// The same by target.
    pub(super) sums: OperationSums,
    pub(super) stretches: Stretches,
    /// The marked intervals, if there are any.
    pub(super) intervals: Option<Intervals>,
    /// Parallel regions of OpenMP, if teams of several threads executed any.
    pub(super) regions: Option<Regions>,
    pub(super) total: Ns,
    pub(super) wall: Ns,
    /// Processor time of all locations.
    pub(super) all_cpu: Ns,
    /// Processors available, C.
    pub(super) available: f64,
    /// Processors that could be busy at once: those that the run used, but not more than there are.
    pub(super) width: f64,
    /// The same where threads take turns that could work at once: at least two, if there are.
    pub(super) reach: f64,
    /// The start function of each location.
    pub(super) starts: Vec<Option<FunctionId>>,
    alike: Alike,
    /// The function that each location spends most of its time in.
    phases: Vec<Option<FunctionId>>,
    /// Own processor time, and that in the kernel, by context.
    pub(super) cpu: Vec<Ns>,
    pub(super) system: Vec<Ns>,
    /// Σ w² of the samples, s², by context.
    pub(super) squares: Vec<f64>,
    /// All samples.
    sampling: Sampling,
    /// Samples by context.
    pub(super) samples: Vec<f64>,
    /// Page faults without I/O by context.
    pub(super) faults: Vec<f64>,
}

impl<'r> Facts<'r> {
    pub(super) fn new(
        profile: &'r Profile,
        states: &OperationStates,
        run: &Run<impl Spans + Sync>,
        ledger: &'r Ledger,
        blame: &'r Blame,
        queues: Queues,
        intervals: impl FnOnce() -> Option<Intervals> + Send,
    ) -> Facts<'r> {
        let processors = f64::from(ledger.processors.max(1));
        let available = match profile.facts.available_processors {
            0 => processors,
            known => f64::from(known),
        };
        let width = processors.min(available);
        // All that stretches are found by is on these accounts: where it is too little for a finding, none is
        // looked for. A run that never used two processors has nothing there, and may have worked by turns.
        let empty_ns: u64 = EMPTY.iter().map(|&account| ledger.accounts[account]).sum();
        let look = empty_ns as f64 >= limits::LEAST_SHARE.value * ledger.total_ns as f64
            || width < 2.0 && available >= 2.0 && ledger.locations.len() >= 2;
        let programs = programs(profile);
        let program_of = |location: LocationId| programs[profile.locations[location].process.index()];
        let stretches = || match look {
            true => Stretches::new(run, ledger, width, program_of),
            false => Stretches::default(),
        };
        let in_order = || rayon::join(stretches, intervals);
        let ((stretches, intervals), sums) = rayon::join(in_order, || OperationSums::of_run(profile, states));
        let calls = calls(&sums);
        let operations = Operations::of(profile);
        let places = Places::new(profile, &calls);
        let own_sums = |wanted: Metric| {
            let mut own = vec![0_u128; profile.contexts.len()];
            for value in profile.values.iter().filter(|value| value.metric == wanted) {
                own[value.context.index()] += u128::from(value.amount);
            }
            own
        };
        let own = |wanted: Metric| {
            own_sums(wanted).into_iter().map(|sum| wanted.unit().shown(sum)).collect::<Vec<f64>>()
        };
        let own_times = |wanted| own_sums(wanted).into_iter().map(Ns::of_sum).collect::<Vec<Ns>>();
        let (cpu, squares) = (own_times(Metric::Cpu), own(Metric::CpuSquares));
        let sampling = Sampling { cpu: cpu.iter().sum(), squares: squares.iter().sum() };
        let starts = starts(profile, &calls, &places);
        let phases = phases(profile, &places);
        Facts {
            in_loop: loop_frames::inside(profile),
            alike: Alike::of(profile, &starts, &phases),
            starts,
            reach: width.max(2.0).min(available),
            phases,
            calls,
            sums,
            regions: Regions::of(profile, &operations),
            operations,
            stretches,
            intervals,
            total: Ns::of(ledger.total_ns),
            wall: Ns::of(ledger.wall_ns),
            all_cpu: profile.locations.iter().map(|location| location.cpu).sum(),
            available,
            width,
            cpu,
            system: own_times(Metric::System),
            squares,
            sampling,
            samples: own(Metric::Samples),
            faults: own(Metric::MinorFaults),
            places,
            profile,
            ledger,
            blame,
            queues,
        }
    }

    /// The part of a loss that could be saved: the processors gave C × T, and the part that other work used
    /// is gone. `burned` is processor time that the loss itself took.
    pub fn recoverable(&self, lost: Ns, burned: Ns) -> Ns {
        let left = self.wall * self.available - self.all_cpu + burned.min(self.all_cpu);
        lost.min(left.max(Ns::ZERO))
    }

    /// Whether so much is worth a word, kept among the checks.
    pub(super) fn matters(&self, checks: &mut Checks, lost: Ns, burned: Ns) -> bool {
        checks.holds(&limits::LEAST_TOTAL_S, self.total)
            && checks.holds(&limits::LEAST_SHARE, self.recoverable(lost, burned) / self.total)
    }

    /// A finding about so much time, still without victims and evidence.
    pub(super) fn finding(
        &self,
        kind: Kind,
        account: Account,
        lost: Ns,
        burned: Ns,
        cause: Place,
    ) -> Finding {
        Finding {
            kind,
            account: account.id().into(),
            recoverable: self.recoverable(lost, burned),
            lost,
            burned,
            beside: Ns::ZERO,
            low: Ns::ZERO,
            high: Ns::ZERO,
            on_path: None,
            error: Ns::ZERO,
            cause,
            awaited: None,
            handed_over: None,
            victims: Vec::new(),
            evidence: Vec::new(),
            checks: Vec::new(),
            sure: Sure::Likely,
            small: false,
            unnamed: false,
            processes: Vec::new(),
            library: None,
            ranks: Vec::new(),
            lock: None,
        }
    }

    /// The line that these amounts sum up to most at, with one of its contexts.
    pub(super) fn heaviest_line<W: Weight>(
        &self,
        amounts: impl IntoIterator<Item = (ContextId, W)>,
    ) -> Option<(W, ContextId)> {
        let mut by_line: FxHashMap<_, (W, ContextId)> = FxHashMap::default();
        for (context, amount) in amounts {
            let line = by_line.entry(self.places.line_key(context)).or_insert((W::default(), context));
            line.0 += amount;
            line.1 = line.1.min(context);
        }
        by_line.into_values().max_by(|a, b| a.0.order(&b.0).then(b.1.cmp(&a.1)))
    }

    /// Whether a context is in an event loop, or in what one calls.
    pub(super) fn is_in_loop(&self, context: ContextId) -> bool {
        self.in_loop[context.index()]
    }

    /// Whether a context is in what the program has an event loop call. What the loop itself does is in a
    /// function of the program around it.
    pub(super) fn is_called_by_loop(&self, context: ContextId) -> bool {
        let around = self.profile.contexts[self.places.own(context)].parent;
        around.is_some_and(|around| self.is_in_loop(around)) && self.places.is_written(context)
    }

    /// A place of one process.
    pub(super) fn in_process(&self, place: Place, process: ProcessId) -> Place {
        Place { processes: vec![process], ..place }
    }

    /// A lock.
    pub(super) fn lock(&self, id: LockId) -> Option<&'r Lock> {
        self.blame.locks.get(id as usize)
    }

    pub(super) fn nature(&self, operation: OperationId) -> Option<Nature> {
        self.operations.nature(operation)
    }

    pub(super) fn operation(&self, operation: OperationId) -> Option<OperationKind> {
        self.operations.get(operation)
    }

    /// The samples of a process.
    pub(super) fn samples_of(&self, process: ProcessId) -> impl Iterator<Item = SampleRow> + 'r {
        let profile = self.profile;
        let rows = profile.samples.iter();
        rows.filter(move |row| profile.locations[row.location].process == process)
    }

    /// The account of a location; the ledger has them in order.
    fn account_of(&self, location: LocationId) -> Option<&'r LocationAccounts> {
        let rows = &self.ledger.locations;
        rows.binary_search_by_key(&location, |row| row.location).ok().map(|at| &rows[at])
    }

    /// A location's time on accounts.
    pub(super) fn spent(&self, location: LocationId, accounts: &[Account]) -> Ns {
        let sum = |row: &LocationAccounts| accounts.iter().map(|&account| row.accounts[account]).sum::<u64>();
        self.account_of(location).map_or(Ns::ZERO, |row| Ns::of(sum(row)))
    }

    /// Of the time that locations waited, of one process or of all, the part on a processor: they looked
    /// again and again whether it was over. `waits` is how long one waited.
    pub(super) fn burned_share(&self, process: Option<ProcessId>, waits: impl Fn(LocationId) -> Ns) -> f64 {
        let (mut waited, mut burned) = (Ns::ZERO, Ns::ZERO);
        for (id, location) in self.profile.locations.iter().enumerate() {
            if process.is_none_or(|process| process == location.process) {
                let id = LocationId::from_index(id);
                let waits = waits(id);
                burned += (location.cpu - self.spent(id, &ON_PROCESSOR)).clamp(Ns::ZERO, waits);
                waited += waits;
            }
        }
        burned.share_of(waited)
    }

    /// A location's own work: on a processor, or in I/O, and not waiting.
    pub(super) fn worked(&self, location: LocationId) -> Ns {
        self.spent(location, &WORK)
    }

    /// How long it could run and had no processor.
    pub(super) fn queued(&self, location: LocationId) -> Ns {
        self.spent(location, &QUEUED)
    }

    /// Whether it is one of several that were started for the same, of which each has ended before the next
    /// begins: what they do is serial.
    pub(super) fn lives_in_turn(&self, location: LocationId) -> bool {
        self.alike.lives_in_turn(location)
    }

    /// Of the locations beside this one those that spend their time in the same function, if any do: threads
    /// of several pools may begin with one function of a library.
    pub(super) fn doing_the_same_beside(&self, location: LocationId) -> Vec<LocationId> {
        let all = self.beside(location);
        let mine = self.phases[location.index()];
        let same: Vec<_> = all.iter().copied().filter(|other| self.phases[other.index()] == mine).collect();
        if same.is_empty() { all } else { same }
    }

    /// Others that were started for the same and lived at the same time.
    pub(super) fn beside(&self, location: LocationId) -> Vec<LocationId> {
        let mine = &self.profile.locations[location];
        let lives_beside = |&other: &LocationId| {
            let one = &self.profile.locations[other];
            other != location && one.start < mine.end && mine.start < one.end
        };
        self.alike(location).iter().copied().filter(lives_beside).collect()
    }

    /// How long it was passive for these reasons.
    pub(super) fn waited(&self, location: LocationId, reasons: &[PassiveReason]) -> Ns {
        let sum = |row: &LocationAccounts| reasons.iter().map(|&reason| row.passive[reason]).sum::<u64>();
        self.account_of(location).map_or(Ns::ZERO, |row| Ns::of(sum(row)))
    }

    /// The locations that were started for the same as this one, itself included.
    pub(super) fn alike(&self, location: LocationId) -> &[LocationId] {
        self.alike.to(location)
    }

    /// Where one hands over what others go on with, as such times in which it works alone end; most of all.
    /// `phase` is where it works.
    pub(super) fn handed_over<'s>(
        &self,
        stretches: impl IntoIterator<Item = &'s Stretch>,
        phase: ContextId,
    ) -> Option<Place> {
        let (mut all, mut ends) = (Ns::ZERO, Vec::new());
        for stretch in stretches {
            all += stretch.sum();
            let after_ns = stretch.end_ns.saturating_sub(MOMENT_NS);
            let releases = self.profile.releases.ending_after(stretch.location, after_ns);
            let last = releases.take_while(|release| release.time_ns <= stretch.end_ns + MOMENT_NS).last();
            ends.extend(last.map(|release| (release.context, stretch.sum())));
        }
        let (time, context) = self.heaviest_line(ends)?;
        let place = self.places.leaving(context, phase);
        Some(place).filter(|place| time * 2.0 >= all && place.function.is_some())
    }

    /// Where locations wait for what one of these does alone, most of all; not those that were started for
    /// the same, which wait for more work. If it never is for long, the waits count that were over with it.
    pub(super) fn awaited(&self, late: &[LocationId]) -> Option<Place> {
        let alike = self.alike(*late.first()?);
        let is_other = |location, worker| late.contains(&worker) && !alike.contains(&location);
        let long = self.stretches.awaits.iter().map(|(&key, &lasted)| (key, lasted));
        let of_others = |((location, context, worker), waited): ((_, ContextId, _), Ns)| {
            is_other(location, worker).then_some((context, waited))
        };
        let mut waits: Vec<(ContextId, Ns)> = long.filter_map(of_others).collect();
        if waits.is_empty() {
            let short = self.stretches.handovers.alone.iter().map(|(&key, handed)| (key, handed.waited));
            waits.extend(short.filter_map(of_others));
        }
        let written = waits.iter().copied().filter(|&(context, _)| self.places.is_written(context));
        let (_, context) = self.heaviest_line(written).or_else(|| self.heaviest_line(waits.clone()))?;
        Some(self.places.place(context)).filter(|place| place.function.is_some())
    }

    /// A place with the processes whose it is; and where it has no function, the thread, or the process of
    /// several.
    pub(super) fn located(&self, place: Place, of: impl IntoIterator<Item = LocationId>) -> Place {
        let locations: BTreeSet<LocationId> = of.into_iter().collect();
        let processes: BTreeSet<ProcessId> =
            locations.iter().map(|&id| self.profile.locations[id].process).collect();
        let place = Place { processes: processes.iter().copied().collect(), ..place };
        if place.function.is_some() {
            return place;
        }
        let names: BTreeSet<&str> =
            processes.iter().map(|&id| self.profile.processes[id].name.as_str()).collect();
        let process = match names.len() {
            0 => None,
            _ => Some(names.into_iter().collect::<Vec<_>>().join(", ")),
        };
        let thread = match locations.first() {
            Some(&id) if locations.len() == 1 => Some(self.profile.locations[id].name.clone()),
            _ => None,
        };
        Place { process, thread: thread.filter(|name| !name.is_empty()), ..place }
    }

    /// The standard error of the processor time sampled in these contexts.
    pub(super) fn error(&self, contexts: impl IntoIterator<Item = ContextId>) -> Ns {
        let (mut cpu, mut squares) = (Ns::ZERO, 0.0);
        for context in contexts {
            cpu += self.cpu[context.index()];
            squares += self.squares[context.index()];
        }
        self.sampling.error(cpu, squares)
    }

    /// Victims by place, most first.
    pub(super) fn victims(&self, of: impl IntoIterator<Item = (LocationId, ContextId, Ns)>) -> Vec<Victim> {
        type Key = (Option<FunctionId>, Option<u32>);
        let mut sums: FxHashMap<Key, (ContextId, Vec<LocationId>, Ns)> = FxHashMap::default();
        for (location, context, lost) in of {
            let sum = sums.entry(self.places.line_key(context)).or_insert((context, Vec::new(), Ns::ZERO));
            sum.0 = sum.0.min(context);
            sum.1.push(location);
            sum.2 += lost;
        }
        let mut victims: Vec<Victim> = (sums.into_values())
            .map(|(context, mut locations, lost)| {
                locations.sort_unstable();
                locations.dedup();
                let place = self.located(self.places.place(context), locations.iter().copied());
                Victim { place, threads: locations.len(), lost }
            })
            .collect();
        victims.sort_by(|a, b| b.lost.cmp(&a.lost).then_with(|| a.place.context.cmp(&b.place.context)));
        victims.truncate(VICTIMS);
        victims
    }
}

/// Places of victims that a finding names.
pub(super) const VICTIMS: usize = 4;

/// Others go on within so short a time of what lets them.
const MOMENT_NS: u64 = 1_000_000;

/// Accounts of unused processors.
const EMPTY: [Account; 3] = [Account::Serial, Account::Narrow, Account::Asleep];
/// Accounts of a location's own work.
const WORK: [Account; 4] = [Account::Compute, Account::Io, Account::Fault, Account::Runtime];
/// Accounts of time on a processor that is not spent on looking whether a wait is over.
const ON_PROCESSOR: [Account; 7] = [
    Account::Compute,
    Account::Io,
    Account::Fault,
    Account::Runtime,
    Account::Replicated,
    Account::Measurement,
    Account::MpiTransfer,
];
/// Accounts of having no processor.
pub(super) const QUEUED: [Account; 2] = [Account::Oversubscribed, Account::Preempted];

/// Why a thread is passive that could work if there were work.
pub(super) const FOR_WORK: [PassiveReason; 9] = [
    PassiveReason::Condition,
    PassiveReason::Semaphore,
    PassiveReason::Park,
    PassiveReason::Pool,
    PassiveReason::Queue,
    PassiveReason::Futex,
    PassiveReason::Pipe,
    PassiveReason::Socket,
    PassiveReason::Event,
];

/// The number of the program that each process executes.
fn programs(profile: &Profile) -> Vec<usize> {
    let mut known: FxHashMap<&str, usize> = FxHashMap::default();
    let mut numbers = Vec::with_capacity(profile.processes.len());
    for process in &profile.processes {
        let next = known.len();
        numbers.push(*known.entry(&process.executable).or_insert(next));
    }
    numbers
}
