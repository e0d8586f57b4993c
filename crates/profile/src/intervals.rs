//! Intervals that the program marked, and their executions.

use crate::{ContextId, LocationId};

/// Position in [`crate::Profile::intervals`].
pub type IntervalId = u32;

/// An interval: one place in the source, with the program's own number, inside of one other interval.
///
/// It may be in several places of the tree of contexts: on each call path that leads to it, and in each
/// process ([`IntervalContext`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct IntervalInfo {
    /// The interval around it.
    pub parent: Option<IntervalId>,
    /// The name that the program gave it.
    pub name: String,
    /// The number that the program gave it.
    pub number: Option<i64>,
    /// The file of the mark that begins it.
    pub file: Option<String>,
    /// The line of that mark.
    pub line: Option<u32>,
    /// What the program says of the work in it.
    pub work: IntervalWork,
    /// Of a replicated one: by how many processors each does it; None = by all ranks.
    pub degree: Option<u32>,
    /// Whether it was begun in a parallel region.
    pub in_region: bool,
}

/// What the program says of the work in an interval. The identifiers are part of the JSON contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IntervalWork {
    /// Nothing.
    #[default]
    Plain,
    /// It is distributed over the processors.
    Parallel,
    /// Several processors each do the same.
    Replicated,
}

impl IntervalWork {
    /// The stable identifier.
    pub fn id(self) -> &'static str {
        match self {
            IntervalWork::Plain => "plain",
            IntervalWork::Parallel => "parallel",
            IntervalWork::Replicated => "replicated",
        }
    }

    /// What has this identifier.
    pub fn from_id(id: &str) -> Option<IntervalWork> {
        [IntervalWork::Plain, IntervalWork::Parallel, IntervalWork::Replicated]
            .into_iter()
            .find(|work| work.id() == id)
    }
}

impl IntervalInfo {
    /// The interval as it is shown and asked for: `solve[3]`.
    pub fn label(&self) -> String {
        match self.number {
            Some(number) => format!("{}[{number}]", self.name),
            None => self.name.clone(),
        }
    }
}

/// A context that is an interval. A context is at most one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IntervalContext {
    /// The context.
    pub context: ContextId,
    /// Which interval.
    pub interval: IntervalId,
}

/// A thread executed an interval, once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecutionRow {
    /// Which thread.
    pub location: LocationId,
    /// Which interval.
    pub interval: IntervalId,
    /// Begin, nanoseconds since the run's start.
    pub begin_ns: u64,
    /// End.
    pub end_ns: u64,
    /// Iterations that the program counted.
    pub iterations: u64,
    /// How it ended.
    pub end: ExecutionEnd,
    /// It was begun before the process was forked: by the one that this is a child of.
    pub inherited: bool,
}

/// How an execution ended. The identifiers are those of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExecutionEnd {
    /// By its mark.
    #[default]
    Marked,
    /// By the mark that ended an interval around it.
    Crossed,
    /// With its thread or process image.
    Open,
}

impl ExecutionEnd {
    /// The stable identifier.
    pub fn id(self) -> &'static str {
        match self {
            ExecutionEnd::Marked => "marked",
            ExecutionEnd::Crossed => "crossed",
            ExecutionEnd::Open => "open",
        }
    }

    /// What has this identifier.
    pub fn from_id(id: &str) -> Option<ExecutionEnd> {
        [ExecutionEnd::Marked, ExecutionEnd::Crossed, ExecutionEnd::Open]
            .into_iter()
            .find(|end| end.id() == id)
    }
}

/// Executions this long have rows of their own however often a thread marks, ns.
pub const LONG_EXECUTION_NS: u64 = 200_000;

/// Executions of an interval by a thread that marked very often, which have no rows of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecutionSumRow {
    /// Which thread.
    pub location: LocationId,
    /// Which interval.
    pub interval: IntervalId,
    /// Begin of the first, nanoseconds since the run's start.
    pub begin_ns: u64,
    /// End of the last.
    pub end_ns: u64,
    /// Time in them.
    pub time_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// How many.
    pub executions: u64,
    /// Iterations that the program counted.
    pub iterations: u64,
}
