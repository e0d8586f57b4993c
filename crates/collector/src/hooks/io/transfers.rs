//! From one descriptor to another, without the program's memory.

use core::ffi::{c_int, c_uint};

use libc::{iovec, off_t, off64_t, size_t, ssize_t};

use super::bracket::{Between, Descriptor, io};
use crate::operation::Outcome;

io! {
    sendfile(
        to: c_int as fd, from: c_int as fd, at: *mut off_t as inout(offset), size: size_t as number(size),
    ) -> ssize_t, or -1
        => SendFile, Between(from, to), Outcome::bytes;
    sendfile64(
        to: c_int as fd, from: c_int as fd, at: *mut off64_t as inout(offset), size: size_t as number(size),
    ) -> ssize_t, or -1
        => SendFile, Between(from, to), Outcome::bytes;
    splice(
        from: c_int as fd, at: *mut off64_t as inout(offset), to: c_int as fd,
        at_there: *mut off64_t as inout(offset), size: size_t as number(size),
        flags: c_uint as number(flags),
    ) -> ssize_t, or -1 => Splice, Between(from, to), Outcome::bytes;
    tee(
        from: c_int as fd, to: c_int as fd, size: size_t as number(size), flags: c_uint as number(flags),
    ) -> ssize_t, or -1
        => Tee, Between(from, to), Outcome::bytes;
    vmsplice(
        file: c_int as fd, memory: *const iovec as inputs(iovec_in, count), count: size_t as number(count),
        flags: c_uint as number(flags),
    ) -> ssize_t, or -1
        => VectorSplice, Descriptor(file), Outcome::bytes;
    #[since("2.27")]
    copy_file_range(
        from: c_int as fd, at: *mut off64_t as inout(offset), to: c_int as fd,
        at_there: *mut off64_t as inout(offset), size: size_t as number(size),
        flags: c_uint as number(flags),
    ) -> ssize_t, or -1 => CopyFileRange, Between(from, to), Outcome::bytes;
}
