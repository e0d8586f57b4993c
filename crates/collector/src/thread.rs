//! Begin and end of threads.

use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use proust_log::records::{NoteCode, ThreadBegin, ThreadOrigin};

use crate::hooks::signal_moves;
use crate::lane::{self, Lane, Record};
use crate::life::{self, Life};
use crate::openmp::team;
use crate::operation::{self, postponed, tries};
use crate::path::memo::State;
use crate::path::modules;
use crate::path::stack::OwnStack;
use crate::path::tree::{Frame, NodeId};
use crate::sample::{signal, split_stacks};
use crate::{clock, logfile, process, raw, source};

/// Key whose destructor reports a thread's end.
static END_KEY: AtomicU32 = AtomicU32::new(NO_KEY);

const NO_KEY: u32 = u32::MAX;

/// Whether the process's first thread has ended while others keep running: the kernel lists it until the last
/// one ends.
static FIRST_ENDED: AtomicBool = AtomicBool::new(false);

/// Rounds of key destructors that the C library makes; the last one is ours.
const DESTRUCTOR_ROUNDS: u32 = 4;

/// State that must be there before threads can be followed. Where the C library has its threads in a library
/// of their own that is not loaded, there are none to be followed, and [`prepare_for_second`] does this.
pub fn prepare() -> bool {
    let mut key = 0;
    // SAFETY: the destructor has the type the library expects.
    match unsafe { libc::pthread_key_create(&mut key, Some(at_end)) } {
        0 => {
            END_KEY.store(key, Ordering::Release);
            true
        }
        error => error == libc::ENOSYS,
    }
}

/// As [`prepare`], by a thread that is about to create another one.
pub fn prepare_for_second() {
    if END_KEY.load(Ordering::Acquire) == NO_KEY && prepare() && lane::current().is_some() {
        watch_own_end();
    }
}

/// The C library calls [`at_end`] when the calling thread ends.
fn watch_own_end() {
    let key = END_KEY.load(Ordering::Acquire);
    if key != NO_KEY {
        let rounds = DESTRUCTOR_ROUNDS as usize;
        // SAFETY: the key was made in `prepare`. Its number is below 32, where the library needs no memory.
        unsafe { libc::pthread_setspecific(key, rounds as *const c_void) };
    }
}

/// Puts the calling thread under measurement in `lane`, which was claimed for it. `stack` is the thread's
/// own, `start` its start function and the registers of the frame that is about to call it; `before` says
/// where the thread stood when its measurement began, if that was some time ago. Whether it is under
/// measurement now.
pub fn attach(
    life: &Life,
    lane: &'static Lane,
    origin: ThreadOrigin,
    stack: OwnStack,
    start: Option<(u64, State)>,
    before: Option<&Beginning>,
) -> bool {
    let tid = raw::gettid();
    // A thread that looked for the lane's owner before this one may only now see that it is gone.
    let Some(guard) = lane.record_lock.acquire_in_time(OwnStack::default()) else {
        logfile::with_header(|header| header.unmeasured_threads += 1);
        lane.release();
        return false;
    };
    lane.thread.store(lane::control_block(), Ordering::Relaxed);
    lane.begin_owner(tid);
    lane::set_current(Some(lane));
    split_stacks::provide(lane);
    signal_moves::begin(lane, origin);
    // SAFETY: the lane is this thread's, and its record has been taken.
    let record = unsafe { lane.record() };
    source::each(|source| source.thread_born(lane, tid));
    record.own_stack = stack;
    begin_record(life, tid, record, origin, start, before);
    // Not before its record begins: nothing of it may.
    lane.is_born(clock::now_ns());
    drop(guard);
    watch_own_end();
    true
}

/// How long the calling thread was in the run queue since it was created.
fn queued_until_now() -> Option<u64> {
    lane::scheduler_numbers(c"/proc/thread-self/schedstat").map(|(_, queued_ns)| queued_ns)
}

