//! Fork, exec, exit: where a process's record begins from scratch, is handed on, or ends.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use proust_log::children::ChildSlot;
use proust_log::layout::{Ending, Origin};
use proust_log::records::{Birth, Child, NoteCode, Subject};

use crate::hooks::{borrowers, signal_moves, signal_stacks, signals};
use crate::lane;
use crate::life::{self, Life};
use crate::operation::postponed;
use crate::path::modules;
use crate::path::stack::OwnStack;
use crate::source::{self, Source};
use crate::{brief, clock, control, logfile, openmp, operation, raw, room, thread};

unsafe extern "C" {
    /// The C library's own; each library has its private copy of `pthread_atfork`, which calls this.
    fn __register_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
        library: *mut core::ffi::c_void,
    ) -> i32;
}

/// Asks the C library to call us at forks.
pub fn watch_forks() {
    // SAFETY: the handlers have the expected type and stay loaded: a preloaded library is never unloaded.
    unsafe { __register_atfork(Some(before_fork), Some(after_fork), Some(in_child), core::ptr::null_mut()) };
}

/// When this process was last about to fork; in a child, when its parent was.
static FORKED_NS: AtomicU64 = AtomicU64::new(0);

/// When the parent of this forked child asked for it; 0 = not known.
pub fn forked_ns() -> u64 {
    FORKED_NS.load(Ordering::Relaxed)
}

/// A child begins less than that after its parent asked for it, unless its clock is another one.
const MOST_FORK_NS: u64 = 50_000_000;

/// Whether the clock of a forked child that began at `begin_ns` seems to be another one than its parent's:
/// only a child can enter a new time namespace.
pub fn may_have_other_clock(begin_ns: u64) -> bool {
    begin_ns.wrapping_sub(forked_ns()) >= MOST_FORK_NS
}

unsafe extern "C" fn before_fork() {
    // A fork inside a fork's own handlers leaves the outer one's mask alone.
    let records = life::recording().is_some();
    if !records && !life::is_brief() || lane::is_forking() {
        return;
    }
    FORKED_NS.store(clock::now_ns(), Ordering::Relaxed);
    // No sample while memory is copied: the child must not inherit a lane in the middle of a record.
    lane::begin_fork(raw::signal_mask(libc::SIG_BLOCK, u64::MAX));
    if records {
        brief::before_fork();
        if let Some(lane) = lane::current() {
            lane.with_record(|record| source::each(|source| source.forks(record, forked_ns())));
        }
    }
}

/// Whatever happened to the recording meanwhile, the thread gets back the signals that were blocked.
unsafe extern "C" fn after_fork() {
    if let Some(mask) = lane::end_fork() {
        source::each(Source::has_forked);
        raw::signal_mask(libc::SIG_SETMASK, mask);
    }
}

unsafe extern "C" fn in_child() {
    let mask = lane::end_fork();
    // Where another thread was about to end the parent's record, or to replace its image, the child continues
    // alone.
    if life::recording().is_some() || life::was_brief() || life::has_stopped() && !is_confined() {
        let mask = mask.unwrap_or_else(|| raw::signal_mask(libc::SIG_BLOCK, u64::MAX));
        room::apart_from(own_stack(), || begin_under(mask, brief::take));
        raw::signal_mask(libc::SIG_SETMASK, mask);
    } else if let Some(mask) = mask {
        raw::signal_mask(libc::SIG_SETMASK, mask);
    }
}

/// Begins the record of a forked child whose fork no handler reported.
#[cold]
#[inline(never)]
pub fn begin_in_child() {
    let mask = raw::signal_mask(libc::SIG_BLOCK, u64::MAX);
    FORKED_NS.store(0, Ordering::Relaxed);
    // It has something to record.
    room::apart_from(own_stack(), || begin_under(mask, |_, _| None));
    raw::signal_mask(libc::SIG_SETMASK, mask);
}

/// The stack on which a forked child continues: the forking thread's, as far as it is known.
fn own_stack() -> OwnStack {
    // SAFETY: this thread is the only one in the child.
    lane::current().map_or_else(brief::stack_of_parent, |lane| unsafe { lane.own_stack() })
}

