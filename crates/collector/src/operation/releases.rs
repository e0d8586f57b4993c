//! Unlocking what others wait for, and waking them: the other end of a wait.
//!
//! [`super::sampling`] decides which critical sections are recorded. Here is what a hook does about it. A
//! section that is not timed costs its unlock two or three loads; of one that is, the processor's counter is
//! read before the unlock, and everything else is done after it: the other threads must not wait longer
//! because of the measurement.

use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::operations::Operation;
use proust_log::records::{EVENT_PARTIAL, RELEASE_WEIGHT_NS, Release};

use super::sections::Timed;
use super::{is_at_barrier, is_owner, known_path, postponed, waited, wanted};
use crate::clock::{self, ticks};
use crate::lane::{self, Lane, Record};
use crate::life;
use crate::path::memo::State;
use crate::path::modules;
use crate::path::tree::{Frame, NodeId};

/// Wakes of one thread are not recorded more often than this.
const WAKE_PAUSE_NS: u64 = 200_000;

/// A section of a mutex that may have lasted so long, and that a thread has waited for so long, is recorded
/// although it was not drawn: 0.1 to 0.3 ms.
const LONG_TICKS: u64 = 1 << 19;

/// The same of the waiting threads.
const LONG_NS: u64 = 200_000;

/// When the thread last recorded that it woke another one.
#[derive(Debug, Default)]
pub struct LastWake(AtomicU64);

/// A section that ends: the data that its thread has of it when it unlocks.
#[derive(Clone, Copy, Debug)]
struct Ended {
    /// The processor's counter before the unlock.
    ticks: u64,
    /// It lasted so long, or at most so long if `is_bound`.
    own_ticks: u64,
    /// How much held time it represents.
    weight_ns: u64,
    is_bound: bool,
}

/// A lock was acquired by the call that returns to `site`: a section begins.
#[inline]
pub fn acquired(lane: &Lane, object: u64, site: u64) {
    lane.operations.sections.begin(object, site);
    if lane.operations.sampling.is_drawn() {
        time(lane, object, ticks::now());
    }
}

/// As [`acquired`], after a wait, at whose end the counter was read.
#[inline]
pub fn acquired_after_wait(lane: &Lane, object: u64, site: u64) {
    lane.operations.sections.begin(object, site);
    if lane.operations.sampling.is_drawn() {
        time(lane, object, lane.operations.sampling.read_ticks());
    }
}

#[inline(never)]
fn time(lane: &Lane, object: u64, ticks: u64) {
    let stands_for = lane.operations.sampling.timed(ticks);
    lane.operations.sections.time(object, Timed { ticks, stands_for });
}

/// Runs `call`, which unlocks `object`; `here` is the hook's frame.
#[inline(always)]
pub fn bracket_unlock<R: Copy>(
    operation: Operation,
    object: u64,
    call: impl FnOnce() -> R,
    here: impl FnOnce() -> State,
) -> R {
    let Some(lane) = lane::current() else { return call() };
    if lane.operations.sections.is_timed(object) || lane.operations.postponed.is_due() {
        bracket_noted(lane, operation, object, false, call, here)
    } else {
        call()
    }
}

/// As [`bracket_unlock`], where there may be something to record. `has_sleeper`: the lock itself says that a
/// thread may sleep.
#[inline(always)]
pub fn bracket_noted<R: Copy>(
    lane: &'static Lane,
    operation: Operation,
    object: u64,
    has_sleeper: bool,
    call: impl FnOnce() -> R,
    here: impl FnOnce() -> State,
) -> R {
    let ended = end(lane, object, has_sleeper);
    let result = call();
    if lane.operations.postponed.is_due() {
        postponed::settle(lane);
    }
    if let Some(ended) = ended {
        record(lane, operation, object, &ended, here());
    }
    result
}

/// Whether a section that ends now, of a mutex with a sleeper, may have been a long one.
#[inline(always)]
pub fn may_be_long(lane: &Lane) -> bool {
    ticks::quick()
        .is_none_or(|ticks| ticks.saturating_sub(lane.operations.sampling.read_ticks()) >= LONG_TICKS)
}

