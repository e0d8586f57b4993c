//! All thresholds of the findings, in one place, and the values compared with them.

use proust_profile::Ns;
use serde::{Deserialize, Serialize};

use super::amount::{Amount, Comparable};

/// A limit that a kind of finding asks for: of a time, or of a number in some unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold<T> {
    /// Its name; it stays.
    pub id: &'static str,
    /// The limit itself; inclusive.
    pub value: T,
    /// The same with its unit.
    pub limit: Amount,
    /// Whether it is a lower limit.
    pub at_least: bool,
    /// What is compared with it, in plain words.
    pub means: &'static str,
}

macro_rules! thresholds {
    ($($name:ident $side:ident $unit:ident($value:literal) $means:literal;)*) => {
        $(
            #[doc = concat!(
                $means, " (", stringify!($side), " ", stringify!($value), " ", stringify!($unit), ")"
            )]
            pub const $name: Threshold<thresholds!(@type $unit)> = Threshold {
                id: stringify!($name),
                value: thresholds!(@value $unit $value),
                limit: thresholds!(@limit $unit $value),
                at_least: thresholds!(@side $side),
                means: $means,
            };
        )*

        /// All of them, each with its limit and unit.
        pub const ALL: &[Threshold<Amount>] = &[$($name.listed()),*];
    };
    (@side at_least) => { true };
    (@side at_most) => { false };
    (@type ns) => { Ns };
    (@type $unit:ident) => { f64 };
    (@value ns $value:literal) => { Ns::new($value) };
    (@value $unit:ident $value:literal) => { $value };
    (@limit ns $value:literal) => { Amount::Time(Ns::new($value)) };
    (@limit count $value:literal) => { Amount::Count($value) };
    (@limit bytes $value:literal) => { Amount::Bytes($value) };
    (@limit rate $value:literal) => { Amount::Rate($value) };
    (@limit share $value:literal) => { Amount::Share($value) };
}

