//! From one descriptor to another, without the program's memory.

use core::ffi::{c_int, c_uint};

use libc::{iovec, off_t, off64_t, size_t, ssize_t};

use super::bracket::{Between, Descriptor, io};
use crate::operation::Outcome;

io! {
    sendfile(to: c_int, from: c_int, at: *mut off_t, size: size_t) -> ssize_t, or -1
        => SendFile, Between(from, to), Outcome::bytes;
    sendfile64(to: c_int, from: c_int, at: *mut off64_t, size: size_t) -> ssize_t, or -1
        => SendFile, Between(from, to), Outcome::bytes;
    splice(
        from: c_int, at: *mut off64_t, to: c_int, at_there: *mut off64_t, size: size_t, flags: c_uint,
    ) -> ssize_t, or -1 => Splice, Between(from, to), Outcome::bytes;
    tee(from: c_int, to: c_int, size: size_t, flags: c_uint) -> ssize_t, or -1
        => Tee, Between(from, to), Outcome::bytes;
    vmsplice(file: c_int, memory: *const iovec, count: size_t, flags: c_uint) -> ssize_t, or -1
        => VectorSplice, Descriptor(file), Outcome::bytes;
    copy_file_range(
        from: c_int, at: *mut off64_t, to: c_int, at_there: *mut off64_t, size: size_t, flags: c_uint,
    ) -> ssize_t, or -1 => CopyFileRange, Between(from, to), Outcome::bytes;
}
