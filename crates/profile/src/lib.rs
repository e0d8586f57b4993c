//! The profile: the analysed, self-contained database of a run.
//!
//! A profile is a number per (context, location, metric), plus the facts of the run and, for questions about
//! time ranges, processors and waits, the samples and operations themselves. It holds names, files and lines,
//! so that it can be read on another machine, after the binaries are gone.
//!
//! - [`context`]: where in the program (a tree)
//! - [`ids`]: a type of id for each of them
//! - [`time`]: durations and instants
//! - [`location`]: which thread of which process; `places`: the tree of them
//! - [`metric`]: what is counted, and in which unit
//! - [`processor_set`]: which processors a process may use; [`bindings`]: the sets and jobs of a run
//! - `by_location`: rows of locations, encoded in memory as on disk
//! - `clocks`: how the clocks of several hosts were brought to one
//! - [`facts`]: facts about the run as a whole, and how far it can be trusted
//! - [`samples`]: the timeline of samples
//! - [`events`]: the waits and I/O operations that were intercepted
//! - [`operations`]: what these operations are; [`event_metrics`], [`sample_metrics`],
//!   [`process_metrics`]: what operations, samples and readings of processes add to the metrics
//! - `intervals`: marked intervals, and their executions
//! - `regions`: parallel regions, the threads in them, and their work and waits there
//! - `messages`: communicators of MPI, messages, and waits for their partners
//! - [`summary`]: what the amounts of all locations are together
//! - [`releases`]: releases of objects for which others waited, and wakes
//! - [`invariants`]: what holds in every profile, and the check of it
//! - [`tables`]: all of it on disk, as Parquet tables and streams
//! - [`run_file`]: what `record` notes of the run as a whole, before and after it
//! - [`sweep_file`]: what `sweep` notes of many runs of one command

use std::collections::BTreeSet;

pub mod bindings;
mod by_location;
mod clocks;
pub mod context;
pub mod event_metrics;
pub mod events;
pub mod facts;
pub mod ids;
mod intervals;
pub mod invariants;
pub mod location;
mod messages;
pub mod metric;
pub mod mpi_metrics;
pub mod notes;
pub mod operations;
mod places;
pub mod process_metrics;
pub mod process_samples;
pub mod processor_set;
mod regions;
pub mod releases;
pub mod run_file;
pub mod sample_metrics;
pub mod samples;
pub mod seek;
pub mod summary;
pub mod sweep_file;
pub mod tables;
pub mod time;
mod unit;
mod whole_file;

pub use by_location::{ByLocation, Ids, Row, RowsBuilder, RowsOf};
pub use clocks::{ClockBasis, HostClock};
pub use context::{Context, ContextKind, Function, Module};
pub use events::{EventRow, Events, EventsBuilder, InsideRow, Target};
pub use facts::{Paused, Quality, RunFacts};
pub use ids::{
    ContextId, FunctionId, IndexSlice, IndexVec, LocationId, ModuleId, OperationId, ProcessId, RegionId,
};
pub use intervals::{
    ExecutionEnd, ExecutionRow, ExecutionSumRow, IntervalContext, IntervalId, IntervalInfo, IntervalWork,
    LONG_EXECUTION_NS,
};
pub use invariants::BrokenInvariant;
pub use location::{Location, Process};
pub use messages::{
    CommunicatorInfo, ExchangeRow, GatheringRow, IdealNetwork, MessagePart, MessageQuality, PartnerWaitRow,
    PartnerWaits, TrafficRow, TransferRow, Transfers, UnmatchedReason, UnmatchedRow, WaitPattern,
};
pub use metric::{Kind, Metric, Source};
pub use operations::{Detail, Family, Nature, OperationInfo, OperationKind};
pub use places::{Level, Place, PlaceId, Places};
pub use process_samples::ProcessSampleRow;
pub use proust_streams::numbers::{NumbersReader, NumbersWriter, SpooledNumbers, far, near};
pub use proust_streams::{Array, Budget, Spool, Taken};
pub use regions::{RegionInfo, SegmentRow, StayRow, Stays, TrialSums};
pub use releases::{ReleaseRow, Releases, ReleasesBuilder};
pub use run_file::{Pause, RunFile, Stop};
pub use samples::{SampleRow, Samples, SamplesBuilder};
pub use seek::seek;
pub use summary::{Running, Summary, SummaryRow, SummaryRows};
pub use sweep_file::SweepFile;
pub use time::Ns;
pub use unit::Unit;

