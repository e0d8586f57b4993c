//! Letting go what others wait for, and waking them: the other end of a wait.
//!
//! The processor's counter is read before the object is let go, and clock and call path after: it is the time of the
//! section that counts, and the others must not wait longer for our sake. Of very many short sections some are told, by
//! chance, in proportion to their length, and stand for the others; most of them are not even timed.

use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::operations::{Nature, Operation};
use proust_log::records::{EVENT_PARTIAL, RELEASE_TIMED_ONE_IN, RELEASE_WEIGHT_NS, Release};

use super::{Kind, is_owner, waited, wanted};
use crate::clock::ticks;
use crate::lane::{self, Lane, Record};
use crate::life::{self, Life};
use crate::path::memo::State;
use crate::path::modules;
use crate::path::tree::Frame;

/// Wakes of one thread are not told more often than this.
const WAKE_PAUSE_NS: u64 = 200_000;

/// Sections that are longer are all told, and none of them stands for others.
const LONG_TICKS: u64 = 1 << 21;

/// What a thread keeps for its releases.
#[derive(Debug, Default)]
pub struct Releases {
    chance: AtomicU64,
    last_wake_ns: AtomicU64,
    /// So many short sections are not timed from now on.
    untimed: AtomicU64,
}

impl Releases {
    /// A number that looks random, below `end`.
    fn below(&self, end: u64) -> u64 {
        // xorshift, from any state but zero.
        let mut state = self.chance.load(Ordering::Relaxed) | 1;
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.chance.store(state, Ordering::Relaxed);
        (state >> 11) % end
    }

    /// Whether a short section is timed. That is drawn before its length is known.
    #[inline]
    fn is_timed(&self) -> bool {
        let untimed = self.untimed.load(Ordering::Relaxed);
        if untimed > 0 {
            self.untimed.store(untimed - 1, Ordering::Relaxed);
            return false;
        }
        // From none to twice the mean.
        self.untimed.store(self.below(2 * RELEASE_TIMED_ONE_IN - 1), Ordering::Relaxed);
        true
    }
}

/// Runs `call`, which lets `object` go or wakes who waits for it; `here` is the hook's frame.
#[inline(always)]
pub fn around<R: Copy>(
    operation: Operation,
    object: u64,
    call: impl FnOnce() -> R,
    here: impl FnOnce() -> State,
) -> R {
    if !waited::is_waited_for(object) {
        return call();
    }
    let let_go = LetGo::now();
    let result = call();
    told(operation, object, let_go, here());
    result
}

/// As [`around`], of a lock that is contended now and was when it was acquired, but whose section is not timed: it is told
/// if it may have been long.
#[inline(always)]
pub fn around_untimed<R: Copy>(
    operation: Operation,
    object: u64,
    call: impl FnOnce() -> R,
    here: impl FnOnce() -> State,
) -> R {
    let ticks = ticks::now();
    let Some(lane) = lane::current() else { return call() };
    let own_ticks = lane.sections.since_let_go(object, ticks);
    if own_ticks < LONG_TICKS {
        let result = call();
        // Not before: the counter takes its time, and nothing is let go before what was to be stored is.
        lane.sections.let_go(object, ticks);
        return result;
    }
    lane.sections.let_go(object, ticks);
    around_timed(operation, object, LetGo { ticks, own_ticks, one_in: 1, drawn_ns: 0 }, call, here)
}

/// As [`around`], when it is known what there is to tell.
#[inline(always)]
pub fn around_timed<R: Copy>(
    operation: Operation,
    object: u64,
    let_go: LetGo,
    call: impl FnOnce() -> R,
    here: impl FnOnce() -> State,
) -> R {
    let is_waited_for = waited::is_waited_for(object);
    let result = call();
    if is_waited_for {
        told(operation, object, let_go, here());
    }
    result
}

/// A lock was acquired at once by the call that returns to `site`. Of those that are contended at times some are timed from
/// here on: others may come and go during the section without a trace in the lock.
#[inline]
pub fn acquired(lane: &Lane, object: u64, site: u64) {
    lane.sections.keep(object, site, 0);
    if lane.sections.was_contended(object) && lane.releases.is_timed() {
        lane.sections.time(object, ticks::now());
    }
}

/// When an object was let go.
#[derive(Clone, Copy, Debug)]
pub struct LetGo {
    /// What the processor's counter stood at.
    ticks: u64,
    /// The thread held it no longer than that.
    own_ticks: u64,
    /// Of releases like this one, one in so many is told of.
    one_in: u64,
    /// It was drawn already, with the chance that a weight of so much has; 0 = it was not.
    drawn_ns: u64,
}

impl LetGo {
    /// Now, by a thread that may have held it for any time.
    pub fn now() -> LetGo {
        LetGo { ticks: ticks::now(), own_ticks: u64::MAX, one_in: 1, drawn_ns: 0 }
    }

    /// Now, of a section that was timed from its begin; None if it is not to be told. That is drawn here, where it takes no clock and
    /// nothing that others write, too.
    #[inline]
    pub fn timed(releases: &Releases, since_ticks: u64) -> Option<LetGo> {
        let ticks = ticks::now();
        let own_ticks = ticks.saturating_sub(since_ticks);
        if own_ticks >= LONG_TICKS {
            return Some(LetGo { ticks, own_ticks, one_in: 1, drawn_ns: 0 });
        }
        // In a process's first moments it is not known how long a tick is.
        let most_ns = ticks::as_ns(own_ticks).saturating_mul(RELEASE_TIMED_ONE_IN);
        let drawn_ns = if most_ns < RELEASE_WEIGHT_NS { most_ns } else { 0 };
        if drawn_ns != 0 && releases.below(RELEASE_WEIGHT_NS) >= drawn_ns {
            return None;
        }
        Some(LetGo { ticks, own_ticks, one_in: RELEASE_TIMED_ONE_IN, drawn_ns })
    }

