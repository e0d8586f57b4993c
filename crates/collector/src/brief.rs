//! Forked children that have nothing to record but that they were there: most only exit, or load another
//! image.
//!
//! Such a child takes a slot in a chunk of its parent's log ([`proust_log::children`]) and makes a log of its
//! own when it has something to record: in the first hook that asks [`life::in_hook`], or when its timer
//! first expires. Until then [`life::is_brief`] is true, it has no lane, and hooks that record nothing worth
//! a log only call the real function. At its end it fills its slot.
//!
//! Its own children inherit what they need: the chunk stays mapped, and a grandchild takes a slot in it, too.
//! Where there is none left, or there is a reason not to wait (a sampling signal that is blocked or deadly,
//! another clock), a child makes its log at once.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use proust_log::children::{
    self, ChildBegin, ChildEnd, ChildSlot, NOT_READ, Outcome, SLOT_BYTES, TARGET_BYTES,
};
use proust_log::layout::{Ending, Origin, chunk_bytes};
use proust_log::records::NoteCode;
use proust_log::writer::Chunk;

use crate::hooks::{signal_moves, signal_stacks};
use crate::lane::{self, Usage};
use crate::life::{self, Life};
use crate::path::stack::OwnStack;
use crate::sample::{pace, signal, timer};
use crate::thread::Beginning;
use crate::turn::Quiet;
use crate::{clock, logfile, process, raw, room};

/// The chunk in which children of this process take their slots; null = none.
static CHUNK: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
/// How many such chunks this process took.
static CHUNKS: AtomicU32 = AtomicU32::new(0);
/// Slots that must be free when a process forks: a child that forks before it has a log cannot make more of
/// them.
const SPARE_SLOTS: usize = 4;
/// Whether nothing else of the log that the chunk lies in is mapped any more.
static IS_ALONE: AtomicBool = AtomicBool::new(false);

/// This process's slot, while it has one that matters.
static SLOT: AtomicPtr<ChildSlot> = AtomicPtr::new(core::ptr::null_mut());
/// Its timer; -1 = none.
static TIMER: AtomicI32 = AtomicI32::new(-1);
/// The CPU clock at its first sample.
static DUE_NS: AtomicU64 = AtomicU64::new(0);
/// Whether it could make no log when it wanted one.
static HAS_NO_LOG: AtomicBool = AtomicBool::new(false);

/// Where a brief child stood at its begin.
#[derive(Clone, Copy, Default)]
pub struct Begun {
    /// Begin of the process's measurement.
    time_ns: u64,
    /// The process's CPU clock at that time.
    process_cpu_ns: u64,
    first: Beginning,
    stack: OwnStack,
}

struct Place(UnsafeCell<Begun>);

// SAFETY: written by the only thread of a new child, and read by it, or by the thread that changed the life's
// state from brief.
unsafe impl Sync for Place {}

static BEGUN: Place = Place(UnsafeCell::new(Begun {
    time_ns: 0,
    process_cpu_ns: 0,
    first: Beginning::NONE,
    stack: OwnStack { low: 0, top: 0 },
}));

fn begun() -> Begun {
    // SAFETY: as said at `Place`.
    unsafe { *BEGUN.0.get() }
}

fn chunk() -> Option<Chunk> {
    let start = CHUNK.load(Ordering::Acquire);
    // SAFETY: stored when it was made, and taken away before it is unmapped.
    (!start.is_null()).then(|| unsafe { children::chunk_at(start) })
}

/// The stack of the only thread of a brief child, in a child of it.
pub fn stack_of_parent() -> OwnStack {
    if life::was_brief() { begun().stack } else { OwnStack::default() }
}

/// A process that records is about to fork: there must be a slot for the child. All signals are blocked.
pub fn before_fork() {
    // SAFETY: a chunk of this process's own log, which stays mapped.
    if !chunk().is_some_and(|chunk| unsafe { children::has_room(chunk, SPARE_SLOTS) }) {
        room::apart(take_chunk);
    }
}

fn take_chunk() {
    let Some(chunk) = logfile::take_chunk(chunk_bytes(CHUNKS.fetch_add(1, Ordering::Relaxed))) else {
        return;
    };
    // SAFETY: fresh, and no other thread has it. Two threads that fork at once may both get here: the slots
    // of one chunk are then lost.
    unsafe { children::begin_chunk(chunk) };
    CHUNK.store(chunk.start, Ordering::Release);
}