thresholds! {
    LEAST_SHARE at_least share(0.01) "what could be won, of the run's total";
    LARGE_SHARE at_least share(0.05)
        "of the run's total, what could be won, as every program has some of it, to be more than possible";
    UNEVEN_SHARE at_least share(0.1)
        "of the run's total, what uneven work leaves empty, as everywhere, to be more than possible";
    UNUSUAL_SHARE at_least share(0.15)
        "of the run's total, what most programs of the kind have some of, to be a fault";
    LEAST_TOTAL_S at_least ns(100_000_000) "the run's total";
    SIGMAS at_least count(3.0) "what was sampled, in standard errors";
    LOCK_HOLDS at_least count(20.0) "sections that ended while others waited";
    LOCK_IN_IO at_least share(0.5) "of the time that the lock was held, its holder was in I/O";
    LOCK_IN_SLEEP at_least share(0.5)
        "of the time that the lock was held, its holder slept or waited for something else";
    LOCK_SPINNING at_least share(0.5) "of the time waited for the lock, by trying again and again";
    HOLDERS_DISPLACED at_most share(0.4)
        "of the time that the holders could have executed, without a processor because of other programs";
    WAITS_WRITTEN at_least share(0.1) "of the time waited for the lock, in the program's own functions";
    HOT_HOLD_S at_most ns(100_000) "how long the lock was held, on average";
    HOT_HOLDS at_least count(500.0) "sections that ended while others waited";
    CONVOY_WAITERS at_least count(1.7) "threads that waited at once, on average, while any waited";
    CONVOY_SHARE at_least share(0.2) "of the run in which somebody waited for the lock";
    LONG_STRETCH_S at_least ns(20_000_000) "a stretch without a change of who works, to be a phase";
    PHASE_SHARE at_least share(0.7) "of a phase that one call path explains";
    TASK_EXCESS at_least share(0.3) "of the thread's work that others like it did not have";
    POOL_EXCESS at_least share(0.5)
        "of the thread's work that others like it did not have, to be surely a fault";
    TASK_AGAIN at_least count(3.0)
        "times that threads went on alone, one after the other, to be surely a fault";
    TASK_LIFE at_least share(0.8)
        "of a thread's life, its work, where all stretches in which it worked alone are short";
    TASK_ALONE at_least share(0.1) "of the run, the longest stretch in which the thread worked alone";
    OTHERS_WORK at_least share(0.02)
        "of the processor time, other threads' than the busiest one's, and beside other work";
    SHORT_STRETCHES at_least count(50.0) "stretches in which processors were empty";
    IDLE_SHARE at_least share(0.05) "of the run's total, processors that were empty in short stretches";
    WAITS_AGAIN at_least count(20.0) "times that a thread waited for work";
    WAITING_FOR_WORK at_least share(0.5) "of the empty processors, threads that waited for work meanwhile";
    TURNS at_least count(10.0) "times that one waited until another had worked alone";
    EACH_TURNS at_least count(20.0) "times that each waited until the other had worked alone";
    TURN_SHARE at_least share(0.1) "of the waiting of two threads for each other, the smaller part";
    TURNS_OF_RUN at_least share(0.1) "of the run, one worked alone whom another one waited for in turn";
    ONE_BESIDE at_most share(0.02) "of the work, what is done beside other work";
    ONE_OF_RUN at_least share(0.25) "of the run, one worked while another one of its program waited for it";
    ONE_OTHERS at_least share(0.2) "of the work, all but the one with the most";
    ONE_AGAIN at_least count(20.0) "times that one waited at one place until another had worked alone";
    ONE_WORKER at_least share(0.1) "of the work, to be one that works";
    LATE_SHARE at_least share(0.6) "of the waiting at the barrier, for the same thread";
    LATE_TIMES at_least count(5.0) "waits at the barrier";
    LATE_ONCE at_least share(0.1) "of the run, waiting there for who was late, each time";
    LATE_EXCESS at_least share(0.3) "of the waiting for the late thread, while it had a processor";
    LATE_WORK at_least share(0.1) "of the run's total, waiting at the barrier for who was late there";
    ONE_WORKED at_least share(0.8)
        "of the waiting that there would be if one worked at a time before the barrier, to be likely a fault";
    LATE_SURE at_least share(0.9)
        "of the waiting for the late thread, while it had a processor, to be likely a fault";
    LATE_QUEUED at_most share(0.25)
        "of the waiting for the late thread, as long as it had no processor, to be likely a fault";
    TASK_OVERHEAD at_least share(0.25)
        "of the threads' processor time, spent on waking, waiting and handing over";
    TASK_WAITS at_least count(1000.0) "times that threads waited for work, or for each other";
    TASK_CPU_S at_most ns(200_000) "processor time between two waits, on average";
    CROWD_SHARE at_least share(0.1) "of the run's total, runnable while the run itself held all processors";
    CROWDED_SHARE at_least share(0.6)
        "of the run's total, runnable while the run itself held all processors, to be surely a fault";
    CROWD_THREADS at_least count(1.25) "threads active at once for each processor";
    FAULTS at_least count(5000.0) "page faults";
    FAULTS_BY_ONE at_least share(0.9) "of the page faults, by one thread";
    FAULTS_AT_ONCE at_least share(0.8) "of the page faults, within a half of the processor time";
    TOUCHED_AGAIN at_least count(2.0)
        "bytes that page faults brought, for each that was ever resident at once";
    USED_AFTER at_least share(0.3) "of the processor time, other threads' after the memory was touched";
    SLOW_LIBRARY at_least share(0.1) "of the processor time, in the reference implementation of a library";
    INNER_LOCK at_least share(0.02) "of the processor time, waiting and waking at locks of the C library";
    COPYING at_least share(0.15) "of the processor time, in copying memory for one line";
    EXCHANGE at_least share(0.15) "of the processor time, in handing data to other processes";
    ALLOCATING at_least share(0.2) "of the processor time, in allocating and freeing memory for one function";
    SCANNING at_least share(0.2) "of the processor time, in looking for the ends of texts for one line";
    PREPARING at_least share(0.2) "of the processor time, in preparing for one line what can be used again";
    THROWING at_least share(0.15) "of the processor time, in throwing exceptions";
    SINGLE_COST at_least share(0.15) "of the processor time, in settling which thread executes a single";
    HOT_ATOMIC at_least share(0.1) "of the processor time, at atomic instructions of one function";
    ATOMIC_OTHERS at_least share(0.1) "of that time, other threads' than the one with the most";
    UNREAD_OF_RUN at_least share(0.1) "of the run, waiting to write while the reader waited for another";
    CLEARING at_least share(0.1) "of the processor time, in clearing memory for one line";
    IN_KERNEL at_least share(0.3) "of the processor time of calls through a buffer, in the kernel";
    SYSTEM_SHARE at_least share(0.5) "of the processor time there, in the kernel";
    SYSTEM_SAMPLES at_least count(30.0) "samples there";
    POLL_SLEEPS at_least count(20.0) "sleeps at one place";
    POLL_SLEEP_S at_most ns(250_000_000) "how long such a sleep was, on average";
    POLL_SHORT_S at_most ns(20_000_000) "how long they were, on average, to be worth a word where few";
    POLL_ASLEEP at_least share(0.05) "of the run in which everything stood still for such a short sleep";
    POLL_LONG_ASLEEP at_least share(0.2) "of the run in which everything stood still for such a sleep";
    SLEEPER_WORK at_least share(0.2) "of a thread's life, its work, to be a worker that sleeps";
    SLEEPS_BESIDE at_least count(20.0) "sleeps of such threads at one place";
    SLEEP_SHARE at_least share(0.05) "of the run's total, such sleeps while others worked";
    ANSWERS at_least count(20.0) "answers that were waited for while nothing worked";
    ANSWER_S at_least ns(500_000) "that nothing worked for each of them, on average: waking takes less";
    ANSWERS_OF_RUN at_least share(0.1) "of the run, waiting for them while nothing worked";
    LOOP_TURNS at_least count(5.0) "times that an event loop looked for what is ready";
    LOOP_TURN_S at_least ns(5_000_000) "that the program takes of each turn of the loop, on average";
    LOOP_OF_RUN at_least share(0.2) "of the run, one function of the program called by the loop";
    YIELDS at_least count(1000.0) "times that the processor was given away";
    GIVEN_BACK at_least share(0.02)
        "of what the faults took, the time of giving memory back, to be named as their cause";
    LOOKS at_least count(1000.0) "times that it asked whether something had happened";
    LOOK_S at_most ns(20_000) "how long it takes to ask, on average";
    LOOKS_IN_VAIN at_least count(4.0)
        "times that it asked, for each read, write or connection of the same threads";
    UNEXPLAINED at_least share(0.1) "of the total, in waits that no other finding explains";
    BUSY_WAIT at_least share(0.1) "of the processor time, in loops of one function that only wait";
    SPIN_SAMPLES at_least count(30.0) "samples in giving the processor away, or in asking";
    CHURN_THREADS at_least count(100.0) "threads of one kind that began";
    CHURN_RATE at_least rate(50.0) "threads of one kind that began, a second";
    CHURN_CPU_S at_most ns(2_000_000) "processor time of such a thread, on average";
    SPAWNS at_least count(50.0) "short-lived processes that began";
    SPAWN_RATE at_least rate(20.0) "short-lived processes that began, a second";
    SPAWN_LIFE_S at_most ns(100_000_000) "life of such a process";
    SPAWN_SHARE at_least share(0.3)
        "of the processor time of starting them and in them, starting, loading and ending";
    SPAWN_MOST at_least share(0.5)
        "of that processor time, starting, loading and ending, to be likely a fault";
    TINY_CALLS at_least count(5000.0) "calls of I/O at one place, without answers to others";
    SOME_BYTES at_least bytes(0.5)
        "moved by a call, on average: others only look whether there is anything";
    FILE_OPENS at_least count(5000.0) "files that one function opened";
    TINY_BYTES at_most bytes(256.0) "moved by a call, on average";
    TINY_CALL_S at_least ns(120) "a call, on average: shorter ones do not reach the system";
    DEVICE_READ_BYTES at_most bytes(16384.0) "read by a call that waits for the device, on average";
    DEVICE_READ_S at_least ns(30_000) "such a read, on average: others find the bytes in memory";
    MUCH_IO at_least share(0.1) "of the run's total, reading or writing files at one line";
    SYNC_WRITE_S at_least ns(100_000) "a write of less than 64 KiB, on average";
    SYNC_CALLS at_least count(20.0) "times that a file was synchronised";
    DEEP_VISITS at_least count(1000.0) "times that a thread came to the construct";
    DEEP_WORK at_most count(10.0)
        "barriers that would take as long as a thread's work before the construct, each time";
    DEEP_SHARE at_least share(0.25) "of the time of the threads there, waiting and dividing the work";
    UNEVEN_EXCESS at_least share(0.2)
        "of the work of the busiest thread that the others did not have, on average";
    UNEVEN_PART at_least share(0.05) "of the work of the busiest thread, to be one that worked";
    UNEVEN_WORKERS at_least share(0.6) "of the threads, those that worked";
    CHUNKS_EACH at_most count(3.0) "requests for iterations each time, of a thread";
    CHUNK_ITERATIONS at_least count(2.0) "iterations in a chunk, on average";
    CHUNK_WAITS at_least share(0.1) "of the team's time in the loop, waiting at its end for a later thread";
    CHUNK_REQUESTS at_least count(10000.0) "requests for iterations";
    CHUNK_WORK_S at_most ns(2_000) "between two requests of a thread, on average";
    CHUNK_COST at_least share(0.1) "of the time in the loop, asking for iterations";
    CRITICAL_TIMES at_least count(10000.0) "times that the section was entered";
    CRITICAL_WORK_S at_most ns(20_000) "work of a thread for each time that the section was entered";
    SPINNING_SHARE at_least share(0.05) "of the waiting, on a processor";
    SPINNING_USED at_least share(0.1) "of the processor time, waiting for each other";
    SLEEPING_TIMES at_least count(1000.0) "times that threads waited for each other";
    SLEEPING_EACH_S at_least ns(3_000) "until a thread went on when all had come, on average";
    SLEEPING_SWITCHES at_least share(0.2) "of these times, that a thread went to sleep";
    SLEEPING_SHARE at_least share(0.1) "of the threads' time, until they went on when all had come";
    ALONE_WORK_S at_least ns(100_000)
        "processor time of a region with one thread, each time, to be worth a team for sure";
    ALONE_TIMES at_least count(1.0) "times that the end of the loop was reached outside of any region";
    TASKS_DONE at_least count(10000.0) "tasks that were done";
    TASK_WORK_S at_most ns(5_000) "work of a task, on average";
    TASK_COST at_least share(0.4) "of the threads' time with these tasks, making them and waiting";
    SERIAL_TASKS at_least count(8.0) "tasks of the region that were done";
    SERIAL_TASK_S at_least ns(5_000) "work of a task, on average, to be worth another thread";
    SERIAL_TASKS_SHARE at_least share(0.7) "of the work in the region, by its tasks";
    SERIAL_TASKS_WAITED at_least share(0.8)
        "of the waiting that there would be if one thread of the team at a time worked in the region";
    SERIAL_TASKS_QUEUED at_most share(0.05)
        "of the threads' work and waiting in the region, without a processor, to be more than possible";
    MPI_LATE_TIMES at_least count(10.0) "waits for the late ranks";
    MPI_LATE_EXCESS at_least share(0.6)
        "of the waiting for late ranks, for what they had more to do, and not for lack of a processor";
    MPI_LATE_QUEUED at_most share(0.25)
        "of the waiting for late ranks, as long as these had no processor, to be surely a fault";
    MPI_LATE_NET at_least share(0.5)
        "of the waiting, for ranks that others waited for longer than they waited themselves";
    MPI_LATE_SURE at_least share(0.9)
        "of the waiting for late ranks, while these had a processor, to be surely a fault";
    MPI_ALONE_OTHERS at_most share(0.1)
        "of its time on the critical path, what other ranks spend in it, on average";
    MPI_ALONE_BY_ONE at_least share(0.9) "of the waiting for it, for the rank that spends most in it";
    MPI_ALONE_WAITED at_least share(0.5)
        "of the other ranks' time while it is on the critical path, waiting for it";
    IDLE_RANK at_least share(0.8) "of a rank's time, waiting for messages of others, to be idle";
    IDLE_WAITED at_least share(0.4) "of the run, such waiting of it";
    IDLE_ANSWERS at_least share(0.3) "of its waits for a message, followed by one that it sends";
    IDLE_OTHERS at_most share(0.3) "of the time of any other rank, waiting";
    CHAIN_SHARE at_least share(0.5) "of the waiting for other ranks there, in chains of waits";
    CHAIN_WAITS at_least count(3.0) "waits of the longest chain";
    CHAIN_BY_ONE at_most share(0.8) "of the waiting in chains, for the work of one rank";
    CHAIN_ON_PROCESSOR at_least share(0.25)
        "of the waiting there, for what late ranks did, and not for lack of a processor";
    SMALL_MESSAGES at_least count(5000.0) "messages sent, or received, in the function";
    SMALL_MESSAGE_BYTES at_most bytes(4096.0) "in a message, on average";
    ACCESSES at_least count(5000.0) "accesses to memory of other ranks, or to files, in the function";
    ACCESS_S at_most ns(50_000) "for such an access, on average, without waits for partners";
    LARGE_MESSAGES at_least count(10.0) "messages, or collectives with data, in the function";
    LARGE_MESSAGE_BYTES at_least bytes(65536.0) "in a message, or a collective, on average";
    MOVING at_least share(0.2) "of the run's total, in calls that move data";
    GROUPED_TIMES at_least count(1000.0) "collectives that followed another one of the function at once";
    GROUPED_BYTES at_most bytes(8192.0) "in such a collective, on average";
    SETUPS at_least count(100.0) "communicators, windows and files made or freed in the function";
    POLLS_IN_VAIN at_least count(10_000.0) "times that MPI was asked in the function, and had nothing";
    MISORDERED_TIMES at_least count(10.0) "waits for a message while others were there";
    INTERVAL_LOST at_least share(0.05) "of the interval's Total_time, that is lost";
    INTERVAL_OF_RUN at_least share(0.25) "of what the run loses by the characteristics, in the interval";
    EFFORT_IDLENESS at_least share(0.1) "of effort, idleness that is high";
    EFFORT_OVERHEAD at_least share(0.1) "of effort, overhead that is high";
}

