//! The begin of a loop whose iterations are handed out while it runs: a thread learns by how much the loop's
//! variable grows, and may get its first iterations.
//!
//! The functions have five to ten arguments, in registers and on the stack. All are passed on as they are.

use super::chunk::Step;
use super::names::Function;
use crate::lane;
use crate::life;
use crate::openmp::wait;
use crate::operation::here;

/// Where the arguments are that say what the thread gets.
struct Layout {
    /// Position of the step; None = it is 1.
    step: Option<usize>,
    /// Position of the address of the first iteration; that of the end is the next argument.
    first: usize,
}

const CHUNKED: Layout = Layout { step: Some(2), first: 4 };
const AT_RUN_TIME: Layout = Layout { step: Some(2), first: 3 };
const GENERAL: Layout = Layout { step: Some(2), first: 5 };
const ULL_CHUNKED: Layout = Layout { step: Some(3), first: 5 };
const ULL_AT_RUN_TIME: Layout = Layout { step: Some(3), first: 4 };
const ULL_GENERAL: Layout = Layout { step: Some(3), first: 6 };
const DOACROSS_CHUNKED: Layout = Layout { step: None, first: 3 };
const DOACROSS_AT_RUN_TIME: Layout = Layout { step: None, first: 2 };
const DOACROSS_GENERAL: Layout = Layout { step: None, first: 4 };

macro_rules! starts {
    ($($name:ident $hook:ident $layout:ident;)*) => { $(
        crate::arch::routes::twelve! {
            #[doc = concat!("`", stringify!($name), "`")]
            #[allow(non_snake_case, reason = "the runtime's names")]
            $name $hook u64 => bool, |table, address, words| {
                type Start = unsafe extern "C-unwind" fn(
                    u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64,
                ) -> bool;
                let [a, b, c, d, e, f, g, h, i, j, k, l] = words;
                // SAFETY: the function of this name, which reads as many of the words as it has arguments;
                // those are what the program gave.
                let gets = unsafe {
                    table.function::<Start>(Function::$name)(a, b, c, d, e, f, g, h, i, j, k, l)
                };
                let here = here!();
                // SAFETY: the program gave this function the addresses that stand there by its layout.
                unsafe { begun(address, here, &words, &$layout, gets) };
                gets
            }
        }
    )* };
}

/// The calling thread begins such a loop.
///
/// # Safety
/// `words` are the arguments of a function of this layout, which has returned whether the thread `gets`
/// iterations.
#[inline(never)]
unsafe fn begun(
    address: u64,
    state: crate::path::memo::State,
    words: &[u64; 12],
    layout: &Layout,
    gets: bool,
) {
    let Some(lane) = lane::current().filter(|lane| lane.member.team().is_some()) else { return };
    let step = Step::of(layout.step.map_or(1, |at| words[at]));
    lane.member.set_step(step);
    let (first, last) = (words[layout.first] as *const u64, words[layout.first + 1] as *const u64);
    if !gets || first.is_null() || last.is_null() || life::recording().is_none() {
        return;
    }
    // SAFETY: where the thread gets iterations the function has written which, to these addresses.
    let iterations = step.iterations(unsafe { first.read() }, unsafe { last.read() });
    wait::received(lane, address, state, iterations);
}

starts! {
    GOMP_loop_static_start loop_static_start CHUNKED;
    GOMP_loop_ordered_static_start loop_ordered_static_start CHUNKED;
    GOMP_loop_dynamic_start loop_dynamic_start CHUNKED;
    GOMP_loop_ordered_dynamic_start loop_ordered_dynamic_start CHUNKED;
    GOMP_loop_guided_start loop_guided_start CHUNKED;
    GOMP_loop_ordered_guided_start loop_ordered_guided_start CHUNKED;
    GOMP_loop_nonmonotonic_dynamic_start loop_nonmonotonic_dynamic_start CHUNKED;
    GOMP_loop_nonmonotonic_guided_start loop_nonmonotonic_guided_start CHUNKED;
    GOMP_loop_runtime_start loop_runtime_start AT_RUN_TIME;
    GOMP_loop_ordered_runtime_start loop_ordered_runtime_start AT_RUN_TIME;
    GOMP_loop_nonmonotonic_runtime_start loop_nonmonotonic_runtime_start AT_RUN_TIME;
    GOMP_loop_maybe_nonmonotonic_runtime_start loop_maybe_nonmonotonic_runtime_start AT_RUN_TIME;
    GOMP_loop_start loop_start GENERAL;
    GOMP_loop_ordered_start loop_ordered_start GENERAL;
    GOMP_loop_ull_static_start loop_ull_static_start ULL_CHUNKED;
    GOMP_loop_ull_ordered_static_start loop_ull_ordered_static_start ULL_CHUNKED;
    GOMP_loop_ull_dynamic_start loop_ull_dynamic_start ULL_CHUNKED;
    GOMP_loop_ull_ordered_dynamic_start loop_ull_ordered_dynamic_start ULL_CHUNKED;
    GOMP_loop_ull_guided_start loop_ull_guided_start ULL_CHUNKED;
    GOMP_loop_ull_ordered_guided_start loop_ull_ordered_guided_start ULL_CHUNKED;
    GOMP_loop_ull_nonmonotonic_dynamic_start loop_ull_nonmonotonic_dynamic_start ULL_CHUNKED;
    GOMP_loop_ull_nonmonotonic_guided_start loop_ull_nonmonotonic_guided_start ULL_CHUNKED;
    GOMP_loop_ull_runtime_start loop_ull_runtime_start ULL_AT_RUN_TIME;
    GOMP_loop_ull_ordered_runtime_start loop_ull_ordered_runtime_start ULL_AT_RUN_TIME;
    GOMP_loop_ull_nonmonotonic_runtime_start loop_ull_nonmonotonic_runtime_start ULL_AT_RUN_TIME;
    GOMP_loop_ull_maybe_nonmonotonic_runtime_start loop_ull_maybe_nonmonotonic_runtime_start ULL_AT_RUN_TIME;
    GOMP_loop_ull_start loop_ull_start ULL_GENERAL;
    GOMP_loop_ull_ordered_start loop_ull_ordered_start ULL_GENERAL;
    GOMP_loop_doacross_static_start loop_doacross_static_start DOACROSS_CHUNKED;
    GOMP_loop_ull_doacross_static_start loop_ull_doacross_static_start DOACROSS_CHUNKED;
    GOMP_loop_doacross_dynamic_start loop_doacross_dynamic_start DOACROSS_CHUNKED;
    GOMP_loop_ull_doacross_dynamic_start loop_ull_doacross_dynamic_start DOACROSS_CHUNKED;
    GOMP_loop_doacross_guided_start loop_doacross_guided_start DOACROSS_CHUNKED;
    GOMP_loop_ull_doacross_guided_start loop_ull_doacross_guided_start DOACROSS_CHUNKED;
    GOMP_loop_doacross_runtime_start loop_doacross_runtime_start DOACROSS_AT_RUN_TIME;
    GOMP_loop_ull_doacross_runtime_start loop_ull_doacross_runtime_start DOACROSS_AT_RUN_TIME;
    GOMP_loop_doacross_start loop_doacross_start DOACROSS_GENERAL;
    GOMP_loop_ull_doacross_start loop_ull_doacross_start DOACROSS_GENERAL;
}
