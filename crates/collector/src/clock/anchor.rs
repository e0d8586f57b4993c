//! The clock, computed from the processor's counter and an anchor: a moment at which both were read.
//!
//! The counter is read in half the time that the vDSO's clock takes. A new anchor is laid about once a
//! millisecond, so the computed time is never off by more than the reading of both at once is, some ten
//! nanoseconds; and from one anchor to the next time never runs backwards. Where the kernel does not trust
//! the counter itself, this is not used.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};

use super::{system_ns, ticks};
use crate::arch::counter;
use crate::turn::{Mine, Turn};

/// An anchor is used for so long.
const LONGEST_NS: u64 = 1_000_000;
/// An anchor that has not been replaced for so long is one whose replacement was not completed.
const LATE_NS: u64 = 1_000_000_000;
/// Counters of two processors may differ by so many ticks, as may the order in which things are read.
const SKEW_TICKS: i64 = 1 << 12;
/// If computed time is ahead of the clock by less than that, it runs slower until the clock has caught up;
/// otherwise it jumps.
const MOST_AHEAD_NS: u64 = 10_000;

/// Read by all threads, and written rarely: on a line of its own.
#[repr(align(64))]
struct Anchor {
    /// Odd while the rest is being written.
    version: AtomicU32,
    /// The counter at the anchor.
    ticks: AtomicU64,
    /// The clock at that moment.
    ns: AtomicU64,
    /// Length of a tick in units of 2⁻³² ns.
    length: AtomicU64,
    /// For so many ticks it is used, and `SKEW_TICKS` more; 0 = not at all.
    good_for: AtomicU64,
    /// The counter must not be read at all.
    is_forbidden: AtomicBool,
}

static ANCHOR: Anchor = Anchor {
    is_forbidden: AtomicBool::new(false),
    version: AtomicU32::new(0),
    ticks: AtomicU64::new(0),
    ns: AtomicU64::new(0),
    length: AtomicU64::new(0),
    good_for: AtomicU64::new(0),
};
static IS_USABLE: AtomicBool = AtomicBool::new(false);
/// A thread is laying a new one. A thread that finds it set reads the clock itself, and does not wait.
static LAYING: Turn = Turn::new();

/// From now on anchors are laid. Called once it is known that the kernel's own clock is made of the counter.
pub fn use_counter() {
    IS_USABLE.store(true, Ordering::Relaxed);
}

/// From here on no thread reads the counter.
pub fn forbid_counter() {
    IS_USABLE.store(false, Ordering::Relaxed);
    ANCHOR.is_forbidden.store(true, Ordering::Release);
}

/// A forked child: the parent's anchor is none of its own, and a thread that was laying one does not exist
/// any more.
pub fn after_fork() {
    let version = ANCHOR.version.load(Ordering::Relaxed) | 1;
    ANCHOR.ns.store(0, Ordering::Relaxed);
    ANCHOR.good_for.store(0, Ordering::Relaxed);
    ANCHOR.version.store(version.wrapping_add(1), Ordering::Release);
    LAYING.after_fork();
}

/// CLOCK_MONOTONIC, nanoseconds.
#[inline]
pub fn now_ns() -> u64 {
    now().0
}

/// As [`now_ns`], when all that stands before it is done. Otherwise the processor reads its counter while it
/// still waits for a line of memory that another processor has: a barrier that both pass at once looks
/// shorter by a hundred nanoseconds than it was.
#[inline]
pub fn ordered_ns() -> u64 {
    counter::finish_before();
    now_ns()
}

/// CLOCK_MONOTONIC, nanoseconds, and the processor's counter at that moment.
#[inline]
pub fn now() -> (u64, u64) {
    if ANCHOR.is_forbidden.load(Ordering::Relaxed) {
        return (system_ns(), ticks::now());
    }
    let version = ANCHOR.version.load(Ordering::Acquire);
    let ticks = counter::read();
    let passed = ticks.wrapping_sub(ANCHOR.ticks.load(Ordering::Relaxed)) as i64;
    let ns = ANCHOR.ns.load(Ordering::Relaxed);
    let length = ANCHOR.length.load(Ordering::Relaxed);
    let good_for = ANCHOR.good_for.load(Ordering::Relaxed);
    fence(Ordering::Acquire);
    let is_whole = version & 1 == 0 && ANCHOR.version.load(Ordering::Relaxed) == version;
    if is_whole && (passed.wrapping_add(SKEW_TICKS) as u64) < good_for {
        // No overflow: an anchor is good for some millions of ticks, and a tick for some nanoseconds.
        (ns.wrapping_add_signed((passed * length as i64) >> 32), ticks)
    } else {
        (lay(), ticks::now())
    }
}

/// Lays a new anchor, if it is time to and no other thread is doing so. Returns the clock's time.
#[cold]
#[inline(never)]
fn lay() -> u64 {
    if !IS_USABLE.load(Ordering::Relaxed) {
        return system_ns();
    }
    let Some(_laying) = turn() else { return system_ns() };
    let (now_ticks, now_ns, at_once) = ticks::reading();
    if !at_once {
        return now_ns;
    }
    let (length, known_over_ns) = ticks::measured(now_ticks, now_ns);
    let mut read_ns = now_ns;
    if length != 0 {
        let good_ns = known_over_ns.min(LONGEST_NS);
        let next = after(&Laid::newest(), now_ticks, now_ns, length, good_ns);
        read_ns = next.ns;
        next.publish();
    }
    read_ns
}

