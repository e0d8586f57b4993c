//! Who hands out iterations: counted always, and timed once in a while, since it is done for every chunk.

use core::ffi::{c_uint, c_void};

use proust_log::operations::Operation;

use super::{behind, sited};
use crate::openmp::{runtime, wait};
use crate::operation::{self, Outcome, here};

/// The call as one that asks for iterations.
macro_rules! asks {
    ($site:ident, $name:ident ( $($argument:ident),* ) else $none:expr) => {{
        let Some(function) = real::$name() else { return $none };
        // SAFETY: the real function with the arguments that the program gave.
        let call = || unsafe { function($($argument),*) };
        if runtime::tells(function as *mut c_void) {
            return call();
        }
        wait::for_iterations($site, here!(), call)
    }};
}

/// The call as one that may have to wait until it is this thread's turn: timed always.
macro_rules! asks_in_turn {
    ($site:ident, $name:ident ( $($argument:ident),* ) else $none:expr) => {{
        let _ = $site;
        let Some(function) = real::$name() else { return $none };
        // SAFETY: the real function with the arguments that the program gave.
        let call = || unsafe { function($($argument),*) };
        if runtime::tells(function as *mut c_void) {
            return call();
        }
        operation::around(Operation::OmpDispatch, 0, call, |_| Outcome::default())
    }};
}

macro_rules! chunks {
    ($($name:ident)*; in turn $($ordered:ident)*) => {
        sited! {
            fn GOMP_sections_next(; site) -> c_uint { asks!(site, GOMP_sections_next() else 0) }
            $( fn $name(from: *mut u64, to: *mut u64; site) -> bool { asks!(site, $name(from, to) else false) } )*
            $(
                fn $ordered(from: *mut u64, to: *mut u64; site) -> bool {
                    asks_in_turn!(site, $ordered(from, to) else false)
                }
            )*
        }
        behind! {
            GOMP_sections_next() -> c_uint;
            $( $name(*mut u64, *mut u64) -> bool; )*
            $( $ordered(*mut u64, *mut u64) -> bool; )*
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
