//! How an I/O function is hooked: one line for each, with what it is about.

use core::ffi::{c_char, c_int};

use libc::{DIR, FILE};
use proust_log::operations::{Operation, Target};

use super::folders;
use super::stream::Stream;
use crate::life;
use crate::operation::targets::{self, NO_DESCRIPTOR};
use crate::operation::{self, Kind, Outcome, errno, here};

/// The object of an I/O function.
pub trait About: Copy {
    /// The kind of file or device that it leads to.
    fn target(self) -> Target;

    /// The operation's objects.
    fn objects(self) -> (u64, u64);

    /// Called before and after the real call.
    fn before_and_after(self) {}
}

/// A descriptor.
#[derive(Clone, Copy)]
pub struct Descriptor(pub c_int);

/// A descriptor that leads nowhere afterwards.
#[derive(Clone, Copy)]
pub struct Closing(pub c_int);

/// From one descriptor to another.
#[derive(Clone, Copy)]
pub struct Between(pub c_int, pub c_int);

/// No descriptor.
#[derive(Clone, Copy)]
pub struct Nothing;

/// A descriptor as an operation's object.
#[inline]
fn object(descriptor: c_int) -> u64 {
    u64::try_from(descriptor).unwrap_or(NO_DESCRIPTOR)
}

impl About for Descriptor {
    #[inline]
    fn target(self) -> Target {
        targets::of(self.0)
    }

    #[inline]
    fn objects(self) -> (u64, u64) {
        (object(self.0), 0)
    }
}

impl About for Closing {
    #[inline]
    fn target(self) -> Target {
        targets::of_closing(self.0)
    }

    #[inline]
    fn objects(self) -> (u64, u64) {
        (object(self.0), 0)
    }

    #[inline]
    fn before_and_after(self) {
        targets::forget(self.0);
    }
}

impl About for Between {
    #[inline]
    fn target(self) -> Target {
        targets::of_transfer(targets::of(self.0), targets::of(self.1))
    }

    #[inline]
    fn objects(self) -> (u64, u64) {
        (object(self.0), object(self.1))
    }
}

impl About for Nothing {
    #[inline]
    fn target(self) -> Target {
        Target::None
    }

    #[inline]
    fn objects(self) -> (u64, u64) {
        (NO_DESCRIPTOR, 0)
    }
}

/// Runs `call` as an operation about something.
#[inline(always)]
pub fn bracket<R: Copy>(
    operation: Operation,
    about: impl About,
    call: impl FnOnce() -> R,
    outcome: impl FnOnce(R) -> Outcome,
) -> R {
    let call = || {
        about.before_and_after();
        let result = call();
        about.before_and_after();
        result
    };
    if life::is_off_for_now() {
        return call();
    }
    let kind = Kind { operation, target: about.target() };
    operation::bracket_two(kind, about.objects(), call, outcome)
}

/// The result of a function that opens something.
pub trait Opened: Copy {
    /// The new descriptor; None if it failed.
    fn descriptor(self) -> Option<c_int>;
}

impl Opened for c_int {
    #[inline]
    fn descriptor(self) -> Option<c_int> {
        (self >= 0).then_some(self)
    }
}

impl Opened for *mut FILE {
    #[inline]
    fn descriptor(self) -> Option<c_int> {
        (!self.is_null()).then(|| Stream(self).descriptor())
    }
}

impl Opened for *mut DIR {
    #[inline]
    fn descriptor(self) -> Option<c_int> {
        (!self.is_null()).then(|| folders::descriptor(self))
    }
}

/// Runs `call`, which opens something, as an operation about what it opens; `path` names that, or is null.
///
/// # Safety
/// `path` is null or what `call` gives to the real function as a C string.
#[inline(always)]
pub unsafe fn opening<R: Opened>(operation: Operation, path: *const c_char, call: impl FnOnce() -> R) -> R {
    let mut marker = 0;
    let ticket = operation::begin(Kind::from(operation), (NO_DESCRIPTOR, 0), here!(), &mut marker);
    let result = call();
    let descriptor = result.descriptor();
    if let Some(descriptor) = descriptor {
        targets::forget(descriptor);
    }
    if ticket.counts() {
        let outcome = Outcome { bytes: 0, error: if descriptor.is_none() { errno() } else { 0 } };
        operation::end_with(ticket, outcome, |kind, none| match descriptor {
            Some(descriptor) => {
                // SAFETY: the caller's promise; the kernel has just read it.
                let target = unsafe { targets::of_opened(descriptor, path, ticket.begin_ns()) };
                (Kind { target, ..kind }, object(descriptor))
            }
            None => (kind, none),
        });
    }
    result
}