/// The section of `object` ends: returns what of it is to be recorded.
#[inline]
fn end(lane: &Lane, object: u64, has_sleeper: bool) -> Option<Ended> {
    let timed = lane.operations.sections.end(object);
    if timed.is_none() && !has_sleeper {
        return None;
    }
    let ticks = ticks::now();
    let read_ticks = lane.operations.sampling.read_ticks();
    lane.operations.sampling.has_read(ticks);
    match timed {
        Some(timed) => {
            let own_ticks = ticks.saturating_sub(timed.ticks).max(1);
            let weight_ns = lane.operations.sampling.weight_ns(held_ns(own_ticks), timed.stands_for)?;
            let since_ns = waited::wanted_since_ns(object, lane)?;
            let is_certain = has_sleeper && own_ticks >= LONG_TICKS && is_long_ago(since_ns);
            let weight_ns = if is_certain { held_ns(own_ticks) } else { weight_ns };
            Some(Ended { ticks, own_ticks, weight_ns, is_bound: false })
        }
        None => {
            let own_ticks = ticks.saturating_sub(read_ticks);
            let is_certain =
                own_ticks >= LONG_TICKS && waited::wanted_since_ns(object, lane).is_some_and(is_long_ago);
            is_certain.then(|| Ended { ticks, own_ticks, weight_ns: held_ns(own_ticks), is_bound: true })
        }
    }
}

#[cold]
fn is_long_ago(since_ns: u64) -> bool {
    since_ns.saturating_add(LONG_NS) <= clock::now_ns()
}

/// So many ticks as nanoseconds; about, in a process's first moments.
fn held_ns(ticks: u64) -> u64 {
    match ticks::as_ns(ticks) {
        0 => (ticks / 3).max(1),
        ns => ns,
    }
}

/// The calling thread, the lane's, is about to wait for a condition, which unlocks `mutex`. `state` is the
/// hook's frame.
#[inline]
pub fn unlocked_by_wait(lane: &'static Lane, mutex: u64, state: State) {
    if let Some(ended) = end(lane, mutex, false) {
        record(lane, Operation::MutexUnlock, mutex, &ended, state);
    }
}

/// Whether the thread, seen from a hook's frame, is in no operation and in no barrier: unlocks and wakes that
/// a runtime makes there belong to that.
fn is_free(lane: &Lane, state: &State) -> bool {
    lane.operations.open.is_free() && !is_at_barrier(lane, state.sp)
}

/// Records the section of `object` that has ended: later, if the call path is known already.
#[cold]
#[inline(never)]
fn record(lane: &'static Lane, operation: Operation, object: u64, ended: &Ended, state: State) {
    let Some(life) = life::measuring() else { return };
    if !wanted(operation.nature()) || !is_free(lane, &state) || !is_owner(lane) {
        return;
    }
    let Ended { ticks, own_ticks, weight_ns, is_bound } = *ended;
    let node = known_path(life, lane, &state);
    let site = lane.operations.sections.site(object);
    let release = Postponed { operation, object, ticks, own_ticks, weight_ns, is_bound, site, node };
    if node == 0 || !postponed::keep_section(lane, &release) {
        write(lane, operation, release.as_record(lane), site, state);
    }
}

/// The end of a section that was not recorded at once.
#[derive(Clone, Copy, Debug)]
pub struct Postponed {
    /// The operation that ended it.
    pub operation: Operation,
    /// The lock.
    pub object: u64,
    /// As in `Ended`.
    pub ticks: u64,
    /// As in `Ended`.
    pub own_ticks: u64,
    /// As in `Ended`.
    pub weight_ns: u64,
    /// As in `Ended`.
    pub is_bound: bool,
    /// Where the lock was acquired.
    pub site: u64,
    /// The call path of the unlock.
    pub node: NodeId,
}

impl Postponed {
    fn as_record(&self, lane: &Lane) -> Release {
        // A tick's length is known badly at first, and a thread that lost the processor meanwhile asks late:
        // a thread unlocks nothing before it was born.
        let time_ns = ticks::time_ns(self.ticks).max(lane.born_ns());
        let held_ns = held_ns(self.own_ticks);
        let since_ns = if self.is_bound { 0 } else { time_ns.saturating_sub(held_ns) };
        let (object, weight_ns, node) = (self.object, self.weight_ns, self.node);
        let region = lane.member.region();
        Release { time_ns, object, held_ns, weight_ns, since_ns, node, region, ..Release::default() }
    }

