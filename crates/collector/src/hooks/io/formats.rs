//! Formatted printing and reading, with a `va_list`: the program's own, or one of [`super::variadic`].

use core::ffi::{c_char, c_int, c_void};

use libc::FILE;
use proust_log::operations::Operation;

use super::bracket::{Descriptor, bracket, missing};
use super::stream::{Stream, input, output, written};
use crate::interpose::interpose;

/// A `va_list` as an argument.
pub type List = *mut c_void;

/// A format as an argument.
pub type Text = *const c_char;

#[inline(always)]
fn print(operation: Operation, descriptor: c_int, call: impl FnOnce() -> c_int) -> c_int {
    bracket(operation, Descriptor(descriptor), call, |result| {
        written(result, u64::try_from(result).unwrap_or(0))
    })
}

#[inline(always)]
fn scan(stream: *mut FILE, call: impl FnOnce() -> c_int) -> c_int {
    let stream = Stream(stream);
    let before = stream.position();
    bracket(Operation::StreamScan, Descriptor(stream.descriptor()), call, |result| {
        stream.taken(stream.taken_since(before), result >= 0)
    })
}

/// Declares a hook `NAME` whose work is done by `inner::NAME`: the functions with a variable number of
/// arguments call that one, whatever stands behind the name.
macro_rules! formats {
    ($( $(#[$how:ident($version:literal)])? $name:ident (
        $($argument:ident : $type:ty as $grammar:ident $(($($of:ident),*))?),* $(,)?
    ) => $function:ident ( $($given:expr),* ), $bracket:ident ( $($about:expr),* ); )*) => {
        /// The hooks' bodies.
        pub mod inner {
            #[allow(unused_imports, reason = "types of the functions, as the family names them")]
            use super::*;

            $(
                #[doc = concat!("`", stringify!($name), "`")]
                pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
                    let Some(function) = real::$function() else { return missing(-1) };
                    // SAFETY: the real function with the arguments that the program gave, and the C library's
                    // streams.
                    $bracket($($about,)* || unsafe { function($($given),*) })
                }
            )*
        }

        $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
                // SAFETY: as the program called it.
                unsafe { inner::$name($($argument),*) }
            }
        )*

        interpose! {
            $( $(#[$how($version)])? $name($($argument: $type as $grammar $(($($of),*))?),*)
                -> c_int, or -1; )*
        }
    };
}

#[inline]
fn of(stream: *mut FILE) -> c_int {
    Stream(stream).descriptor()
}

formats! {
    vfprintf(stream: *mut FILE as stream, format: Text as format, list: List as list)
        => vfprintf(stream, format, list), print(Operation::StreamPrint, of(stream));
    vprintf(format: Text as format, list: List as list)
        => vfprintf(output(), format, list), print(Operation::StreamPrint, of(output()));
    vdprintf(file: c_int as fd, format: Text as format, list: List as list)
        => vdprintf(file, format, list), print(Operation::DescriptorPrint, file);
    __vfprintf_chk(
        stream: *mut FILE as stream, flag: c_int as number(flags), format: Text as format,
        list: List as list,
    )
        => __vfprintf_chk(stream, flag, format, list), print(Operation::StreamPrint, of(stream));
    __vprintf_chk(flag: c_int as number(flags), format: Text as format, list: List as list)
        => __vfprintf_chk(output(), flag, format, list), print(Operation::StreamPrint, of(output()));
    __vdprintf_chk(file: c_int as fd, flag: c_int as number(flags), format: Text as format,
        list: List as list)
        => __vdprintf_chk(file, flag, format, list), print(Operation::DescriptorPrint, file);
    vfscanf(stream: *mut FILE as stream, format: Text as format, list: List as list)
        => vfscanf(stream, format, list), scan(stream);
    vscanf(format: Text as format, list: List as list) => vfscanf(input(), format, list), scan(input());
    __isoc99_vfscanf(stream: *mut FILE as stream, format: Text as format, list: List as list)
        => __isoc99_vfscanf(stream, format, list), scan(stream);
    __isoc99_vscanf(format: Text as format, list: List as list)
        => __isoc99_vfscanf(input(), format, list), scan(input());
    #[since("2.38")]
    __isoc23_vfscanf(stream: *mut FILE as stream, format: Text as format, list: List as list)
        => __isoc23_vfscanf(stream, format, list), scan(stream);
    #[since("2.38")]
    __isoc23_vscanf(format: Text as format, list: List as list)
        => __isoc23_vfscanf(input(), format, list), scan(input());
}