/// Where a thread stood when its measurement began.
#[derive(Clone, Copy, Default)]
pub struct Beginning {
    /// When that was.
    pub time_ns: u64,
    /// The thread's CPU clock.
    pub cpu_ns: u64,
    /// How long it had been in the run queue, microseconds.
    pub queued_us: u32,
    /// The kernel's counts by then.
    pub usage: lane::Usage,
    /// How long it took to find out.
    pub own_ns: u64,
}

impl Beginning {
    /// Of a thread that has not begun.
    pub const NONE: Beginning =
        Beginning { time_ns: 0, cpu_ns: 0, queued_us: 0, usage: lane::Usage::NONE, own_ns: 0 };

    /// The calling thread just now, which began to be measured long after it was created.
    fn read() -> Beginning {
        let (time_ns, cpu_ns) = (clock::now_ns(), clock::thread_cpu_ns());
        Beginning { time_ns, cpu_ns, usage: lane::Usage::now(), ..Beginning::NONE }
    }

    /// The calling thread just now, which is the first of its process; when that was asked for, 0 = not
    /// known, as of an image, and of a fork that no handler reported.
    pub fn now(asked_ns: u64) -> Beginning {
        let called_ns = clock::now_ns();
        let beginning = Beginning { usage: lane::Usage::now(), ..Beginning::of_created(asked_ns) };
        Beginning { own_ns: clock::now_ns().saturating_sub(called_ns), ..beginning }
    }

    /// As [`Beginning::now`], of a thread of which nothing has been counted yet.
    fn of_created(asked_ns: u64) -> Beginning {
        let (mut time_ns, mut cpu_ns) = (clock::now_ns(), clock::thread_cpu_ns());
        // Since its creation was asked for it ran, or queued, or its creator did; which of these is worth a
        // question where it was long.
        let mut queued_ns = time_ns.saturating_sub(asked_ns).saturating_sub(cpu_ns);
        if queued_ns >= lane::WORTH_ASKING_NS {
            queued_ns = queued_until_now().unwrap_or(if asked_ns == 0 { 0 } else { queued_ns });
            (time_ns, cpu_ns) = (clock::now_ns(), clock::thread_cpu_ns());
        }
        let queued_us = u32::try_from(queued_ns / 1000).unwrap_or(u32::MAX);
        Beginning { time_ns, cpu_ns, queued_us, ..Beginning::NONE }
    }
}

/// Writes the begin of the calling thread.
fn begin_record(
    life: &Life,
    tid: u32,
    record: &mut Record,
    origin: ThreadOrigin,
    start: Option<(u64, State)>,
    before: Option<&Beginning>,
) {
    let called_ns = clock::now_ns();
    if life.options.check_paths && record.reference.is_none() {
        record.reference = Some(Box::default());
    }
    let beginning = before.copied().unwrap_or_else(|| match origin {
        ThreadOrigin::Created => Beginning::of_created(record.start.asked_ns),
        ThreadOrigin::First => Beginning::now(process::forked_ns()),
        ThreadOrigin::Found => Beginning::read(),
    });
    let mut begin = ThreadBegin {
        time_ns: beginning.time_ns,
        cpu_ns: beginning.cpu_ns,
        tid,
        parent_tid: record.start.parent,
        start_node: 0,
        queued_us: beginning.queued_us,
    };
    record.memo.forget();
    begin.start_node = start.map_or(0, |(routine, caller)| start_node(life, record, routine, caller));
    record.begin(&begin, origin);
    // A thread that is killed cannot write it at its end.
    record.push_name(tid);
    record.usage = beginning.usage;
    record.spent(beginning.own_ns);
    record.spent_since(called_ns, 0);
}