/// One number: an exclusive amount of a metric in a context at a location.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// Where in the program.
    pub context: ContextId,
    /// Which thread.
    pub location: LocationId,
    /// What.
    pub metric: Metric,
    /// How much, in whole numbers of what the unit is based on ([`Unit::shown`]). Inclusive amounts are
    /// computed, never stored.
    pub amount: u64,
}

/// The analysed, self-contained database of a run.
///
/// Invariants: `contexts[0]` is the program; every other context's parent is before it; ids are positions;
/// `values` are sorted by (context, location, metric) and hold each combination at most once; `samples` and
/// `releases` are sorted by (location, time), `events` by (location, end), `stays` by (location, begin);
/// `segments` by (location, region, operation, context), each combination once; `executions` by (location,
/// begin), `partner_waits` by (location, begin), `transfers` by (location, end), `interval_contexts` by
/// context, each once, and these are the contexts of kind interval; no event ends before it begins, and its
/// time is what lies between, of a sum at most that.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// The run as a whole.
    pub facts: RunFacts,
    /// How far the numbers can be trusted.
    pub quality: Quality,
    /// Processes by [`ProcessId`].
    pub processes: IndexVec<ProcessId, Process>,
    /// Threads by [`LocationId`].
    pub locations: IndexVec<LocationId, Location>,
    /// Modules by [`ModuleId`]; one entry per file, not per load.
    pub modules: IndexVec<ModuleId, Module>,
    /// Functions by [`FunctionId`].
    pub functions: IndexVec<FunctionId, Function>,
    /// The context tree by [`ContextId`].
    pub contexts: IndexVec<ContextId, Context>,
    /// The numbers.
    pub values: Vec<Value>,
    /// The timeline of samples.
    pub samples: Samples,
    /// The intercepted operations by [`OperationId`]; only those that occur.
    pub operations: IndexVec<OperationId, OperationInfo>,
    /// The timeline of operations.
    pub events: Events,
    /// Operations inside others.
    pub inside: Vec<InsideRow>,
    /// The timeline of releases and wakes.
    pub releases: Releases,
    /// The parallel regions by [`RegionId`].
    pub regions: IndexVec<RegionId, RegionInfo>,
    /// Work and waits at their sites.
    pub segments: Vec<SegmentRow>,
    /// The timeline of stays in them.
    pub stays: Stays,
    /// The marked intervals by [`IntervalId`].
    pub intervals: Vec<IntervalInfo>,
    /// Where in the tree they are.
    pub interval_contexts: Vec<IntervalContext>,
    /// The timeline of their executions.
    pub executions: Vec<ExecutionRow>,
    /// Executions that have no rows of their own.
    pub execution_sums: Vec<ExecutionSumRow>,
    /// The processes as a whole, by process and time.
    pub process_samples: Vec<ProcessSampleRow>,
    /// The communicators of MPI.
    pub communicators: Vec<CommunicatorInfo>,
    /// Messages between processes, by sender and receiver.
    pub traffic: Vec<TrafficRow>,
    /// Collectives, by communicator and function.
    pub gatherings: Vec<GatheringRow>,
    /// Calls of MPI by call site, with their partners' times.
    pub exchanges: Vec<ExchangeRow>,
    /// Parts of messages and collectives without a partner, by process.
    pub unmatched: Vec<UnmatchedRow>,
    /// The timeline of waits for partners.
    pub partner_waits: PartnerWaits,
    /// The timeline of messages, by the calls that started them.
    pub transfers: Transfers,
}

impl Profile {
    /// Whether rows could not be read until now, though they were there: what follows from the others is
    /// wrong.
    pub fn lost_rows(&self) -> bool {
        self.samples.is_damaged()
            || self.events.is_damaged()
            || self.releases.is_damaged()
            || self.stays.is_damaged()
            || self.transfers.is_damaged()
    }

    /// Number of distinct ranks; a rank's child processes carry its number too.
    pub fn ranks(&self) -> usize {
        self.processes.iter().filter_map(|process| process.rank).collect::<BTreeSet<u32>>().len()
    }
}
