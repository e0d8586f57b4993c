//! The processor time that the host of a virtual machine took while a command ran.

use std::fs;

use rustix::param::clock_ticks_per_second;
use rustix::thread::{CpuSet, sched_getaffinity};

/// The time stolen so far, when the command started.
#[derive(Clone, Copy, Debug)]
pub struct Stolen {
    before_ticks: Option<u64>,
}

impl Stolen {
    /// From now on.
    pub fn since_now() -> Stolen {
        Stolen { before_ticks: ticks_now() }
    }

    /// Seconds stolen since, summed over the processors that this process may use; None if the system does
    /// not report it.
    pub fn so_far_s(&self) -> Option<f64> {
        let ticks_per_s = clock_ticks_per_second();
        let ticks = ticks_now()?.saturating_sub(self.before_ticks?);
        (ticks_per_s > 0).then(|| ticks as f64 / ticks_per_s as f64)
    }
}

fn ticks_now() -> Option<u64> {
    let usable = sched_getaffinity(None);
    let is_usable = |number: usize| {
        usable.as_ref().map_or(true, |usable| number >= CpuSet::MAX_CPU || usable.is_set(number))
    };
    ticks_in(&fs::read_to_string("/proc/stat").ok()?, is_usable)
}

/// The sum of `steal`, the eighth number of a processor's line (proc(5)), over these processors.
fn ticks_in(stat: &str, is_usable: impl Fn(usize) -> bool) -> Option<u64> {
    let of_line = |line: &str| {
        let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
        let number: usize = words.next()?.parse().ok()?;
        is_usable(number).then(|| words.nth(7)?.parse::<u64>().ok()).flatten()
    };
    stat.lines().filter(|line| !line.starts_with("cpu ")).filter_map(of_line).reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  9 9 9 9 9 9 9 77 0 0\n\
                        cpu0 1 2 3 4 5 6 7 30 0 0\n\
                        cpu1 1 2 3 4 5 6 7 40 0 0\n\
                        cpu12 1 2 3 4 5 6 7 7 0 0\n\
                        intr 5 5 5 5 5 5 5 5 5 5\n";

    #[test]
    fn of_the_processors_that_may_be_used() {
        assert_eq!(ticks_in(STAT, |_| true), Some(77));
        assert_eq!(ticks_in(STAT, |number| number != 1), Some(37));
        assert_eq!(ticks_in(STAT, |_| false), None);
    }

    #[test]
    fn where_the_system_does_not_tell_nothing_is_known() {
        assert_eq!(ticks_in("", |_| true), None);
        assert_eq!(ticks_in("cpu  1 2 3\ncpu0 1 2 3\ncpux\ncpu1 a b c d e f g h", |_| true), None);
    }

    #[test]
    fn it_never_becomes_less() {
        let stolen = Stolen::since_now();
        assert!(stolen.so_far_s().is_none_or(|stolen_s| stolen_s >= 0.0));
    }
}
