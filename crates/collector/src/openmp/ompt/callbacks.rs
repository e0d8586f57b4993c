//! The runtime's callbacks. Nothing here waits or unwinds; the words that the runtime keeps for us are teams
//! and marks of tasks.

use core::ffi::{c_int, c_uint, c_void};

use proust_log::operations::Operation;
use proust_log::records::RegionOrigin;

use super::layout::{
    BEGIN, Chunk, DISPATCH_LOOP_CHUNK, DISPATCH_TASKLOOP_CHUNK, Data, PARALLEL_LEAGUE, STATUS_CANCEL,
    STATUS_COMPLETE, STATUS_LATE_FULFILL, STATUS_TASKWAIT_COMPLETE, TASK_EXPLICIT, TASK_INITIAL, mutex, sync,
    work,
};
use crate::clock::ticks;
use crate::lane::{self, Lane};
use crate::life;
use crate::openmp::gomp::chunk::Step;
use crate::openmp::team::given::Given;
use crate::openmp::team::{self, Opening, Team};
use crate::openmp::visits::{CallSite, Inside};
use crate::openmp::{holders, tasks, visits, wait};
use crate::operation::{here, releases, tries};

/// The region's data in its word, for the threads that do its work, too: [`Team::given`].
unsafe fn given(data: *const Data) -> Option<Given> {
    // SAFETY: the runtime's word, or null. It is what was stored at the region's begin, or nothing.
    unsafe {
        let value = data.as_ref()?.value;
        (value != 0).then(|| Given::from_word(value as usize))
    }
}

/// The team that the word of an implicit task represents.
unsafe fn team_of(data: *const Data) -> Option<&'static Team> {
    // SAFETY: the runtime's word, or null. It is a team, nothing, or the mark of a task, which is odd.
    unsafe {
        let value = data.as_ref()?.value;
        if value & 1 != 0 { None } else { (value as *const Team).as_ref() }
    }
}

unsafe fn set(data: *mut Data, value: u64) {
    // SAFETY: the runtime's word, or null.
    if let Some(data) = unsafe { data.as_mut() } {
        data.value = value;
    }
}

/// `ompt_callback_parallel_begin`
pub unsafe extern "C" fn parallel_begin(
    _: *mut Data,
    _: *const c_void,
    parallel: *mut Data,
    _: c_uint,
    flags: c_int,
    site: *const c_void,
) {
    // SAFETY: the runtime's word.
    unsafe { set(parallel, 0) };
    // Without a word the threads could not learn which region it is.
    if flags & PARALLEL_LEAGUE != 0 || parallel.is_null() {
        return;
    }
    let opening = Opening {
        construct: site as u64,
        origin: RegionOrigin::Ompt,
        function: 0,
        data: 0,
        runtime: None,
        step: Step::default(),
        state: here!(),
        marker: core::ptr::null_mut(),
    };
    if let Some(team) = team::open(&opening) {
        // SAFETY: as above.
        unsafe { set(parallel, team.given() as u64) };
    }
}

/// `ompt_callback_parallel_end`
pub unsafe extern "C" fn parallel_end(parallel: *mut Data, _: *mut Data, _: c_int, _: *const c_void) {
    // SAFETY: the runtime's word.
    if let Some(given) = unsafe { given(parallel) } {
        team::close(given.team(), Some(here!()));
    }
}

/// `ompt_callback_implicit_task`
pub unsafe extern "C" fn implicit_task(
    endpoint: c_int,
    parallel: *mut Data,
    task: *mut Data,
    size: c_uint,
    number: c_uint,
    flags: c_int,
) {
    if flags & TASK_INITIAL != 0 || endpoint != BEGIN {
        // Its end is reported late: when the thread begins to wait for the others it has done its part.
        return;
    }
    // SAFETY: the runtime's words.
    unsafe {
        set(task, 0);
        if let Some(given) = given(parallel) {
            let team = given.team();
            set(task, core::ptr::from_ref(team) as u64);
            team::join(team, number, size, Some(given));
        }
    }
}