/// The threshold of this name.
pub fn threshold(id: &str) -> Option<&'static Threshold<Amount>> {
    ALL.iter().find(|threshold| threshold.id == id)
}

impl<T: Copy> Threshold<T> {
    /// It among thresholds of all units.
    const fn listed(&self) -> Threshold<Amount> {
        let &Threshold { id, limit, at_least, means, .. } = self;
        Threshold { id, value: limit, limit, at_least, means }
    }
}

impl<T: Comparable> Threshold<T> {
    /// Whether a number keeps to it.
    pub fn holds(&self, value: T) -> bool {
        if self.at_least { value >= self.value } else { value <= self.value }
    }
}

/// A number that was compared with a threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// [`Threshold::id`].
    pub threshold: String,
    /// The number.
    pub value: Amount,
}

/// The comparisons of one candidate. All of them must hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Checks(Vec<Check>);

impl Checks {
    /// Compares, and keeps it.
    pub(super) fn holds<T: Comparable>(&mut self, threshold: &Threshold<T>, value: T) -> bool {
        self.0.push(Check { threshold: threshold.id.into(), value: value.amount(threshold.limit) });
        threshold.holds(value)
    }

    /// Those of another candidate, which must hold, too.
    pub(super) fn add(&mut self, others: Checks) {
        self.0.extend(others.0);
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
        assert_eq!(threshold("LEAST_SHARE").map(|found| found.limit), Some(LEAST_SHARE.limit));
        assert_eq!(threshold("none"), None);
    }

    #[test]
    fn limits_are_inclusive_and_have_a_side() {
        assert!(LEAST_SHARE.holds(0.01) && !LEAST_SHARE.holds(0.009));
        assert!(HOT_HOLD_S.holds(Ns::new(100_000)) && !HOT_HOLD_S.holds(Ns::new(100_001)));
    }

    #[test]
    fn what_was_compared_is_kept() {
        let mut checks = Checks::default();
        assert!(checks.holds(&FAULTS, 1e6) && !checks.holds(&FAULTS_BY_ONE, 0.1));
        let kept = checks.kept();
        assert_eq!((kept[0].threshold.as_str(), kept[1].value), ("FAULTS", Amount::Share(0.1)));
    }

    #[test]
    fn times_are_compared_with_times_and_shown_in_seconds() {
        let all = ALL.iter().filter(|threshold| threshold.id.ends_with("_S"));
        assert!(all.clone().count() > 5 && all.clone().all(|threshold| threshold.limit.unit() == "s"));
        assert_eq!(threshold("TINY_CALL_S").map(|found| found.limit.in_unit()), Some(0.000_000_12));
    }
}
