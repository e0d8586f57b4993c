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
}

macro_rules! thresholds {
    ($($name:ident $side:ident $value:literal $unit:literal;)*) => {
        $(
            #[doc = concat!(stringify!($side), " ", stringify!($value), " ", $unit)]
            pub const $name: Threshold = Threshold {
                id: stringify!($name),
                value: $value,
                unit: $unit,
                at_least: thresholds!(@ $side),
            };
        )*

        /// All of them.
        pub const ALL: &[Threshold] = &[$($name),*];
    };
    (@ at_least) => { true };
    (@ at_most) => { false };
}

thresholds! {
    LEAST_SHARE at_least 0.01 "share";
    LARGE_SHARE at_least 0.05 "share";
    LEAST_TOTAL_S at_least 0.1 "s";
    SIGMAS at_least 3.0 "count";
    LOCK_HOLDS at_least 20.0 "count";
    LOCK_IN_IO at_least 0.5 "share";
    LOCK_IN_SLEEP at_least 0.5 "share";
    LOCK_SPINNING at_least 0.5 "share";
    HOT_HOLD_S at_most 0.0001 "s";
    HOT_HOLDS at_least 500.0 "count";
    CONVOY_WAITERS at_least 1.7 "count";
    CONVOY_SHARE at_least 0.2 "share";
    LONG_STRETCH_S at_least 0.02 "s";
    PHASE_SHARE at_least 0.7 "share";
    TASK_EXCESS at_least 0.3 "share";
    TASK_ALONE at_least 0.1 "share";
    OTHERS_WORK at_least 0.02 "share";
    SHORT_STRETCHES at_least 50.0 "count";
    IDLE_SHARE at_least 0.05 "share";
    WAITS_AGAIN at_least 20.0 "count";
    WAITING_FOR_WORK at_least 0.5 "share";
    LATE_SHARE at_least 0.6 "share";
    LATE_TIMES at_least 5.0 "count";
    LATE_EXCESS at_least 0.3 "share";
    TASK_OVERHEAD at_least 0.25 "share";
    TASK_WAITS at_least 1000.0 "count";
    TASK_CPU_S at_most 0.0002 "s";
    CROWD_SHARE at_least 0.1 "share";
    CROWD_THREADS at_least 1.25 "count";
    FAULTS at_least 5000.0 "count";
    FAULTS_BY_ONE at_least 0.9 "share";
    FAULTS_AT_ONCE at_least 0.8 "share";
    TOUCHED_AGAIN at_least 2.0 "count";
    USED_AFTER at_least 0.3 "share";
    SLOW_LIBRARY at_least 0.1 "share";
    IN_KERNEL at_least 0.3 "share";
    SYSTEM_SHARE at_least 0.5 "share";
    SYSTEM_SAMPLES at_least 30.0 "count";
    POLL_SLEEPS at_least 100.0 "count";
    POLL_SLEEP_S at_most 0.02 "s";
    POLL_ASLEEP at_least 0.05 "share";
    YIELDS at_least 1000.0 "count";
    SPIN_SAMPLES at_least 30.0 "count";
    CHURN_THREADS at_least 100.0 "count";
    CHURN_RATE at_least 50.0 "1/s";
    CHURN_CPU_S at_most 0.002 "s";
    TINY_CALLS at_least 5000.0 "count";
    SOME_BYTES at_least 1.0 "bytes";
    TINY_BYTES at_most 256.0 "bytes";
    TINY_CALL_S at_least 0.00000012 "s";
    SYNC_CALLS at_least 20.0 "count";
    DEEP_VISITS at_least 1000.0 "count";
    DEEP_WORK at_most 10.0 "count";
    DEEP_SHARE at_least 0.25 "share";
    UNEVEN_EXCESS at_least 0.2 "share";
    UNEVEN_PART at_least 0.05 "share";
    UNEVEN_WORKERS at_least 0.6 "share";
    CHUNK_REQUESTS at_least 10000.0 "count";
    CHUNK_WORK_S at_most 0.000002 "s";
    CHUNK_COST at_least 0.1 "share";
    CRITICAL_TIMES at_least 10000.0 "count";
    CRITICAL_WORK_S at_most 0.00002 "s";
    SPINNING_SHARE at_least 0.05 "share";
    SPINNING_USED at_least 0.1 "share";
    SLEEPING_TIMES at_least 1000.0 "count";
    SLEEPING_EACH_S at_least 0.000003 "s";
    SLEEPING_SWITCHES at_least 0.2 "share";
    SLEEPING_SHARE at_least 0.1 "share";
    ALONE_TIMES at_least 1.0 "count";
    TASKS_DONE at_least 10000.0 "count";
    TASK_WORK_S at_most 0.000005 "s";
    TASK_COST at_least 0.4 "share";
    EFFORT_IDLENESS at_least 0.1 "share";
    EFFORT_OVERHEAD at_least 0.1 "share";
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
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        let ids: HashSet<&str> = ALL.iter().map(|threshold| threshold.id).collect();
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