/// `ompt_callback_sync_region_wait`
pub unsafe extern "C" fn sync_region_wait(
    kind: c_int,
    endpoint: c_int,
    _: *mut Data,
    task: *mut Data,
    site: *const c_void,
) {
    // Most barriers are only counted, a million times a second: their end needs nothing of the team.
    if endpoint != BEGIN
        && is_within_region(kind)
        && let Some(visits) = visits::inside()
    {
        return visits.over(|end_ns| wait::end_drawn_visit(visits, end_ns, here!()));
    }
    // SAFETY: the runtime's word.
    let team = || unsafe { team_of(task) };
    // SAFETY: as above.
    let region_end = || unsafe { region_end(endpoint, team(), task) };
    let operation = match kind {
        sync::BARRIER_IMPLICIT_PARALLEL => return region_end(),
        // Older runtimes do not distinguish the end of a region from that of work-sharing: there, only the
        // thread that opened it has a place to name, and it is the region's own.
        sync::BARRIER_IMPLICIT if site.is_null() || team().is_some_and(|team| team.is_of(site as u64)) => {
            return region_end();
        }
        sync::TASKWAIT => Operation::OmpTaskWait,
        sync::TASKGROUP => Operation::OmpTaskGroup,
        sync::BARRIER
        | sync::BARRIER_IMPLICIT
        | sync::BARRIER_EXPLICIT
        | sync::BARRIER_IMPLEMENTATION
        | sync::BARRIER_IMPLICIT_WORKSHARE => Operation::OmpBarrier,
        sync::REDUCTION | sync::BARRIER_TEAMS => return,
        _ => return,
    };
    if endpoint == BEGIN {
        let state = here!();
        let site = CallSite { address: site as u64, sp: state.sp };
        if operation == Operation::OmpBarrier && visits::pass(site, Inside::WithoutFrame).is_some() {
            return;
        }
        wait::begin_for_all(operation, site, state, None);
    } else if let Some(lane) = waiting_for_all(operation) {
        let state = here!();
        lane.operations.open.set_frame(state);
        let site = CallSite { address: site as u64, sp: state.sp };
        wait::end_for_all(lane, operation, site, state);
    }
}

/// Whether an event of this kind is of a barrier or a wait for tasks inside a region. One of older runtimes
/// may be of the region's end, too; no visit is open there.
fn is_within_region(kind: c_int) -> bool {
    !matches!(kind, sync::BARRIER_IMPLICIT_PARALLEL | sync::REDUCTION | sync::BARRIER_TEAMS)
}

/// The calling thread's lane, if it is in such a wait.
fn waiting_for_all(operation: Operation) -> Option<&'static Lane> {
    lane::current().filter(|lane| lane.operations.open.is(wait::of_team(operation, lane.member)))
}

/// A thread has done its part, or continues after the region: then the thread that opened it reports that,
/// too.
///
/// # Safety
/// `task` is null or the runtime's word.
unsafe fn region_end(endpoint: c_int, team: Option<&'static Team>, task: *mut Data) {
    if endpoint == BEGIN
        && let Some(team) = team
    {
        team::done(team);
        // The runtime now keeps a copy of the word with the thread, and never takes it away again: where the
        // thread later waits for tasks that depend on each other, LLVM's up to 14 at least ends the program
        // if it is not zero. SAFETY: the caller's.
        unsafe { set(task, 0) };
    }
}

fn entering(kind: c_int) -> Option<Operation> {
    Some(match kind {
        mutex::LOCK => Operation::OmpSetLock,
        mutex::NEST_LOCK => Operation::OmpSetNestLock,
        mutex::CRITICAL => Operation::OmpCritical,
        mutex::ATOMIC => Operation::OmpAtomic,
        mutex::ORDERED => Operation::OmpOrdered,
        _ => return None,
    })
}

/// `ompt_callback_mutex_acquire`
pub unsafe extern "C" fn mutex_acquire(kind: c_int, _: c_uint, _: c_uint, object: u64, _: *const c_void) {
    let Some(operation) = entering(kind) else {
        match kind {
            mutex::TEST_LOCK => tries::asked(Operation::OmpTestLock, object, here!()),
            mutex::TEST_NEST_LOCK => tries::asked(Operation::OmpTestNestLock, object, here!()),
            _ => {}
        }
        return;
    };
    let is_free = holders::arrive(object);
    if !is_free || operation == Operation::OmpOrdered {
        holders::begin(operation, object, here!(), None);
    }
}

/// `ompt_callback_mutex_acquired`
pub unsafe extern "C" fn mutex_acquired(kind: c_int, object: u64, site: *const c_void) {
    let Some(operation) = entering(kind) else {
        if matches!(kind, mutex::TEST_LOCK | mutex::TEST_NEST_LOCK) {
            holders::tried(object, site as u64, || here!());
        }
        return;
    };
    let state = here!();
    let Some(lane) = lane::current() else { return };
    if lane.operations.open.kind().is_some_and(|kind| kind.operation == operation) {
        lane.operations.open.set_frame(state);
        holders::end(operation, object, site as u64, state);
    } else {
        holders::entered_at(operation, object, site as u64, state);
    }
}