/// The context of a thread's start function, for threads that end before their first sample.
///
/// The frames above it are the same for all threads that one function of the C library made: they are unwound
/// once for a lane and start of path.
fn start_node(life: &Life, record: &mut Record, routine: u64, caller: State) -> NodeId {
    let generation = modules::generation();
    let known = (caller.pc, generation);
    if record.start_path.0 != known {
        record.start_path = (known, record.path(caller, life.pid).0);
    }
    let module = modules::known(routine).map_or(0, |module| module.id);
    let frame = Frame { parent: record.start_path.1, module, lookup: routine };
    record.tree.child(frame, &mut record.output).unwrap_or(0)
}

/// In a forked child the forking thread is the first one.
pub fn after_fork() {
    FIRST_ENDED.store(false, Ordering::Release);
}

/// Starts the timer of thread `tid`, the lane's owner and the caller.
pub fn start_timer(life: &Life, lane: &Lane, tid: u32) {
    if lane.samples.silence.is_any() {
        return;
    }
    if let Err(errno) = lane.begin_sampling(tid, life.options.mean_distance_ns) {
        lane.with_record(|record| record.note(NoteCode::TimerRefused, errno as u64));
    }
}

/// Called by the C library as a thread ends, some rounds in a row.
unsafe extern "C" fn at_end(rounds_left: *mut c_void) {
    let Some(life) = life::in_hook() else { return };
    let rounds_left = rounds_left as usize;
    if rounds_left > 1 {
        let key = END_KEY.load(Ordering::Acquire);
        // SAFETY: as in `attach`.
        unsafe { libc::pthread_setspecific(key, (rounds_left - 1) as *const c_void) };
        return;
    }
    detach(life);
}

/// Ends the measurement of the calling thread.
pub fn detach(life: &Life) {
    let Some(lane) = lane::current() else { return };
    let tid = lane.owner.load(Ordering::Relaxed);
    if tid == life.pid {
        FIRST_ENDED.store(true, Ordering::Release);
    }
    lane.stop_timers();
    if lane.operations.tries.is_active() {
        tries::stop(life, lane);
    }
    team::settle(lane);
    team::notify_the_others(lane);
    lane.with_record_in_time(|record| {
        postponed::settle_in(lane, record);
        // Cancellation and pthread_exit leave no frame behind.
        operation::note_left(life, lane, record, clock::now_ns());
        record.end(tid);
    });
    lane::set_current(None);
    // No other thread may own a record that is still in use.
    if !lane.record_lock.is_acquired_by_other() {
        lane.release();
    }
}

/// Most unseen threads that one census remembers.
const SUSPECTS: usize = 64;
/// A thread that was seen without a lane is put under measurement when it has computed so long since.
const WORKS_NS: u64 = 1_000_000;

/// A thread without a lane at the last census.
struct Suspect {
    /// 0 = none.
    tid: AtomicU32,
    /// Its CPU clock when it was first seen.
    cpu_ns: AtomicU64,
}

/// Threads without a lane at the last census. A thread that is just ending has given its lane back already,
/// and may stay for as long as it gets no processor, among ten thousand others a second and more: only what
/// is still there at another census and has computed meanwhile is put under measurement.
static SUSPECTED: [Suspect; SUSPECTS] =
    [const { Suspect { tid: AtomicU32::new(0), cpu_ns: AtomicU64::new(0) } }; SUSPECTS];

/// The CPU clock of thread `tid` when it was first seen, if the last census saw it.
fn suspected_at(tid: u32) -> Option<u64> {
    let suspect = SUSPECTED.iter().find(|suspect| suspect.tid.load(Ordering::Relaxed) == tid)?;
    Some(suspect.cpu_ns.load(Ordering::Relaxed))
}

