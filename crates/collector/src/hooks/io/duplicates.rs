//! Functions that let a descriptor lead to something else: no operations, but what was known of it is forgotten.

use core::ffi::c_int;

use super::bracket::missing;
use crate::hooks::family::real_functions;
use crate::operation::targets;

/// `dup2`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn dup2(old: c_int, new: c_int) -> c_int {
    let Some(function) = real::dup2() else { return missing(-1) };
    // SAFETY: the real function with the arguments that the program gave.
    let result = unsafe { function(old, new) };
    targets::forget(new);
    result
}

/// `dup3`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn dup3(old: c_int, new: c_int, flags: c_int) -> c_int {
    let Some(function) = real::dup3() else { return missing(-1) };
    // SAFETY: as above.
    let result = unsafe { function(old, new, flags) };
    targets::forget(new);
    result
}

real_functions! {
    dup2(c_int, c_int) -> c_int;
    dup3(c_int, c_int, c_int) -> c_int;
}
