//! `omp_control_tool`: the program's requests to a tool. Where there is another tool, too, they are for that
//! one.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use crate::marks::requests;

/// `omp_control_tool_t`
mod command {
    pub const START: u64 = 1;
    pub const PAUSE: u64 = 2;
    pub const FLUSH: u64 = 3;
    pub const END: u64 = 4;
}

/// `omp_control_tool_result_t`
const SUCCESS: c_int = 0;
const IGNORED: c_int = 1;

/// Recording was ended: it does not begin again.
static HAS_ENDED: AtomicBool = AtomicBool::new(false);

/// `ompt_callback_control_tool`. Starting resumes, and flushing takes a sample of the process: what is
/// recorded is in the log already.
pub unsafe extern "C" fn control_tool(command: u64, _: u64, _: *mut c_void, _: *const c_void) -> c_int {
    if HAS_ENDED.load(Ordering::Relaxed) {
        return IGNORED;
    }
    match command {
        command::START => requests::resume(),
        command::PAUSE => requests::pause(),
        command::FLUSH => requests::sample(b"omp_control_tool"),
        command::END => {
            HAS_ENDED.store(true, Ordering::Relaxed);
            requests::pause();
        }
        _ => return IGNORED,
    }
    SUCCESS
}