    /// When that was, by a thread that lives since `born_ns` and acquired it at `since_ns`, if it knows. A tick's length is
    /// known badly at first, and who lost the processor meanwhile asks late: what is told must not be before either.
    fn time_ns(&self, since_ns: u64, born_ns: u64) -> u64 {
        ticks::time_ns(self.ticks).max(since_ns).max(born_ns)
    }
}

/// Tells that `object` was let go.
#[cold]
#[inline(never)]
pub fn told(operation: Operation, object: u64, let_go: LetGo, state: State) {
    let Some(life) = life::in_hook() else { return };
    let Some(lane) = lane::current() else { return };
    if !wanted(operation.nature()) || !lane.open.is_free() {
        return;
    }
    let (_, since_ns) = lane.sections.of(object);
    let time_ns = let_go.time_ns(since_ns, lane.born_ns());
    // Somebody else may have let it go later, and been faster to say so.
    let before_ns = Some(waited::released(object, time_ns)).filter(|before_ns| *before_ns < time_ns);
    let held_ns = match before_ns.unwrap_or(0).max(since_ns) {
        0 if let_go.one_in == 1 => 0,
        from_ns => time_ns.saturating_sub(from_ns).min(ticks::as_ns(let_go.own_ticks)).max(1),
    };
    let stands_for_ns = held_ns.saturating_mul(let_go.one_in);
    // A futex may be a lock: only its waiters know.
    let weight_ns = if operation.nature() == Nature::Wake && operation != Operation::FutexWake {
        let last_ns = lane.releases.last_wake_ns.load(Ordering::Relaxed);
        if time_ns.saturating_sub(last_ns) < WAKE_PAUSE_NS {
            return;
        }
        lane.releases.last_wake_ns.store(time_ns, Ordering::Relaxed);
        0
    } else if let_go.drawn_ns != 0 {
        // Drawn for as long as the section may have been; what it was is not more.
        if lane.releases.below(let_go.drawn_ns) >= stands_for_ns {
            return;
        }
        RELEASE_WEIGHT_NS
    } else if held_ns == 0 || stands_for_ns >= RELEASE_WEIGHT_NS {
        stands_for_ns.max(RELEASE_WEIGHT_NS)
    } else if lane.releases.below(RELEASE_WEIGHT_NS) < stands_for_ns {
        RELEASE_WEIGHT_NS
    } else {
        return;
    };
    if !is_owner(lane) {
        return;
    }
    let release = Release { time_ns, object, held_ns, weight_ns, ..Release::default() };
    lane.with_record(|record| {
        // SAFETY: the owner, and `with_record` has taken the record.
        unsafe { lane.with_room(|| write(life, lane, record, operation, release, state)) };
    });
}

fn write(
    life: &Life,
    lane: &Lane,
    record: &mut Record,
    operation: Operation,
    mut release: Release,
    state: State,
) {
    if !record.output.is_open() {
        return;
    }
    let (node, flags) = record.path(state, life.pid);
    let (site, since_ns) = lane.sections.of(release.object);
    release.node = node;
    release.since_ns = since_ns;
    if site != 0 {
        // The call, and not what follows it.
        let lookup = site - 1;
        let module = modules::known(lookup).map_or(0, |module| module.id);
        let frame = Frame { parent: 0, module, lookup };
        release.site = record.tree.child(frame, &mut record.output).unwrap_or(0);
    }
    let (operation, _) = Kind::parts(Kind::from(operation).number());
    record.output.push(operation, if flags == 0 { 0 } else { EVENT_PARTIAL }, &release);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn nothing_is_let_go_before_it_was_acquired() {
        clock::find();
        let long_ago = LetGo { ticks: 1, own_ticks: 1, one_in: 1, drawn_ns: 0 };
        let now_ns = clock::now_ns();
        assert_eq!(long_ago.time_ns(now_ns + 7_000_000_000, 0), now_ns + 7_000_000_000);
        assert_eq!(long_ago.time_ns(0, now_ns + 9_000_000_000), now_ns + 9_000_000_000);
    }

    #[test]
    fn short_sections_are_drawn_in_proportion_to_their_length() {
        clock::find();
        // Until it is known how long a tick is.
        while ticks::as_ns(1 << 20) == 0 {
            std::thread::sleep(std::time::Duration::from_millis(2));
            ticks::time_ns(ticks::now());
        }
        let releases = Releases::default();
        let of_length = |ns: u64| {
            let ticks_of =
                |ns: u64| (0..u64::MAX).find(|&ticks| ticks::as_ns(ticks * 64) >= ns).unwrap() * 64;
            let length = ticks_of(ns);
            let told = (0..40_000).filter(|_| LetGo::timed(&releases, ticks::now() - length).is_some());
            told.count() as f64 / 40_000.0
        };
        // Each stands for sixteen, and a weight is a fifth of a millisecond; the loop itself adds some nanoseconds.
        let share = of_length(4_000);
        assert!((0.3..0.36).contains(&share), "{share}");
        assert!(of_length(100_000) == 1.0);
    }
}
