//! The hooked functions of runtimes of parallel regions: GCC's, by their names.
//!
//! Compilers call these; their arguments are right by construction. Where one row represents a function in
//! two versions, the version named is that of today's headers.

use core::ffi::{c_int, c_long, c_uint, c_ulong, c_void};

use super::declare;

type Body = extern "C-unwind" fn(*mut c_void) -> *mut c_void;

declare! {
    #[caller]
    GOMP_parallel(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), flags: c_uint as number(flags),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_reductions(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), flags: c_uint as number(flags),
    ) -> c_uint, or 0;
    #[caller]
    GOMP_parallel_sections(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), sections: c_uint as number(count), flags: c_uint as number(flags),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_loop_static(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), start: c_long as number(iterations),
        end: c_long as number(iterations), step: c_long as number(iterations),
        chunk: c_long as number(iterations), flags: c_uint as number(flags),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_loop_dynamic(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), start: c_long as number(iterations),
        end: c_long as number(iterations), step: c_long as number(iterations),
        chunk: c_long as number(iterations), flags: c_uint as number(flags),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_loop_guided(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), start: c_long as number(iterations),
        end: c_long as number(iterations), step: c_long as number(iterations),
        chunk: c_long as number(iterations), flags: c_uint as number(flags),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_loop_nonmonotonic_dynamic(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), start: c_long as number(iterations),
        end: c_long as number(iterations), step: c_long as number(iterations),
        chunk: c_long as number(iterations), flags: c_uint as number(flags),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_loop_nonmonotonic_guided(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), start: c_long as number(iterations),
        end: c_long as number(iterations), step: c_long as number(iterations),
        chunk: c_long as number(iterations), flags: c_uint as number(flags),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_loop_runtime(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), start: c_long as number(iterations),
        end: c_long as number(iterations), step: c_long as number(iterations),
        flags: c_uint as number(flags),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_loop_nonmonotonic_runtime(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), start: c_long as number(iterations),
        end: c_long as number(iterations), step: c_long as number(iterations),
        flags: c_uint as number(flags),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_loop_maybe_nonmonotonic_runtime(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), start: c_long as number(iterations),
        end: c_long as number(iterations), step: c_long as number(iterations),
        flags: c_uint as number(flags),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_start(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_sections_start(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), sections: c_uint as number(count),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_loop_static_start(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), start: c_long as number(iterations),
        end: c_long as number(iterations), step: c_long as number(iterations),
        chunk: c_long as number(iterations),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_loop_dynamic_start(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), start: c_long as number(iterations),
        end: c_long as number(iterations), step: c_long as number(iterations),
        chunk: c_long as number(iterations),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_loop_guided_start(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), start: c_long as number(iterations),
        end: c_long as number(iterations), step: c_long as number(iterations),
        chunk: c_long as number(iterations),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_loop_runtime_start(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        threads: c_uint as number(count), start: c_long as number(iterations),
        end: c_long as number(iterations), step: c_long as number(iterations),
    ) -> (), or ();
    #[caller]
    GOMP_parallel_end() -> (), or ();
    #[caller]
    GOMP_barrier() -> (), or ();
    #[caller]
    GOMP_loop_end() -> (), or ();
    #[caller]
    GOMP_sections_end() -> (), or ();
    #[caller]
    GOMP_single_copy_start() -> *mut c_void, or core::ptr::null_mut();
    #[caller]
    GOMP_taskwait() -> (), or ();
    #[caller]
    GOMP_taskgroup_end() -> (), or ();
    #[caller]
    GOMP_critical_start() -> (), or ();
    #[caller]
    GOMP_critical_end() -> (), or ();
    #[caller]
    GOMP_atomic_start() -> (), or ();
    #[caller]
    GOMP_atomic_end() -> (), or ();
    #[caller]
    GOMP_ordered_start() -> (), or ();
    #[caller]
    GOMP_ordered_end() -> (), or ();
    #[caller]
    GOMP_barrier_cancel() -> bool, or false;
    #[caller]
    GOMP_loop_end_cancel() -> bool, or false;
    #[caller]
    GOMP_sections_end_cancel() -> bool, or false;
    #[caller]
    GOMP_single_copy_end(data: *mut c_void as opaque(data)) -> (), or ();
    #[caller]
    GOMP_taskwait_depend(depend: *mut *mut c_void as opaque(dependences)) -> (), or ();
    #[caller]
    GOMP_critical_name_start(name: *mut *mut c_void as object(section)) -> (), or ();
    #[caller]
    GOMP_critical_name_end(name: *mut *mut c_void as object(section)) -> (), or ();
    #[caller]
    GOMP_sections_next() -> c_uint, or 0;
    #[caller]
    GOMP_doacross_wait(first: c_long as number(iterations), rest: () as more) -> (), or ();
    #[caller]
    GOMP_doacross_ull_wait(first: u64 as number(iterations), rest: () as more) -> (), or ();
    #[caller]
    GOMP_task(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        copier: Body as function(copier), size: c_long as number(size), alignment: c_long as number(size),
        decision: c_int as number(flags), flags: c_uint as number(flags),
        depend: *mut *mut c_void as opaque(dependences), priority: c_int as number(option),
        detach: *mut c_void as opaque(event),
    ) -> (), or ();
    #[caller]
    GOMP_taskloop(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        copier: Body as function(copier), size: c_long as number(size), alignment: c_long as number(size),
        flags: c_uint as number(flags), tasks: c_ulong as number(count), priority: c_int as number(option),
        start: c_long as number(iterations), end: c_long as number(iterations),
        step: c_long as number(iterations),
    ) -> (), or ();
    #[caller]
    GOMP_taskloop_ull(
        body: Body as function(body), argument: *mut c_void as opaque(argument),
        copier: Body as function(copier), size: c_long as number(size), alignment: c_long as number(size),
        flags: c_uint as number(flags), tasks: c_ulong as number(count), priority: c_int as number(option),
        start: u64 as number(iterations), end: u64 as number(iterations), step: u64 as number(iterations),
    ) -> (), or ();
    #[caller("OMP_3.0")]
    omp_set_lock(lock: *mut c_void as object(omp_lock)) -> (), or ();
    #[caller("OMP_3.0")]
    omp_unset_lock(lock: *mut c_void as object(omp_lock)) -> (), or ();
    #[caller("OMP_3.0")]
    omp_test_lock(lock: *mut c_void as object(omp_lock)) -> c_int, or 0;
    #[caller("OMP_3.0")]
    omp_set_lock_(lock: *mut c_void as object(omp_lock)) -> (), or ();
    #[caller("OMP_3.0")]
    omp_unset_lock_(lock: *mut c_void as object(omp_lock)) -> (), or ();
    #[caller("OMP_3.0")]
    omp_test_lock_(lock: *mut c_void as object(omp_lock)) -> c_int, or 0;
    #[caller("OMP_3.0")]
    omp_set_nest_lock(lock: *mut c_void as object(omp_lock)) -> (), or ();
    #[caller("OMP_3.0")]
    omp_unset_nest_lock(lock: *mut c_void as object(omp_lock)) -> (), or ();
    #[caller("OMP_3.0")]
    omp_test_nest_lock(lock: *mut c_void as object(omp_lock)) -> c_int, or 0;
    #[caller("OMP_3.0")]
    omp_set_nest_lock_(lock: *mut c_void as object(omp_lock)) -> (), or ();
    #[caller("OMP_3.0")]
    omp_unset_nest_lock_(lock: *mut c_void as object(omp_lock)) -> (), or ();
    #[caller("OMP_3.0")]
    omp_test_nest_lock_(lock: *mut c_void as object(omp_lock)) -> c_int, or 0;
    ompt_start_tool(version: c_uint as number(option), runtime: *const c_void as text)
        -> *mut c_void, or core::ptr::null_mut();
}
