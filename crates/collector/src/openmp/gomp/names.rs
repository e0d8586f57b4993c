//! The functions of GCC's runtime that are hooked, by name and version, and two that are only called.

use crate::interpose::object::Name;
use crate::interpose::scope::Mark;

/// How a hook finds its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// By the function that it was given, which the compiler made beside the call.
    OfBody,
    /// By where it returns to.
    OfSite,
    /// It is no hook.
    Ourselves,
}

macro_rules! family {
    ($( $caller:ident $version:literal: $($name:ident)*; )*) => {
        /// A function of the family: its place in all tables of it.
        #[allow(non_camel_case_types, reason = "the runtime's names")]
        #[allow(missing_docs, reason = "each is the function of that name")]
        #[repr(u32)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Function { $($( $name, )*)* }

        /// Their names.
        pub static NAMES: &[Name] = &[
            $($( Name::new(super::c_name(concat!(stringify!($name),
                "\0")), super::c_name(concat!($version, "\0"))), )*)*
        ];

        /// How many there are.
        pub const COUNT: usize = [$($( Function::$name, )*)*].len();

        /// How each finds its caller.
        pub static CALLERS: [Caller; COUNT] = [$($( { let _ = Function::$name; Caller::$caller }, )*)*];
    };
}

family! {
    OfBody "GOMP_4.0":
        GOMP_parallel GOMP_parallel_sections GOMP_parallel_loop_static GOMP_parallel_loop_dynamic
        GOMP_parallel_loop_guided GOMP_parallel_loop_runtime;
    OfBody "GOMP_4.5":
        GOMP_parallel_loop_nonmonotonic_dynamic GOMP_parallel_loop_nonmonotonic_guided GOMP_taskloop
        GOMP_taskloop_ull;
    OfBody "GOMP_5.0":
        GOMP_parallel_loop_nonmonotonic_runtime GOMP_parallel_loop_maybe_nonmonotonic_runtime
        GOMP_parallel_reductions;
    OfBody "GOMP_2.0": GOMP_task;
    OfBody "GOMP_1.0":
        GOMP_parallel_start GOMP_parallel_sections_start GOMP_parallel_loop_static_start
        GOMP_parallel_loop_dynamic_start GOMP_parallel_loop_guided_start GOMP_parallel_loop_runtime_start;
    OfSite "GOMP_1.0":
        GOMP_parallel_end GOMP_barrier GOMP_loop_end GOMP_sections_end GOMP_sections_next
        GOMP_single_copy_start GOMP_single_copy_end
        GOMP_critical_start GOMP_critical_end GOMP_critical_name_start GOMP_critical_name_end
        GOMP_atomic_start GOMP_atomic_end GOMP_ordered_start GOMP_ordered_end
        GOMP_loop_static_next GOMP_loop_dynamic_next GOMP_loop_guided_next GOMP_loop_runtime_next
        GOMP_loop_ordered_static_next GOMP_loop_ordered_dynamic_next GOMP_loop_ordered_guided_next
        GOMP_loop_ordered_runtime_next;
    OfSite "GOMP_2.0":
        GOMP_taskwait
        GOMP_loop_ull_static_next GOMP_loop_ull_dynamic_next GOMP_loop_ull_guided_next
        GOMP_loop_ull_runtime_next
        GOMP_loop_ull_ordered_static_next GOMP_loop_ull_ordered_dynamic_next GOMP_loop_ull_ordered_guided_next
        GOMP_loop_ull_ordered_runtime_next;
    OfSite "GOMP_4.0": GOMP_barrier_cancel GOMP_loop_end_cancel GOMP_sections_end_cancel GOMP_taskgroup_end;
    OfSite "GOMP_4.5":
        GOMP_doacross_wait GOMP_doacross_ull_wait
        GOMP_loop_nonmonotonic_dynamic_next GOMP_loop_nonmonotonic_guided_next
        GOMP_loop_ull_nonmonotonic_dynamic_next GOMP_loop_ull_nonmonotonic_guided_next;
    OfSite "GOMP_5.0":
        GOMP_taskwait_depend
        GOMP_loop_nonmonotonic_runtime_next GOMP_loop_maybe_nonmonotonic_runtime_next
        GOMP_loop_ull_nonmonotonic_runtime_next GOMP_loop_ull_maybe_nonmonotonic_runtime_next;
    OfSite "OMP_3.0":
        omp_set_lock omp_unset_lock omp_test_lock omp_set_lock_ omp_unset_lock_ omp_test_lock_
        omp_set_nest_lock omp_unset_nest_lock omp_test_nest_lock
        omp_set_nest_lock_ omp_unset_nest_lock_ omp_test_nest_lock_;
    OfSite "GOMP_1.0":
        GOMP_loop_static_start GOMP_loop_ordered_static_start GOMP_loop_dynamic_start
        GOMP_loop_ordered_dynamic_start GOMP_loop_guided_start GOMP_loop_ordered_guided_start
        GOMP_loop_runtime_start GOMP_loop_ordered_runtime_start;
    OfSite "GOMP_2.0":
        GOMP_loop_ull_static_start GOMP_loop_ull_ordered_static_start GOMP_loop_ull_dynamic_start
        GOMP_loop_ull_ordered_dynamic_start GOMP_loop_ull_guided_start GOMP_loop_ull_ordered_guided_start
        GOMP_loop_ull_runtime_start GOMP_loop_ull_ordered_runtime_start;
    OfSite "GOMP_4.5":
        GOMP_loop_doacross_static_start GOMP_loop_ull_doacross_static_start
        GOMP_loop_doacross_dynamic_start GOMP_loop_ull_doacross_dynamic_start
        GOMP_loop_doacross_guided_start GOMP_loop_ull_doacross_guided_start
        GOMP_loop_nonmonotonic_dynamic_start GOMP_loop_ull_nonmonotonic_dynamic_start
        GOMP_loop_nonmonotonic_guided_start GOMP_loop_ull_nonmonotonic_guided_start
        GOMP_loop_doacross_runtime_start GOMP_loop_ull_doacross_runtime_start;
    OfSite "GOMP_5.0":
        GOMP_loop_nonmonotonic_runtime_start GOMP_loop_ull_nonmonotonic_runtime_start
        GOMP_loop_maybe_nonmonotonic_runtime_start GOMP_loop_ull_maybe_nonmonotonic_runtime_start
        GOMP_loop_start GOMP_loop_ordered_start GOMP_loop_ull_start GOMP_loop_ull_ordered_start
        GOMP_loop_doacross_start GOMP_loop_ull_doacross_start;
    Ourselves "OMP_1.0": omp_get_thread_num omp_get_num_threads;
}

/// Names of the family that this library does not define.
pub const MARKS: [Mark; 3] = [c"omp_get_num_threads", c"omp_get_thread_num", c"omp_get_max_threads"];

/// A function that only runtimes have which report to tools themselves.
pub static REPORTS_TO_TOOLS: Name = Name::new(c"__kmpc_fork_call", c"VERSION");

/// The function of this name.
pub fn place(name: &core::ffi::CStr) -> Option<usize> {
    let bytes = name.to_bytes();
    if !bytes.starts_with(b"GOMP_") && !bytes.starts_with(b"omp_") {
        return None;
    }
    NAMES.iter().position(|known| known.text == name)
}
