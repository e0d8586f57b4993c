//! The definitions, word by word: looks at every instant at which anything changes, at all locations, and adds up
//! in floating point. Slow, and written without regard to how the ledger does it.

use super::super::*;
use proust_profile::{ContextId, LocationId, ProcessId};
use std::collections::BTreeMap;

#[derive(Default)]
pub struct Naive {
    pub total: f64,
    pub beyond: f64,
    pub accounts: BTreeMap<Account, f64>,
    pub spent: BTreeMap<(LocationId, Account), f64>,
    pub passive: BTreeMap<(LocationId, ContextId, PassiveReason), f64>,
    pub blamed: BTreeMap<(LocationId, ContextId, Account), f64>,
}

/// What a location does at an instant; `None` if it is not alive.
struct Doing<'a> {
    timeline: &'a Timeline,
    owner: Option<Owner>,
    span: Option<Span>,
    recorded: bool,
}

/// An owner of slots: a rank, or 0 for a run without ranks.
type Owner = u32;

fn process(run: &Run, id: ProcessId) -> &Process {
    run.processes.iter().find(|process| process.id == id).unwrap()
}

fn owner_of(run: &Run, id: ProcessId) -> Option<Owner> {
    if run.processes.iter().all(|process| process.rank.is_none()) {
        return Some(0);
    }
    let process = process(run, id);
    process.rank.or_else(|| process.parent.and_then(|parent| owner_of(run, parent)))
}

fn covers(windows: &Windows, at: u64) -> bool {
    windows.as_slice().iter().any(|window| window.start_ns <= at && at < window.end_ns)
}

/// The processes that make an owner's lifetime, as opposed to those that only use its slots.
fn life(run: &Run, owner: Owner) -> Window {
    let ranked = run.processes.iter().any(|process| process.rank.is_some());
    let of_owner = || run.processes.iter().filter(|process| !ranked || process.rank == Some(owner));
    Window::new(of_owner().map(|p| p.start_ns).min().unwrap(), of_owner().map(|p| p.end_ns).max().unwrap())
}

fn owners(run: &Run) -> Vec<Owner> {
    let mut owners: Vec<Owner> = run.processes.iter().filter_map(|process| process.rank).collect();
    owners.sort_unstable();
    owners.dedup();
    if owners.is_empty() && !run.processes.is_empty() { vec![0] } else { owners }
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
    fn working(&self) -> bool {
        self.recorded && self.span.is_some_and(|span| matches!(span.state, State::Working(_)))
    }

    fn waiting(&self) -> bool {
        let waits = |span: Span| matches!(span.state, State::Waiting(_) | State::Polling(_));
        self.recorded && self.span.is_some_and(waits)
    }
}

fn owner_paused(run: &Run, owner: Owner, at: u64) -> bool {
    run.processes
        .iter()
        .any(|process| owner_of(run, process.id) == Some(owner) && covers(&process.paused, at))
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
        (1..=run.timelines.len()).rev().find(enough).unwrap_or(1) as u32
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
        let base = match span.state {
            _ if !d.recorded => {
                *self.passive.entry((location, span.context, PassiveReason::NotRecorded)).or_default() += dt;
                return;
            }
            State::Passive(reason) => {
                *self.passive.entry((location, span.context, reason)).or_default() += dt;
                return;
            }
            State::Working(work) => self.account_of(run, work, d, all, in_life),
            State::Waiting(wait) | State::Polling(wait) => wait.account(),
        };
        let length = span.length_ns() as f64;
        let mut amounts = vec![(base, dt * (1.0 - span.parts.sum_ns() as f64 / length))];
        for (kind, ns) in span.parts.iter() {
            amounts.push((self.account_of(run, kind.work(), d, all, in_life), dt * ns as f64 / length));
        }
        for (account, amount) in amounts {
            *self.spent.entry((location, account)).or_default() += amount;
            if d.owner.is_some() {
                *self.accounts.entry(account).or_default() += amount;
            }
        }
    }

    fn account_of(&self, run: &Run, work: Work, d: &Doing<'_>, all: &[Doing<'_>], in_life: bool) -> Account {
        let set_of = |d: &Doing<'_>| process(run, d.timeline.process).processor_set;
        let wants = |other: &&Doing<'_>| {
            let takes = |span: Span| match span.state {
                State::Working(work) => work != Work::Io,
                State::Polling(_) => true,
                _ => false,
            };
            let counted = other.owner.is_none() || in_life;
            counted && other.recorded && set_of(other) == set_of(d) && other.span.is_some_and(takes)
        };
        match (work, set_of(d)) {
            (Work::Delayed, Some(set))
                if all.iter().filter(wants).count() > run.processor_sets[set] as usize =>
            {
                Account::Oversubscribed
            }
            _ => work.account(),
        }
    }

    fn slots(&mut self, run: &Run, owner: Owner, processors: f64, all: &[Doing<'_>], at: u64, dt: f64) {
        let mine: Vec<_> = all.iter().filter(|d| d.owner == Some(owner)).collect();
        let workers: Vec<_> = mine.iter().filter(|d| d.working()).collect();
        let waiters: Vec<_> = mine.iter().filter(|d| d.waiting()).collect();
        let active = (workers.len() + waiters.len()) as f64;
        self.total += processors.max(active) * dt;
        self.beyond += (active - processors).max(0.0) * dt;
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
