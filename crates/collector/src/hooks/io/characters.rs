//! Single characters of streams.
//!
//! Where the stream's buffer has the character, or room for it, the call takes a few nanoseconds, touches
//! memory only, and is no operation. Programs that are compiled with optimisation may take such characters
//! without any call; they call `__uflow` and `__overflow` for the others.

use core::ffi::c_int;

use libc::FILE;
use proust_log::operations::Operation;

use super::bracket::{Descriptor, bracket, missing, return_in_memory};
use super::buffered::Locking;
use super::stream::{Stream, input, output, written};
use crate::interpose::interpose;

/// A call that may go beyond the buffer.
#[inline(always)]
fn take(stream: *mut FILE, call: impl Fn() -> c_int) -> c_int {
    let stream = Stream(stream);
    let descriptor = stream.descriptor();
    let outcome = |result: c_int| stream.taken(u64::from(result >= 0), result >= 0);
    bracket(Operation::StreamCharacter, Descriptor(descriptor), call, outcome)
}

/// A call that may go beyond the buffer.
#[inline(always)]
fn put(character: c_int, stream: *mut FILE, call: impl Fn() -> c_int) -> c_int {
    let stream = Stream(stream);
    let descriptor = stream.descriptor();
    if stream.has_room(character) {
        return call();
    }
    bracket(Operation::StreamPutCharacter, Descriptor(descriptor), call, |result| written(result, 1))
}

/// Declares hooks of functions that take a character: `NAME(STREAM?) LOCKING, from STREAM;`. A call that may
/// go beyond the buffer is made apart, so that no register is saved for it otherwise.
macro_rules! takes {
    ($( $name:ident ( $($stream:ident)? ) $locking:ident, from $from:expr; )*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($stream: *mut FILE)?) -> c_int {
            #[inline(never)]
            unsafe extern "C-unwind" fn timed($($stream: *mut FILE)?) -> c_int {
                let Some(function) = taking::real::$name() else { return missing(-1) };
                // SAFETY: the real function with the arguments that the program gave.
                take($from, || unsafe { function($($stream)?) })
            }
            return_in_memory!(
                (taking::real::$name($($stream: *mut FILE)?) -> c_int),
                Stream($from).holds(1, Locking::$locking)
            );
            // SAFETY: as above.
            unsafe { timed($($stream)?) }
        }
    )*
        /// Functions that take a character.
        #[allow(non_snake_case, reason = "the C library's names")]
        mod taking {
            use super::*;

            interpose! { $( $name($($stream: *mut FILE as stream)?) -> c_int, or -1; )* }
        }
    };
}

/// As `takes!`, of functions that put one.
macro_rules! puts {
    ($( $name:ident ( $($argument:ident: $type:ty as $grammar:ident $(($of:ident))?),* ) $locking:ident,
        $character:ident to $to:expr; )*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            #[inline(never)]
            unsafe extern "C-unwind" fn timed($($argument: $type),*) -> c_int {
                let Some(function) = putting::real::$name() else { return missing(-1) };
                // SAFETY: as above.
                put($character, $to, || unsafe { function($($argument),*) })
            }
            return_in_memory!(
                (putting::real::$name($($argument: $type),*) -> c_int),
                Stream($to).has_plain_room(1, Locking::$locking)
            );
            // SAFETY: as above.
            unsafe { timed($($argument),*) }
        }
    )*
        /// Functions that put a character.
        #[allow(non_snake_case, reason = "the C library's names")]
        mod putting {
            use super::*;

            interpose! { $( $name($($argument: $type as $grammar $(($of))?),*) -> c_int, or -1; )* }
        }
    };
}

takes! {
    fgetc(stream) Locks, from stream;
    getc(stream) Locks, from stream;
    _IO_getc(stream) Locks, from stream;
    fgetc_unlocked(stream) Unlocked, from stream;
    getc_unlocked(stream) Unlocked, from stream;
    getchar() Locks, from input();
    getchar_unlocked() Unlocked, from input();
    __uflow(stream) Unlocked, from stream;
}

puts! {
    fputc(character: c_int as number(character), stream: *mut FILE as stream) Locks, character to stream;
    putc(character: c_int as number(character), stream: *mut FILE as stream) Locks, character to stream;
    _IO_putc(character: c_int as number(character), stream: *mut FILE as stream) Locks, character to stream;
    fputc_unlocked(character: c_int as number(character), stream: *mut FILE as stream) Unlocked,
        character to stream;
    putc_unlocked(character: c_int as number(character), stream: *mut FILE as stream) Unlocked,
        character to stream;
    putchar(character: c_int as number(character)) Locks, character to output();
    putchar_unlocked(character: c_int as number(character)) Unlocked, character to output();
    __overflow(stream: *mut FILE as stream, character: c_int as number(character)) Unlocked,
        character to stream;
}