/// Looks for threads that no hook saw, and puts them under measurement from outside.
///
/// For the signal handler: asks the kernel for the number of threads, and only if there are more than
/// lanes for their ids.
pub fn census(life: &Life, record: &mut Record) {
    let Some(tasks) = raw::stat(c"/proc/self/task") else { return };
    let first_ended = FIRST_ENDED.load(Ordering::Acquire);
    let threads = (tasks.st_nlink as usize).saturating_sub(2 + usize::from(first_ended));
    let (owned, claimed) = lane::counts();
    // One for which a lane is claimed may be there already.
    if threads <= owned || claimed > 0 {
        return;
    }
    let descriptor = raw::open(c"/proc/self/task", libc::O_RDONLY | libc::O_DIRECTORY, 0);
    if raw::failed(descriptor) {
        return;
    }
    let Some(known) = lane::Ids::of_lanes() else {
        raw::close(descriptor as i32);
        return;
    };
    let mut entries = [0_u8; 1024];
    let mut unknown = [(0_u32, 0_u64); SUSPECTS];
    let mut unknown_count = 0;
    loop {
        let got = raw::getdents(descriptor as i32, &mut entries);
        let Some(mut rest) = usize::try_from(got).ok().and_then(|got| entries.get(..got)) else { break };
        if rest.is_empty() {
            break;
        }
        while let Some((name, following)) = next_entry(rest) {
            rest = following;
            if let Some(tid) = crate::path::maps::number(name, 10)
                && !(first_ended && tid == u64::from(life.pid))
                && !known.contains(tid as u32)
                && lane::counts().1 == 0
            {
                let tid = tid as u32;
                let Some(place) = unknown.get_mut(unknown_count) else { continue };
                let cpu_ns = raw::clock_ns(clock::cpu_clock_of(tid));
                let first_cpu_ns = suspected_at(tid).unwrap_or(cpu_ns);
                if cpu_ns >= first_cpu_ns.saturating_add(WORKS_NS) {
                    adopt(life, record, tid, cpu_ns);
                } else {
                    *place = (tid, first_cpu_ns);
                    unknown_count += 1;
                }
            }
        }
    }
    raw::close(descriptor as i32);
    for (suspect, (tid, cpu_ns)) in SUSPECTED.iter().zip(unknown) {
        suspect.tid.store(tid, Ordering::Relaxed);
        suspect.cpu_ns.store(cpu_ns, Ordering::Relaxed);
    }
}

/// Name of the first entry of a folder listing, and what follows it. An entry's length is at byte 16, its
/// name at byte 19.
fn next_entry(listing: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = usize::from(u16::from_ne_bytes(listing.get(16..18)?.try_into().ok()?));
    let name = listing.get(19..length)?;
    let end = name.iter().position(|&byte| byte == 0)?;
    Some((name.get(..end)?, listing.get(length..)?))
}

/// Puts thread `tid` of this process, whose CPU clock is at `cpu_ns`, under measurement; `record` is the
/// calling thread's.
fn adopt(life: &Life, record: &mut Record, tid: u32, cpu_ns: u64) {
    let Some(lane) = lane::claim() else {
        logfile::with_header(|header| header.unmeasured_threads += 1);
        return;
    };
    // SAFETY: the lane is reserved by this thread until its owner is set.
    let theirs = unsafe { lane.record() };
    let begin = ThreadBegin {
        // It lived at least as long as it computed; when it began is unknown.
        time_ns: clock::now_ns().saturating_sub(cpu_ns),
        cpu_ns: 0,
        tid,
        ..ThreadBegin::default()
    };
    // Unknown facts of its stack cannot be found out from here: it is read as a foreign one.
    theirs.own_stack = OwnStack::default();
    theirs.begin(&begin, ThreadOrigin::Found);
    if life.options.check_paths && theirs.reference.is_none() {
        theirs.reference = Some(Box::default());
    }
    source::each(|source| source.thread_born(lane, tid));
    lane.begin_owner(tid);
    record.note(NoteCode::ThreadFound, tid.into());
    let signal = signal::current();
    lane.samples.signal.store(signal, Ordering::Relaxed);
    lane.samples.silence.begin(0);
    if let Err(errno) = lane.begin_sampling(tid, life.options.mean_distance_ns) {
        record.note(NoteCode::TimerRefused, errno as u64);
    }
}
