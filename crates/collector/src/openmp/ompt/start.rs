//! How a runtime finds us, and what we ask it to tell.

use core::ffi::{c_char, c_int, c_uint, c_void};

use super::callbacks;
use super::layout::{Data, Lookup, SetCallback, StartTool, StartToolResult, event};
use crate::life;
use crate::real::Real;

static NEXT: Real = Real::new(c"ompt_start_tool");

static OURS: StartToolResult = StartToolResult { initialize, finalize, tool_data: Data { value: 0 } };

/// `ompt_start_tool`: called once by each runtime that is loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompt_start_tool(
    omp_version: c_uint,
    runtime: *const c_char,
) -> *mut StartToolResult {
    let next = NEXT.address();
    if !next.is_null() {
        // SAFETY: the function of this name that comes after ours: another tool's, or the runtime's own, which looks for
        // one. It has this type.
        let other = unsafe { core::mem::transmute::<*mut c_void, StartTool>(next)(omp_version, runtime) };
        if !other.is_null() {
            return other;
        }
    }
    if life::in_hook().is_none() {
        return core::ptr::null_mut();
    }
    (&raw const OURS).cast_mut()
}

unsafe extern "C" fn initialize(lookup: Lookup, _: c_int, _: *mut Data) -> c_int {
    // SAFETY: the runtime's function, and a name.
    let set = unsafe { lookup(c"ompt_set_callback".as_ptr()) };
    if set.is_null() {
        return 0;
    }
    // SAFETY: the runtime's function of this name has this type.
    let set = unsafe { core::mem::transmute::<*mut c_void, SetCallback>(set) };
    let wanted: [(c_int, *const c_void); 9] = [
        (event::PARALLEL_BEGIN, callbacks::parallel_begin as *const c_void),
        (event::PARALLEL_END, callbacks::parallel_end as *const c_void),
        (event::IMPLICIT_TASK, callbacks::implicit_task as *const c_void),
        (event::SYNC_REGION_WAIT, callbacks::sync_region_wait as *const c_void),
        (event::MUTEX_ACQUIRE, callbacks::mutex_acquire as *const c_void),
        (event::MUTEX_ACQUIRED, callbacks::mutex_acquired as *const c_void),
        (event::MUTEX_RELEASED, callbacks::mutex_released as *const c_void),
        (event::TASK_CREATE, callbacks::task_create as *const c_void),
        (event::TASK_SCHEDULE, callbacks::task_schedule as *const c_void),
    ];
    for (event, callback) in wanted {
        // SAFETY: each function has the type that the interface names for its event.
        unsafe { set(event, callback) };
    }
    1
}

unsafe extern "C" fn finalize(_: *mut Data) {}
