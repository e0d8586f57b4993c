//! The kernel's tick: a CPU timer fires at most once in it.

use proust_report::duration;

/// Length of the tick, ns; None where the kernel does not report it.
pub fn length_ns() -> Option<i64> {
    resolution_ns(libc::CLOCK_MONOTONIC_COARSE).filter(|&ns| ns > 0)
}

/// The most samples a second of processor time and thread.
pub fn highest_rate_hz(tick_ns: i64) -> f64 {
    1e9 / tick_ns as f64
}

/// Resolution of a clock, ns.
pub fn resolution_ns(clock: libc::clockid_t) -> Option<i64> {
    let mut resolution = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure lives until after the call.
    let answer = unsafe { libc::clock_getres(clock, &raw mut resolution) };
    (answer == 0).then_some(resolution.tv_sec * 1_000_000_000 + resolution.tv_nsec)
}

/// A note on standard error if somebody asks for more samples than the kernel delivers.
pub fn note_of(asked_hz: u32) {
    if let Some(tick_ns) = length_ns()
        && f64::from(asked_hz) > highest_rate_hz(tick_ns)
    {
        message!(
            "note: {asked_hz} samples a second were asked for; this kernel delivers at most {:.0} a second \
             and thread (its tick is {})",
            highest_rate_hz(tick_ns),
            duration(tick_ns as f64 / 1e9)
        );
    }
}
