//! The kernel scheduler's counts for a thread: its time on processors and in their queues.

use core::ffi::CStr;

use proust_log::records::SchedStat;

use super::Record;
use super::usage::scheduler_numbers;

/// Time off the processor since the scheduler's file was last read from which on it is read at a thread's
/// end; at its begin since its creation.
pub const WORTH_ASKING_NS: u64 = 200_000;

/// When the scheduler's numbers of a thread were last read.
#[derive(Clone, Copy, Default)]
pub struct Scheduler {
    read_ns: u64,
    /// The thread's CPU clock at that time.
    read_cpu_ns: u64,
}

impl Scheduler {
    /// The thread begins, or its record does: nothing is to be read of the time before.
    pub fn begin(&mut self, time_ns: u64, cpu_ns: u64) {
        (self.read_ns, self.read_cpu_ns) = (time_ns, cpu_ns);
    }

    /// When they were last read.
    pub fn read_ns(&self) -> u64 {
        self.read_ns
    }
}

impl Record {
    /// Reads and writes the scheduler's numbers of the calling thread.
    pub fn push_scheduler(&mut self, now: u64, cpu_ns: u64) {
        self.push_scheduler_of(c"/proc/thread-self/schedstat", now, cpu_ns);
    }

    /// Whether the thread was off the processor for long enough since the scheduler's numbers were last read.
    pub fn is_worth_asking(&self, now: u64, cpu_ns: u64) -> bool {
        let wall_ns = now.saturating_sub(self.scheduler.read_ns);
        wall_ns.saturating_sub(cpu_ns.saturating_sub(self.scheduler.read_cpu_ns)) >= WORTH_ASKING_NS
    }

    /// Reads and writes the scheduler's numbers of this lane's thread, which are in that file.
    pub fn push_scheduler_of(&mut self, file: &CStr, now: u64, cpu_ns: u64) {
        self.scheduler.begin(now, cpu_ns);
        if let Some((run_ns, queued_ns)) = scheduler_numbers(file) {
            self.output.push(0, 0, &SchedStat { time_ns: now, run_ns, queued_ns });
        }
    }
}
