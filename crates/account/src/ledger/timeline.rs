//! The input: for each location the spans of its states, for each process its place in the run.

use std::collections::BTreeMap;

use super::merge::Lasting;
use super::state::{State, Work};
use super::windows::{Window, Windows, joined};
use proust_profile::processor_set::ProcessorSet;
use proust_profile::{ContextId, LocationId, ProcessId};

/// A stretch of time that a location spent in one state and one context.
///
/// Where a record knows more than one kind of work inside one stretch (between two samples: processor time,
/// of it the sampler's own, the time in the run queue, page faults), the stretch stays *one* span, active
/// from its start to its end, and `parts` says how many nanoseconds of it belong to other kinds of work than
/// the state's own. The remainder of the parts belongs to the state. The parts have no place inside the span:
/// a window that cuts the span takes the same fraction of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Begin, ns on the run's clock.
    pub start_ns: u64,
    /// End, ns on the run's clock.
    pub end_ns: u64,
    /// The location's state.
    pub state: State,
    /// Where in the program.
    pub context: ContextId,
    /// Whether the location is in the team of a parallel region: empty slots charged to it are `narrow`, not
    /// `serial`.
    pub in_region: bool,
    /// The parts of the span that belong to other kinds of work than the state's. Ignored in passive spans.
    /// Where several kinds apply to the same nanosecond the caller books one: measurement before a wait for a
    /// partner or holder, that before delay, delay before faults, faults before I/O, I/O before the runtime,
    /// all before compute, of which a part may be replicated.
    pub parts: Parts,
}

impl Span {
    /// A span of one state, outside parallel regions.
    pub fn new(start_ns: u64, end_ns: u64, state: State, context: ContextId) -> Span {
        Span { start_ns, end_ns, state, context, in_region: false, parts: Parts::default() }
    }

    /// The same span, inside a parallel region.
    pub fn in_region(self) -> Span {
        Span { in_region: true, ..self }
    }

    /// The same span, `ns` of it being of this kind.
    pub fn with(mut self, kind: PartKind, ns: u64) -> Span {
        self.parts.add(kind, ns);
        self
    }

    /// Its length, ns.
    pub const fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

impl Lasting for Span {
    fn window(&self) -> Window {
        Window::new(self.start_ns, self.end_ns)
    }
}

/// Work of which a span may hold some without a place of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PartKind {
    /// Inside Proust's own handlers and hooks.
    Measurement,
    /// Runnable but without a processor.
    Delayed,
    /// Page faults.
    Fault,
    /// Compute that repeats the work of others.
    Replicated,
}

impl PartKind {
    /// All kinds, in the order of their discriminants.
    pub const ALL: [PartKind; 4] =
        [PartKind::Measurement, PartKind::Delayed, PartKind::Fault, PartKind::Replicated];

    /// The work that it is.
    pub const fn work(self) -> Work {
        match self {
            PartKind::Measurement => Work::Measurement,
            PartKind::Delayed => Work::Delayed,
            PartKind::Fault => Work::Fault,
            PartKind::Replicated => Work::Replicated,
        }
    }
}

/// Nanoseconds of a span by kind of work. There are as many spans as operations: these are few, so that spans
/// are small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Parts([u64; PartKind::ALL.len()]);

impl Parts {
    /// Adds `ns` of a kind.
    pub fn add(&mut self, kind: PartKind, ns: u64) {
        self.0[kind as usize] += ns;
    }

    /// The nanoseconds of a kind.
    pub fn get(&self, kind: PartKind) -> u64 {
        self.0[kind as usize]
    }

    /// Sum of all parts, ns.
    pub fn sum_ns(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The parts that are not zero.
    pub fn iter(&self) -> impl Iterator<Item = (PartKind, u64)> + '_ {
        PartKind::ALL.iter().zip(&self.0).filter(|(_, ns)| **ns > 0).map(|(&kind, &ns)| (kind, ns))
    }
}

/// Spans that can be read from the beginning as often as needed: the ledger reads them twice (for the
/// processors, then for the accounts) and never holds more than two of a location.
pub trait Spans {
    /// The spans, in time order and without overlap. Gaps mean that the location was not alive.
    fn spans(&self) -> impl Iterator<Item = Span> + '_;

    /// Those that have a time in common with a range.
    fn overlapping(&self, range_ns: std::ops::Range<u64>) -> impl Iterator<Item = Span> + '_;
}

impl Spans for Vec<Span> {
    fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.iter().copied()
    }

    fn overlapping(&self, range_ns: std::ops::Range<u64>) -> impl Iterator<Item = Span> + '_ {
        let first = self.partition_point(|span| span.end_ns <= range_ns.start);
        self[first..].iter().copied().take_while(move |span| span.start_ns < range_ns.end)
    }
}

/// The states of one location over time.
#[derive(Clone, Debug)]
pub struct Timeline<S = Vec<Span>> {
    /// Which location.
    pub location: LocationId,
    /// The process it is a thread of.
    pub process: ProcessId,
    /// Whether it is internal to a runtime (MPI progress, JVM compiler …): shown, but not charged.
    pub service: bool,
    /// Its spans.
    pub spans: S,
}

impl<S: Spans> Timeline<S> {
    /// When the location is active.
    pub fn active(&self) -> impl Iterator<Item = Window> + '_ {
        let active = self.spans.spans().filter(|span| !matches!(span.state, State::Passive(_)));
        joined(active.map(|span| span.window()))
    }
}

/// A process of the run.
#[derive(Clone, Debug)]
pub struct Process {
    /// Which process.
    pub id: ProcessId,
    /// The process that started it, where that is part of the run.
    pub parent: Option<ProcessId>,
    /// Its MPI world rank, where it has one.
    pub rank: Option<u32>,
    /// The job that it is a rank of, by any number: each has a rank 0. None where there is one at most.
    pub job: Option<u32>,
    /// Start, ns on the run's clock.
    pub start_ns: u64,
    /// End, ns on the run's clock.
    pub end_ns: u64,
    /// The set of processors it may use, an index into [`Run::processor_sets`]; unknown where absent.
    pub processor_set: Option<usize>,
    /// When recording was switched off.
    pub paused: Windows,
}

impl Process {
    /// A process without rank and parent, recorded throughout.
    pub fn new(id: ProcessId, start_ns: u64, end_ns: u64) -> Process {
        Process {
            id,
            parent: None,
            rank: None,
            job: None,
            start_ns,
            end_ns,
            processor_set: None,
            paused: Windows::default(),
        }
    }
}

/// One recorded execution, as the ledger sees it.
#[derive(Clone, Debug)]
pub struct Run<S = Vec<Span>> {
    /// All processes, in any order.
    pub processes: Vec<Process>,
    /// All locations, in any order.
    pub timelines: Vec<Timeline<S>>,
    /// The sets of processors that processes and locations may use.
    pub processor_sets: Vec<ProcessorSet>,
    /// Of each location that is bound to others than its process its set, an index into `processor_sets`.
    pub bound: BTreeMap<LocationId, usize>,
}
