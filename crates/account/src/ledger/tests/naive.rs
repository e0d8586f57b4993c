//! The definitions, word by word: looks at every instant at which anything changes, at all locations, and
//! adds up in floating point. Slow, and written without regard to how the ledger does it.

use super::super::*;
use proust_profile::{ContextId, LocationId, ProcessId};
use std::collections::BTreeMap;

#[derive(Default)]
pub struct Naive {
    pub total: f64,
    pub beyond: BTreeMap<(LocationId, Account), f64>,
    pub accounts: BTreeMap<Account, f64>,
    pub spent: BTreeMap<(LocationId, Account), f64>,
    pub passive: BTreeMap<(LocationId, ContextId, PassiveReason), f64>,
    pub blamed: BTreeMap<(LocationId, ContextId, Account), f64>,
}

/// The state of a location at an instant; `None` if it is not alive.
struct Doing<'a> {
    timeline: &'a Timeline,
    owner: Option<Owner>,
    span: Option<Span>,
    recorded: bool,
}

/// An owner of slots: a rank of a job, or any for a run without ranks.
type Owner = (Option<u32>, u32);
const ALL: Owner = (None, 0);

fn rank_of(process: &Process) -> Option<Owner> {
    process.rank.map(|rank| (process.job, rank))
}

fn process(run: &Run, id: ProcessId) -> &Process {
    run.processes.iter().find(|process| process.id == id).unwrap()
}

fn owner_of(run: &Run, id: ProcessId) -> Option<Owner> {
    if run.processes.iter().all(|process| process.rank.is_none()) {
        return Some(ALL);
    }
    let process = process(run, id);
    rank_of(process).or_else(|| process.parent.and_then(|parent| owner_of(run, parent)))
}

fn covers(windows: &Windows, at: u64) -> bool {
    windows.as_slice().iter().any(|window| window.start_ns <= at && at < window.end_ns)
}

/// The processes that make an owner's lifetime, as opposed to those that only use its slots.
fn life(run: &Run, owner: Owner) -> Window {
    let ranked = run.processes.iter().any(|process| process.rank.is_some());
    let of_owner = || run.processes.iter().filter(|process| !ranked || rank_of(process) == Some(owner));
    Window::new(of_owner().map(|p| p.start_ns).min().unwrap(), of_owner().map(|p| p.end_ns).max().unwrap())
}

fn owners(run: &Run) -> Vec<Owner> {
    let mut owners: Vec<Owner> = run.processes.iter().filter_map(rank_of).collect();
    owners.sort_unstable();
    owners.dedup();
    if owners.is_empty() && !run.processes.is_empty() { vec![ALL] } else { owners }
}

fn whole_life(run: &Run) -> Window {
    let lives = owners(run).into_iter().map(|owner| life(run, owner));
    lives.reduce(|a, b| Window::new(a.start_ns.min(b.start_ns), a.end_ns.max(b.end_ns))).unwrap()
}

fn instants(run: &Run, windows: &Windows) -> Vec<u64> {
    let mut instants = vec![];
    let mut add = |window: &Window| instants.extend([window.start_ns, window.end_ns]);
    windows.as_slice().iter().for_each(&mut add);
    for process in &run.processes {
        add(&Window::new(process.start_ns, process.end_ns));
        process.paused.as_slice().iter().for_each(&mut add);
    }
    for span in run.timelines.iter().flat_map(|timeline| &timeline.spans) {
        add(&Window::new(span.start_ns, span.end_ns));
    }
    instants.sort_unstable();
    instants.dedup();
    instants
}

fn doing(run: &Run, at: u64) -> Vec<Doing<'_>> {
    run.timelines
        .iter()
        .map(|timeline| Doing {
            timeline,
            owner: owner_of(run, timeline.process).filter(|_| !timeline.service),
            span: timeline.spans.iter().find(|span| span.start_ns <= at && at < span.end_ns).copied(),
            recorded: !covers(&process(run, timeline.process).paused, at),
        })
        .collect()
}

impl Doing<'_> {
    /// The acts of an active location at this instant, and their rates: its parts have no place in the span.
    fn rates(&self) -> Vec<(State, f64)> {
        let Some(span) = self.span.filter(|span| self.recorded && !matches!(span.state, State::Passive(_)))
        else {
            return vec![];
        };
        let length = span.length_ns() as f64;
        let rest = (span.state, 1.0 - span.parts.sum_ns() as f64 / length);
        let part = |(kind, ns): (PartKind, u64)| (State::Working(kind.work()), ns as f64 / length);
        [rest].into_iter().chain(span.parts.iter().map(part)).collect()
    }

    fn working(&self) -> bool {
        self.recorded && self.span.is_some_and(|span| matches!(span.state, State::Working(_)))
    }

    fn waiting(&self) -> bool {
        let waits = |span: Span| matches!(span.state, State::Waiting(_) | State::Polling(_));
        self.recorded && self.span.is_some_and(waits)
    }
}