/// In a forked child: nothing that belonged to the parent is used in this process. Before [`take`].
pub fn after_fork() {
    SLOT.store(core::ptr::null_mut(), Ordering::Relaxed);
    TIMER.store(-1, Ordering::Relaxed);
    HAS_NO_LOG.store(false, Ordering::Relaxed);
    CHUNKS.store(0, Ordering::Relaxed);
}

/// A slot for a forked child that began at `begin_ns` and continues under `mask`; None if it is to make its
/// log at once.
pub fn take(begin_ns: u64, mask: u64) -> Option<*mut ChildSlot> {
    let signal = signal::current();
    let can_be_sampled = !signal::is_deadly(signal)
        && mask & signal::bit(signal) == 0
        && signal_stacks::silence_at_begin() == 0;
    if !can_be_sampled || process::may_have_other_clock(begin_ns) {
        return None;
    }
    // SAFETY: the chunk was inherited with the memory.
    chunk().and_then(|chunk| unsafe { children::take(chunk) })
}

/// The memory that has to stay mapped while slots are taken from it.
pub fn kept() -> core::ops::Range<usize> {
    chunk().map_or(0..0, |chunk| chunk.start as usize..chunk.start as usize + chunk.bytes)
}

/// Begins a brief child's life: from here on its slot says that it is there. Whether it does; it has to make
/// its log at once otherwise.
///
/// # Safety
/// The process has one thread and has taken the slot.
pub unsafe fn begin(life: &Life, slot: *mut ChildSlot, begin_ns: u64, stack: OwnStack) -> bool {
    let Ok(timer) = timer::create(life.pid, signal::number(signal::current())) else {
        // The log that it makes now shows that. SAFETY: the slot is this process's, and still zero: it reads
        // as never written.
        return false;
    };
    let Ok(due_ns) = pace::start_without_lane(timer, clock::thread_cpu_ns(), life.options.mean_distance_ns)
    else {
        timer::stop(timer);
        return false;
    };
    DUE_NS.store(due_ns, Ordering::Relaxed);
    let process_cpu_ns = clock::process_cpu_ns();
    let first = Beginning::now(process::forked_ns());
    // SAFETY: the only thread of a new process.
    unsafe { *BEGUN.0.get() = Begun { time_ns: begin_ns, process_cpu_ns, first, stack } };
    let begin = ChildBegin {
        pid: life.pid,
        parent_pid: raw::getppid(),
        time_ns: first.time_ns,
        cpu_ns: first.cpu_ns,
        process_cpu_ns,
        queued_us: first.queued_us,
        user: raw::getuid(),
        ..ChildBegin::default()
    };
    // SAFETY: taken by this process just now.
    unsafe { children::write_begin(slot, begin) };
    TIMER.store(timer, Ordering::Relaxed);
    SLOT.store(slot, Ordering::Release);
    IS_ALONE.store(true, Ordering::Relaxed);
    true
}

/// A child has a log of its own, or none at all: the chunk of its parent's log is of no use to it. Where that
/// is all that is mapped of the log, it is unmapped.
pub fn leave_chunk() {
    let start = CHUNK.swap(core::ptr::null_mut(), Ordering::AcqRel);
    if IS_ALONE.swap(false, Ordering::Relaxed) && !start.is_null() {
        // SAFETY: it stayed mapped when the rest of the parent's log did not, and nothing of this process
        // uses it any more.
        unsafe {
            let chunk = children::chunk_at(start);
            raw::unmap(chunk.start, chunk.bytes);
        }
    }
}

/// Makes the log of a brief child that has something to record: in a hook.
#[cold]
#[inline(never)]
pub fn begin_log() {
    let mask = raw::signal_mask(libc::SIG_BLOCK, u64::MAX);
    begin_log_under(mask);
    raw::signal_mask(libc::SIG_SETMASK, mask);
}

/// As [`begin_log`], with all signals blocked; the thread continues under `mask`.
pub fn begin_log_under(mask: u64) {
    if !HAS_NO_LOG.load(Ordering::Relaxed) {
        room::apart_from(begun().stack, || make_log(mask));
    }
}

