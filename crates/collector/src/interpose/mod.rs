//! The functions that this library stands in front of, declared as data.
//!
//! Every hooked function has one row in an `interpose!` table of its family: its name, its arguments with
//! their types, what each argument means ([`grammar`]), its result, how the real function is found, and what
//! the program gets where there is none. A row without a grammar for one of its arguments does not compile.
//! Families whose hooks have the same body have a macro of their own (`operations!`, `io!`, …) that makes the
//! exported functions and passes the rows on to `interpose!`.
//!
//! A row makes two things:
//!
//! - `real::NAME()`, the function behind the hook ([`crate::real`]);
//! - a line of text in the library's section `.proust.hooks` ([`registry`]), from which tests and tools read
//!   what is hooked, out of the built library.
//!
//! How the real function is found:
//!
//! | attribute of the row | the real function is |
//! |---|---|
//! | none | the next definition after this library's. The C library has it, in every version that is supported |
//! | `#[since("2.30")]` | the C library's. Only versions from this one on have it: such hooks are not exported ([`unexported`]) |
//! | `#[caller]`, `#[caller("VERSION")]` | the one that the dynamic linker would have given this caller ([`scope`]): there may be several |

pub mod absent;
pub mod grammar;
pub mod object;
mod openmp;
mod openmp_loops;
pub mod registry;
pub mod scope;
pub mod unexported;
pub mod words;

use crate::real::Real;

/// Declares functions that are hooked, and what is behind them.
///
/// ```text
/// interpose! {
///     read(file: c_int as fd, to: *mut c_void as bytes_out(size), size: size_t as number(size))
///         -> ssize_t, or -1;
///     #[since("2.30")]
///     getdents64(…) -> ssize_t, or -1;
/// }
/// ```
///
/// Makes a module `real` with a function for each name, which gives the real function or none. The value
/// after `or` is the hook's result then.
macro_rules! interpose {
    ($( $(#[$how:ident $(($version:literal))?])? $name:ident (
        $($argument:ident : $type:ty as $grammar:ident $(($($of:ident),*))?),* $(,)?
    ) -> $result:ty, or $none:expr; )*) => {
        /// The functions behind the hooks of this family.
        pub(crate) mod real {
            #[allow(unused_imports, reason = "types of the functions, as the family names them")]
            use super::*;

            $crate::interpose::real_functions! {
                $( $(#[$how $(($version))?])? $name($($argument: $type),*) -> $result; )*
            }
        }

        $crate::interpose::declare! {
            $( $(#[$how $(($version))?])? $name ( $($argument: $type as $grammar $(($($of),*))?),* )
                -> $result, or $none; )*
        }
    };
}
pub(crate) use interpose;

/// Calls a real function: `call_real!(real::NAME(arguments) else VALUE)`, with the value where there is none.
macro_rules! call_real {
    ($($part:ident)::+ ( $($argument:expr),* $(,)? ) else $none:expr) => {
        match $($part)::+() {
            // SAFETY: the function of this name, with the arguments as the program gave them.
            Some(function) => unsafe { function($($argument),*) },
            None => $none,
        }
    };
}
pub(crate) use call_real;

/// Declares functions that give real ones, of the same names.
macro_rules! real_functions {
    ($( $(#[$how:ident $(($version:literal))?])? $name:ident ( $($argument:ident : $type:ty),* )
        -> $result:ty; )*) => { $(
        #[allow(non_snake_case, reason = "the C library's names")]
        #[allow(dead_code, reason = "most hooks ask for the function only")]
        pub mod $name {
            $crate::interpose::find_at_start! {
                pub REAL: $crate::real::Real = $crate::interpose::new_real!($name $(, $how $(($version))?)?);
            }
        }

        #[inline]
        #[allow(non_snake_case, reason = "the C library's names")]
        #[allow(dead_code, reason = "a hook may call another function than the one of its name")]
        #[allow(improper_ctypes_definitions, reason = "`()` stands for arguments without a type")]
        pub fn $name() -> Option<unsafe extern "C-unwind" fn($($type),*) -> $result> {
            let address = $name::REAL.address();
            // SAFETY: the address is that of the function with this name, which has this type.
            (!address.is_null()).then(|| unsafe { core::mem::transmute(address) })
        }
    )* };
}
pub(crate) use real_functions;

/// As [`interpose!`], for hooks that find what is behind them in another way: only what is hooked is
/// declared.
macro_rules! declare {
    ($( $(#[$how:ident $(($version:literal))?])? $name:ident (
        $($argument:ident : $type:ty as $grammar:ident $(($($of:ident),*))?),* $(,)?
    ) -> $result:ty, or $none:expr; )*) => { $(
        const _: () = {
            #[allow(dead_code, reason = "functions without arguments have none to be named")]
            const ARGUMENTS: &[&str] = &[ $( stringify!($argument) ),* ];
            $( $crate::interpose::unexported::unexported! { $how $(($version))?, $name } )?
            $( $crate::interpose::grammar::check!(ARGUMENTS, $type, $grammar $(($($of),*))?); )*
            $crate::interpose::registry::line! {
                stringify!($name), "\t",
                module_path!(), "\t",
                $crate::interpose::registry::found!($($how $(($version))?)?), "\t",
                stringify!($none), "\t",
                stringify!($result), "\t",
                $(
                    stringify!($argument), ": ", stringify!($type), " as ",
                    stringify!($grammar), $("(", $( stringify!($of), " ", )* ")",)? ";",
                )*
                "\n"
            }
        };
    )* };
}
pub(crate) use declare;

/// The place of a real function, by how it is found.
macro_rules! new_real {
    ($name:ident) => {
        $crate::real::Real::new($crate::real::c_name(concat!(stringify!($name), "\0")))
    };
    ($name:ident, since($version:literal)) => {
        $crate::real::Real::new_unexported($crate::real::c_name(concat!(stringify!($name), "\0")))
    };
}
pub(crate) use new_real;

/// Declares the place of a real function that [`find_all`] finds.
macro_rules! find_at_start {
    ($(#[$attribute:meta])* $visibility:vis $name:ident : $type:ty = $value:expr;) => {
        $(#[$attribute])*
        $visibility static $name: $type = $value;
        const _: () = {
            #[used]
            #[unsafe(link_section = "proust_reals")]
            static AT_START: &$crate::real::Real = &$name;
        };
    };
}
pub(crate) use find_at_start;

// Not to be seen from outside: another library of the program may use the same section's name.
crate::arch::linker::hide!("__start_proust_reals", "__stop_proust_reals");

unsafe extern "C" {
    // The linker's own names for where a section begins and ends.
    #[link_name = "__start_proust_reals"]
    static BEGIN: *const ();
    #[link_name = "__stop_proust_reals"]
    static END: *const ();
}

/// The slots of all real functions.
fn reals() -> impl Iterator<Item = &'static Real> {
    let (begin, end) = ((&raw const BEGIN).cast::<&Real>(), (&raw const END).cast::<&Real>());
    let count = (end as usize - begin as usize) / size_of::<&Real>();
    // SAFETY: between both lie the references of all `find_at_start!`, next to each other.
    unsafe { core::slice::from_raw_parts(begin, count) }.iter().copied()
}

/// Finds the real functions, before the program's threads need them: to look for one takes the dynamic
/// linker's lock.
pub fn find_all() {
    reals().for_each(|real| {
        real.address();
    });
}