/// `ompt_callback_mutex_released`
pub unsafe extern "C" fn mutex_released(kind: c_int, object: u64, _: *const c_void) {
    let operation = match kind {
        mutex::LOCK | mutex::TEST_LOCK => Operation::OmpUnsetLock,
        mutex::NEST_LOCK | mutex::TEST_NEST_LOCK => Operation::OmpUnsetNestLock,
        mutex::CRITICAL => Operation::OmpCriticalEnd,
        mutex::ATOMIC => Operation::OmpAtomicEnd,
        mutex::ORDERED => Operation::OmpOrderedEnd,
        _ => return,
    };
    holders::leave(object);
    releases::bracket_unlock(operation, object, || (), || here!());
}

/// `ompt_callback_work`
pub unsafe extern "C" fn work(
    kind: c_int,
    endpoint: c_int,
    _: *mut Data,
    _: *mut Data,
    _: u64,
    site: *const c_void,
) {
    let site = match kind {
        work::LOOP_DYNAMIC | work::LOOP_GUIDED | work::LOOP_OTHER => site as u64,
        work::LOOP_STATIC => site as u64 | GIVEN_AT_ONCE,
        _ => return,
    };
    if let Some(lane) = lane::current() {
        lane.member.set_handed_out(if endpoint == BEGIN { site } else { 0 });
    }
}

/// Marks a loop of which each thread has its part from the begin: nothing is handed out.
const GIVEN_AT_ONCE: u64 = 1 << 63;

/// `ompt_callback_dispatch`: how long it took to get iterations is not reported. Runtimes of LLVM report
/// chunks, with the iterations in them: 19 does, 16 does not.
pub unsafe extern "C" fn dispatch(_: *mut Data, _: *mut Data, kind: c_int, instance: u64) {
    if !matches!(kind, DISPATCH_LOOP_CHUNK | DISPATCH_TASKLOOP_CHUNK) || life::recording().is_none() {
        return;
    }
    // SAFETY: of these kinds it is the address of the chunk, or null.
    let iterations = unsafe { (instance as *const Chunk).as_ref() }.map_or(0, |chunk| chunk.iterations);
    let Some(lane) = lane::current() else { return };
    if kind == DISPATCH_TASKLOOP_CHUNK {
        tasks::received(iterations);
        return;
    }
    let site = lane.member.handed_out();
    if site & GIVEN_AT_ONCE != 0 {
        wait::received(lane, site & !GIVEN_AT_ONCE, here!(), iterations);
    } else if site != 0 && lane.member.team().is_some() {
        wait::counted(lane, Operation::OmpDispatch, site, here!());
        wait::received(lane, site, here!(), iterations);
    }
}

/// `ompt_callback_task_create`
pub unsafe extern "C" fn task_create(
    _: *mut Data,
    _: *const c_void,
    new: *mut Data,
    flags: c_int,
    _: c_int,
    site: *const c_void,
) {
    if flags & TASK_EXPLICIT != 0 {
        // SAFETY: the runtime's word.
        unsafe { set(new, site as u64 | 1) };
    }
}

/// A thread that waited for tasks by their dependences continues. In LLVM's runtime up to 14 at least, the
/// thread that did the last of them may still be about to give back data in the waiting thread's frame, some
/// instructions later. Our next calls would overwrite those, earlier than the program does. The frame is
/// still there now: the other one gets the time that it needs.
fn let_go_of_frame() {
    // One to two microseconds on processors of today.
    const TICKS: u64 = 4_000;
    let begin = ticks::now();
    while ticks::now().wrapping_sub(begin) < TICKS {
        core::hint::spin_loop();
    }
}

/// `ompt_callback_task_schedule`
pub unsafe extern "C" fn task_schedule(prior: *mut Data, status: c_int, next: *mut Data) {
    // SAFETY: the runtime's words, or null.
    let mark =
        |data: *mut Data| unsafe { data.as_ref() }.map(|data| data.value).filter(|value| value & 1 != 0);
    if status == STATUS_LATE_FULFILL {
        return;
    }
    if status == STATUS_TASKWAIT_COMPLETE {
        let_go_of_frame();
        return;
    }
    if mark(prior).is_some() && matches!(status, STATUS_COMPLETE | STATUS_CANCEL) {
        tasks::end();
    }
    // A task to which a thread returns has begun already.
    if let Some(construct) = mark(next)
        && !matches!(status, STATUS_COMPLETE | STATUS_CANCEL)
    {
        tasks::begin(construct & !1);
    }
}
