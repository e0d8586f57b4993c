//! How a family of functions is hooked: one line for each.

use crate::operation::Outcome;

/// Declares hooks that bracket the real function as one operation.
///
/// ```text
/// operations! {
///     NAME(argument: Type, …) -> Result, or VALUE => Operation, (object, second object), outcome;
/// }
/// ```
///
/// VALUE is returned where the C library has no such function; `outcome` makes an [`Outcome`] of the result. Also
/// declares `real`, a module of the real functions by name, and `find_all`, which finds them.
macro_rules! operations {
    ($( $name:ident ( $($argument:ident : $type:ty),* ) -> $result:ty, or $none:expr
        => $operation:ident, ($object:expr, $object2:expr), $outcome:expr; )*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
                let Some(function) = real::$name() else { return $none };
                $crate::operation::around_two(
                    proust_log::operations::Operation::$operation,
                    ($object as u64, $object2 as u64),
                    // SAFETY: the real function with the arguments that the program gave.
                    || unsafe { function($($argument),*) },
                    $outcome,
                )
            }
        )*
        $crate::hooks::family::real_functions! { $( $name($($type),*) -> $result; )* }
    };
}
pub(crate) use operations;

/// Declares a module `real` with a function for each name, which gives the real function, and `find_all`.
macro_rules! real_functions {
    ($( $name:ident ( $($type:ty),* $(,)? ) -> $result:ty; )*) => {
        /// The functions behind the hooks of this family.
        pub(super) mod real {
            #[allow(unused_imports, reason = "types of the functions, as the family names them")]
            use super::*;

            $(
                #[inline]
                pub fn $name() -> Option<unsafe extern "C-unwind" fn($($type),*) -> $result> {
                    static REAL: $crate::real::Real = $crate::real::Real::new(
                        match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                            Ok(name) => name,
                            Err(_) => panic!(),
                        },
                    );
                    let address = REAL.address();
                    // SAFETY: the address is that of the function with this name, which has this type.
                    (!address.is_null()).then(|| unsafe { core::mem::transmute(address) })
                }
            )*
        }

        /// Finds the real functions, before the program's threads need them.
        pub fn find_all() {
            $( let _ = real::$name(); )*
        }
    };
}
pub(crate) use real_functions;

/// Of functions that return -1 and set `errno`.
#[inline]
pub fn errno_of(result: i32) -> Outcome {
    Outcome::errno(result.into())
}
