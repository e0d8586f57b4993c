//! The parts of a measurement: sources of data, each with a life.
//!
//! A process begins, threads are born in it, they are sampled, what was summed up is settled, recording is
//! switched off and on, the process forks, threads end, the process ends. At each of these every source in
//! `SOURCES` is asked, in that order; a source does what it has to, and nothing by default. So a new source
//! is a type here and a line in the list, whatever it has to do at how many of them.
//!
//! Sources are asked where time is not short: never by a hook that the program calls often. The caller has
//! taken the record.

use proust_log::layout::Ending;
use proust_log::records::{SwitchedTo, ThreadEnd};

use crate::lane::{Lane, Record};
use crate::marks::Marks;
use crate::mpi::Calls;
use crate::openmp::Regions;
use crate::operation::Operations;
use crate::sample::Samples;
use crate::sample::process::ProcessSamples;

/// A source of data.
pub trait Source: Sync {
    /// The process begins to be measured at `begin_ns`, in the calling thread; `is_fork`: as a forked child.
    fn process_begins(&self, _record: &mut Record, _begin_ns: u64, _is_fork: bool) {}

    /// Thread `tid`, the caller, begins to own the lane: its last owner's state there is forgotten. Nothing
    /// of the thread is in the log yet.
    fn thread_born(&self, _lane: &Lane, _tid: u32) {}

    /// A thread's record begins: the state of the last one in this lane is forgotten. After `thread_born`, or
    /// when a thread continues whose end was written because its process was to become another program.
    fn record_begins(&self, _record: &mut Record) {}

    /// The calling thread was sampled at `time_ns`, in its handler.
    fn sampled(&self, _record: &mut Record, _time_ns: u64) {}

    /// The sums for the lane's thread are written: its time is about to be cut, or its record ends.
    fn settle(&self, _record: &mut Record) {}

    /// A thread's record ends, and is settled: a source's totals of the whole thread go into `end`.
    fn record_ends(&self, _record: &mut Record, _end: &mut ThreadEnd) {}

    /// Recording was switched, for the whole process; asked once, in the thread that noticed.
    fn switched(&self, _record: &mut Record, _to: SwitchedTo) {}

    /// The process is about to fork, in the calling thread; signals are blocked.
    fn forks(&self, _record: &mut Record, _now_ns: u64) {}

    /// The fork that the calling thread was about to make is over, and this is the parent. Signals are
    /// blocked.
    fn has_forked(&self) {}

    /// This is the forked child: nothing of the parent's threads is true any more. Signals are blocked, and
    /// there is no log.
    fn forked(&self) {}

    /// The process's record ends, in the calling thread.
    fn process_ends(&self, _record: &mut Record, _ending: Ending) {}
}

/// All sources. They are settled and written in this order.
static SOURCES: [&dyn Source; 6] = [&Calls, &Operations, &Regions, &Marks, &Samples, &ProcessSamples];

/// Asks every source.
pub fn each(ask: impl FnMut(&'static dyn Source)) {
    SOURCES.into_iter().for_each(ask);
}
