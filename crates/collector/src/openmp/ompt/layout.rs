//! Types and numbers of the interface.

use core::ffi::{c_char, c_int, c_uint, c_void};

/// A word that the runtime keeps for the tool.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Data {
    /// The word.
    pub value: u64,
}

impl Data {
    /// The word of a tool that has not written one.
    ///
    /// # Safety
    /// It is mapped, and nobody uses it at once.
    pub unsafe fn clear(data: *mut Data) {
        // SAFETY: the caller's promise.
        unsafe { (*data).value = 0 }
    }
}

/// Finds a function of the runtime by its name.
pub type Lookup = unsafe extern "C" fn(*const c_char) -> *mut c_void;
/// `ompt_get_callback`
pub type GetCallback = unsafe extern "C" fn(c_int, *mut *const c_void) -> c_int;
/// `ompt_get_parallel_info`
pub type GetParallelInfo = unsafe extern "C" fn(c_int, *mut *mut Data, *mut c_int) -> c_int;
/// `ompt_get_task_info`
pub type GetTaskInfo = unsafe extern "C" fn(
    c_int,
    *mut c_int,
    *mut *mut Data,
    *mut *mut c_void,
    *mut *mut Data,
    *mut c_int,
) -> c_int;
/// `ompt_set_callback`
pub type SetCallback = unsafe extern "C" fn(c_int, *const c_void) -> c_int;

/// The result of `ompt_start_tool`.
#[repr(C)]
pub struct StartToolResult {
    /// Called first; 0 = the tool is not interested any more.
    pub initialize: unsafe extern "C" fn(Lookup, c_int, *mut Data) -> c_int,
    /// Called last.
    pub finalize: unsafe extern "C" fn(*mut Data),
    /// The tool's own.
    pub tool_data: Data,
}

// SAFETY: the runtime alone uses it.
unsafe impl Sync for StartToolResult {}

/// `ompt_start_tool`
pub type StartTool = unsafe extern "C" fn(c_uint, *const c_char) -> *mut StartToolResult;

/// `ompt_scope_endpoint_t`
pub const BEGIN: c_int = 1;
/// See [`BEGIN`].
pub const END: c_int = 2;

/// `ompt_task_flag_t`: the thread's first task, which no region has.
pub const TASK_INITIAL: c_int = 1;
/// A task that was made by the program.
pub const TASK_EXPLICIT: c_int = 4;

/// `ompt_task_status_t`: the prior task is complete.
pub const STATUS_COMPLETE: c_int = 1;
/// The prior task was cancelled.
pub const STATUS_CANCEL: c_int = 3;
/// The prior task continues: only an event of it is done.
pub const STATUS_LATE_FULFILL: c_int = 6;

/// The prior task was but a wait for others.
pub const STATUS_TASKWAIT_COMPLETE: c_int = 8;

/// `ompt_parallel_flag_t`: a league of teams.
pub const PARALLEL_LEAGUE: c_int = 0x4000_0000;

/// `ompt_sync_region_t`
pub mod sync {
    use core::ffi::c_int;

    /// Any barrier.
    pub const BARRIER: c_int = 1;
    /// One that the program did not ask for: the end of work-sharing or, in older runtimes, of a region.
    pub const BARRIER_IMPLICIT: c_int = 2;
    /// One that it asked for.
    pub const BARRIER_EXPLICIT: c_int = 3;
    /// The runtime's own.
    pub const BARRIER_IMPLEMENTATION: c_int = 4;
    /// For tasks.
    pub const TASKWAIT: c_int = 5;
    /// For tasks of a group.
    pub const TASKGROUP: c_int = 6;
    /// In a reduction.
    pub const REDUCTION: c_int = 7;
    /// The end of work-sharing.
    pub const BARRIER_IMPLICIT_WORKSHARE: c_int = 8;
    /// The end of a region.
    pub const BARRIER_IMPLICIT_PARALLEL: c_int = 9;
    /// The end of a league.
    pub const BARRIER_TEAMS: c_int = 10;
}

/// `ompt_mutex_t`
pub mod mutex {
    use core::ffi::c_int;

    /// `omp_set_lock`
    pub const LOCK: c_int = 1;
    /// `omp_test_lock`
    pub const TEST_LOCK: c_int = 2;
    /// `omp_set_nest_lock`
    pub const NEST_LOCK: c_int = 3;
    /// `omp_test_nest_lock`
    pub const TEST_NEST_LOCK: c_int = 4;
    /// A critical section.
    pub const CRITICAL: c_int = 5;
    /// An atomic update.
    pub const ATOMIC: c_int = 6;
    /// An ordered section.
    pub const ORDERED: c_int = 7;
}

/// `ompt_work_t`: loops, and how their iterations are distributed.
pub mod work {
    use core::ffi::c_int;

    /// `schedule(static)`
    pub const LOOP_STATIC: c_int = 10;
    /// `schedule(dynamic)`
    pub const LOOP_DYNAMIC: c_int = 11;
    /// `schedule(guided)`
    pub const LOOP_GUIDED: c_int = 12;
    /// Another one.
    pub const LOOP_OTHER: c_int = 13;
}

/// `ompt_dispatch_t`: a chunk of a loop's iterations.
pub const DISPATCH_LOOP_CHUNK: c_int = 3;
/// A chunk of those of a taskloop.
pub const DISPATCH_TASKLOOP_CHUNK: c_int = 4;

/// `ompt_dispatch_chunk_t`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    /// The first iteration.
    pub start: u64,
    /// How many there are.
    pub iterations: u64,
}

/// `ompt_callbacks_t`
pub mod event {
    use core::ffi::c_int;

    /// A region is opened.
    pub const PARALLEL_BEGIN: c_int = 3;
    /// It is over.
    pub const PARALLEL_END: c_int = 4;
    /// A task is made.
    pub const TASK_CREATE: c_int = 5;
    /// A thread continues with another task.
    pub const TASK_SCHEDULE: c_int = 6;
    /// A thread begins or ends its part of a region.
    pub const IMPLICIT_TASK: c_int = 7;
    /// A thread waits for others.
    pub const SYNC_REGION_WAIT: c_int = 16;
    /// A task is for a device.
    pub const TARGET: c_int = 8;
    /// The program calls `omp_control_tool`.
    pub const CONTROL_TOOL: c_int = 11;
    /// A lock is released.
    pub const MUTEX_RELEASED: c_int = 17;
    /// The objects that a task depends on.
    pub const DEPENDENCES: c_int = 18;
    /// A task waits for another one.
    pub const TASK_DEPENDENCE: c_int = 19;
    /// A thread begins or ends its part of work-sharing.
    pub const WORK: c_int = 20;
    /// A thread begins or ends what one thread does.
    pub const MASKED: c_int = 21;
    /// A thread arrives at a barrier or a wait for tasks, or leaves it.
    pub const SYNC_REGION: c_int = 23;
    /// Something is cancelled.
    pub const CANCEL: c_int = 30;
    /// A reduction.
    pub const REDUCTION: c_int = 31;
    /// As [`TARGET`], with words.
    pub const TARGET_EMI: c_int = 33;
    /// Data are copied to a device or from it, with words.
    pub const TARGET_DATA_OP_EMI: c_int = 34;
    /// It got a part of it.
    pub const DISPATCH: c_int = 32;
    /// A lock is wanted.
    pub const MUTEX_ACQUIRE: c_int = 26;
    /// It was got.
    pub const MUTEX_ACQUIRED: c_int = 27;
}
