//! Single characters of streams.
//!
//! Where the stream's buffer has the character, or room for it, the call takes a few nanoseconds and touches memory
//! only: it is counted and not timed. Programs that are compiled with optimisation may take such characters without any
//! call; they call `__uflow` and `__overflow` for the others.

use core::ffi::c_int;

use libc::FILE;
use proust_log::operations::Operation;

use super::bracket::{Descriptor, bracket, missing};
use super::buffered::counted;
use super::stream::{Stream, input, output, written};
use crate::hooks::family::real_functions;

#[inline(always)]
fn take(stream: *mut FILE, call: impl Fn() -> c_int) -> c_int {
    let stream = Stream(stream);
    let descriptor = stream.descriptor();
    if counted(Operation::StreamCharacter, stream, stream.has(1).then_some(1)) {
        return call();
    }
    let outcome = |result: c_int| stream.taken(u64::from(result >= 0), result >= 0);
    bracket(Operation::StreamCharacter, Descriptor(descriptor), call, outcome)
}

#[inline(always)]
fn put(character: c_int, stream: *mut FILE, call: impl Fn() -> c_int) -> c_int {
    let stream = Stream(stream);
    let descriptor = stream.descriptor();
    if counted(Operation::StreamPutCharacter, stream, stream.has_room(character).then_some(1)) {
        return call();
    }
    bracket(Operation::StreamPutCharacter, Descriptor(descriptor), call, |result| written(result, 1))
}

macro_rules! takes {
    ($( $name:ident ( $($stream:ident)? ) from $from:expr; )*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($stream: *mut FILE)?) -> c_int {
            let Some(function) = real::$name() else { return missing(-1) };
            // SAFETY: the real function with the arguments that the program gave.
            take($from, || unsafe { function($($stream)?) })
        }
    )*};
}

macro_rules! puts {
    ($( $name:ident ( $character:ident $(, $stream:ident)? ) to $to:expr; )*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($character: c_int $(, $stream: *mut FILE)?) -> c_int {
            let Some(function) = real::$name() else { return missing(-1) };
            // SAFETY: as above.
            put($character, $to, || unsafe { function($character $(, $stream)?) })
        }
    )*};
}

takes! {
    fgetc(stream) from stream;
    getc(stream) from stream;
    _IO_getc(stream) from stream;
    fgetc_unlocked(stream) from stream;
    getc_unlocked(stream) from stream;
    getchar() from input();
    getchar_unlocked() from input();
    __uflow(stream) from stream;
}

puts! {
    fputc(character, stream) to stream;
    putc(character, stream) to stream;
    _IO_putc(character, stream) to stream;
    fputc_unlocked(character, stream) to stream;
    putc_unlocked(character, stream) to stream;
    putchar(character) to output();
    putchar_unlocked(character) to output();
}

/// `__overflow`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __overflow(stream: *mut FILE, character: c_int) -> c_int {
    let Some(function) = real::__overflow() else { return missing(-1) };
    // SAFETY: as above.
    put(character, stream, || unsafe { function(stream, character) })
}

#[allow(non_snake_case, reason = "the C library's names")]
mod names {
    use super::{FILE, c_int, real_functions};

    real_functions! {
    fgetc(*mut FILE) -> c_int;
    getc(*mut FILE) -> c_int;
    _IO_getc(*mut FILE) -> c_int;
    fgetc_unlocked(*mut FILE) -> c_int;
    getc_unlocked(*mut FILE) -> c_int;
    getchar() -> c_int;
    getchar_unlocked() -> c_int;
    __uflow(*mut FILE) -> c_int;
    fputc(c_int, *mut FILE) -> c_int;
    putc(c_int, *mut FILE) -> c_int;
    _IO_putc(c_int, *mut FILE) -> c_int;
    fputc_unlocked(c_int, *mut FILE) -> c_int;
    putc_unlocked(c_int, *mut FILE) -> c_int;
    putchar(c_int) -> c_int;
    putchar_unlocked(c_int) -> c_int;
    __overflow(*mut FILE, c_int) -> c_int;
    }
}
pub use names::find_all;
use names::real;