    /// Records it. For the thread that has taken the lane's record.
    pub fn write(&self, lane: &Lane, record: &mut Record) {
        let release = Release { interval: record.marks.interval(), ..self.as_record(lane) };
        let site = site_frame(self.site).map_or(Some(0), |frame| record.tree.known(frame));
        if let Some(site) = site
            && record.output.has_room_for::<Release>()
        {
            // One store at the end makes the record part of the log: it may be left at any instruction.
            record.output.push_in_place(self.operation as u16, 0, &Release { site, ..release });
            return;
        }
        // SAFETY: the record has been taken. Should this not be the owner, it is a thread that closes its
        // record for it, with all signals blocked.
        unsafe { lane.with_room(|| push(record, self.operation, release, self.site, 0)) };
    }
}

/// Where a lock was acquired, as a frame without a caller.
fn site_frame(site: u64) -> Option<Frame> {
    // The call, and not what follows it.
    let lookup = site.checked_sub(1)?;
    let module = modules::known(lookup).map_or(0, |module| module.id);
    Some(Frame { parent: 0, module, lookup })
}

/// Runs `call`, which wakes the threads that wait for `object`; `here` is the hook's frame.
#[inline(always)]
pub fn bracket_wake<R: Copy>(
    operation: Operation,
    object: u64,
    call: impl FnOnce() -> R,
    here: impl FnOnce() -> State,
) -> R {
    if waited::waiters(object) == 0 {
        return call();
    }
    let ticks = ticks::now();
    let result = call();
    woken(operation, object, ticks, here());
    result
}

/// Records that waiters for `object` were woken when the counter stood at `ticks`. A futex may be a lock,
/// which only its waiters know: it was held at most since the last time a thread was woken.
#[cold]
#[inline(never)]
fn woken(operation: Operation, object: u64, ticks: u64, state: State) {
    let Some(lane) = lane::current() else { return };
    let time_ns = ticks::time_ns(ticks).max(lane.born_ns());
    // Another thread may have woken a waiter later, and been faster to store that.
    let before_ns = Some(waited::woken(object, time_ns)).filter(|before_ns| (1..time_ns).contains(before_ns));
    let held_ns = before_ns.map_or(0, |before_ns| time_ns - before_ns);
    let weight_ns = if operation != Operation::FutexWake {
        let last_ns = lane.operations.last_wake.0.load(Ordering::Relaxed);
        if time_ns.saturating_sub(last_ns) < WAKE_PAUSE_NS {
            return;
        }
        lane.operations.last_wake.0.store(time_ns, Ordering::Relaxed);
        0
    } else if held_ns == 0 {
        RELEASE_WEIGHT_NS
    } else {
        match lane.operations.sampling.weight_ns(held_ns, 1) {
            Some(weight_ns) => weight_ns,
            None => return,
        }
    };
    let region = lane.member.region();
    let release = Release { time_ns, object, held_ns, weight_ns, region, ..Release::default() };
    write(lane, operation, release, 0, state);
}

fn write(lane: &Lane, operation: Operation, release: Release, site: u64, state: State) {
    let Some(life) = life::measuring() else { return };
    if !wanted(operation.nature()) || !is_free(lane, &state) || !is_owner(lane) {
        return;
    }
    lane.with_record(|record| {
        if record.output.is_open() {
            let (node, flags) = record.path_to_know(state, life.pid, &lane.operations.known_paths);
            let interval = record.marks.interval();
            push(record, operation, Release { node, interval, ..release }, site, flags);
        }
    });
}

fn push(record: &mut Record, operation: Operation, mut release: Release, site: u64, path_flags: u16) {
    if let Some(frame) = site_frame(site)
        && record.output.is_open()
    {
        release.site = record.tree.child(frame, &mut record.output).unwrap_or(0);
    }
    record.output.push_shaped(operation as u16, if path_flags == 0 { 0 } else { EVENT_PARTIAL }, &release);
}
