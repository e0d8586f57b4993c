//! Functions by which sanitizers' run times ask a program for their options. A program's own answer is
//! applied first, and what the user's environment says (ASAN_OPTIONS, TSAN_OPTIONS) is applied last and wins.

use core::ffi::{CStr, c_char};

use crate::interpose::declare;

const ADDRESS: &CStr = c"verify_asan_link_order=0";
const THREAD: &CStr = c"ignore_noninstrumented_modules=1";

/// AddressSanitizer ends a program in which another library stands before its own. The collector defines
/// nothing that it intercepts alone, so the order does no harm.
#[unsafe(no_mangle)]
pub extern "C" fn __asan_default_options() -> *const c_char {
    ADDRESS.as_ptr()
}

/// ThreadSanitizer watches what libraries copy that it was not built into, and takes the collector's ways of
/// taking turns, which it cannot see, for races.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_default_options() -> *const c_char {
    THREAD.as_ptr()
}

declare! {
    __asan_default_options() -> *const c_char, or core::ptr::null();
    __tsan_default_options() -> *const c_char, or core::ptr::null();
}