/// The right to lay one. A thread that has it is done within moments; one that has had it for long may be
/// gone: a child that borrowed this memory was killed.
fn turn() -> Option<Mine> {
    LAYING.try_begin().or_else(|| {
        let is_late = system_ns().saturating_sub(ANCHOR.ns.load(Ordering::Relaxed)) > LATE_NS;
        if is_late { LAYING.try_begin_or_inherit() } else { None }
    })
}

/// An anchor's content.
#[derive(Clone, Copy, Debug, Default)]
struct Laid {
    ticks: u64,
    ns: u64,
    length: u64,
    good_for: u64,
}

impl Laid {
    /// For the thread that owns `LAYING`.
    fn newest() -> Laid {
        Laid {
            ticks: ANCHOR.ticks.load(Ordering::Relaxed),
            ns: ANCHOR.ns.load(Ordering::Relaxed),
            length: ANCHOR.length.load(Ordering::Relaxed),
            good_for: ANCHOR.good_for.load(Ordering::Relaxed),
        }
    }

    /// For the thread that owns `LAYING`.
    fn publish(&self) {
        // Odd already if an earlier thread did not complete it.
        let version = ANCHOR.version.load(Ordering::Relaxed) & !1;
        ANCHOR.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        ANCHOR.ticks.store(self.ticks, Ordering::Relaxed);
        ANCHOR.ns.store(self.ns, Ordering::Relaxed);
        ANCHOR.length.store(self.length, Ordering::Relaxed);
        ANCHOR.good_for.store(self.good_for, Ordering::Relaxed);
        ANCHOR.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// The latest time that it has yielded up to this moment.
    fn read_ns(&self, now_ticks: u64) -> u64 {
        let passed = now_ticks.wrapping_sub(self.ticks).min(self.good_for);
        self.ns.saturating_add(((u128::from(passed) * u128::from(self.length)) >> 32) as u64)
    }
}

/// The anchor to follow `old`, for `good_ns`, where counter and clock were read at one moment and a tick is
/// so long.
fn after(old: &Laid, now_ticks: u64, now_ns: u64, length: u64, good_ns: u64) -> Laid {
    let good_for = ((u128::from(good_ns) << 32) / u128::from(length)) as u64;
    let ahead_ns = old.read_ns(now_ticks).saturating_sub(now_ns);
    let held_back = if ahead_ns < MOST_AHEAD_NS { ahead_ns.min(good_ns / 2) } else { 0 };
    // The time returned last is ahead of the clock: from here on it runs a little slower, and meets the clock
    // at the next anchor.
    let slower = (u128::from(length) * u128::from(held_back) / u128::from(good_ns.max(1))) as u64;
    Laid {
        ticks: now_ticks,
        ns: now_ns + held_back,
        length: length - slower,
        good_for: good_for + SKEW_TICKS as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A third of a nanosecond.
    const LENGTH: u64 = (1 << 32) / 3;

    #[test]
    fn time_never_goes_back_from_one_anchor_to_the_next() {
        let old = Laid { ticks: 1_000, ns: 5_000_000, length: LENGTH, good_for: 3_000_000 };
        // The clock is 40 ns behind the time returned last.
        let read_ns = old.read_ns(3_001_000);
        let next = after(&old, 3_001_000, read_ns - 40, LENGTH, 1_000_000);
        assert_eq!(next.ns, read_ns);
        // And has caught up where the next one is due.
        let at_end = next.read_ns(3_001_000 + 3_000_000);
        assert!(at_end.abs_diff(read_ns - 40 + 1_000_000) <= 2, "{at_end}");
        // Where it is ahead, time jumps.
        assert_eq!(after(&old, 3_001_000, read_ns + 30, LENGTH, 1_000_000).ns, read_ns + 30);
    }

    #[test]
    fn an_anchor_that_was_not_used_for_long_delays_nothing() {
        // Wrong by a thousandth: after a minute that would be a twentieth of a second.
        let old = Laid { ticks: 0, ns: 0, length: LENGTH + LENGTH / 1_000, good_for: 3_000_000 };
        let next = after(&old, 180_000_000_000, 60_000_000_000, LENGTH, 1_000_000);
        assert_eq!(next.ns, 60_000_000_000);
        assert_eq!(next.length, LENGTH);
    }

    #[test]
    fn without_an_anchor_the_clock_is_believed() {
        let none = Laid { ticks: 0, ns: 0, length: LENGTH, good_for: 0 };
        assert_eq!(after(&none, 3_000_000, 500, LENGTH, 1_000_000).ns, 500);
    }

    #[test]
    fn a_clock_that_stood_still_is_believed() {
        let old = Laid { ticks: 0, ns: 1_000_000_000, length: LENGTH, good_for: 3_000_000 };
        assert_eq!(after(&old, 2_000_000, 1_000_000_500, LENGTH, 1_000_000).ns, 1_000_000_500);
    }

    #[test]
    fn what_is_read_is_what_the_clock_says() {
        crate::clock::find();
        let end_ns = system_ns() + 30_000_000;
        let (mut last_ns, mut before_ns) = (0, system_ns());
        while before_ns < end_ns {
            let read_ns = now_ns();
            let after_ns = system_ns();
            assert!(
                read_ns + 2_000 >= before_ns && read_ns <= after_ns + 2_000,
                "{before_ns} {read_ns} {after_ns}"
            );
            assert!(read_ns + 200 >= last_ns, "{last_ns} {read_ns}");
            (last_ns, before_ns) = (read_ns, after_ns);
        }
    }
}
