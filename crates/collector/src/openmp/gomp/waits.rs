//! Barriers, ends of work-sharing, sections that exclude each other, and locks with the names of C and of
//! Fortran.

use core::ffi::{c_int, c_void};

use proust_log::operations::Operation;

use super::sited;
use crate::openmp::{holders, wait};
use crate::operation::{here, releases, tries};

/// The section that has no name, and the one of all atomic updates that the processor cannot do: they stand
/// for themselves.
static UNNAMED: u8 = 0;
static ATOMIC: u8 = 1;

fn unnamed() -> u64 {
    &raw const UNNAMED as u64
}

fn atomic() -> u64 {
    &raw const ATOMIC as u64
}

/// Runs `call`, by which the thread leaves `object`.
#[inline(always)]
fn leave<R: Copy>(operation: Operation, object: u64, call: impl FnOnce() -> R) -> R {
    holders::leave(object);
    releases::bracket_unlock(operation, object, call, || here!())
}

sited! {
    fn GOMP_barrier(; site, call) { wait::at_barrier(site, call) }
    fn GOMP_barrier_cancel(; site, call) -> bool { wait::at_barrier(site, call) }
    fn GOMP_loop_end(; site, call) { wait::at_barrier(site, call) }
    fn GOMP_loop_end_cancel(; site, call) -> bool { wait::at_barrier(site, call) }
    fn GOMP_sections_end(; site, call) { wait::at_barrier(site, call) }
    fn GOMP_sections_end_cancel(; site, call) -> bool { wait::at_barrier(site, call) }
    fn GOMP_single_copy_start(; site, call) -> *mut c_void {
        wait::for_all(Operation::OmpCopyPrivate, site, call)
    }
    fn GOMP_single_copy_end(data: *mut c_void; site, call) {
        wait::for_all(Operation::OmpCopyPrivate, site, call)
    }
    fn GOMP_taskwait(; site, call) { wait::for_all(Operation::OmpTaskWait, site, call) }
    fn GOMP_taskwait_depend(depend: *mut *mut c_void; site, call) {
        wait::for_all(Operation::OmpTaskWait, site, call)
    }
    fn GOMP_taskgroup_end(; site, call) { wait::for_all(Operation::OmpTaskGroup, site, call) }

    fn GOMP_critical_start(; site, call) {
        holders::enter(Operation::OmpCritical, unnamed(), site.address, call)
    }
    fn GOMP_critical_end(; _site, call) { leave(Operation::OmpCriticalEnd, unnamed(), call) }
    fn GOMP_critical_name_start(name: *mut *mut c_void; site, call) {
        holders::enter(Operation::OmpCritical, name as u64, site.address, call)
    }
    fn GOMP_critical_name_end(name: *mut *mut c_void; _site, call) {
        leave(Operation::OmpCriticalEnd, name as u64, call)
    }
    fn GOMP_atomic_start(; site, call) { holders::enter(Operation::OmpAtomic, atomic(), site.address, call) }
    fn GOMP_atomic_end(; _site, call) { leave(Operation::OmpAtomicEnd, atomic(), call) }
    fn GOMP_ordered_start(; site, call) {
        holders::enter(Operation::OmpOrdered, holders::turn(), site.address, call)
    }
    fn GOMP_ordered_end(; _site, call) { leave(Operation::OmpOrderedEnd, holders::turn(), call) }
}

/// Hooks of the locks with these names: set, unset, test. Testing again and again is waiting.
macro_rules! locks {
    ($($operation:ident $try:ident $end:ident: $set:ident $unset:ident $test:ident;)*) => {
        mod of_locks {
            use super::*;

            sited! {
                $(
                    fn $set(lock: *mut c_void; site, call) {
                        holders::enter(Operation::$operation, lock as u64, site.address, call)
                    }
                    fn $unset(lock: *mut c_void; _site, call) { leave(Operation::$end, lock as u64, call) }
                    fn $test(lock: *mut c_void; site, call) -> c_int {
                        let result = call();
                        if result != 0 {
                            holders::tried(lock as u64, site.address, || here!());
                        } else {
                            tries::failed(Operation::$try, lock as u64, here!());
                        }
                        result
                    }
                )*
            }
        }
    };
}

locks! {
    OmpSetLock OmpTestLock OmpUnsetLock: omp_set_lock omp_unset_lock omp_test_lock;
    OmpSetLock OmpTestLock OmpUnsetLock: omp_set_lock_ omp_unset_lock_ omp_test_lock_;
    OmpSetNestLock OmpTestNestLock OmpUnsetNestLock:
        omp_set_nest_lock omp_unset_nest_lock omp_test_nest_lock;
    OmpSetNestLock OmpTestNestLock OmpUnsetNestLock:
        omp_set_nest_lock_ omp_unset_nest_lock_ omp_test_nest_lock_;
}