/// Begins the record of a forked child, all signals being blocked: its memory is a copy of the parent's, the
/// log is not. The child continues under `mask`, the forking thread's, and on that thread's stack. It makes
/// no log yet if `slot` gives it one.
fn begin_under(mask: u64, slot: fn(u64, u64) -> Option<*mut ChildSlot>) {
    let stack = own_stack();
    clock::after_fork();
    let begin = clock::now_ns();
    let left = lane::current().map_or(core::ptr::null_mut(), lane::Lane::leave_log);
    life::switch_off();
    lane::set_current(None);
    lane::abandon_all();
    borrowers::after_fork();
    room::after_fork();
    source::each(Source::forked);
    brief::after_fork();
    let parents = logfile::abandon();
    modules::after_fork();
    thread::after_fork();
    let life = life::begin_child(begin);
    let is_brief = life.is_some_and(|life| {
        // SAFETY: a forked child has one thread; the slot was taken just now.
        slot(begin, mask).is_some_and(|slot| unsafe { brief::begin(life, slot, begin, stack) })
    });
    if is_brief {
        parents.leave(left, brief::kept());
        life::begin_brief();
    } else {
        life::begin_recording(begin, Origin::Fork, stack, None, None);
        parents.give_up(life::recording().is_some(), left);
        brief::leave_chunk();
        signal_moves::begin_child(mask);
    }
    FORKED_NS.store(0, Ordering::Relaxed);
}

/// Writes that a child was started.
pub fn started_child(pid: u32, birth: Birth) {
    if let Some(life) = life::in_hook()
        && !life::is_borrowed(life)
        && let Some(lane) = lane::current()
    {
        lane.with_record(|record| {
            record.output.push(birth as u16, 0, &Child { time_ns: clock::now_ns(), pid, reserved: 0 });
        });
    }
}

/// Ends this process's record: closes the tails of all threads.
pub fn end(life: &Life, ending: Ending, status: i32) {
    if life::is_borrowed(life) {
        return;
    }
    // The commands given while nothing of this process ran.
    control::look_here(life);
    if !life::stop() {
        return;
    }
    room::apart(|| close(life, ending, status));
}

fn close(life: &Life, ending: Ending, status: i32) {
    let tid = raw::gettid();
    let mine = lane::current().filter(|lane| lane.owner.load(Ordering::Relaxed) == tid);
    let until_ns = clock::now_ns() + PATIENCE_NS;
    lane::live().for_each(openmp::team::notify_the_others);
    for lane in lane::live().filter(|lane| !mine.is_some_and(|mine| core::ptr::eq(mine, *lane))) {
        close_for_other(life, lane, until_ns);
    }
    if let Some(lane) = mine {
        lane.with_record(|record| {
            for other in
                lane::live().map(|lane| lane.owner.load(Ordering::Relaxed)).filter(|&other| other != tid)
            {
                push_name_of(&mut record.output, other);
                lane::binding::push(&mut record.output, other);
            }
            postponed::settle_in(lane, record);
            signals::note_if_replaced(record);
            signal_stacks::note_dropped(record);
            source::each(|source| source.process_ends(record, ending));
            record.end(tid);
        });
    }
    // Readers rely on this: a log that states how it ended is never cut shorter afterwards.
    logfile::close();
    logfile::with_header(|header| {
        header.end_ns = clock::now_ns();
        header.process_cpu_end_ns = clock::process_cpu_ns();
        header.exit_status = status;
        header.arena_bytes = crate::arena::HANDED_OUT_BYTES.load(Ordering::Relaxed);
        header.ending = ending as u32;
    });
}

/// How long the end of a process waits for threads that are writing a record just then, all of them together.
const PATIENCE_NS: u64 = 20_000_000;