/// Which locations fill slots first: those computing, then in I/O or runtime, then waiting, then queued.
fn place_of(state: State) -> usize {
    match state {
        State::Working(Work::Io | Work::Runtime | Work::MpiTransfer) => 1,
        State::Working(Work::Delayed) => 3,
        State::Working(_) => 0,
        _ => 2,
    }
}

/// The accounts of a state, with their shares; `crowding` is the share of a delay that is the run's own
/// doing.
fn accounts_of(state: State, crowding: f64) -> Vec<(Account, f64)> {
    match state {
        State::Working(Work::Delayed) => {
            vec![(Account::Oversubscribed, crowding), (Account::Preempted, 1.0 - crowding)]
        }
        State::Working(work) => vec![(work.account(), 1.0)],
        State::Waiting(wait) | State::Polling(wait) => vec![(wait.account(), 1.0)],
        State::Passive(_) => vec![],
    }
}

/// The share of a location's delay at an instant that its own run explains. On C processors of which the run
/// has h, and with n more that it queues for: as many processors as it wants too much, h + n − C, and never
/// more than the part h ÷ C of those that are held. Any set of processors that its own lies in may be the
/// scarce one.
fn crowding(run: &Run, d: &Doing<'_>, all: &[Doing<'_>], in_life: bool) -> f64 {
    let set_of = |d: &Doing<'_>| {
        let bound = run.bound.get(&d.timeline.location).copied();
        bound.or(process(run, d.timeline.process).processor_set).map(|set| &run.processor_sets[set])
    };
    let covers = |outer: &ProcessorSet, inner: &ProcessorSet| {
        outer.host == inner.host
            && (0..64 * 4).all(|n| outer.has(n) || !inner.has(n))
            && (outer.quota_milli.is_none() || outer.quota_milli == inner.quota_milli)
    };
    let Some(mine) = set_of(d) else { return 0.0 };
    let used = run.processes.iter().filter_map(|process| process.processor_set);
    let outer = used
        .chain(run.bound.values().copied())
        .map(|set| &run.processor_sets[set])
        .filter(|set| covers(set, mine));
    let share = |set: &ProcessorSet| {
        let (mut has, mut queues) = (0.0, 0.0);
        for other in all.iter().filter(|other| other.recorded && (other.owner.is_none() || in_life)) {
            if set_of(other).is_some_and(|other| covers(set, other)) {
                for (state, rate) in other.rates() {
                    match state {
                        State::Working(Work::Delayed) => queues += rate,
                        State::Working(Work::Io) | State::Waiting(_) | State::Passive(_) => {}
                        State::Working(_) | State::Polling(_) => has += rate,
                    }
                }
            }
        }
        let numbers = (0..64 * 4).filter(|&n| set.has(n)).count() as f64;
        let there = set.quota_milli.map_or(numbers, |milli| numbers.min(f64::from(milli) / 1000.0));
        let held = f64::min(has, there) / there;
        if queues > 0.0 { held.min(f64::max(has + queues - there, 0.0) / queues) } else { 0.0 }
    };
    outer.map(share).fold(0.0, f64::max)
}

fn owner_paused(run: &Run, owner: Owner, at: u64) -> bool {
    run.processes
        .iter()
        .any(|process| owner_of(run, process.id) == Some(owner) && covers(&process.paused, at))
}

/// How many processors the processes of an owner may use; None where that is not known of any.
fn available(run: &Run, owner: Owner) -> Option<u32> {
    let mine = run.processes.iter().filter(|process| owner_of(run, process.id) == Some(owner));
    let sets: Vec<&ProcessorSet> =
        mine.filter_map(|process| process.processor_set).map(|set| &run.processor_sets[set]).collect();
    let hosts: std::collections::BTreeSet<u32> = sets.iter().map(|set| set.host).collect();
    let of_host = |host: u32| {
        let here = || sets.iter().filter(move |set| set.host == host);
        let numbers = (0..64 * 4).filter(|&n| here().any(|set| set.has(n))).count() as f64;
        let quotas: Option<Vec<f64>> =
            here().map(|set| set.quota_milli.map(|milli| f64::from(milli) / 1000.0)).collect();
        let quota = quotas.map_or(f64::INFINITY, |quotas| quotas.into_iter().fold(0.0, f64::max));
        numbers.min(quota)
    };
    (!sets.is_empty()).then(|| hosts.into_iter().map(of_host).sum::<f64>().ceil().max(1.0) as u32)
}

/// The processors of each owner over the whole run.
pub fn processors(run: &Run) -> Vec<u32> {
    let instants = instants(run, &Windows::default());
    let of_owner = |owner| {
        let life = life(run, owner);
        let mut time = BTreeMap::<usize, u64>::new();
        for step in instants.windows(2) {
            if step[0] >= life.start_ns && step[0] < life.end_ns && !owner_paused(run, owner, step[0]) {
                let active = doing(run, step[0])
                    .iter()
                    .filter(|d| d.owner == Some(owner) && (d.working() || d.waiting()))
                    .count();
                *time.entry(active).or_default() += step[1] - step[0];
            }
        }
        let lifetime: u64 = time.values().sum();
        let enough = |k: &usize| {
            let at_least: u64 = time.range(k..).map(|(_, ns)| ns).sum();
            at_least > 0 && at_least * 100 >= lifetime
        };
        let active = (1..=run.timelines.len()).rev().find(enough).unwrap_or(1) as u32;
        active.min(available(run, owner).unwrap_or(u32::MAX))
    };
    owners(run).into_iter().map(of_owner).collect()
}