/// Sets `errno` for a function that the C library lacks.
#[cold]
pub fn missing<R>(result: R) -> R {
    operation::set_errno(libc::ENOSYS as u32);
    result
}

/// Returns from a hook what the real function does, where the call is known to touch memory only: that costs
/// the program a few loads and a jump.
macro_rules! return_in_memory {
    (( $($all:tt)* )) => {};
    (( $($real:ident)::+ ( $($argument:ident : $type:ty),* ) -> $result:ty ), $is_in_memory:expr) => {
        let address = $($real::)+REAL.known();
        if $is_in_memory && !address.is_null() {
            // SAFETY: the real function, which has this type, with the arguments that the program gave.
            return unsafe {
                let function: unsafe extern
                    "C-unwind" fn($($type),*) -> $result = core::mem::transmute(address);
                function($($argument),*)
            };
        }
    };
}
pub(crate) use return_in_memory;

/// The condition `in_memory` in a call of its own; false without it.
macro_rules! is_in_memory {
    () => {
        false
    };
    ($asked:expr) => {{
        // SAFETY: of the memory that the program gave it looks at nothing but what the real function does.
        #[allow(unused_unsafe, reason = "some look at none")]
        let is_in_memory = unsafe { $asked };
        is_in_memory
    }};
}
pub(crate) use is_in_memory;

/// Declares hooks of functions that work on something.
///
/// ```text
/// io! {
///     NAME(argument: Type as grammar, …) -> Result, or VALUE => Operation, ABOUT, outcome;
/// }
/// ```
///
/// VALUE is returned where the C library has no such function; ABOUT is an [`About`], and `outcome` makes an
/// [`Outcome`] of the result. `outcome, in_memory(AT ONCE, ASKED APART)` is for calls on a stream: where one
/// of both says that its buffer is enough, the call touches memory only and is no operation
/// ([`super::buffered`]). The rows are those of [`interpose!`](crate::interpose::interpose).
macro_rules! io {
    ($( $(#[$how:ident $(($version:literal))?])? $name:ident (
        $($argument:ident : $type:ty as $grammar:ident $(($($of:ident),*))?),* $(,)?
    ) -> $result:ty, or $none:expr
        => $operation:ident, $about:expr, $outcome:expr
        $(, in_memory($at_once:expr, $asked:expr $(,)?))?; )*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
                // Apart, so that a call that touches memory only saves no registers for it.
                #[inline(never)]
                unsafe extern "C-unwind" fn timed($($argument: $type),*) -> $result {
                    let Some(function) = real::$name() else {
                        return $crate::hooks::io::bracket::missing($none)
                    };
                    if $crate::hooks::io::bracket::is_in_memory!($($asked)?) {
                        // SAFETY: the real function with the arguments that the program gave.
                        return unsafe { function($($argument),*) };
                    }
                    $crate::hooks::io::bracket::bracket(
                        proust_log::operations::Operation::$operation,
                        $about,
                        // SAFETY: as above.
                        || unsafe { function($($argument),*) },
                        $outcome,
                    )
                }
                $crate::hooks::io::bracket::return_in_memory!(
                    (real::$name($($argument: $type),*) -> $result) $(, $at_once)?
                );
                // SAFETY: as above.
                unsafe { timed($($argument),*) }
            }
        )*
        $crate::interpose::interpose! {
            $( $(#[$how $(($version))?])? $name($($argument: $type as $grammar $(($($of),*))?),*)
                -> $result, or $none; )*
        }
    };
}
pub(crate) use io;

/// As [`io!`] for functions that open something: `NAME(…) -> Result, or VALUE => Operation, PATH;`
macro_rules! opens {
    ($( $(#[$how:ident $(($version:literal))?])? $name:ident (
        $($argument:ident : $type:ty as $grammar:ident $(($($of:ident),*))?),* $(,)?
    ) -> $result:ty, or $none:expr
        => $operation:ident, $path:expr; )*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
                let Some(function) = real::$name() else { return $crate::hooks::io::bracket::missing($none) };
                // SAFETY: the real function with the registers that the program filled, its path among them.
                unsafe {
                    $crate::hooks::io::bracket::opening(
                        proust_log::operations::Operation::$operation,
                        $path,
                        || function($($argument),*),
                    )
                }
            }
        )*
        $crate::interpose::interpose! {
            $( $(#[$how $(($version))?])? $name($($argument: $type as $grammar $(($($of),*))?),*)
                -> $result, or $none; )*
        }
    };
}
pub(crate) use opens;
