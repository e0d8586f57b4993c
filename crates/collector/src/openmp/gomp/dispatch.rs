//! Handing out iterations: counted always, and timed once in a while, since it happens for every chunk. The
//! thread's step says how many iterations a chunk has.

use core::ffi::c_uint;

use proust_log::operations::Operation;

use super::sited;
use crate::lane;
use crate::life;
use crate::openmp::wait;
use crate::operation::{self, Outcome, here};

macro_rules! chunks {
    ($($name:ident)*; in turn $($ordered:ident)*) => {
        sited! {
            fn GOMP_sections_next(; site, call) -> c_uint {
                wait::for_iterations(site.address, here!(), call, |_| None)
            }
            $(
                fn $name(from: *mut u64, to: *mut u64; site, call) -> bool {
                    // SAFETY: the program gave both addresses, and where it gets iterations the runtime has
                    // written which.
                    let gets = |gets: bool| gets.then(|| unsafe { (from.read(), to.read()) });
                    wait::for_iterations(site.address, here!(), call, gets)
                }
            )*
            // They may have to wait until it is this thread's turn: timed always.
            $(
                fn $ordered(from: *mut u64, to: *mut u64; site, call) -> bool {
                    let gets = operation::bracket(Operation::OmpDispatch, 0, call, |_| Outcome::default());
                    if gets && let Some(lane) = lane::current() && life::recording().is_some() {
                        // SAFETY: as above.
                        let (from, to) = unsafe { (from.read(), to.read()) };
                        let iterations = lane.member.step().iterations(from, to);
                        wait::received(lane, site.address, here!(), iterations);
                    }
                    gets
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
