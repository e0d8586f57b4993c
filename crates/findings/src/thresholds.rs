//! All thresholds of the findings, in one place, and the values compared with them.

use serde::{Deserialize, Serialize};

/// A limit that a kind of finding asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Its name; it stays.
    pub id: &'static str,
    /// The limit itself; inclusive.
    pub value: f64,
    /// Unit: `s`, `count`, `bytes`, `1/s`, `share`.
    pub unit: &'static str,
    /// Whether it is a lower limit.
    pub at_least: bool,
    /// What is compared with it, in plain words.
    pub means: &'static str,
}

macro_rules! thresholds {
    ($($name:ident $side:ident $value:literal $unit:literal $means:literal;)*) => {
        $(
            #[doc = concat!($means, " (", stringify!($side), " ", stringify!($value), " ", $unit, ")")]
            pub const $name: Threshold = Threshold {
                id: stringify!($name),
                value: $value,
                unit: $unit,
                at_least: thresholds!(@ $side),
                means: $means,
            };
        )*

        /// All of them.
        pub const ALL: &[Threshold] = &[$($name),*];
    };
    (@ at_least) => { true };
    (@ at_most) => { false };
}

thresholds! {
    LEAST_SHARE at_least 0.01 "share" "what could be won, of the run's total";
    LARGE_SHARE at_least 0.05
        "share" "of the run's total, a phase that every program has, to be surely a fault";
    LEAST_TOTAL_S at_least 0.1 "s" "the run's total";
    SIGMAS at_least 3.0 "count" "what was sampled, in standard errors";
    LOCK_HOLDS at_least 20.0 "count" "sections that ended while others waited";
    LOCK_IN_IO at_least 0.5 "share" "of the time that the lock was held, its holder was in I/O";
    LOCK_IN_SLEEP at_least 0.5
        "share" "of the time that the lock was held, its holder slept or waited for something else";
    LOCK_SPINNING at_least 0.5 "share" "of the time waited for the lock, by trying again and again";
    HOT_HOLD_S at_most 0.0001 "s" "how long the lock was held, on average";
    HOT_HOLDS at_least 500.0 "count" "sections that ended while others waited";
    CONVOY_WAITERS at_least 1.7 "count" "threads that waited at once, on average, while any waited";
    CONVOY_SHARE at_least 0.2 "share" "of the run in which somebody waited for the lock";
    LONG_STRETCH_S at_least 0.02 "s" "a stretch without a change of who works, to be a phase";
    PHASE_SHARE at_least 0.7 "share" "of a phase that one call path explains";
    TASK_EXCESS at_least 0.3 "share" "of the thread's work that others like it did not have";
    TASK_ALONE at_least 0.1 "share" "of the run, the longest stretch in which the thread worked alone";
    OTHERS_WORK at_least 0.02 "share" "of the processor time, other threads' than the busiest one's";
    SHORT_STRETCHES at_least 50.0 "count" "stretches in which processors were empty";
    IDLE_SHARE at_least 0.05 "share" "of the run's total, processors that were empty in short stretches";
    WAITS_AGAIN at_least 20.0 "count" "times that a thread waited for work";
    WAITING_FOR_WORK at_least 0.5 "share" "of the empty processors, threads that waited for work meanwhile";
    LATE_SHARE at_least 0.6 "share" "of the waiting at the barrier, for the same thread";
    LATE_TIMES at_least 5.0 "count" "waits at the barrier";
    LATE_EXCESS at_least 0.3 "share" "of the waiting for the late thread, while it had a processor";
    TASK_OVERHEAD at_least 0.25
        "share" "of the threads' processor time, spent on waking, waiting and handing over";
    TASK_WAITS at_least 1000.0 "count" "times that threads waited for work, or for each other";
    TASK_CPU_S at_most 0.0002 "s" "processor time between two waits, on average";
    CROWD_SHARE at_least 0.1 "share" "of the run's total, runnable while the run itself held all processors";
    CROWD_THREADS at_least 1.25 "count" "threads active at once for each processor";
    FAULTS at_least 5000.0 "count" "page faults";
    FAULTS_BY_ONE at_least 0.9 "share" "of the page faults, by one thread";
    FAULTS_AT_ONCE at_least 0.8 "share" "of the page faults, within a half of the processor time";
    TOUCHED_AGAIN at_least 2.0
        "count" "bytes that page faults brought, for each that was ever resident at once";
    USED_AFTER at_least 0.3 "share" "of the processor time, other threads' after the memory was touched";
    SLOW_LIBRARY at_least 0.1 "share" "of the processor time, in the reference implementation of a library";
    CLEARING at_least 0.1 "share" "of the processor time, in clearing memory for one line";
    IN_KERNEL at_least 0.3 "share" "of the processor time of calls through a buffer, in the kernel";
    SYSTEM_SHARE at_least 0.5 "share" "of the processor time there, in the kernel";
    SYSTEM_SAMPLES at_least 30.0 "count" "samples there";
    POLL_SLEEPS at_least 100.0 "count" "sleeps at one place";
    POLL_SLEEP_S at_most 0.02 "s" "how long such a sleep was, on average";
    POLL_ASLEEP at_least 0.05 "share" "of the run in which everything stood still for such a sleep";
    YIELDS at_least 1000.0 "count" "times that the processor was given away";
    BUSY_WAIT at_least 0.1 "share" "of the processor time, in loops of one function that only wait";
    SPIN_SAMPLES at_least 30.0 "count" "samples in giving it away";
    CHURN_THREADS at_least 100.0 "count" "threads of one kind that began";
    CHURN_RATE at_least 50.0 "1/s" "threads of one kind that began, a second";
    CHURN_CPU_S at_most 0.002 "s" "processor time of such a thread, on average";
    TINY_CALLS at_least 5000.0 "count" "calls of I/O at one place, without answers to others";
    SOME_BYTES at_least 1.0 "bytes" "moved by a call, on average: others only look whether there is anything";
    TINY_BYTES at_most 256.0 "bytes" "moved by a call, on average";
    TINY_CALL_S at_least 0.00000012 "s" "a call, on average: shorter ones do not reach the system";
    SYNC_CALLS at_least 20.0 "count" "times that a file was synchronised";
    DEEP_VISITS at_least 1000.0 "count" "times that a thread came to the construct";
    DEEP_WORK at_most 10.0
        "count" "barriers that would take as long as a thread's work before the construct, each time";
    DEEP_SHARE at_least 0.25 "share" "of the time of the threads there, waiting and dividing the work";
    UNEVEN_EXCESS at_least 0.2
        "share" "of the work of the busiest thread that the others did not have, on average";
    UNEVEN_PART at_least 0.05 "share" "of the work of the busiest thread, to be one that worked";
    UNEVEN_WORKERS at_least 0.6 "share" "of the threads, those that worked";
    CHUNK_REQUESTS at_least 10000.0 "count" "requests for iterations";
    CHUNK_WORK_S at_most 0.000002 "s" "between two requests of a thread, on average";
    CHUNK_COST at_least 0.1 "share" "of the time in the loop, asking for iterations";
    CRITICAL_TIMES at_least 10000.0 "count" "times that the section was entered";
    CRITICAL_WORK_S at_most 0.00002 "s" "work of a thread for each time that the section was entered";
    SPINNING_SHARE at_least 0.05 "share" "of the waiting, on a processor";
    SPINNING_USED at_least 0.1 "share" "of the processor time, waiting for each other";
    SLEEPING_TIMES at_least 1000.0 "count" "times that threads waited for each other";
    SLEEPING_EACH_S at_least 0.000003 "s" "until a thread went on when all had come, on average";
    SLEEPING_SWITCHES at_least 0.2 "share" "of these times, that a thread went to sleep";
    SLEEPING_SHARE at_least 0.1 "share" "of the threads' time, until they went on when all had come";
    ALONE_TIMES at_least 1.0 "count" "times that the end of the loop was reached outside of any region";
    TASKS_DONE at_least 10000.0 "count" "tasks that were done";
    TASK_WORK_S at_most 0.000005 "s" "work of a task, on average";
    TASK_COST at_least 0.4 "share" "of the threads' time with these tasks, making them and waiting";
    MPI_LATE_TIMES at_least 10.0 "count" "waits for the late ranks";
    MPI_LATE_EXCESS at_least 0.6 "share" "of the waiting for late ranks, while these had a processor";
    MPI_LATE_QUEUED at_most 0.25
        "share" "of the waiting for late ranks, as long as these had no processor, to be surely a fault";
    MPI_LATE_NET at_least 0.5
        "share" "of the waiting, for ranks that others waited for longer than they waited themselves";
    MPI_LATE_SURE at_least 0.9
        "share" "of the waiting for late ranks, while these had a processor, to be surely a fault";
    CHAIN_SHARE at_least 0.5 "share" "of the waiting for messages there, in chains of waits";
    CHAIN_WAITS at_least 3.0 "count" "waits of the longest chain";
    CHAIN_BY_ONE at_most 0.8 "share" "of the waiting in chains, for the work of one rank";
    SMALL_MESSAGES at_least 5000.0 "count" "messages sent, or received, in the function";
    SMALL_MESSAGE_BYTES at_most 1024.0 "bytes" "in a message, on average";
    GROUPED_TIMES at_least 1000.0 "count" "collectives that followed another one of the function at once";
    GROUPED_BYTES at_most 8192.0 "bytes" "in such a collective, on average";
    MISORDERED_TIMES at_least 10.0 "count" "waits for a message while others were there";
    INTERVAL_LOST at_least 0.05 "share" "of the interval's Total_time, that is lost";
    INTERVAL_OF_RUN at_least 0.25 "share" "of what the run loses by the characteristics, in the interval";
    EFFORT_IDLENESS at_least 0.1 "share" "of effort, idleness that is high";
    EFFORT_OVERHEAD at_least 0.1 "share" "of effort, overhead that is high";
}

