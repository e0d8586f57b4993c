//! Functions with a variable number of arguments: the registers are laid down as the calling convention's
//! `va_list` wants them, and the function that takes such a list is called.

use core::ffi::c_int;

use libc::FILE;

use super::formats::{Text, inner};
use crate::arch::thunks::with_list;
use crate::interpose::interpose;

/// Declares a hook: how many named arguments it has (all of them integers or addresses), and the function
/// that takes a `va_list` in its place.
macro_rules! variadic {
    ($($name:ident, $named:tt, $function:path;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() -> c_int {
            with_list!($named, $function)
        }
    )*};
}

variadic! {
    printf, 1, inner::vprintf;
    fprintf, 2, inner::vfprintf;
    dprintf, 2, inner::vdprintf;
    __printf_chk, 2, inner::__vprintf_chk;
    __fprintf_chk, 3, inner::__vfprintf_chk;
    __dprintf_chk, 3, inner::__vdprintf_chk;
    scanf, 1, inner::vscanf;
    fscanf, 2, inner::vfscanf;
    __isoc99_scanf, 1, inner::__isoc99_vscanf;
    __isoc99_fscanf, 2, inner::__isoc99_vfscanf;
    __isoc23_scanf, 1, inner::__isoc23_vscanf;
    __isoc23_fscanf, 2, inner::__isoc23_vfscanf;
}

interpose! {
    printf(format: Text as format, rest: () as more) -> c_int, or -1;
    fprintf(stream: *mut FILE as stream, format: Text as format, rest: () as more) -> c_int, or -1;
    dprintf(file: c_int as fd, format: Text as format, rest: () as more) -> c_int, or -1;
    __printf_chk(flag: c_int as number(flags), format: Text as format, rest: () as more) -> c_int, or -1;
    __fprintf_chk(
        stream: *mut FILE as stream, flag: c_int as number(flags), format: Text as format, rest: () as more,
    ) -> c_int, or -1;
    __dprintf_chk(
        file: c_int as fd, flag: c_int as number(flags), format: Text as format, rest: () as more,
    ) -> c_int, or -1;
    scanf(format: Text as format, rest: () as more) -> c_int, or -1;
    fscanf(stream: *mut FILE as stream, format: Text as format, rest: () as more) -> c_int, or -1;
    __isoc99_scanf(format: Text as format, rest: () as more) -> c_int, or -1;
    __isoc99_fscanf(stream: *mut FILE as stream, format: Text as format, rest: () as more) -> c_int, or -1;
    #[since("2.38")]
    __isoc23_scanf(format: Text as format, rest: () as more) -> c_int, or -1;
    #[since("2.38")]
    __isoc23_fscanf(stream: *mut FILE as stream, format: Text as format, rest: () as more) -> c_int, or -1;
}
