//! Reading and writing: a buffer or several, at the descriptor's offset or at a given one.

use core::ffi::{c_int, c_uint, c_void};

use libc::{iovec, off_t, off64_t, size_t, ssize_t};

use super::bracket::{Descriptor, Nothing, io};
use crate::operation::Outcome;

io! {
    read(file: c_int, to: *mut c_void, size: size_t) -> ssize_t, or -1 => Read, Descriptor(file), Outcome::bytes;
    __read_chk(file: c_int, to: *mut c_void, size: size_t, room: size_t) -> ssize_t, or -1
        => Read, Descriptor(file), Outcome::bytes;
    pread(file: c_int, to: *mut c_void, size: size_t, at: off_t) -> ssize_t, or -1
        => ReadAt, Descriptor(file), Outcome::bytes;
    pread64(file: c_int, to: *mut c_void, size: size_t, at: off64_t) -> ssize_t, or -1
        => ReadAt, Descriptor(file), Outcome::bytes;
    __pread_chk(file: c_int, to: *mut c_void, size: size_t, at: off_t, room: size_t) -> ssize_t, or -1
        => ReadAt, Descriptor(file), Outcome::bytes;
    __pread64_chk(file: c_int, to: *mut c_void, size: size_t, at: off64_t, room: size_t) -> ssize_t, or -1
        => ReadAt, Descriptor(file), Outcome::bytes;
    readv(file: c_int, to: *const iovec, count: c_int) -> ssize_t, or -1
        => ReadVector, Descriptor(file), Outcome::bytes;
    preadv(file: c_int, to: *const iovec, count: c_int, at: off_t) -> ssize_t, or -1
        => ReadVectorAt, Descriptor(file), Outcome::bytes;
    preadv64(file: c_int, to: *const iovec, count: c_int, at: off64_t) -> ssize_t, or -1
        => ReadVectorAt, Descriptor(file), Outcome::bytes;
    preadv2(file: c_int, to: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t, or -1
        => ReadVectorAt2, Descriptor(file), Outcome::bytes;
    preadv64v2(file: c_int, to: *const iovec, count: c_int, at: off64_t, flags: c_int) -> ssize_t, or -1
        => ReadVectorAt2, Descriptor(file), Outcome::bytes;
    write(file: c_int, from: *const c_void, size: size_t) -> ssize_t, or -1
        => Write, Descriptor(file), Outcome::bytes;
    pwrite(file: c_int, from: *const c_void, size: size_t, at: off_t) -> ssize_t, or -1
        => WriteAt, Descriptor(file), Outcome::bytes;
    pwrite64(file: c_int, from: *const c_void, size: size_t, at: off64_t) -> ssize_t, or -1
        => WriteAt, Descriptor(file), Outcome::bytes;
    writev(file: c_int, from: *const iovec, count: c_int) -> ssize_t, or -1
        => WriteVector, Descriptor(file), Outcome::bytes;
    pwritev(file: c_int, from: *const iovec, count: c_int, at: off_t) -> ssize_t, or -1
        => WriteVectorAt, Descriptor(file), Outcome::bytes;
    pwritev64(file: c_int, from: *const iovec, count: c_int, at: off64_t) -> ssize_t, or -1
        => WriteVectorAt, Descriptor(file), Outcome::bytes;
    pwritev2(file: c_int, from: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t, or -1
        => WriteVectorAt2, Descriptor(file), Outcome::bytes;
    pwritev64v2(file: c_int, from: *const iovec, count: c_int, at: off64_t, flags: c_int) -> ssize_t, or -1
        => WriteVectorAt2, Descriptor(file), Outcome::bytes;
    getrandom(to: *mut c_void, size: size_t, flags: c_uint) -> ssize_t, or -1
        => RandomBytes, Nothing, Outcome::bytes;
}
