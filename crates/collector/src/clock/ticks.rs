//! The processor's own counter, for where the vDSO's clock is too expensive because other threads wait
//! meanwhile.
//!
//! Ticks become times later, by means of a reading of the clock: a tick's length is measured on the way. On a
//! processor whose counter does not run evenly the clock itself stands in for it.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{anchor, system_ns};
use crate::arch::counter;
use crate::turn::Turn;

/// A tick's length is measured over ever longer times, from this one on.
const FIRST_MEASURED_NS: u64 = 100_000;
/// It is measured again over intervals like this one, without end.
const MEASURE_AGAIN_NS: u64 = 1_000_000_000;

/// The processor may be taken away in between, but not again and again.
const READINGS: usize = 4;
/// Length of a tick in units of 2⁻³² ns; 0 = not known yet.
static LENGTH: AtomicU64 = AtomicU64::new(0);
/// Over how long it was measured.
static KNOWN_OVER_NS: AtomicU64 = AtomicU64::new(0);
static IS_COUNTER: AtomicBool = AtomicBool::new(false);

/// The program has forbidden itself the counter: a thread that reads it is killed. From then on ticks are
/// computed from the clock, from the last reading on, so that earlier readings can still be compared.
static IS_FORBIDDEN: AtomicBool = AtomicBool::new(false);
static LAST_TICKS: AtomicU64 = AtomicU64::new(0);
static LAST_NS: AtomicU64 = AtomicU64::new(0);

/// The reading that the next length is measured from; `MEASURING` guards it.
static BASE_TICKS: AtomicU64 = AtomicU64::new(0);
static BASE_NS: AtomicU64 = AtomicU64::new(0);
/// The next length is measured when this time has passed since.
static NEXT_NS: AtomicU64 = AtomicU64::new(FIRST_MEASURED_NS);
static MEASURING: Turn = Turn::new();

/// Looks whether the counter is usable, and takes the first reading.
pub fn find() {
    if !counter::is_even() {
        return;
    }
    IS_COUNTER.store(true, Ordering::Relaxed);
    let (ticks, ns, took) = best_reading(counter::clock_of_counter_ticks());
    BASE_NS.store(ns, Ordering::Relaxed);
    BASE_TICKS.store(ticks, Ordering::Relaxed);
    if took <= counter::clock_of_counter_ticks() {
        anchor::use_counter();
    }
}

/// From here on no thread reads the counter.
pub(super) fn forbid() {
    if IS_FORBIDDEN.load(Ordering::Relaxed) {
        return;
    }
    if IS_COUNTER.load(Ordering::Relaxed) {
        let (ticks, ns, _) = reading();
        if LENGTH.load(Ordering::Relaxed) == 0 {
            let passed_ticks = ticks.saturating_sub(BASE_TICKS.load(Ordering::Relaxed)).max(1);
            let passed_ns = ns.saturating_sub(BASE_NS.load(Ordering::Relaxed)).max(1);
            let length = (u128::from(passed_ns) << 32) / u128::from(passed_ticks);
            LENGTH.store((length as u64).max(1), Ordering::Relaxed);
        }
        LAST_TICKS.store(ticks, Ordering::Relaxed);
        LAST_NS.store(ns, Ordering::Relaxed);
    }
    IS_FORBIDDEN.store(true, Ordering::Release);
}

/// The counter's value, computed from the clock.
#[cold]
#[inline(never)]
fn by_clock() -> u64 {
    let passed_ns = system_ns().saturating_sub(LAST_NS.load(Ordering::Relaxed));
    let ticks = (u128::from(passed_ns) << 32) / u128::from(LENGTH.load(Ordering::Relaxed).max(1));
    LAST_TICKS.load(Ordering::Relaxed).saturating_add(ticks as u64)
}

/// A forked child: the parent's starting point does not apply, and a thread that was measuring does not exist
/// any more.
pub fn after_fork() {
    let (ticks, ns, _) = reading();
    BASE_TICKS.store(ticks, Ordering::Relaxed);
    BASE_NS.store(ns, Ordering::Relaxed);
    MEASURING.after_fork();
}

