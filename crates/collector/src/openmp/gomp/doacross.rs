//! Iterations that wait for others of their loop: `ordered depend(sink)`.
//!
//! The call names one number for each loop of the nest, and takes as many as there are: the program's
//! arguments are passed on unchanged, in registers and on the stack.

use core::ffi::c_long;

use proust_log::operations::Operation;

use super::names::Function;
use crate::openmp::visits::CallSite;
use crate::openmp::wait;
use crate::operation::here;

/// Waits as the real function does, which reads as many of the words as the loop has levels. Those that the
/// program did not give are read from its registers and its stack, which always have that many.
macro_rules! waits {
    ($($name:ident $hook:ident $type:ty;)*) => { $(
        crate::arch::routes::twelve! {
            #[doc = concat!("`", stringify!($name), "`")]
            #[allow(non_snake_case, reason = "the runtime's names")]
            $name $hook $type, |table, address, words| {
                type Wait = unsafe extern "C-unwind" fn(
                    $type, $type, $type, $type, $type, $type, $type, $type, $type, $type, $type, $type,
                );
                let [a, b, c, d, e, f, g, h, i, j, k, l] = words;
                // SAFETY: as said above.
                let call = || unsafe {
                    table.function::<Wait>(Function::$name)(a, b, c, d, e, f, g, h, i, j, k, l)
                };
                let site = CallSite { address, sp: here!().sp };
                wait::for_all(Operation::OmpDoacross, site, call)
            }
        }
    )* };
}

waits! {
    GOMP_doacross_wait wait_signed c_long;
    GOMP_doacross_ull_wait wait_unsigned u64;
}
