//! What thresholds of findings are compared with.

use proust_findings::Threshold;

/// What is compared with it, in plain words.
pub(crate) fn means(threshold: &Threshold) -> &'static str {
    MEANS.iter().find(|(id, _)| *id == threshold.id).map_or("", |(_, means)| means)
}

/// The words, by the threshold's identifier.
const MEANS: &[(&str, &str)] = &[
    ("LEAST_SHARE", "what could be won, of the run's total"),
    ("LARGE_SHARE", "of the run's total, a phase that every program has, to be surely a fault"),
    ("LEAST_TOTAL_S", "the run's total"),
    ("SIGMAS", "what was sampled, in standard errors"),
    ("LOCK_HOLDS", "sections that ended while others waited"),
    ("LOCK_IN_IO", "of the time that the lock was held, its holder was in I/O"),
    ("LOCK_IN_SLEEP", "of the time that the lock was held, its holder slept or waited for something else"),
    ("LOCK_SPINNING", "of the time waited for the lock, by trying again and again"),
    ("HOT_HOLD_S", "how long the lock was held, on average"),
    ("HOT_HOLDS", "sections that ended while others waited"),
    ("CONVOY_WAITERS", "threads that waited at once, on average, while any waited"),
    ("CONVOY_SHARE", "of the run in which somebody waited for the lock"),
    ("LONG_STRETCH_S", "a stretch without a change of who works, to be a phase"),
    ("PHASE_SHARE", "of a phase that one call path explains"),
    ("TASK_EXCESS", "of the thread's work that others like it did not have"),
    ("TASK_ALONE", "of the run, the longest stretch in which the thread worked alone"),
    ("OTHERS_WORK", "of the processor time, other threads' than the busiest one's"),
    ("SHORT_STRETCHES", "stretches in which processors were empty"),
    ("IDLE_SHARE", "of the run's total, processors that were empty in short stretches"),
    ("WAITS_AGAIN", "times that a thread waited for work"),
    ("WAITING_FOR_WORK", "of the empty processors, threads that waited for work meanwhile"),
    ("LATE_SHARE", "of the waiting at the barrier, for the same thread"),
    ("LATE_TIMES", "waits at the barrier"),
    ("LATE_EXCESS", "of the waiting for the late thread, while it had a processor"),
    ("TASK_OVERHEAD", "of the threads' processor time, spent on waking, waiting and handing over"),
    ("TASK_WAITS", "times that threads waited for work, or for each other"),
    ("TASK_CPU_S", "processor time between two waits, on average"),
    ("CROWD_SHARE", "of the run's total, runnable while the run itself held all processors"),
    ("CROWD_THREADS", "threads active at once for each processor"),
    ("FAULTS", "page faults"),
    ("FAULTS_BY_ONE", "of the page faults, by one thread"),
    ("FAULTS_AT_ONCE", "of the page faults, within a half of the processor time"),
    ("TOUCHED_AGAIN", "bytes that page faults brought, for each that was ever resident at once"),
    ("USED_AFTER", "of the processor time, other threads' after the memory was touched"),
    ("SLOW_LIBRARY", "of the processor time, in the reference implementation of a library"),
    ("IN_KERNEL", "of the processor time of calls through a buffer, in the kernel"),
    ("SYSTEM_SHARE", "of the processor time there, in the kernel"),
    ("SYSTEM_SAMPLES", "samples there"),
    ("POLL_SLEEPS", "sleeps at one place"),
    ("POLL_SLEEP_S", "how long such a sleep was, on average"),
    ("POLL_ASLEEP", "of the run in which everything stood still for such a sleep"),
    ("YIELDS", "times that the processor was given away"),
    ("SPIN_SAMPLES", "samples in giving it away"),
    ("CHURN_THREADS", "threads of one kind that began"),
    ("CHURN_RATE", "threads of one kind that began, a second"),
    ("CHURN_CPU_S", "processor time of such a thread, on average"),
    ("TINY_CALLS", "calls of I/O at one place, without answers to others"),
    ("SOME_BYTES", "moved by a call, on average: others only look whether there is anything"),
    ("TINY_BYTES", "moved by a call, on average"),
    ("TINY_CALL_S", "a call, on average: shorter ones do not reach the system"),
    ("SYNC_CALLS", "times that a file was synchronised"),
    ("DEEP_VISITS", "times that a thread came to the construct"),
    ("DEEP_WORK", "barriers that would take as long as a thread's work before the construct, each time"),
    ("DEEP_SHARE", "of the time of the threads there, waiting and dividing the work"),
    ("UNEVEN_EXCESS", "of the work of the busiest thread that the others did not have, on average"),
    ("UNEVEN_PART", "of the work of the busiest thread, to be one that worked"),
    ("UNEVEN_WORKERS", "of the threads, those that worked"),
    ("CHUNK_REQUESTS", "requests for iterations"),
    ("CHUNK_WORK_S", "between two requests of a thread, on average"),
    ("CHUNK_COST", "of the time in the loop, asking for iterations"),
    ("CRITICAL_TIMES", "times that the section was entered"),
    ("CRITICAL_WORK_S", "work of a thread for each time that the section was entered"),
    ("SPINNING_SHARE", "of the waiting, on a processor"),
    ("SPINNING_USED", "of the processor time, waiting for each other"),
    ("SLEEPING_TIMES", "times that threads waited for each other"),
    ("SLEEPING_EACH_S", "until a thread went on when all had come, on average"),
    ("SLEEPING_SWITCHES", "of these times, that a thread went to sleep"),
    ("SLEEPING_SHARE", "of the threads' time, until they went on when all had come"),
    ("ALONE_TIMES", "times that the end of the loop was reached outside of any region"),
    ("TASKS_DONE", "tasks that were done"),
    ("TASK_WORK_S", "work of a task, on average"),
    ("TASK_COST", "of the threads' time with these tasks, making them and waiting"),
    ("EFFORT_IDLENESS", "of effort, idleness that is high"),
    ("EFFORT_OVERHEAD", "of effort, overhead that is high"),
];

#[cfg(test)]
mod tests {
    use proust_findings::thresholds;

    use super::*;

    #[test]
    fn each_threshold_has_words_and_no_other() {
        let ids: Vec<&str> = thresholds::ALL.iter().map(|threshold| threshold.id).collect();
        assert_eq!(ids, MEANS.iter().map(|(id, _)| *id).collect::<Vec<_>>());
        assert!(thresholds::ALL.iter().all(|threshold| !means(threshold).is_empty()));
    }
}
