//! The calls that programs compiled by GCC make to its OpenMP runtime, GCC 9 to 15, with the old two-call
//! form of regions.
//!
//! Each family is a table: one line for each function.
//!
//! - [`names`]: the functions, and how each finds its caller
//! - [`parallel`]: regions as a whole
//! - [`waits`]: barriers and the ends of work-sharing, sections that exclude each other, locks
//! - [`starts`], [`dispatch`]: handing out iterations; [`chunk`]: how many these are
//! - [`doacross`]: iterations that wait for others
//! - [`tasks`]: deferred work

#![allow(
    clippy::missing_safety_doc,
    reason = "a hook's contract is that of the function of GCC's runtime whose name it bears"
)]

pub mod chunk;
pub mod dispatch;
pub mod doacross;
pub mod names;
pub mod parallel;
pub mod starts;
pub mod tasks;
pub mod waits;

/// Declares hooks that get two things more than what the program passes: `$site`, where they were called,
/// and `$call`, which calls the function of the caller's runtime with what the program passed.
macro_rules! sited {
    ($(
        fn $name:ident ( $($argument:ident : $type:ty),* ; $site:ident, $call:ident ) $(-> $result:ty)?
            $body:block
    )*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[allow(non_snake_case, reason = "the runtime's names")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name() {
                $crate::arch::routes::sited!($name, hooks::$name $(, $argument)*)
            }
        )*
        mod hooks {
            #[allow(unused_imports, reason = "what the family's bodies need")]
            use super::*;

            $(
                #[allow(non_snake_case, reason = "the runtime's names")]
                pub unsafe extern "C-unwind" fn $name(
                    $($argument: $type,)*
                    address: u64,
                    sp: u64,
                    table: &'static $crate::openmp::runtime::Table,
                ) $(-> $result)? {
                    let $site = $crate::openmp::visits::CallSite { address, sp };
                    let $call = move || {
                        // SAFETY: the function of this name has this type, and gets the arguments that the
                        // program gave.
                        unsafe {
                            table.function::<unsafe extern "C-unwind" fn($($type),*) $(-> $result)?>(
                                $crate::openmp::gomp::names::Function::$name,
                            )($($argument),*)
                        }
                    };
                    $body
                }
            )*
        }
    };
}
pub(crate) use sited;

/// Declares hooks whose first argument is the function that the program wants to be run. `$table` is that of
/// the caller's runtime, and `$function` its function of this name.
macro_rules! bodied {
    ($( fn $name:ident ( $body:ident, $($argument:ident : $type:ty),* ; $table:ident, $function:ident )
        $(-> $result:ty)? $block:block )*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[allow(non_snake_case, reason = "the runtime's names")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() {
            #[allow(clippy::too_many_arguments, reason = "as many as the runtime's function has")]
            unsafe extern "C-unwind" fn hook(
                $body: $crate::openmp::gomp::parallel::Body,
                $($argument: $type),*
            ) $(-> $result)? {
                let place = $crate::openmp::gomp::names::Function::$name;
                let $table = $crate::openmp::runtime::calls::table_of_body($body as usize as u64, place);
                // SAFETY: the function of this name has this type.
                let $function = unsafe {
                    $table.function::<unsafe extern "C-unwind" fn(
                        $crate::openmp::gomp::parallel::Body,
                        $($type),*
                    ) $(-> $result)?>(place)
                };
                $block
            }
            $crate::arch::routes::bodied!($name, hook)
        }
    )* };
}
pub(crate) use bodied;

/// A name with its final zero.
pub const fn c_name(name: &'static str) -> &'static core::ffi::CStr {
    match core::ffi::CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!(),
    }
}
