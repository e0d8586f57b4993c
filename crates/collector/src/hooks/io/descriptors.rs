//! Reading and writing: a buffer or several, at the descriptor's offset or at a given one.

use core::ffi::{c_int, c_uint, c_void};

use libc::{iovec, off_t, off64_t, size_t, ssize_t};

use super::bracket::{Descriptor, Nothing, io};
use crate::operation::Outcome;

io! {
    read(file: c_int as fd, to: *mut c_void as bytes_out(size), size: size_t as number(size))
        -> ssize_t, or -1 => Read, Descriptor(file), Outcome::bytes;
    __read_chk(
        file: c_int as fd, to: *mut c_void as bytes_out(size), size: size_t as number(size),
        room: size_t as number(size),
    ) -> ssize_t, or -1
        => Read, Descriptor(file), Outcome::bytes;
    pread(
        file: c_int as fd, to: *mut c_void as bytes_out(size), size: size_t as number(size),
        at: off_t as number(offset),
    ) -> ssize_t, or -1
        => ReadAt, Descriptor(file), Outcome::bytes;
    pread64(
        file: c_int as fd, to: *mut c_void as bytes_out(size), size: size_t as number(size),
        at: off64_t as number(offset),
    ) -> ssize_t, or -1
        => ReadAt, Descriptor(file), Outcome::bytes;
    __pread_chk(
        file: c_int as fd, to: *mut c_void as bytes_out(size), size: size_t as number(size),
        at: off_t as number(offset), room: size_t as number(size),
    ) -> ssize_t, or -1
        => ReadAt, Descriptor(file), Outcome::bytes;
    __pread64_chk(
        file: c_int as fd, to: *mut c_void as bytes_out(size), size: size_t as number(size),
        at: off64_t as number(offset), room: size_t as number(size),
    ) -> ssize_t, or -1
        => ReadAt, Descriptor(file), Outcome::bytes;
    readv(file: c_int as fd, to: *const iovec as inputs(iovec_out, count), count: c_int as number(count))
        -> ssize_t, or -1
        => ReadVector, Descriptor(file), Outcome::bytes;
    preadv(
        file: c_int as fd, to: *const iovec as inputs(iovec_out, count), count: c_int as number(count),
        at: off_t as number(offset),
    ) -> ssize_t, or -1
        => ReadVectorAt, Descriptor(file), Outcome::bytes;
    preadv64(
        file: c_int as fd, to: *const iovec as inputs(iovec_out, count), count: c_int as number(count),
        at: off64_t as number(offset),
    ) -> ssize_t, or -1
        => ReadVectorAt, Descriptor(file), Outcome::bytes;
    #[since("2.26")]
    preadv2(
        file: c_int as fd, to: *const iovec as inputs(iovec_out, count), count: c_int as number(count),
        at: off_t as number(offset), flags: c_int as number(flags),
    ) -> ssize_t, or -1
        => ReadVectorAt2, Descriptor(file), Outcome::bytes;
    #[since("2.26")]
    preadv64v2(
        file: c_int as fd, to: *const iovec as inputs(iovec_out, count), count: c_int as number(count),
        at: off64_t as number(offset), flags: c_int as number(flags),
    ) -> ssize_t, or -1
        => ReadVectorAt2, Descriptor(file), Outcome::bytes;
    write(file: c_int as fd, from: *const c_void as bytes_in(size), size: size_t as number(size))
        -> ssize_t, or -1
        => Write, Descriptor(file), Outcome::bytes;
    pwrite(
        file: c_int as fd, from: *const c_void as bytes_in(size), size: size_t as number(size),
        at: off_t as number(offset),
    ) -> ssize_t, or -1
        => WriteAt, Descriptor(file), Outcome::bytes;
    pwrite64(
        file: c_int as fd, from: *const c_void as bytes_in(size), size: size_t as number(size),
        at: off64_t as number(offset),
    ) -> ssize_t, or -1
        => WriteAt, Descriptor(file), Outcome::bytes;
    writev(file: c_int as fd, from: *const iovec as inputs(iovec_in, count), count: c_int as number(count))
        -> ssize_t, or -1
        => WriteVector, Descriptor(file), Outcome::bytes;
    pwritev(
        file: c_int as fd, from: *const iovec as inputs(iovec_in, count), count: c_int as number(count),
        at: off_t as number(offset),
    ) -> ssize_t, or -1
        => WriteVectorAt, Descriptor(file), Outcome::bytes;
    pwritev64(
        file: c_int as fd, from: *const iovec as inputs(iovec_in, count), count: c_int as number(count),
        at: off64_t as number(offset),
    ) -> ssize_t, or -1
        => WriteVectorAt, Descriptor(file), Outcome::bytes;
    #[since("2.26")]
    pwritev2(
        file: c_int as fd, from: *const iovec as inputs(iovec_in, count), count: c_int as number(count),
        at: off_t as number(offset), flags: c_int as number(flags),
    ) -> ssize_t, or -1
        => WriteVectorAt2, Descriptor(file), Outcome::bytes;
    #[since("2.26")]
    pwritev64v2(
        file: c_int as fd, from: *const iovec as inputs(iovec_in, count), count: c_int as number(count),
        at: off64_t as number(offset), flags: c_int as number(flags),
    ) -> ssize_t, or -1
        => WriteVectorAt2, Descriptor(file), Outcome::bytes;
    #[since("2.25")]
    getrandom(
        to: *mut c_void as bytes_out(size), size: size_t as number(size), flags: c_uint as number(flags),
    ) -> ssize_t, or -1
        => RandomBytes, Nothing, Outcome::bytes;
    #[since("2.25")]
    getentropy(to: *mut c_void as bytes_out(size), size: size_t as number(size)) -> c_int, or -1
        => Entropy, Nothing, |result| Outcome::all_or_nothing(result, size);
}
