//! The hooked functions of GCC's runtime that hand out the iterations of a loop: those that begin one, and
//! those that ask for more.

use core::ffi::{c_int, c_long, c_uint, c_void};

use super::declare;

declare! {
    #[caller]
    GOMP_loop_dynamic_next(
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_dynamic_next(
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_guided_next(
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_guided_next(
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_maybe_nonmonotonic_runtime_next(
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_maybe_nonmonotonic_runtime_next(
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_nonmonotonic_dynamic_next(
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_nonmonotonic_dynamic_next(
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_nonmonotonic_guided_next(
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_nonmonotonic_guided_next(
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_nonmonotonic_runtime_next(
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_nonmonotonic_runtime_next(
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ordered_dynamic_next(
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_ordered_dynamic_next(
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ordered_guided_next(
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_ordered_guided_next(
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ordered_runtime_next(
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_ordered_runtime_next(
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ordered_static_next(
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_ordered_static_next(
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_runtime_next(
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_runtime_next(
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_static_next(
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_static_next(
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_static_start(
        start: c_long as number(iterations), end: c_long as number(iterations),
        step: c_long as number(iterations), chunk: c_long as number(iterations),
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ordered_static_start(
        start: c_long as number(iterations), end: c_long as number(iterations),
        step: c_long as number(iterations), chunk: c_long as number(iterations),
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_static_start(
        up: c_int as number(flags), start: u64 as number(iterations), end: u64 as number(iterations),
        step: u64 as number(iterations), chunk: u64 as number(iterations),
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_ordered_static_start(
        up: c_int as number(flags), start: u64 as number(iterations), end: u64 as number(iterations),
        step: u64 as number(iterations), chunk: u64 as number(iterations),
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_doacross_static_start(
        loops: c_uint as number(count), counts: *mut c_long as opaque(data),
        chunk: c_long as number(iterations), first: *mut c_long as output(iteration),
        last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_doacross_static_start(
        loops: c_uint as number(count), counts: *mut u64 as opaque(data), chunk: u64 as number(iterations),
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_dynamic_start(
        start: c_long as number(iterations), end: c_long as number(iterations),
        step: c_long as number(iterations), chunk: c_long as number(iterations),
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ordered_dynamic_start(
        start: c_long as number(iterations), end: c_long as number(iterations),
        step: c_long as number(iterations), chunk: c_long as number(iterations),
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_dynamic_start(
        up: c_int as number(flags), start: u64 as number(iterations), end: u64 as number(iterations),
        step: u64 as number(iterations), chunk: u64 as number(iterations),
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_ordered_dynamic_start(
        up: c_int as number(flags), start: u64 as number(iterations), end: u64 as number(iterations),
        step: u64 as number(iterations), chunk: u64 as number(iterations),
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_doacross_dynamic_start(
        loops: c_uint as number(count), counts: *mut c_long as opaque(data),
        chunk: c_long as number(iterations), first: *mut c_long as output(iteration),
        last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_doacross_dynamic_start(
        loops: c_uint as number(count), counts: *mut u64 as opaque(data), chunk: u64 as number(iterations),
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_guided_start(
        start: c_long as number(iterations), end: c_long as number(iterations),
        step: c_long as number(iterations), chunk: c_long as number(iterations),
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ordered_guided_start(
        start: c_long as number(iterations), end: c_long as number(iterations),
        step: c_long as number(iterations), chunk: c_long as number(iterations),
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_guided_start(
        up: c_int as number(flags), start: u64 as number(iterations), end: u64 as number(iterations),
        step: u64 as number(iterations), chunk: u64 as number(iterations),
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_ordered_guided_start(
        up: c_int as number(flags), start: u64 as number(iterations), end: u64 as number(iterations),
        step: u64 as number(iterations), chunk: u64 as number(iterations),
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_doacross_guided_start(
        loops: c_uint as number(count), counts: *mut c_long as opaque(data),
        chunk: c_long as number(iterations), first: *mut c_long as output(iteration),
        last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_doacross_guided_start(
        loops: c_uint as number(count), counts: *mut u64 as opaque(data), chunk: u64 as number(iterations),
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_nonmonotonic_dynamic_start(
        start: c_long as number(iterations), end: c_long as number(iterations),
        step: c_long as number(iterations), chunk: c_long as number(iterations),
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_nonmonotonic_dynamic_start(
        up: c_int as number(flags), start: u64 as number(iterations), end: u64 as number(iterations),
        step: u64 as number(iterations), chunk: u64 as number(iterations),
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_nonmonotonic_guided_start(
        start: c_long as number(iterations), end: c_long as number(iterations),
        step: c_long as number(iterations), chunk: c_long as number(iterations),
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_nonmonotonic_guided_start(
        up: c_int as number(flags), start: u64 as number(iterations), end: u64 as number(iterations),
        step: u64 as number(iterations), chunk: u64 as number(iterations),
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_runtime_start(
        start: c_long as number(iterations), end: c_long as number(iterations),
        step: c_long as number(iterations), first: *mut c_long as output(iteration),
        last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ordered_runtime_start(
        start: c_long as number(iterations), end: c_long as number(iterations),
        step: c_long as number(iterations), first: *mut c_long as output(iteration),
        last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_runtime_start(
        up: c_int as number(flags), start: u64 as number(iterations), end: u64 as number(iterations),
        step: u64 as number(iterations), first: *mut u64 as output(iteration),
        last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_ordered_runtime_start(
        up: c_int as number(flags), start: u64 as number(iterations), end: u64 as number(iterations),
        step: u64 as number(iterations), first: *mut u64 as output(iteration),
        last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_doacross_runtime_start(
        loops: c_uint as number(count), counts: *mut c_long as opaque(data),
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_doacross_runtime_start(
        loops: c_uint as number(count), counts: *mut u64 as opaque(data),
        first: *mut u64 as output(iteration), last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_nonmonotonic_runtime_start(
        start: c_long as number(iterations), end: c_long as number(iterations),
        step: c_long as number(iterations), first: *mut c_long as output(iteration),
        last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_nonmonotonic_runtime_start(
        up: c_int as number(flags), start: u64 as number(iterations), end: u64 as number(iterations),
        step: u64 as number(iterations), first: *mut u64 as output(iteration),
        last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_maybe_nonmonotonic_runtime_start(
        start: c_long as number(iterations), end: c_long as number(iterations),
        step: c_long as number(iterations), first: *mut c_long as output(iteration),
        last: *mut c_long as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_maybe_nonmonotonic_runtime_start(
        up: c_int as number(flags), start: u64 as number(iterations), end: u64 as number(iterations),
        step: u64 as number(iterations), first: *mut u64 as output(iteration),
        last: *mut u64 as output(iteration),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_start(
        start: c_long as number(iterations), end: c_long as number(iterations),
        step: c_long as number(iterations), schedule: c_long as number(flags),
        chunk: c_long as number(iterations), first: *mut c_long as output(iteration),
        last: *mut c_long as output(iteration), reductions: *mut usize as opaque(data),
        memory: *mut *mut c_void as opaque(data),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ordered_start(
        start: c_long as number(iterations), end: c_long as number(iterations),
        step: c_long as number(iterations), schedule: c_long as number(flags),
        chunk: c_long as number(iterations), first: *mut c_long as output(iteration),
        last: *mut c_long as output(iteration), reductions: *mut usize as opaque(data),
        memory: *mut *mut c_void as opaque(data),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_start(
        up: c_int as number(flags), start: u64 as number(iterations), end: u64 as number(iterations),
        step: u64 as number(iterations), schedule: c_long as number(flags),
        chunk: u64 as number(iterations), first: *mut u64 as output(iteration),
        last: *mut u64 as output(iteration), reductions: *mut usize as opaque(data),
        memory: *mut *mut c_void as opaque(data),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_ordered_start(
        up: c_int as number(flags), start: u64 as number(iterations), end: u64 as number(iterations),
        step: u64 as number(iterations), schedule: c_long as number(flags),
        chunk: u64 as number(iterations), first: *mut u64 as output(iteration),
        last: *mut u64 as output(iteration), reductions: *mut usize as opaque(data),
        memory: *mut *mut c_void as opaque(data),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_doacross_start(
        loops: c_uint as number(count), counts: *mut c_long as opaque(data),
        schedule: c_long as number(flags), chunk: c_long as number(iterations),
        first: *mut c_long as output(iteration), last: *mut c_long as output(iteration),
        reductions: *mut usize as opaque(data), memory: *mut *mut c_void as opaque(data),
    ) -> bool, or false;
    #[caller]
    GOMP_loop_ull_doacross_start(
        loops: c_uint as number(count), counts: *mut u64 as opaque(data), schedule: c_long as number(flags),
        chunk: u64 as number(iterations), first: *mut u64 as output(iteration),
        last: *mut u64 as output(iteration), reductions: *mut usize as opaque(data),
        memory: *mut *mut c_void as opaque(data),
    ) -> bool, or false;
}