/// The threshold of this name.
pub fn threshold(id: &str) -> Option<&'static Threshold> {
    ALL.iter().find(|threshold| threshold.id == id)
}

impl Threshold {
    /// Whether a number keeps to it.
    pub fn holds(&self, value: f64) -> bool {
        if self.at_least { value >= self.value } else { value <= self.value }
    }
}

/// A number that was compared with a threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// [`Threshold::id`].
    pub threshold: String,
    /// The number.
    pub value: f64,
}

/// The comparisons of one candidate. All of them must hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Checks(Vec<Check>);

impl Checks {
    /// Compares, and keeps it.
    pub(super) fn holds(&mut self, threshold: &Threshold, value: f64) -> bool {
        self.0.push(Check { threshold: threshold.id.into(), value });
        threshold.holds(value)
    }

    pub(super) fn kept(self) -> Vec<Check> {
        self.0
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use rustc_hash::FxHashSet;

    #[test]
    fn names_are_unique_and_found_again() {
        let ids: FxHashSet<&str> = ALL.iter().map(|threshold| threshold.id).collect();
        assert_eq!(ids.len(), ALL.len());
        assert_eq!(threshold("LEAST_SHARE"), Some(&LEAST_SHARE));
        assert_eq!(threshold("none"), None);
    }

    #[test]
    fn limits_are_inclusive_and_have_a_side() {
        assert!(LEAST_SHARE.holds(0.01) && !LEAST_SHARE.holds(0.009));
        assert!(HOT_HOLD_S.holds(0.0001) && !HOT_HOLD_S.holds(0.00011));
    }

    #[test]
    fn what_was_compared_is_kept() {
        let mut checks = Checks::default();
        assert!(checks.holds(&FAULTS, 1e6) && !checks.holds(&FAULTS_BY_ONE, 0.1));
        let kept = checks.kept();
        assert_eq!((kept[0].threshold.as_str(), kept[1].value), ("FAULTS", 0.1));
    }
}