pub fn ledger(run: &Run, windows: &Windows) -> Naive {
    let mut naive = Naive::default();
    if run.processes.is_empty() {
        return naive;
    }
    let processors = processors(run);
    let whole = whole_life(run);
    for step in instants(run, windows).windows(2) {
        let (at, dt) = (step[0], (step[1] - step[0]) as f64);
        if !covers(windows, at) {
            continue;
        }
        let all = doing(run, at);
        let in_life = whole.start_ns <= at && at < whole.end_ns;
        for d in all.iter().filter(|d| d.owner.is_none() || in_life) {
            naive.spend(run, d, &all, in_life, dt);
        }
        if in_life {
            for (owner, processors) in owners(run).into_iter().zip(&processors) {
                naive.slots(run, owner, f64::from(*processors), &all, at, dt);
            }
        }
    }
    naive
}

impl Naive {
    fn spend(&mut self, run: &Run, d: &Doing<'_>, all: &[Doing<'_>], in_life: bool, dt: f64) {
        let (Some(span), location) = (d.span, d.timeline.location) else { return };
        if let (State::Passive(_), _) | (_, false) = (span.state, d.recorded) {
            let reason = match span.state {
                State::Passive(reason) if d.recorded => reason,
                _ => PassiveReason::NotRecorded,
            };
            *self.passive.entry((location, span.context, reason)).or_default() += dt;
            return;
        }
        for (state, rate) in d.rates() {
            for (account, share) in accounts_of(state, crowding(run, d, all, in_life)) {
                *self.spent.entry((location, account)).or_default() += rate * share * dt;
                if d.owner.is_some() {
                    *self.accounts.entry(account).or_default() += rate * share * dt;
                }
            }
        }
    }

    /// Fills an owner's slots with its locations' acts, and puts the rest beyond them.
    fn fill(&mut self, run: &Run, mine: &[&Doing<'_>], all: &[Doing<'_>], processors: f64, dt: f64) {
        let mut room = processors;
        for place in 0..4 {
            let of_place =
                |d: &Doing<'_>| d.rates().into_iter().filter(|(state, _)| place_of(*state) == place);
            let demand: f64 = mine.iter().flat_map(|d| of_place(d)).map(|(_, rate)| rate).sum();
            let filled = demand.min(room);
            room -= filled;
            let beyond = if demand > 0.0 { 1.0 - filled / demand } else { 0.0 };
            for d in mine {
                let crowding = crowding(run, d, all, true);
                for (state, rate) in of_place(d) {
                    // Of the queued, those whose processor others have are first: their slots were there.
                    let shares = match state {
                        State::Working(Work::Delayed) => vec![
                            (Account::Oversubscribed, beyond.min(crowding)),
                            (Account::Preempted, beyond - beyond.min(crowding)),
                        ],
                        _ => accounts_of(state, 0.0)
                            .into_iter()
                            .map(|(account, _)| (account, beyond))
                            .collect(),
                    };
                    for (account, share) in shares {
                        *self.beyond.entry((d.timeline.location, account)).or_default() += rate * share * dt;
                        *self.accounts.entry(account).or_default() -= rate * share * dt;
                    }
                }
            }
        }
    }

    fn slots(&mut self, run: &Run, owner: Owner, processors: f64, all: &[Doing<'_>], at: u64, dt: f64) {
        let mine: Vec<_> = all.iter().filter(|d| d.owner == Some(owner)).collect();
        let workers: Vec<_> = mine.iter().filter(|d| d.working()).collect();
        let waiters: Vec<_> = mine.iter().filter(|d| d.waiting()).collect();
        let active = (workers.len() + waiters.len()) as f64;
        self.total += processors * dt;
        self.fill(run, &mine, all, processors, dt);
        let empty = (processors - active).max(0.0) * dt;
        let life = life(run, owner);
        let nobodys = if at < life.start_ns || at >= life.end_ns {
            Some(Account::Idle)
        } else if owner_paused(run, owner, at) {
            Some(Account::Paused)
        } else if workers.is_empty() && waiters.is_empty() {
            Some(Account::Asleep)
        } else {
            None
        };
        if let Some(account) = nobodys {
            *self.accounts.entry(account).or_default() += empty;
            return;
        }
        let charged = if workers.is_empty() { waiters } else { workers };
        for d in &charged {
            let span = d.span.unwrap();
            let account = match span.state {
                State::Waiting(wait) | State::Polling(wait) => wait.account(),
                _ if span.in_region => Account::Narrow,
                _ => Account::Serial,
            };
            let share = empty / charged.len() as f64;
            *self.accounts.entry(account).or_default() += share;
            *self.blamed.entry((d.timeline.location, span.context, account)).or_default() += share;
        }
    }
}
