//! Iterations that wait for others of their loop: `ordered depend(sink)`.
//!
//! The call names one number for each loop of the nest, and takes as many as there are: what the program gave
//! is passed on as it came, in registers and on the stack.

use core::ffi::c_long;

use proust_log::operations::Operation;

use super::names::Function;
use crate::openmp::runtime::{Table, routes};
use crate::openmp::visits::CallSite;
use crate::openmp::wait;
use crate::operation::here;

macro_rules! waits {
    ($($name:ident $hook:ident $type:ty;)*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[allow(non_snake_case, reason = "the runtime's names")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() {
            // The table becomes the first argument on the stack; the address that the call returns to is the
            // second.
            routes::begin!(
                $name,
                "qword ptr [rsp]",
                then [
                    "push r10",
                    ".cfi_adjust_cfa_offset 8",
                    "call {hook}",
                    "add rsp, 8",
                    ".cfi_adjust_cfa_offset -8",
                    "ret",
                ],
                $hook
            )
        }

        #[allow(clippy::too_many_arguments, reason = "as many as a nest of loops may have")]
        unsafe extern "C-unwind" fn $hook(
            a: $type, b: $type, c: $type, d: $type, e: $type, f: $type, table: &'static Table, site: u64,
            g: $type, h: $type, i: $type, j: $type, k: $type, l: $type,
        ) {
            type Wait = unsafe extern "C-unwind" fn(
                $type, $type, $type, $type, $type, $type, $type, $type, $type, $type, $type, $type,
            );
            // SAFETY: the real function reads as many of these as the loop has levels. Those that the program
            // did not give are whatever its registers and its stack hold: more than so many words of that
            // there always are.
            let call = || unsafe {
                table.function::<Wait>(Function::$name)(a, b, c, d, e, f, g, h, i, j, k, l)
            };
            let site = CallSite { address: site, sp: here!().sp };
            wait::for_all(Operation::OmpDoacross, site, call)
        }
    )* };
}

waits! {
    GOMP_doacross_wait wait_signed c_long;
    GOMP_doacross_ull_wait wait_unsigned u64;
}
