//! How a family of functions is hooked: one line for each.

use crate::operation::Outcome;

/// Declares hooks that bracket the real function as one operation.
///
/// ```text
/// operations! {
///     NAME(argument: Type as grammar, …) -> Result, or VALUE => Operation, (object, second object), outcome;
/// }
/// ```
///
/// VALUE is returned where the C library has no such function; `outcome` makes an [`Outcome`] of the result.
/// The rows are those of [`interpose!`](crate::interpose::interpose) with what the hook does behind them.
macro_rules! operations {
    ($( $(#[$how:ident $(($version:literal))?])? $name:ident (
        $($argument:ident : $type:ty as $grammar:ident $(($($of:ident),*))?),* $(,)?
    ) -> $result:ty, or $none:expr
        => $operation:ident, ($object:expr, $object2:expr), $outcome:expr; )*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
                let Some(function) = real::$name() else { return $none };
                $crate::operation::bracket_two(
                    proust_log::operations::Operation::$operation,
                    ($object as u64, $object2 as u64),
                    // SAFETY: the real function with the arguments that the program gave.
                    || unsafe { function($($argument),*) },
                    $outcome,
                )
            }
        )*
        $crate::interpose::interpose! {
            $( $(#[$how $(($version))?])? $name($($argument: $type as $grammar $(($($of),*))?),*)
                -> $result, or $none; )*
        }
    };
}
pub(crate) use operations;

/// Of functions that return -1 and set `errno`.
#[inline]
pub fn errno_of(result: i32) -> Outcome {
    Outcome::errno(result.into())
}
