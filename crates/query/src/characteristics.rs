//! The characteristics of intervals, from the account of the time in them: accounts become the terms of
//! [`proust_characteristics::terms`].
//!
//! - `at_once`: for how long locations are active beside each other
//! - `cell`: numbers that may have no source
//! - `mpi_rows`: the rows that calls of MPI belong to
//! - `processors`: which locations are a processor
//! - `sites`: operations in parallel regions and others, by interval and location
//! - `terms`: accounts to terms
//!
//! Processors are threads: of each rank where there are ranks, else of the run. A location's accounts are its
//! CPU time (`compute`, `replicated`, `fault`, `preempted`, `oversubscribed`, `measurement`, `unattributed`),
//! its I/O time (`io`), or communication (`barrier`, `lock`, `runtime`, `mpi-partner`, `mpi-transfer`), and
//! none is two of these. What is left of the interval's time is absence, or the passive time of the thread
//! that executes the interval while nobody has anything to do. Time that was not recorded (`paused`) is in no
//! term.

mod at_once;
mod cell;
mod mpi_rows;
mod processors;
mod sites;
mod terms;

use std::collections::BTreeMap;

use proust_account::ledger::Inside;
use proust_characteristics::dvm::Interval;
use proust_characteristics::mpi::MpiInterval;
use proust_profile::{IntervalId, LocationId};

pub use processors::{Processor, Processors, RankOfJob, roots};
pub use sites::Sites;
pub use terms::{CpuTimes, Replication, characterise, cpu_times};

/// An interval, and the time that its executions took.
#[derive(Clone, Copy, Debug)]
pub struct Executing<'i> {
    /// Which; None = the whole run.
    pub interval: Option<IntervalId>,
    /// Whether its work is parallel.
    pub is_parallel: bool,
    /// Executions, and their time in ns, of the locations that executed it.
    pub locations: &'i BTreeMap<LocationId, Executions>,
    /// The account of the time in it.
    pub inside: &'i Inside,
    /// Whether a runtime reports iterations of loops in it: then those that did none did 0.
    pub has_loops: bool,
    /// Whether all of the run is asked for, so that sums over the run can be used.
    pub is_whole_run: bool,
}

/// What a location executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executions {
    /// How often.
    pub count: u64,
    /// How long, ns.
    pub time_ns: u64,
    /// Iterations that the program counted there, in intervals inside of it, too; where it counts none, those
    /// of loops that the runtime reports.
    pub iterations: u64,
}

/// The characteristics of an interval, and of whom they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Characterised {
    /// The characteristics.
    pub interval: Interval,
    /// Those of the analyzer of MPI traces; None without ranks.
    pub mpi: Option<MpiInterval>,
    /// The processors, in the order of the characteristics.
    pub processors: Vec<Processor>,
    /// The ranks, in the order of `mpi`.
    pub ranks: Vec<RankOfJob>,
    /// Executions, each divided by those who took part.
    pub executions: f64,
    /// Processors of the run that did not execute it.
    pub missing: usize,
    /// Whether those who executed it did so equally often.
    pub is_even: bool,
}