/// Closes the tail of a thread that keeps running (until the process ends a moment later): in the lane's
/// header, since the lane's records belong to that thread.
///
/// A thread that is just ending writes what it knows: nothing could be written after the log was closed.
fn close_for_other(life: &Life, lane: &'static lane::Lane, until_ns: u64) {
    let tid = lane.owner.load(Ordering::Acquire);
    if raw::clock_ns(clock::cpu_clock_of(tid)) == 0 {
        return;
    }
    let is_gone = || lane.owner.load(Ordering::Acquire) != tid;
    let _guard = loop {
        if let Some(guard) = lane.record_lock.acquire_from_owner() {
            break guard;
        }
        if is_gone() {
            return;
        }
        if clock::now_ns() >= until_ns {
            close_tail_of(lane, tid);
            return;
        }
        raw::give_processor_away();
    };
    if !is_gone() {
        // SAFETY: the record is ours now: neither the owner's hooks nor its handler touch it.
        let record = unsafe { lane.record() };
        operation::look_into_record(life, lane, record);
        if let Some((now_ns, cpu_ns)) = close_tail_of(lane, tid)
            && record.is_worth_asking(now_ns, cpu_ns)
            && let Ok(path) = core::ffi::CStr::from_bytes_until_nul(&file_of_thread(tid, b"/schedstat"))
        {
            record.push_scheduler_of(path, now_ns, cpu_ns);
        }
    }
}

/// Writes how far the thread had got, if there is one; returns its clocks.
fn close_tail_of(lane: &lane::Lane, tid: u32) -> Option<(u64, u64)> {
    let cpu_ns = raw::clock_ns(clock::cpu_clock_of(tid));
    if cpu_ns == 0 {
        return None;
    }
    let now_ns = clock::now_ns();
    lane.close_tail(now_ns, cpu_ns);
    Some((now_ns, cpu_ns))
}

/// The path of what the kernel reports of another thread of this process.
fn file_of_thread(tid: u32, name: &[u8]) -> [u8; 64] {
    let mut digits = [0; 20];
    let mut path = [0_u8; 64];
    let parts: [&[u8]; 3] = [b"/proc/self/task/", logfile::digits(tid.into(), &mut digits), name];
    for (place, byte) in path.iter_mut().zip(parts.into_iter().flatten()) {
        *place = *byte;
    }
    path
}

/// Writes the name of another thread of this process, which may not live to write it.
fn push_name_of(output: &mut lane::Output, tid: u32) {
    let path = file_of_thread(tid, b"/comm");
    let Ok(path) = core::ffi::CStr::from_bytes_until_nul(&path) else { return };
    raw::with_text::<64, _>(path, |name| output.push_text(Subject::ThreadName, tid, name.trim_ascii_end()));
}

static CONFINED: AtomicBool = AtomicBool::new(false);

/// Whether this process continued without a record, in which case its children are not followed either.
pub fn is_confined() -> bool {
    CONFINED.load(Ordering::Acquire)
}

/// Ends this process's record while the process continues: no timer is left, no system call is made any more.
pub fn end_for_good(life: &Life, ending: Ending) {
    if !life::stop() {
        return;
    }
    CONFINED.store(true, Ordering::Release);
    for lane in lane::live() {
        lane.stop_timers();
    }
    room::apart(|| close(life, ending, 0));
}

/// Hands the record over to the image that an exec is about to load.
pub fn before_exec(life: &Life, target: &[u8]) -> bool {
    if life::is_borrowed(life) {
        return false;
    }
    control::look_here(life);
    if !life::stop() {
        return false;
    }
    room::apart(|| {
        if let Some(lane) = lane::current() {
            lane.with_record(|record| record.output.push_text(Subject::ExecTarget, life.pid, target));
        }
        close(life, Ending::Exec, 0);
    });
    true
}

/// The exec failed: continues where [`before_exec`] stopped.
pub fn after_failed_exec(errno: i32) {
    room::apart(|| resume_after(errno));
}

fn resume_after(errno: i32) {
    logfile::reopen();
    logfile::with_header(|header| {
        header.ending = Ending::Open as u32;
        header.end_ns = 0;
        header.process_cpu_end_ns = 0;
    });
    life::resume();
    for lane in lane::live() {
        lane.close_tail(0, 0);
    }
    // The calling thread's end is written already: it continues as a thread that was found.
    if let Some(lane) = lane::current() {
        lane.with_record(|record| {
            let begin = proust_log::records::ThreadBegin {
                time_ns: clock::now_ns(),
                cpu_ns: clock::thread_cpu_ns(),
                tid: raw::gettid(),
                ..Default::default()
            };
            record.begin(&begin, proust_log::records::ThreadOrigin::Found);
            record.usage = lane::Usage::now();
            record.note(NoteCode::ExecFailed, errno as u64);
        });
    }
}
