//! From which length on a wait or I/O call is recorded alone. Shorter ones are summed.
//!
//! The limit is found as Oracle's Collector found its own for synchronisation delays (Performance Analyzer
//! manual, "Synchronization Wait Tracing"): six times what an uncontended lock takes, rounded up to a
//! microsecond. A thread that waits very often raises its own limit, so that neither its time nor the log is
//! used up.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::clock;
use crate::hooks::locks;
use crate::interpose::call_real;

static BASE_NS: AtomicU64 = AtomicU64::new(1_000);

/// Where the limit ends up if the calibration is disturbed.
pub(super) const MOST_NS: u64 = 10_000;
const ROUNDS: usize = 25;
const CALLS_PER_ROUND: u64 = 4;

/// Finds the limit. `asked_ns` is used where the run asks for one.
pub fn calibrate(asked_ns: Option<u64>) {
    let mut mutex = libc::PTHREAD_MUTEX_INITIALIZER;
    let mutex = &raw mut mutex;
    let mut rounds = [0_u64; ROUNDS];
    for round in &mut rounds {
        let begin = clock::now_ns();
        for _ in 0..CALLS_PER_ROUND {
            call_real!(locks::real::pthread_mutex_lock(mutex) else 0);
            call_real!(locks::unlocking::real::pthread_mutex_unlock(mutex) else 0);
        }
        *round = clock::now_ns().saturating_sub(begin) / CALLS_PER_ROUND;
    }
    // Of the median, since the machine may have taken the processor away in any round.
    rounds.sort_unstable();
    let lock_ns = rounds[ROUNDS / 2];
    let limit_ns = (lock_ns * 6).next_multiple_of(1_000).clamp(1_000, MOST_NS);
    BASE_NS.store(asked_ns.unwrap_or(limit_ns), Ordering::Relaxed);
}

/// The process's limit.
pub fn base_ns() -> u64 {
    BASE_NS.load(Ordering::Relaxed)
}

/// How long a thread's rate is watched before its limit changes.
const WINDOW_NS: u64 = 50_000_000;
/// More than so many in a window (2000 a second) are too many.
const MOST_IN_WINDOW: u32 = 100;
/// The limit is never raised further: operations that block so long do not happen often.
const HIGHEST_NS: u64 = 4_000_000;

/// One thread's limit.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Operations at least so long are recorded alone.
    pub ns: u64,
    /// The highest it ever was, if that is more than the process's.
    pub coarsest_ns: u64,
    window_begin_ns: u64,
    in_window: u32,
}

impl Default for Limit {
    fn default() -> Limit {
        Limit { ns: base_ns(), coarsest_ns: 0, window_begin_ns: 0, in_window: 0 }
    }
}

impl Limit {
    /// An operation was recorded alone at `now_ns`.
    pub fn recorded(&mut self, now_ns: u64) {
        self.in_window += 1;
        let passed_ns = now_ns.saturating_sub(self.window_begin_ns);
        if self.in_window > MOST_IN_WINDOW && passed_ns < WINDOW_NS {
            if base_ns() > 0 {
                self.ns = (self.ns * 2).min(HIGHEST_NS.max(base_ns()));
                self.coarsest_ns = self.coarsest_ns.max(self.ns);
            }
        } else if passed_ns < WINDOW_NS {
            return;
        } else if self.in_window < MOST_IN_WINDOW / 4 {
            self.ns = (self.ns / 2).max(base_ns());
        }
        self.window_begin_ns = now_ns;
        self.in_window = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_operations_raise_the_limit_and_few_lower_it_again() {
        let mut limit = Limit::default();
        let base = limit.ns;
        for at in 0..1_000 {
            limit.recorded(1_000_000_000 + at * 10_000);
        }
        assert!(limit.ns >= base * 64, "{limit:?}");
        assert_eq!(limit.coarsest_ns, limit.ns);
        for at in 0..400 {
            limit.recorded(2_000_000_000 + at * 100_000_000);
        }
        assert_eq!(limit.ns, base);
    }

    #[test]
    fn usual_rates_leave_the_limit_alone() {
        let mut limit = Limit::default();
        let base = limit.ns;
        for at in 0..5_000 {
            limit.recorded(1_000_000_000 + at * 600_000);
        }
        assert_eq!((limit.ns, limit.coarsest_ns), (base, 0));
    }
}
