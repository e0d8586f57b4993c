//! How an I/O function is hooked: one line for each, with what it is about.

use core::ffi::{c_char, c_int};

use libc::{DIR, FILE};
use proust_log::operations::{Operation, Target};

use super::folders;
use super::stream::Stream;
use crate::operation::targets::{self, NO_DESCRIPTOR};
use crate::operation::{self, Kind, Outcome, errno, here};

/// What an I/O function is about.
pub trait About: Copy {
    /// What it leads to.
    fn target(self) -> Target;

    /// The operation's objects.
    fn objects(self) -> (u64, u64);

    /// Done around the real call.
    fn around(self) {}
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
    fn around(self) {
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
    let kind = Kind { operation, target: about.target() };
    let call = || {
        about.around();
        let result = call();
        about.around();
        result
    };
    operation::around_two(kind, about.objects(), call, outcome)
}

/// What a function that opens something returns.
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
    if ticket.is_followed() {
        let outcome = Outcome { bytes: 0, error: if descriptor.is_none() { errno() } else { 0 } };
        operation::end_with(&ticket, outcome, |kind, none| match descriptor {
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

/// Whether a call of `io!` was counted: never without its part `in_memory`.
macro_rules! is_counted {
    ($operation:ident) => {
        false
    };
    ($operation:ident, $stream:expr, $at_once:expr, $bytes:expr) => {{
        use proust_log::operations::Operation;
        use $crate::hooks::io::buffered::{at_once, counted};
        const ROW: usize = $crate::operation::counted::row(Operation::$operation);
        // SAFETY: of the memory that the program gave it looks at nothing but what the real function does.
        #[allow(unused_unsafe, reason = "some look at none")]
        let bytes = unsafe { $bytes };
        let stream = $crate::hooks::io::stream::Stream($stream);
        at_once::<ROW>(stream, || bytes) || counted(Operation::$operation, stream, bytes)
    }};
}
pub(crate) use is_counted;

/// Returns from a hook what the real function does, if the call can be counted at once.
///
/// That function's address is kept here once more, where it can be jumped to whatever it is: at first a function that finds it.
macro_rules! return_counted {
    (( $($all:tt)* )) => {};
    (
        ( $name:ident ( $($argument:ident : $type:ty),* ) -> $result:ty, or $none:expr => $operation:ident ),
        $stream:expr, $at_once:expr $(, $bytes:expr)?
    ) => {
        unsafe extern "C-unwind" fn find($($argument: $type),*) -> $result {
            let Some(function) = real::$name() else { return $crate::hooks::io::bracket::missing($none) };
            REAL.store(function as *mut core::ffi::c_void, core::sync::atomic::Ordering::Relaxed);
            // SAFETY: the real function with the arguments that the program gave.
            unsafe { function($($argument),*) }
        }
        static REAL: core::sync::atomic::AtomicPtr<core::ffi::c_void> =
            core::sync::atomic::AtomicPtr::new(find as *mut core::ffi::c_void);
        const ROW: usize =
            $crate::operation::counted::row(proust_log::operations::Operation::$operation);
        let stream = $crate::hooks::io::stream::Stream($stream);
        if $crate::hooks::io::buffered::at_once::<ROW>(stream, || $at_once) {
            // SAFETY: one of the two functions that are stored there, of this type; volatile as all that is asked at once.
            return unsafe {
                let function: unsafe extern "C-unwind" fn($($type),*) -> $result =
                    core::mem::transmute(REAL.as_ptr().read_volatile());
                function($($argument),*)
            };
        }
    };
}
pub(crate) use return_counted;

/// Declares hooks of functions that work on something.
///
/// ```text
/// io! {
///     NAME(argument: Type as grammar, …) -> Result, or VALUE => Operation, ABOUT, outcome;
/// }
/// ```
///
/// VALUE is returned where the C library has no such function; ABOUT is an [`About`], and `outcome` makes an
/// [`Outcome`] of the result. `outcome, in_memory(STREAM, bytes at once, bytes)` is for calls on a stream: where one of
/// them tells how many bytes its buffer is enough for, the call is only counted ([`super::buffered`]). The
/// rows are those of [`interpose!`](crate::interpose::interpose).
macro_rules! io {
    ($( $(#[$how:ident $(($version:literal))?])? $name:ident (
        $($argument:ident : $type:ty as $grammar:ident $(($($of:ident),*))?),* $(,)?
    ) -> $result:ty, or $none:expr
        => $operation:ident, $about:expr, $outcome:expr
        $(, in_memory($stream:expr, $at_once:expr, $bytes:expr $(,)?))?; )*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
                // Apart, so that a call that is only counted saves no registers for it.
                #[inline(never)]
                unsafe extern "C-unwind" fn timed($($argument: $type),*) -> $result {
                    let Some(function) = real::$name() else { return $crate::hooks::io::bracket::missing($none) };
                    if $crate::hooks::io::bracket::is_counted!($operation $(, $stream, $at_once, $bytes)?) {
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
                $crate::hooks::io::bracket::return_counted!(
                    ($name($($argument: $type),*) -> $result, or $none => $operation) $(, $stream, $at_once, $bytes)?
                );
                // SAFETY: as above.
                unsafe { timed($($argument),*) }
            }
        )*
        $crate::interpose::interpose! {
            $( $(#[$how $(($version))?])? $name($($argument: $type as $grammar $(($($of),*))?),*) -> $result, or $none; )*
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
            $( $(#[$how $(($version))?])? $name($($argument: $type as $grammar $(($($of),*))?),*) -> $result, or $none; )*
        }
    };
}
pub(crate) use opens;
