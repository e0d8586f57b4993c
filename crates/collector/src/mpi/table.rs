//! The functions of MPI that are hooked, as data.
//!
//! A row of `functions!` names functions with the same arguments, the operation that each of them is, and
//! what a hook does. Arguments are words: a number, a handle or an address is passed on as it was given. From
//! each function are made its hook, the place of the real function, and an entry of twelve bytes in a section
//! of its own, which holds distances only: nothing has to be relocated when the collector is loaded, and
//! nothing is read before there is an MPI library.
//!
//! Functions that MPI 4 added for large counts have the same arguments with wider numbers: the same row.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicUsize, Ordering};

/// How a function's numbers are passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    is_large: bool,
}

impl Numbers {
    /// Those of the function with this name.
    pub const fn of(name: &str) -> Numbers {
        let name = name.as_bytes();
        let length = name.len();
        Numbers { is_large: length > 2 && name[length - 2] == b'_' && name[length - 1] == b'c' }
    }

    /// A count, passed as an argument.
    #[inline]
    pub fn number(self, word: usize) -> i64 {
        if self.is_large { word as i64 } else { (word as i32).into() }
    }

    /// The sum of `count` counts in memory; 0 without an array.
    ///
    /// # Safety
    /// `array` is null, or so many counts can be read there.
    pub unsafe fn sum(self, array: usize, count: usize) -> i64 {
        if array == 0 {
            return 0;
        }
        // SAFETY: the caller's promise.
        let at = |index: usize| unsafe {
            if self.is_large {
                (array as *const i64).add(index).read_unaligned()
            } else {
                (array as *const i32).add(index).read_unaligned().into()
            }
        };
        (0..count).map(at).fold(0, i64::saturating_add)
    }
}

/// A hooked function. Each field is the distance from itself to what it represents.
#[repr(C)]
#[derive(Debug)]
pub struct Function {
    name: i32,
    hook: i32,
    real: i32,
}

impl Function {
    fn resolve(field: &i32) -> usize {
        (core::ptr::from_ref(field) as usize).wrapping_add_signed(*field as isize)
    }

    /// Its name, `PMPI_Send` for instance.
    pub fn name(&self) -> &'static CStr {
        // SAFETY: the entry was assembled with the distance to a C string of this library.
        unsafe { CStr::from_ptr(Self::resolve(&self.name) as *const c_char) }
    }

    /// The address of its hook.
    pub fn hook(&self) -> u64 {
        Self::resolve(&self.hook) as u64
    }

    /// The place of the real function's address.
    fn place(&self) -> &'static AtomicUsize {
        // SAFETY: as above, to a static word.
        unsafe { &*(Self::resolve(&self.real) as *const AtomicUsize) }
    }

    /// The address of the real function; 0 where the library has none.
    pub fn real(&self) -> u64 {
        self.place().load(Ordering::Relaxed) as u64
    }

    /// Sets what [`Function::real`] gives.
    pub fn set_real(&self, address: u64) {
        self.place().store(address as usize, Ordering::Relaxed);
    }
}

// Not to be seen from outside: another library of the program may use the same section's name.
crate::arch::linker::hide!("__start_proust_mpi", "__stop_proust_mpi");

unsafe extern "C" {
    // The linker's own names for where a section begins and ends.
    #[link_name = "__start_proust_mpi"]
    static BEGIN: *const ();
    #[link_name = "__stop_proust_mpi"]
    static END: *const ();
}

/// All hooked functions.
pub fn all() -> &'static [Function] {
    let (begin, end) = ((&raw const BEGIN).cast::<Function>(), (&raw const END).cast::<Function>());
    let count = (end as usize - begin as usize) / size_of::<Function>();
    // SAFETY: between both lie the entries of all `functions!`, next to each other.
    unsafe { core::slice::from_raw_parts(begin, count) }
}

