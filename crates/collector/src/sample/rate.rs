//! How far apart a thread's samples are on average.

use proust_log::control::SETTLED_AFTER_NS;

/// Mean distances of samples on a thread's CPU clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    at_first_ns: u64,
    settled_ns: u64,
}

impl Rate {
    /// Of so many samples per second of CPU time, and of so many once a thread has used
    /// [`SETTLED_AFTER_NS`]; 0 = as many. None if there are to be no samples.
    pub fn new(rate_hz: u32, settled_rate_hz: u32) -> Option<Rate> {
        let mean_ns = |rate_hz: u32| 1_000_000_000_u64.checked_div(rate_hz.into());
        let at_first_ns = mean_ns(rate_hz)?;
        Some(Rate { at_first_ns, settled_ns: mean_ns(settled_rate_hz).unwrap_or(at_first_ns) })
    }

    /// The mean distance from a sample at which the thread's CPU clock stands at `cpu_ns` to the next one.
    #[inline]
    pub fn mean_ns(self, cpu_ns: u64) -> u64 {
        if cpu_ns < SETTLED_AFTER_NS { self.at_first_ns } else { self.settled_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_rarer_once_a_thread_has_run_for_long() {
        let rate = Rate::new(200, 100).unwrap();
        assert_eq!(
            [0, SETTLED_AFTER_NS - 1, SETTLED_AFTER_NS, u64::MAX].map(|cpu_ns| rate.mean_ns(cpu_ns)),
            [5_000_000, 5_000_000, 10_000_000, 10_000_000]
        );
        let one = Rate::new(1000, 0).unwrap();
        assert_eq!([0, u64::MAX].map(|cpu_ns| one.mean_ns(cpu_ns)), [1_000_000, 1_000_000]);
        assert_eq!(Rate::new(0, 100), None);
    }
}
