//! Functions that make a descriptor lead to something else: no operations, but what was known of the
//! descriptor is forgotten.

use core::ffi::c_int;

use super::bracket::missing;
use crate::interpose::interpose;
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

interpose! {
    dup2(old: c_int as fd, new: c_int as fd) -> c_int, or -1;
    dup3(old: c_int as fd, new: c_int as fd, flags: c_int as number(flags)) -> c_int, or -1;
}
