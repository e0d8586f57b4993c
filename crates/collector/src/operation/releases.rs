//! Letting go what others wait for, and waking them: the other end of a wait.
//!
//! The clock is read before the object is let go, and the call path is found after: it is the time of the section that
//! counts, and the others must not wait longer for our sake. Of very many short sections some are told, by chance, in
//! proportion to their length, and stand for the others.

use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::operations::{Nature, Operation};
use proust_log::records::{EVENT_PARTIAL, RELEASE_WEIGHT_NS, Release};

use super::{Kind, is_owner, waited, wanted};
use crate::clock;
use crate::lane::{self, Lane, Record};
use crate::life::{self, Life};
use crate::path::memo::State;
use crate::path::modules;
use crate::path::tree::Frame;

/// Wakes of one thread are not told more often than this.
const WAKE_PAUSE_NS: u64 = 200_000;

/// What a thread keeps for its releases.
#[derive(Debug, Default)]
pub struct Releases {
    chance: AtomicU64,
    last_wake_ns: AtomicU64,
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
    let before_ns = clock::now_ns();
    let result = call();
    told(operation, object, before_ns, here());
    result
}

/// Tells that `object` was let go at `before_ns`.
#[cold]
#[inline(never)]
pub fn told(operation: Operation, object: u64, before_ns: u64, state: State) {
    let Some(life) = life::in_hook() else { return };
    let Some(lane) = lane::current() else { return };
    if !wanted(operation.nature()) || !lane.open.is_free() {
        return;
    }
    let held_ns = waited::released(object, before_ns).unwrap_or(0);
    // A futex may be a lock: only its waiters know.
    let weight_ns = if operation.nature() == Nature::Wake && operation != Operation::FutexWake {
        let last_ns = lane.releases.last_wake_ns.load(Ordering::Relaxed);
        if before_ns.saturating_sub(last_ns) < WAKE_PAUSE_NS {
            return;
        }
        lane.releases.last_wake_ns.store(before_ns, Ordering::Relaxed);
        0
    } else if held_ns == 0 || held_ns >= RELEASE_WEIGHT_NS {
        held_ns.max(RELEASE_WEIGHT_NS)
    } else if lane.releases.below(RELEASE_WEIGHT_NS) < held_ns {
        RELEASE_WEIGHT_NS
    } else {
        return;
    };
    if !is_owner(lane) {
        return;
    }
    let release = Release { time_ns: before_ns, object, held_ns, weight_ns, ..Release::default() };
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
