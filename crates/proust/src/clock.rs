//! The kernel's clocks.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// CLOCK_MONOTONIC, which the logs use, ns.
pub fn monotonic_ns() -> u64 {
    ns(clock_gettime(ClockId::Monotonic))
}

/// What the calling thread has used of processors, ns.
pub fn of_this_thread_ns() -> u64 {
    ns(clock_gettime(ClockId::ThreadCPUTime))
}

/// Since the machine was started, ns, the time in which it slept included.
pub fn since_boot_ns() -> u64 {
    ns(clock_gettime(ClockId::Boottime))
}

fn ns(time: Timespec) -> u64 {
    let (seconds, rest) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    // Before the begin of its own time no such clock is.
    seconds.unwrap_or(0) * 1_000_000_000 + rest.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_advance() {
        let (monotonic, thread, boot) = (monotonic_ns(), of_this_thread_ns(), since_boot_ns());
        while of_this_thread_ns() == thread {}
        assert!(monotonic_ns() > monotonic && since_boot_ns() > boot);
    }
}
