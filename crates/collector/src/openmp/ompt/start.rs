//! How a runtime finds us, and which events we ask it for.

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};

use proust_log::records::NoteCode;

use super::layout::{Data, Lookup, SetCallback, StartTool, StartToolResult, event};
use super::{callbacks, chain, control};
use crate::real::Real;
use crate::{lane, life};

static NEXT: Real = Real::new(c"ompt_start_tool");

static OURS: StartToolResult = StartToolResult { initialize, finalize, tool_data: Data { value: 0 } };

/// `ompt_start_tool`: called once by each runtime that is loaded. A runtime reports to one tool. Where the
/// user has another one, ours passes that one the events it asks for ([`chain`]); of a second runtime only
/// the other tool gets them, and the log says so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompt_start_tool(
    omp_version: c_uint,
    runtime: *const c_char,
) -> *mut StartToolResult {
    let ask = |address: *mut c_void| {
        if address.is_null() {
            return core::ptr::null_mut();
        }
        // SAFETY: a function of this name, of another tool or the runtime's own, which looks for one. It has
        // this type.
        unsafe { core::mem::transmute::<*mut c_void, StartTool>(address)(omp_version, runtime) }
    };
    let mut other = ask(NEXT.address());
    if other.is_null() {
        other = named().map(ask).find(|other| !other.is_null()).unwrap_or(core::ptr::null_mut());
    }
    if life::in_hook().is_none() {
        return other;
    }
    if !other.is_null() {
        let both = chain::with(other);
        note_other_tool(if both.is_some() { SERVED_TOO } else { GIVEN });
        return both.unwrap_or(other);
    }
    (&raw const OURS).cast_mut()
}

/// The first functions of the tools that the user names to runtimes. These would ask them only if there were
/// none like ours.
fn named() -> impl Iterator<Item = *mut c_void> {
    // SAFETY: the environment's string, or null; the runtime reads it in the same way, at the same time.
    let names = unsafe {
        let names = libc::getenv(c"OMP_TOOL_LIBRARIES".as_ptr());
        if names.is_null() { c"" } else { CStr::from_ptr(names) }
    };
    let parts = names.to_bytes().split(|&byte| byte == b':').filter(|name| !name.is_empty());
    parts.map(|part| {
        let path = [part, b"\0"].concat();
        // SAFETY: C strings; a library that the runtime would load here. It stays loaded, as it would.
        unsafe {
            let library = libc::dlopen(path.as_ptr().cast(), libc::RTLD_LAZY);
            let found = if library.is_null() {
                core::ptr::null_mut()
            } else {
                libc::dlsym(library, c"ompt_start_tool".as_ptr())
            };
            libc::dlerror();
            found
        }
    })
}

/// The other tool is found before ours by name.
const FIRST: u64 = 1;
/// It is found after ours, or was named to the runtime; and another runtime reports to both already.
const GIVEN: u64 = 2;
/// It is found after ours, or was named to the runtime, and gets the events it asks for.
const SERVED_TOO: u64 = 3;

fn note_other_tool(how: u64) {
    if life::in_hook().is_some()
        && let Some(lane) = lane::current()
    {
        lane.with_record(|record| record.note(NoteCode::OtherTool, how));
    }
}

/// Where the library that an address is in begins; 0 = in none.
fn library_of(address: *mut c_void) -> usize {
    // SAFETY: all-zero is a valid answer to be filled in.
    unsafe {
        let mut info: libc::Dl_info = core::mem::zeroed();
        if libc::dladdr(address, &mut info) == 0 { 0 } else { info.dli_fbase as usize }
    }
}

/// Looks whether runtimes will find another tool before they find ours: one of the program's own.
pub fn look_for_other() {
    // SAFETY: a name, in all that is loaded; the error message that this leaves is cleared.
    let first = unsafe {
        let first = libc::dlsym(libc::RTLD_DEFAULT, c"ompt_start_tool".as_ptr());
        libc::dlerror();
        first
    };
    // Our own function may be asked for by its name, too, and be theirs then: our data are not.
    if library_of(first) != library_of((&raw const OURS).cast_mut().cast()) {
        note_other_tool(FIRST);
    }
}

unsafe extern "C" fn initialize(lookup: Lookup, _: c_int, _: *mut Data) -> c_int {
    // SAFETY: the runtime's function, and a name.
    let set = unsafe { lookup(c"ompt_set_callback".as_ptr()) };
    if set.is_null() {
        return 0;
    }
    // SAFETY: the runtime's function of this name has this type.
    let set = unsafe { core::mem::transmute::<*mut c_void, SetCallback>(set) };
    let wanted: [(c_int, *const c_void); 12] = [
        (event::PARALLEL_BEGIN, callbacks::parallel_begin as *const c_void),
        (event::PARALLEL_END, callbacks::parallel_end as *const c_void),
        (event::IMPLICIT_TASK, callbacks::implicit_task as *const c_void),
        (event::SYNC_REGION_WAIT, callbacks::sync_region_wait as *const c_void),
        (event::MUTEX_ACQUIRE, callbacks::mutex_acquire as *const c_void),
        (event::MUTEX_ACQUIRED, callbacks::mutex_acquired as *const c_void),
        (event::MUTEX_RELEASED, callbacks::mutex_released as *const c_void),
        (event::WORK, callbacks::work as *const c_void),
        (event::DISPATCH, callbacks::dispatch as *const c_void),
        (event::TASK_CREATE, callbacks::task_create as *const c_void),
        (event::TASK_SCHEDULE, callbacks::task_schedule as *const c_void),
        (event::CONTROL_TOOL, control::control_tool as *const c_void),
    ];
    for (event, callback) in wanted {
        // SAFETY: each function has the type that the interface names for its event.
        unsafe { set(event, callback) };
    }
    1
}

unsafe extern "C" fn finalize(_: *mut Data) {}
