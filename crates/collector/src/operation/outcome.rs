//! An operation's outcome, and the program's `errno`, which every hook leaves as the real function set it.

/// The outcome of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Bytes moved.
    pub bytes: u64,
    /// Error number; 0 = it did not fail.
    pub error: u32,
}

impl Outcome {
    /// Of a function that returns an error number, as those of POSIX threads do.
    #[inline]
    pub fn code(result: i32) -> Outcome {
        Outcome { bytes: 0, error: result as u32 }
    }

    /// Of a function that returns -1 and sets `errno`.
    #[inline]
    pub fn errno(result: i64) -> Outcome {
        if result == -1 { Outcome { bytes: 0, error: errno() } } else { Outcome::default() }
    }

    /// Of a function that returns the number of bytes it moved, or -1 and sets `errno`.
    #[inline]
    pub fn bytes(result: isize) -> Outcome {
        match u64::try_from(result) {
            Ok(bytes) => Outcome { bytes, error: 0 },
            Err(_) => Outcome { bytes: 0, error: errno() },
        }
    }

    /// Of a function that moves all `bytes`, or returns -1 and sets `errno`.
    #[inline]
    pub fn all_or_nothing(result: i32, bytes: usize) -> Outcome {
        if result == -1 {
            Outcome { bytes: 0, error: errno() }
        } else {
            Outcome { bytes: bytes as u64, error: 0 }
        }
    }
}

/// The program's `errno`.
#[inline]
pub fn errno() -> u32 {
    // SAFETY: the C library's function returns this thread's own `errno`.
    unsafe { *libc::__errno_location() as u32 }
}

/// Sets the program's `errno`.
#[inline]
pub fn set_errno(value: u32) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = value as i32 };
}

/// The program's `errno` as it was, where what follows may change it.
#[derive(Clone, Copy)]
pub struct KeptErrno {
    place: *mut i32,
    value: i32,
}

impl KeptErrno {
    /// As it is now.
    #[inline]
    pub fn keep() -> KeptErrno {
        // SAFETY: the C library's function returns the address of this thread's own `errno`.
        unsafe {
            let place = libc::__errno_location();
            KeptErrno { place, value: *place }
        }
    }

    /// As it was, again; in the same thread.
    #[inline]
    pub fn restore(self) {
        // SAFETY: the address stays the same for as long as the thread lives.
        unsafe {
            if *self.place != self.value {
                *self.place = self.value;
            }
        }
    }
}
