//! Letting go what others wait for, and waking them: the other end of a wait.
//!
//! The processor's counter is read before the object is let go, and clock and call path after: it is the time of the
//! section that counts, and the others must not wait longer for our sake. Of very many short sections some are told, by
//! chance, in proportion to their length, and stand for the others; most of them are not even timed.

use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::operations::{Nature, Operation};
use proust_log::records::{EVENT_PARTIAL, RELEASE_WEIGHT_NS, Release};

use super::{Kind, is_owner, waited, wanted};
use crate::clock::ticks;
use crate::lane::{self, Lane, Record};
use crate::life::{self, Life};
use crate::path::memo::State;
use crate::path::modules;
use crate::path::tree::Frame;

/// Wakes of one thread are not told more often than this.
const WAKE_PAUSE_NS: u64 = 200_000;

/// A thread that lets a lock go again within so many ticks has held it no longer than that.
const SHORT_TICKS: u64 = 1 << 13;
/// Of releases after sections that are known to be short one in so many is timed, on average.
const TIMED_ONE_IN: u64 = 16;

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
        self.untimed.store(self.below(2 * TIMED_ONE_IN - 1), Ordering::Relaxed);
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
    let ticks = ticks::now();
    let own_ticks = lane::current().map_or(u64::MAX, |lane| lane.sections.let_go(object, ticks));
    if own_ticks < SHORT_TICKS && !lane::current().is_some_and(|lane| lane.releases.is_timed()) {
        return call();
    }
    let result = call();
    told(operation, object, LetGo { ticks, own_ticks }, here());
    result
}

/// When an object was let go.
#[derive(Clone, Copy, Debug)]
pub struct LetGo {
    /// What the processor's counter stood at.
    ticks: u64,
    /// So long before the thread had let it go before: it held it no longer than that.
    own_ticks: u64,
}

impl LetGo {
    /// Now, by a thread that may have held it for any time.
    pub fn now() -> LetGo {
        LetGo { ticks: ticks::now(), own_ticks: u64::MAX }
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
    let time_ns = ticks::time_ns(let_go.ticks);
    let (_, since_ns) = lane.sections.of(object);
    let is_short = let_go.own_ticks < SHORT_TICKS;
    // Somebody else may have let it go later, and been faster to say so.
    let before_ns = Some(waited::released(object, time_ns)).filter(|before_ns| *before_ns < time_ns);
    let held_ns = match before_ns.unwrap_or(0).max(since_ns) {
        0 if !is_short => 0,
        from_ns => time_ns.saturating_sub(from_ns).min(ticks::as_ns(let_go.own_ticks)).max(1),
    };
    let one_in = if is_short { TIMED_ONE_IN } else { 1 };
    // A futex may be a lock: only its waiters know.
    let weight_ns = if operation.nature() == Nature::Wake && operation != Operation::FutexWake {
        let last_ns = lane.releases.last_wake_ns.load(Ordering::Relaxed);
        if time_ns.saturating_sub(last_ns) < WAKE_PAUSE_NS {
            return;
        }
        lane.releases.last_wake_ns.store(time_ns, Ordering::Relaxed);
        0
    } else if held_ns == 0 || held_ns >= RELEASE_WEIGHT_NS {
        held_ns.max(RELEASE_WEIGHT_NS)
    } else if lane.releases.below(RELEASE_WEIGHT_NS) < held_ns.saturating_mul(one_in) {
        RELEASE_WEIGHT_NS
    } else {
        return;
    };
    if !is_owner(lane) {
        return;
    }
    let release = Release { time_ns, object, held_ns, weight_ns, ..Release::default() };
    lane.with_record(|record| {
        // SAFETY: the owner, and `with_record` has set `busy`.
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
    record.look_for_own_stack(life, state.sp);
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