/// Declares hooks.
///
/// ```text
/// functions! {
///     [MPI_Send: MPI_Send MPI_Send_c, MPI_Ssend: MPI_Ssend MPI_Ssend_c]
///     (buffer, count, datatype, peer, tag, communicator)
///     |operation, numbers, call| what to do;
/// }
/// ```
///
/// Before the colon stands the operation, behind it the functions that it is made of. In the last part `call`
/// calls the real function with the arguments as they were given, and `numbers` says how counts are passed.
macro_rules! functions {
    ($( [$($operation:ident : $($name:ident)+),+ $(,)?] $arguments:tt $closure:tt; )*) => {
        $( $( $( $crate::mpi::table::function! { $operation $name $arguments $closure } )+ )+ )*
    };
}
pub(crate) use functions;

/// A single function of [`functions!`].
macro_rules! function {
    ($operation:ident $name:ident ($($argument:ident),*) {
        |$which:ident, $numbers:ident, $call:ident| $body:expr
    }) => {
        #[allow(non_snake_case, reason = "MPI's own names")]
        #[allow(clippy::too_many_arguments, reason = "MPI's own arguments")]
        mod $name {
            #[allow(unused_imports, reason = "not every function of a row needs all")]
            use super::*;

            pub(super) static REAL: core::sync::atomic::AtomicUsize =
                core::sync::atomic::AtomicUsize::new(0);

            pub(super) unsafe extern "C-unwind" fn hook($($argument: usize),*) -> core::ffi::c_int {
                #[allow(unused_variables, reason = "as above")]
                let $which = proust_log::operations::Operation::$operation;
                #[allow(unused_variables, reason = "as above")]
                let $numbers = const { $crate::mpi::table::Numbers::of(stringify!($name)) };
                #[inline(always)]
                unsafe fn real($($argument: usize),*) -> core::ffi::c_int {
                    let address = REAL.load(core::sync::atomic::Ordering::Relaxed);
                    type Real = unsafe extern "C-unwind" fn($($crate::mpi::table::word!($argument)),*)
                        -> core::ffi::c_int;
                    // SAFETY: only words that were bound to this function lead here, after its address was
                    // stored; its arguments are words, and it returns a number.
                    let function = unsafe { core::mem::transmute::<usize, Real>(address) };
                    // SAFETY: with the arguments as the program gave them.
                    unsafe { function($($argument),*) }
                }
                // SAFETY: as above.
                #[allow(unused_variables, reason = "as above")]
                let $call = || unsafe { real($($argument),*) };
                $body
            }

            $crate::arch::distances! { "proust_mpi", $name, concat!("P", stringify!($name)), hook, REAL }
        }
    };
}
pub(crate) use function;

/// The type of an argument, whatever its name.
macro_rules! word {
    ($argument:ident) => {
        usize
    };
}
pub(crate) use word;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proust_log::operations::Operation;

    use super::*;

    #[test]
    fn every_operation_of_mpi_is_hooked_and_every_hook_is_one() {
        let names: BTreeSet<&str> =
            all().iter().map(|one| one.name().to_str().unwrap().strip_prefix('P').unwrap()).collect();
        assert_eq!(names.len(), all().len(), "a function stands in two rows");
        let operations = Operation::ALL.iter().filter(|operation| operation.is_of_mpi());
        for operation in operations {
            assert!(names.contains(operation.name()), "{}", operation.name());
        }
        for name in &names {
            let base = name.strip_suffix("_c").unwrap_or(name);
            // A mark, of which no call is recorded.
            assert!(base == "MPI_Pcontrol" || Operation::from_name(base).is_some(), "{name}");
        }
        let hooks: BTreeSet<u64> = all().iter().map(Function::hook).collect();
        assert!(hooks.len() > 200 && all().iter().all(|one| one.real() == 0));
    }

    #[test]
    fn counts_are_wide_where_the_name_says_so() {
        let (small, large) = (Numbers::of("MPI_Send"), Numbers::of("MPI_Send_c"));
        assert_eq!(small.number(0xffff_ffff_0000_0007), 7);
        assert_eq!(large.number(0x7_0000_0007), 0x7_0000_0007);
        let counts = [1_i32, 0, 2, 0];
        // SAFETY: arrays of so many counts.
        unsafe {
            assert_eq!(small.sum(counts.as_ptr() as usize, 4), 3);
            assert_eq!(large.sum(counts.as_ptr() as usize, 2), 3);
            assert_eq!(small.sum(0, 4), 0);
        }
    }
}