fn make_log(mask: u64) {
    // Of several tasks in one memory one makes the log.
    if !life::leave_brief() {
        return;
    }
    let begun = begun();
    let started_ns = clock::now_ns();
    let slot = SLOT.swap(core::ptr::null_mut(), Ordering::AcqRel);
    let timer = TIMER.swap(-1, Ordering::Relaxed);
    let before = life::Before { process_cpu_ns: begun.process_cpu_ns, first: begun.first, started_ns };
    life::begin_recording(begun.time_ns, Origin::Fork, begun.stack, None, Some(&before));
    let timer = (timer >= 0).then_some(timer);
    let lane = lane::current().filter(|_| life::recording().is_some());
    let outcome = if lane.is_some() { Outcome::Logged } else { Outcome::Unfollowed };
    if !slot.is_null() {
        // SAFETY: this process's slot, which is mapped until the chunk is left.
        unsafe { children::write_outcome(slot, outcome) };
    }
    let Some(lane) = lane else {
        // Its slot still says when it ends, and what it used.
        timer.into_iter().for_each(timer::stop);
        lane::set_current(None);
        HAS_NO_LOG.store(true, Ordering::Relaxed);
        SLOT.store(slot, Ordering::Release);
        life::begin_brief();
        return;
    };
    if let Some(timer) = timer {
        // It runs already, and under the mask that the thread has when this is over.
        lane.samples.silence.begin(0);
        lane.samples.replace_timer(Some(timer)).into_iter().for_each(timer::stop);
        lane.samples.pace.set_due(DUE_NS.load(Ordering::Relaxed));
    }
    signal_moves::begin_child(mask);
    leave_chunk();
}

/// Ends a brief child's record: its slot says how. `target` is the image that it is about to load. False if
/// the process is no brief child, or that does not fit its slot.
pub fn end(ending: Ending, status: i32, target: &[u8]) -> bool {
    if !life::is_brief() || target.len() > TARGET_BYTES || life::is_other_process() {
        return false;
    }
    let _quiet = Quiet::begin();
    if !life::end_brief() {
        return false;
    }
    room::apart_from(begun().stack, || write_end(ending, status, target));
    true
}

fn write_end(ending: Ending, status: i32, target: &[u8]) {
    let begun = begun();
    let (slot, timer) = (SLOT.load(Ordering::Acquire), TIMER.swap(-1, Ordering::Relaxed));
    if timer >= 0 {
        timer::stop(timer);
    }
    let (time_ns, cpu_ns) = (clock::now_ns(), clock::thread_cpu_ns());
    let off_ns =
        time_ns.saturating_sub(begun.first.time_ns).saturating_sub(cpu_ns - begun.first.cpu_ns.min(cpu_ns));
    let queued_ns = if off_ns >= lane::WORTH_ASKING_NS {
        lane::scheduler_numbers(c"/proc/thread-self/schedstat").map_or(NOT_READ, |(_, queued_ns)| queued_ns)
    } else {
        NOT_READ
    };
    let used = Usage::now().since(&begun.first.usage);
    let mut end = ChildEnd {
        time_ns,
        cpu_ns,
        process_cpu_ns: clock::process_cpu_ns(),
        own_ns: begun.first.own_ns,
        queued_ns,
        user_us: used.user_us as u32,
        system_us: used.system_us as u32,
        minor_faults: used.faults.0 as u32,
        major_faults: used.faults.1 as u32,
        voluntary_switches: used.switches.0 as u32,
        involuntary_switches: used.switches.1 as u32,
        ending: ending as u32,
        exit_status: status,
        name: raw::thread_name(),
        target_bytes: target.len() as u32,
        ..ChildEnd::NONE
    };
    if let Some(place) = end.target.get_mut(..target.len()) {
        place.copy_from_slice(target);
    }
    end.own_ns += clock::now_ns().saturating_sub(time_ns);
    if !slot.is_null() {
        // SAFETY: this process's slot, in memory that stays mapped.
        unsafe { children::write_end(slot, Some(&end)) };
    }
}

/// The exec before which [`end`] was called failed: the process continues with a log of its own.
pub fn after_failed_exec(errno: i32) {
    let quiet = Quiet::begin();
    let slot = SLOT.load(Ordering::Acquire);
    if !slot.is_null() {
        // SAFETY: this process's slot, in memory that stays mapped.
        unsafe { children::write_end(slot, None) };
    }
    life::begin_brief();
    drop(quiet);
    begin_log();
    if let Some(lane) = lane::current().filter(|_| life::recording().is_some()) {
        lane.with_record(|record| record.note(NoteCode::ExecFailed, errno as u64));
    }
}

const _: () = assert!(SLOT_BYTES <= proust_log::layout::UNIT_BYTES);
