//! Writes synthetic runs down briefly. Times are seconds.

use super::super::*;
use proust_profile::{ContextId, LocationId, ProcessId};

pub const COMPUTE: State = State::Working(Work::Compute);
pub const DELAYED: State = State::Working(Work::Delayed);

pub fn passive(reason: PassiveReason) -> State {
    State::Passive(reason)
}

pub fn ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// A span in context 0.
pub fn span(from: f64, to: f64, state: State) -> Span {
    Span::new(ns(from), ns(to), state, ContextId(0))
}

/// A span in a context.
pub fn span_at(context: u32, from: f64, to: f64, state: State) -> Span {
    Span { context: ContextId(context), ..span(from, to, state) }
}

/// A run being written down: what follows a process belongs to it.
pub struct Program(pub Run);

impl Program {
    pub fn new() -> Program {
        Program(Run {
            processes: vec![],
            timelines: vec![],
            processor_sets: vec![],
            bound: Default::default(),
        })
    }

    pub fn process(mut self, id: u32, from: f64, to: f64) -> Program {
        self.0.processes.push(Process::new(ProcessId(id), ns(from), ns(to)));
        self
    }

    pub fn rank(self, rank: u32, from: f64, to: f64) -> Program {
        let mut program = self.process(100 + rank, from, to);
        program.last().rank = Some(rank);
        program
    }

    pub fn child_of(mut self, parent: u32) -> Program {
        self.last().parent = Some(ProcessId(parent));
        self
    }

    pub fn paused(mut self, from: f64, to: f64) -> Program {
        self.last().paused = Windows::between(ns(from), ns(to));
        self
    }

    /// Puts all processes on one set of processors.
    pub fn on_processors(self, available: u32) -> Program {
        self.on_set(ProcessorSet::first(available))
    }

    /// Puts all processes on this set of processors.
    pub fn on_set(mut self, set: ProcessorSet) -> Program {
        self.0.processor_sets = vec![set];
        self.0.processes.iter_mut().for_each(|process| process.processor_set = Some(0));
        self
    }

    /// Binds the last process to this set of processors.
    pub fn bound_to(mut self, set: ProcessorSet) -> Program {
        self.0.processor_sets.push(set);
        let set = self.0.processor_sets.len() - 1;
        self.last().processor_set = Some(set);
        self
    }

    pub fn thread(mut self, id: u32, spans: Vec<Span>) -> Program {
        let process = self.last().id;
        self.0.timelines.push(Timeline { location: LocationId(id), process, service: false, spans });
        self
    }

    /// Binds the last thread to this set of processors.
    pub fn alone_on(mut self, set: ProcessorSet) -> Program {
        self.0.processor_sets.push(set);
        let location = self.0.timelines.last().expect("a thread comes first").location;
        self.0.bound.insert(location, self.0.processor_sets.len() - 1);
        self
    }

    pub fn service(self, id: u32, spans: Vec<Span>) -> Program {
        let mut program = self.thread(id, spans);
        program.0.timelines.last_mut().expect("just added").service = true;
        program
    }

    /// The ledger of the whole run, checked for closing.
    pub fn ledger(&self) -> Ledger {
        self.ledger_within(&Windows::all())
    }

    /// The ledger of a part, with the processors of the whole run.
    pub fn ledger_within(&self, windows: &Windows) -> Ledger {
        let processors = Processors::measured(&self.0, &Windows::all()).expect("a sound run");
        let ledger = Ledger::of(&self.0, &processors, windows).expect("a sound run");
        assert_closes(&ledger);
        ledger
    }

    fn last(&mut self) -> &mut Process {
        self.0.processes.last_mut().expect("a process comes first")
    }
}

/// All sums that must agree within one ledger.
pub fn assert_closes(ledger: &Ledger) {
    assert_eq!(ledger.residual_ns(), 0);
    assert_eq!(ledger.total_ns, u64::from(ledger.processors) * ledger.wall_ns, "total = P × T");

    let (mut accounts, mut beyond) = (Accounts::default(), Accounts::default());
    for location in &ledger.locations {
        assert_eq!(location.accounts.sum_ns() + location.passive.sum_ns(), location.wall_ns, "{location:?}");
        assert_eq!(
            location.accounts,
            sum(ledger.spent.iter().filter(|row| row.location == location.location))
        );
        let mut passive = PassiveTimes::default();
        for row in ledger.passive.iter().filter(|row| row.location == location.location) {
            passive[row.reason] += row.ns;
        }
        assert_eq!(location.passive, passive, "every passive nanosecond is in a context");
        if location.charged {
            accounts += &location.accounts;
            beyond += &location.beyond;
        } else {
            assert_eq!(location.beyond, Accounts::default());
        }
        for (account, ns) in location.beyond.iter() {
            assert!(ns <= location.accounts[account], "{account}: {location:?}");
        }
    }
    let mut slots = Accounts::default();
    for owner in &ledger.slots {
        slots += &owner.accounts;
    }
    accounts += &slots;
    assert_eq!(ledger.beyond, beyond);
    assert_eq!(ledger.beyond_ns, beyond.sum_ns());
    for (account, ns) in accounts.iter() {
        assert_eq!(ledger.accounts[account] + ledger.beyond[account], ns, "{account}");
    }
    assert_eq!(ledger.total_ns, ledger.slots.iter().map(|owner| owner.total_ns).sum::<u64>());

    for nobodys in [Account::Asleep, Account::Idle, Account::Paused] {
        slots[nobodys] = 0;
    }
    assert_eq!(slots, sum(&ledger.blamed), "what is lost in slots is what is charged");
}

fn sum<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Accounts {
    let mut accounts = Accounts::default();
    for row in rows {
        accounts[row.account] += row.ns;
    }
    accounts
}

/// The ledger has exactly these accounts (seconds), and their sum is the total.
#[track_caller]
pub fn assert_accounts(ledger: &Ledger, processors: u32, total_s: f64, expected: &[(Account, f64)]) {
    assert_eq!(ledger.processors, processors, "processors");
    assert_eq!(ledger.total_ns, ns(total_s), "total");
    assert_eq!(ledger.accounts, accounts(expected));
}

/// Accounts from seconds.
pub fn accounts(seconds: &[(Account, f64)]) -> Accounts {
    let mut accounts = Accounts::default();
    for (account, seconds) in seconds {
        accounts[*account] += ns(*seconds);
    }
    accounts
}

/// Seconds charged for empty slots: (location, context, account, seconds).
#[track_caller]
pub fn assert_blamed(ledger: &Ledger, expected: &[(u32, u32, Account, f64)]) {
    let rows: Vec<Row> = expected
        .iter()
        .map(|&(location, context, account, seconds)| Row {
            location: LocationId(location),
            account,
            context: ContextId(context),
            ns: ns(seconds),
        })
        .collect();
    assert_eq!(ledger.blamed, rows);
}
