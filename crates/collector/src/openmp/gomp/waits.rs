//! Barriers, ends of work-sharing, sections that exclude each other, and locks with the names of C and of Fortran.

use core::ffi::{c_int, c_void};

use proust_log::operations::Operation;

use super::{behind, sited};
use crate::openmp::{holders, runtime, wait};
use crate::operation::{here, releases};

/// The section that has no name, and the one of all atomic updates that the processor cannot do: they stand for
/// themselves.
static UNNAMED: u8 = 0;
static ATOMIC: u8 = 1;

fn unnamed() -> u64 {
    &raw const UNNAMED as u64
}

fn atomic() -> u64 {
    &raw const ATOMIC as u64
}

/// The call `$name($argument…)` as a wait for all of the team.
macro_rules! for_all {
    ($operation:ident, $site:ident, $name:ident ( $($argument:ident),* ) $(else $none:expr)?) => {{
        let Some(function) = real::$name() else { return $($none)? };
        // SAFETY: the real function with the arguments that the program gave.
        let call = || unsafe { function($($argument),*) };
        if runtime::tells(function as *mut c_void) {
            return call();
        }
        wait::for_all(Operation::$operation, $site, call)
    }};
}

/// The call as one that waits for who is in `$object`, and is in it itself then.
macro_rules! enters {
    ($operation:ident, $object:expr, $site:ident, $name:ident ( $($argument:ident),* )) => {{
        let Some(function) = real::$name() else { return };
        // SAFETY: the real function with the arguments that the program gave.
        let call = || unsafe { function($($argument),*) };
        if runtime::tells(function as *mut c_void) {
            return call();
        }
        holders::enter(Operation::$operation, $object, $site, call)
    }};
}

/// The call as one that leaves `$object`.
macro_rules! leaves {
    ($operation:ident, $object:expr, $name:ident ( $($argument:ident),* )) => {{
        let Some(function) = real::$name() else { return };
        // SAFETY: the real function with the arguments that the program gave.
        let call = || unsafe { function($($argument),*) };
        if runtime::tells(function as *mut c_void) {
            return call();
        }
        holders::leave($object);
        releases::around_unlock(Operation::$operation, $object, call, || here!())
    }};
}

/// The call as one that enters `$object` if nobody is in it.
macro_rules! tries {
    ($object:expr, $site:ident, $name:ident ( $($argument:ident),* )) => {{
        let Some(function) = real::$name() else { return 0 };
        // SAFETY: the real function with the arguments that the program gave.
        let result = unsafe { function($($argument),*) };
        if result != 0 && !runtime::tells(function as *mut c_void) {
            holders::entered($object, $site);
        }
        result
    }};
}

sited! {
    fn GOMP_barrier(; site) { for_all!(OmpBarrier, site, GOMP_barrier()) }
    fn GOMP_barrier_cancel(; site) -> bool { for_all!(OmpBarrier, site, GOMP_barrier_cancel() else false) }
    fn GOMP_loop_end(; site) { for_all!(OmpBarrier, site, GOMP_loop_end()) }
    fn GOMP_loop_end_cancel(; site) -> bool { for_all!(OmpBarrier, site, GOMP_loop_end_cancel() else false) }
    fn GOMP_sections_end(; site) { for_all!(OmpBarrier, site, GOMP_sections_end()) }
    fn GOMP_sections_end_cancel(; site) -> bool { for_all!(OmpBarrier, site, GOMP_sections_end_cancel() else false) }
    fn GOMP_single_copy_start(; site) -> *mut c_void {
        for_all!(OmpCopyPrivate, site, GOMP_single_copy_start() else core::ptr::null_mut())
    }
    fn GOMP_single_copy_end(data: *mut c_void; site) {
        for_all!(OmpCopyPrivate, site, GOMP_single_copy_end(data))
    }
    fn GOMP_taskwait(; site) { for_all!(OmpTaskWait, site, GOMP_taskwait()) }
    fn GOMP_taskwait_depend(depend: *mut *mut c_void; site) {
        for_all!(OmpTaskWait, site, GOMP_taskwait_depend(depend))
    }
    fn GOMP_taskgroup_end(; site) { for_all!(OmpTaskGroup, site, GOMP_taskgroup_end()) }

    fn GOMP_critical_start(; site) { enters!(OmpCritical, unnamed(), site, GOMP_critical_start()) }
    fn GOMP_critical_end(; _site) { leaves!(OmpCriticalEnd, unnamed(), GOMP_critical_end()) }
    fn GOMP_critical_name_start(name: *mut *mut c_void; site) {
        enters!(OmpCritical, name as u64, site, GOMP_critical_name_start(name))
    }
    fn GOMP_critical_name_end(name: *mut *mut c_void; _site) {
        leaves!(OmpCriticalEnd, name as u64, GOMP_critical_name_end(name))
    }
    fn GOMP_atomic_start(; site) { enters!(OmpAtomic, atomic(), site, GOMP_atomic_start()) }
    fn GOMP_atomic_end(; _site) { leaves!(OmpAtomicEnd, atomic(), GOMP_atomic_end()) }
    fn GOMP_ordered_start(; site) { enters!(OmpOrdered, holders::turn(), site, GOMP_ordered_start()) }
    fn GOMP_ordered_end(; _site) { leaves!(OmpOrderedEnd, holders::turn(), GOMP_ordered_end()) }
}

/// Hooks of the locks with these names: set, unset, test.
macro_rules! locks {
    ($($operation:ident $end:ident: $set:ident $unset:ident $test:ident;)*) => {
        mod of_locks {
            use super::*;

            sited! {
                $(
                    fn $set(lock: *mut c_void; site) { enters!($operation, lock as u64, site, $set(lock)) }
                    fn $unset(lock: *mut c_void; _site) { leaves!($end, lock as u64, $unset(lock)) }
                    fn $test(lock: *mut c_void; site) -> c_int { tries!(lock as u64, site, $test(lock)) }
                )*
            }
            behind! {
                $(
                    $set @ "OMP_3.0" (*mut c_void);
                    $unset @ "OMP_3.0" (*mut c_void);
                    $test @ "OMP_3.0" (*mut c_void) -> c_int;
                )*
            }
        }
    };
}

locks! {
    OmpSetLock OmpUnsetLock: omp_set_lock omp_unset_lock omp_test_lock;
    OmpSetLock OmpUnsetLock: omp_set_lock_ omp_unset_lock_ omp_test_lock_;
    OmpSetNestLock OmpUnsetNestLock: omp_set_nest_lock omp_unset_nest_lock omp_test_nest_lock;
    OmpSetNestLock OmpUnsetNestLock: omp_set_nest_lock_ omp_unset_nest_lock_ omp_test_nest_lock_;
}

behind! {
    GOMP_barrier();
    GOMP_barrier_cancel() -> bool;
    GOMP_loop_end();
    GOMP_loop_end_cancel() -> bool;
    GOMP_sections_end();
    GOMP_sections_end_cancel() -> bool;
    GOMP_single_copy_start() -> *mut c_void;
    GOMP_single_copy_end(*mut c_void);
    GOMP_taskwait();
    GOMP_taskwait_depend(*mut *mut c_void);
    GOMP_taskgroup_end();
    GOMP_critical_start();
    GOMP_critical_end();
    GOMP_critical_name_start(*mut *mut c_void);
    GOMP_critical_name_end(*mut *mut c_void);
    GOMP_atomic_start();
    GOMP_atomic_end();
    GOMP_ordered_start();
    GOMP_ordered_end();
}
