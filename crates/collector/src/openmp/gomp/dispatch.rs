//! Handing out iterations: counted always, and timed once in a while, since it happens for every chunk.

use core::ffi::c_uint;

use proust_log::operations::Operation;

use super::sited;
use crate::openmp::wait;
use crate::operation::{self, Outcome, here};

macro_rules! chunks {
    ($($name:ident)*; in turn $($ordered:ident)*) => {
        sited! {
            fn GOMP_sections_next(; site, call) -> c_uint {
                wait::for_iterations(site.address, here!(), call)
            }
            $(
                fn $name(from: *mut u64, to: *mut u64; site, call) -> bool {
                    wait::for_iterations(site.address, here!(), call)
                }
            )*
            // They may have to wait until it is this thread's turn: timed always.
            $(
                fn $ordered(from: *mut u64, to: *mut u64; _site, call) -> bool {
                    operation::bracket(Operation::OmpDispatch, 0, call, |_| Outcome::default())
                }
            )*
        }
    };
}

chunks! {
    GOMP_loop_static_next GOMP_loop_dynamic_next GOMP_loop_guided_next GOMP_loop_runtime_next
    GOMP_loop_nonmonotonic_dynamic_next GOMP_loop_nonmonotonic_guided_next GOMP_loop_nonmonotonic_runtime_next
    GOMP_loop_maybe_nonmonotonic_runtime_next
    GOMP_loop_ull_static_next GOMP_loop_ull_dynamic_next GOMP_loop_ull_guided_next GOMP_loop_ull_runtime_next
    GOMP_loop_ull_nonmonotonic_dynamic_next GOMP_loop_ull_nonmonotonic_guided_next
    GOMP_loop_ull_nonmonotonic_runtime_next GOMP_loop_ull_maybe_nonmonotonic_runtime_next;
    in turn
    GOMP_loop_ordered_static_next GOMP_loop_ordered_dynamic_next GOMP_loop_ordered_guided_next
    GOMP_loop_ordered_runtime_next
    GOMP_loop_ull_ordered_static_next GOMP_loop_ull_ordered_dynamic_next GOMP_loop_ull_ordered_guided_next
    GOMP_loop_ull_ordered_runtime_next
}