/// Counter and clock, and how many ticks it took to read both; as soon as it took no more than `enough`.
fn best_reading(enough: u64) -> (u64, u64, u64) {
    let mut best = (0, 0, u64::MAX);
    for _ in 0..READINGS {
        let before = now();
        let ns = system_ns();
        let took = now().saturating_sub(before);
        if took < best.2 {
            best = (before + took / 2, ns, took);
        }
        if took <= enough {
            break;
        }
    }
    best
}

/// Counter and clock, and whether they are of one moment.
pub(super) fn reading() -> (u64, u64, bool) {
    let enough = counter::at_once_ticks();
    let (ticks, ns, took) = best_reading(enough);
    (ticks, ns, took <= enough)
}

/// The counter, or what stands in for it.
#[inline]
pub fn now() -> u64 {
    if !IS_COUNTER.load(Ordering::Relaxed) {
        system_ns()
    } else if IS_FORBIDDEN.load(Ordering::Acquire) {
        by_clock()
    } else {
        counter::read()
    }
}

/// The counter, where it may be read and runs evenly.
#[inline(always)]
pub fn quick() -> Option<u64> {
    let may_be = IS_COUNTER.load(Ordering::Relaxed) && !IS_FORBIDDEN.load(Ordering::Acquire);
    if may_be { Some(counter::read()) } else { None }
}

/// When the counter stood at `ticks`, not long ago. In a process's first moments the answer is the present
/// time.
pub fn time_ns(ticks: u64) -> u64 {
    if !IS_COUNTER.load(Ordering::Relaxed) {
        return ticks;
    }
    let (now_ticks, now_ns, at_once) = reading();
    if at_once {
        measured(now_ticks, now_ns);
    }
    now_ns.saturating_sub(as_ns(now_ticks.saturating_sub(ticks)))
}

/// So many ticks as nanoseconds; 0 in a process's first moments.
pub fn as_ns(ticks: u64) -> u64 {
    if !IS_COUNTER.load(Ordering::Relaxed) {
        return ticks;
    }
    let ns = (u128::from(ticks) * u128::from(LENGTH.load(Ordering::Relaxed))) >> 32;
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// A tick's length in units of 2⁻³² ns, and over how long that was measured; zeros in a process's first
/// moments. Both were read at one moment now: if it is time to, the length is measured again.
pub(super) fn measured(now_ticks: u64, now_ns: u64) -> (u64, u64) {
    let is_due = || now_ns.saturating_sub(BASE_NS.load(Ordering::Relaxed)) >= NEXT_NS.load(Ordering::Relaxed);
    if !IS_FORBIDDEN.load(Ordering::Relaxed)
        && is_due()
        && let Some(_measuring) = MEASURING.try_begin_or_inherit()
    {
        let passed_ns = now_ns.saturating_sub(BASE_NS.load(Ordering::Relaxed));
        let passed_ticks = now_ticks.saturating_sub(BASE_TICKS.load(Ordering::Relaxed));
        let next_ns = NEXT_NS.load(Ordering::Relaxed);
        if passed_ticks > 0 && passed_ns >= next_ns {
            let length = (u128::from(passed_ns) << 32) / u128::from(passed_ticks);
            LENGTH.store(length as u64, Ordering::Relaxed);
            KNOWN_OVER_NS.store(passed_ns, Ordering::Relaxed);
            if next_ns >= MEASURE_AGAIN_NS {
                BASE_NS.store(now_ns, Ordering::Relaxed);
                BASE_TICKS.store(now_ticks, Ordering::Relaxed);
            } else {
                NEXT_NS.store((2 * passed_ns).min(MEASURE_AGAIN_NS), Ordering::Relaxed);
            }
        }
    }
    (LENGTH.load(Ordering::Relaxed), KNOWN_OVER_NS.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_yields_the_time_of_the_clock() {
        crate::clock::find();
        std::thread::sleep(std::time::Duration::from_millis(20));
        time_ns(now());
        // A moment between two readings of the clock; the processor may be taken away in between.
        for _ in 0..1000 {
            let before = system_ns();
            let ticks = now();
            let after = system_ns();
            let converted = time_ns(ticks);
            // A length measured over 20 ms is known to a few millionths, and what passed since is short.
            assert!(
                converted + 2_000 >= before && converted <= after + 2_000,
                "{before} {converted} {after}"
            );
        }
    }
}
