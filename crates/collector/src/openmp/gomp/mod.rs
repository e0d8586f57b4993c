//! What programs compiled by GCC call of its OpenMP runtime, GCC 9 to 15, with the old two-call form of regions.
//!
//! Each family is a table: one line for each function.
//!
//! - [`parallel`]: regions as a whole
//! - [`waits`]: barriers and the ends of work-sharing, sections that exclude each other, locks
//! - [`dispatch`]: who hands out iterations
//! - [`doacross`]: iterations that wait for others
//! - [`tasks`]: deferred work

#![allow(
    clippy::missing_safety_doc,
    reason = "a hook's contract is that of the function of GCC's runtime whose name it bears"
)]

pub mod dispatch;
pub mod doacross;
pub mod parallel;
pub mod tasks;
pub mod waits;

/// Declares a function for each name, which gives the real one.
macro_rules! behind {
    ($( $name:ident $(@ $version:literal)? ( $($type:ty),* $(,)? ) $(-> $result:ty)?; )*) => {
        /// The functions behind the hooks of this family.
        mod real {
            #[allow(unused_imports, reason = "types of the functions, as the family names them")]
            use super::*;

            $(
                #[inline]
                #[allow(non_snake_case, reason = "the runtime's names")]
                pub fn $name() -> Option<unsafe extern "C-unwind" fn($($type),*) $(-> $result)?> {
                    static BEHIND: $crate::openmp::runtime::Behind = $crate::openmp::runtime::Behind::new(
                        $crate::openmp::gomp::c_name(concat!(stringify!($name), "\0")),
                        $crate::openmp::gomp::c_name(concat!($($version,)? "\0")),
                    );
                    let address = BEHIND.address();
                    // SAFETY: the address is that of the function with this name, which has this type.
                    (!address.is_null()).then(|| unsafe { core::mem::transmute(address) })
                }
            )*
        }
    };
}
pub(crate) use behind;

/// The register in which a function with so many arguments gets one more.
macro_rules! register_after {
    () => {
        "rdi"
    };
    ($one:ident) => {
        "rsi"
    };
    ($one:ident $two:ident) => {
        "rdx"
    };
}
pub(crate) use register_after;

/// Declares hooks that get the address they return to as one argument more, `$site`.
macro_rules! sited {
    ($( fn $name:ident ( $($argument:ident : $type:ty),* ; $site:ident ) $(-> $result:ty)? $body:block )*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[allow(non_snake_case, reason = "the runtime's names")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name() {
                core::arch::naked_asm!(
                    ".cfi_startproc",
                    concat!("mov ", $crate::openmp::gomp::register_after!($($argument)*), ", [rsp]"),
                    "jmp {hook}",
                    ".cfi_endproc",
                    hook = sym hooks::$name,
                )
            }
        )*
        mod hooks {
            #[allow(unused_imports, reason = "what the family's bodies need")]
            use super::*;

            $(
                #[allow(non_snake_case, reason = "the runtime's names")]
                pub unsafe extern "C-unwind" fn $name($($argument: $type,)* $site: u64) $(-> $result)? $body
            )*
        }
    };
}
pub(crate) use sited;

/// A name with its final zero.
pub const fn c_name(name: &'static str) -> &'static core::ffi::CStr {
    match core::ffi::CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!(),
    }
}
