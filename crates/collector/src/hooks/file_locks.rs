//! Locks on files: they are waited for like other locks, though the holder may be another process.

use core::ffi::c_int;

use libc::off_t;
use proust_log::operations::Operation;

use super::family::{errno_of, operations};
use crate::interpose::interpose;
use crate::operation;

operations! {
    flock(file: c_int as fd, how: c_int as number(how)) -> c_int, or -1 => FileLock, (file, 0), errno_of;
    lockf(file: c_int as fd, how: c_int as number(how), length: off_t as number(offset)) -> c_int, or -1
        => LockFile, (file, 0), errno_of;
    lockf64(file: c_int as fd, how: c_int as number(how), length: off_t as number(offset)) -> c_int, or -1
        => LockFile, (file, 0), errno_of;
}

/// `fcntl` and `fcntl64`, whose third argument is a number or an address, or missing.
mod control {
    use super::{Operation, c_int, errno_of, interpose, operation};

    /// `F_OFD_SETLKW`
    const SET_OPEN_FILE_LOCK_AND_WAIT: c_int = 38;

    macro_rules! control {
        ($name:ident) => {
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name(file: c_int, command: c_int, argument: usize) -> c_int {
                let Some(function) = real::$name() else { return -1 };
                // SAFETY: the real function with the registers that the program filled.
                let call = || unsafe { function(file, command, argument) };
                if command == libc::F_SETLKW || command == SET_OPEN_FILE_LOCK_AND_WAIT {
                    operation::bracket(Operation::ControlLock, file as u64, call, errno_of)
                } else {
                    call()
                }
            }
        };
    }
    control!(fcntl);
    control!(fcntl64);

    interpose! {
        fcntl(file: c_int as fd, command: c_int as number(option), argument: usize as word) -> c_int, or -1;
        #[since("2.28")]
        fcntl64(file: c_int as fd, command: c_int as number(option), argument: usize as word) -> c_int, or -1;
    }
}
