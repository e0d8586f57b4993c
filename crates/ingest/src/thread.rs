//! One thread's processor time, from the first record to the last.
//!
//! Every advance of the thread's CPU clock becomes a row, and only those: the amounts of contexts and the
//! thread's CPU time are the same sum.

mod meter;
mod rows;
mod shares;

use proust_profile::{ContextId, ReleaseRow, SampleRow, Spool};

use super::events::Finished;
use super::executed::Executed;
use super::openmp::InRegions;
use super::raw_rows::RawRows;

pub(super) use meter::ThreadMeter;
pub(super) use rows::RawSamples;

/// In a row's `context`, before contexts exist: a node's number, or one of the codes below.
pub(super) type Place = u32;
/// No node: a path of which nothing is known.
pub(super) const NO_PATH: Place = 0;
/// Time whose records were lost.
pub(super) const LOST: Place = u32::MAX;
/// Time whose samples found no room.
pub(super) const NOT_RECORDED: Place = u32::MAX - 1;

/// By how much a thread's CPU clock runs ahead of the time between two records at most: they are read one
/// after the other.
pub(super) const SLACK_NS: u64 = 2_000_000;
/// The time that an interrupt, or the host of a virtual machine, may take between the two readings that the
/// kernel counts as the thread's.
pub(super) const STALL_NS: u64 = 20_000_000;

/// By how much a CPU clock goes back without being damage: that of a thread which another processor has taken
/// over is 124 ns behind on a virtual machine now and then.
const BACK_NS: u64 = 20_000;

/// A CPU clock that was read after it stood at `last_ns`.
pub(super) fn goes_on(last_ns: u64, read_ns: u64) -> u64 {
    if read_ns < last_ns && last_ns - read_ns <= BACK_NS { last_ns } else { read_ns }
}

/// No run lasts longer, and no thread uses more CPU time: more is damage.
pub(super) const LONGEST_RUN_NS: u64 = 366 * 24 * 3600 * 1_000_000_000;

/// What holds for all threads of a log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits<'s> {
    /// Later times are damage.
    pub(super) latest_ns: u64,
    /// The process ended in order, and some threads' last records found no room.
    pub(super) ends_without_room: bool,
    /// Where its rows go.
    pub(super) spool: &'s Spool,
}

/// How a thread's record ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    /// By the thread, or for it at the end of the process.
    Complete,
    /// Killed, or still running: it ends where it was last seen.
    LastSeen,
    /// Its end was recorded and then lost.
    Lost,
}

/// CPU time of rows: in all, without records, without room, and of the collector.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weights {
    pub(super) all_ns: u64,
    pub(super) lost_ns: u64,
    pub(super) unrecorded_ns: u64,
    pub(super) measurement_ns: u64,
}

impl Weights {
    pub(super) fn of(rows: &[SampleRow]) -> Weights {
        let mut weights = Weights::default();
        rows.iter().for_each(|row| weights.add(row));
        weights
    }

    #[inline]
    fn add(&mut self, row: &SampleRow) {
        self.all_ns += row.cpu_ns;
        self.measurement_ns += row.measurement_ns;
        match row.context {
            ContextId(LOST) => self.lost_ns += row.cpu_ns,
            ContextId(NOT_RECORDED) => self.unrecorded_ns += row.cpu_ns,
            _ => {}
        }
    }

    pub(super) fn sum(parts: impl Iterator<Item = Weights>) -> Weights {
        // A thread's sums are bounded, the number of threads with absurd ones is not.
        parts.fold(Weights::default(), |sum, part| Weights {
            all_ns: sum.all_ns.saturating_add(part.all_ns),
            lost_ns: sum.lost_ns.saturating_add(part.lost_ns),
            unrecorded_ns: sum.unrecorded_ns.saturating_add(part.unrecorded_ns),
            measurement_ns: sum.measurement_ns.saturating_add(part.measurement_ns),
        })
    }
}

/// The data of a thread.
#[derive(Debug)]
pub(super) struct Thread {
    /// 0 = not known.
    pub(super) tid: u32,
    /// Processors that it was bound to at its end, as ranges; empty = those of its process.
    pub(super) processors: String,
    /// Found running: its time before that is not known.
    pub(super) found: bool,
    pub(super) name: Option<String>,
    /// It wrote its name at its end: no later one was given.
    pub(super) named_at_end: bool,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    /// Its CPU clock at the begin.
    pub(super) begin_cpu_ns: u64,
    /// Its CPU clock at the end minus at the begin, whatever the rows say.
    pub(super) clock_ns: u64,
    /// Sorted by time; `context` holds a [`Place`].
    pub(super) rows: RawSamples,
    /// Sums over the rows.
    pub(super) weights: Weights,
    /// Its intercepted operations.
    pub(super) events: Finished,
    /// Its releases and wakes, sorted by time.
    pub(super) releases: RawRows<ReleaseRow>,
    /// Its acts in parallel regions.
    pub(super) in_regions: InRegions,
    /// The marked intervals that it executed.
    pub(super) executed: Executed,
    pub(super) samples: u64,
    pub(super) partial: u64,
    pub(super) truncated: u64,
    /// Samples that were delivered well past their instant, and at a tick instead of at their instant.
    pub(super) late: u64,
    pub(super) at_tick: u64,
    pub(super) overruns: u64,
    pub(super) unrecorded_samples: u64,
    /// Records whose clocks contradict the thread's others.
    pub(super) implausible: u64,
    pub(super) closing: Closing,
    queued_before_ns: u64,
    queued_now_ns: u64,
}

impl Thread {
    /// Run-queue delay since its begin.
    pub(super) fn queued_ns(&self) -> u64 {
        self.queued_now_ns.saturating_sub(self.queued_before_ns)
    }

    pub(super) fn queued(&mut self, queued_ns: u64) {
        self.queued_now_ns = queued_ns;
    }

    /// The place of the operation that it was still in when its record ended.
    pub(super) fn open_place(&mut self) -> Option<Place> {
        self.events.rows.open().map(|event| event.row.context.0)
    }

    /// A thread that was never closed was in its open operation as long as anything is known of its process.
    pub(super) fn stay_until(&mut self, end_ns: u64) {
        if let Some(event) = self.events.rows.open()
            && self.closing == Closing::LastSeen
        {
            event.row.end_ns = event.row.end_ns.max(end_ns);
            event.row.time_ns = event.row.end_ns - event.row.begin_ns;
            self.end_ns = self.end_ns.max(event.row.end_ns);
        }
    }
}
