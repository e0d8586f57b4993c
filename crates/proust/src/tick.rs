//! The kernel's tick: a CPU timer fires at most once in it.

use proust_report::duration;

/// Length of the tick, ns; None where the kernel does not report it.
pub fn length_ns() -> Option<i64> {
    resolution_ns(libc::CLOCK_MONOTONIC_COARSE).filter(|&ns| ns > 0)
}

/// The most samples a second of processor time and thread that come at ticks.
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

/// A note on standard error if more samples are asked for than come at ticks: between two of them only some
/// threads are sampled (`sample/pace.rs` of the collector), or none.
/// `leaves_out`: waits or I/O calls are not recorded.
pub fn note_of(asked_hz: u32, leaves_out: bool) {
    let Some(tick_ns) = length_ns().filter(|&ns| f64::from(asked_hz) > highest_rate_hz(ns)) else {
        return;
    };
    let most = highest_rate_hz(tick_ns);
    if let Some(why) = only_at_ticks(leaves_out) {
        let tick = duration(tick_ns as f64 / 1e9);
        message!(
            "note: {asked_hz} samples a second were asked for; {why} a thread gets at most {most:.0}, one a \
             tick of the kernel ({tick})"
        );
    } else {
        message!(
            "note: threads that compute get {asked_hz} samples a second; those that wait or call the system \
             very often get at most {most:.0}, one a tick of the kernel. `proust report quality` shows how \
             many there were"
        );
    }
}

/// Why no thread can be sampled between two ticks.
fn only_at_ticks(leaves_out: bool) -> Option<&'static str> {
    if leaves_out {
        Some("while waits or I/O calls are left out,")
    } else if cfg!(not(target_arch = "x86_64")) {
        Some("on this kind of processor")
    } else {
        None
    }
}
