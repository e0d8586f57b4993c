//! Opening, closing, settling and removing files.

use core::ffi::{c_char, c_int, c_uint, c_void};

use libc::{mode_t, off_t, off64_t, size_t};

use super::bracket::{Closing, Descriptor, Nothing, io, opens};
use crate::hooks::family::errno_of;
use crate::operation::{Outcome, targets};

/// Of `close`.
#[inline]
fn closed(result: c_int) -> Outcome {
    let outcome = errno_of(result);
    targets::closed(outcome.error == libc::EBADF as u32);
    outcome
}

io! {
    close(file: c_int as fd) -> c_int, or -1 => Close, Closing(file), closed;
    fsync(file: c_int as fd) -> c_int, or -1 => Synchronise, Descriptor(file), errno_of;
    fdatasync(file: c_int as fd) -> c_int, or -1 => SynchroniseData, Descriptor(file), errno_of;
    sync_file_range(
        file: c_int as fd, at: off64_t as number(offset), size: off64_t as number(offset),
        flags: c_uint as number(flags),
    ) -> c_int, or -1
        => SynchroniseRange, Descriptor(file), errno_of;
    syncfs(file: c_int as fd) -> c_int, or -1 => SynchroniseFileSystem, Descriptor(file), errno_of;
    sync() -> (), or () => SynchroniseAll, Nothing, |()| Outcome::default();
    msync(
        memory: *mut c_void as bytes_in(size), size: size_t as number(size), flags: c_int as number(flags),
    ) -> c_int, or -1 => SynchroniseMemory, Nothing, errno_of;
    ftruncate(file: c_int as fd, size: off_t as number(offset)) -> c_int, or -1
        => Truncate, Descriptor(file), errno_of;
    ftruncate64(file: c_int as fd, size: off64_t as number(offset)) -> c_int, or -1
        => Truncate, Descriptor(file), errno_of;
    truncate(path: *const c_char as path, size: off_t as number(offset)) -> c_int, or -1
        => Truncate, Nothing, errno_of;
    truncate64(path: *const c_char as path, size: off64_t as number(offset)) -> c_int, or -1
        => Truncate, Nothing, errno_of;
    fallocate(
        file: c_int as fd, mode: c_int as number(flags), at: off_t as number(offset),
        size: off_t as number(offset),
    ) -> c_int, or -1
        => Allocate, Descriptor(file), errno_of;
    fallocate64(
        file: c_int as fd, mode: c_int as number(flags), at: off64_t as number(offset),
        size: off64_t as number(offset),
    ) -> c_int, or -1
        => Allocate, Descriptor(file), errno_of;
    posix_fallocate(file: c_int as fd, at: off_t as number(offset), size: off_t as number(offset))
        -> c_int, or libc::ENOSYS
        => Allocate, Descriptor(file), Outcome::code;
    posix_fallocate64(file: c_int as fd, at: off64_t as number(offset), size: off64_t as number(offset))
        -> c_int, or libc::ENOSYS
        => Allocate, Descriptor(file), Outcome::code;
    unlink(path: *const c_char as path) -> c_int, or -1 => Unlink, Nothing, errno_of;
    unlinkat(folder: c_int as dirfd, path: *const c_char as path, flags: c_int as number(flags))
        -> c_int, or -1 => Unlink, Nothing, errno_of;
    remove(path: *const c_char as path) -> c_int, or -1 => Unlink, Nothing, errno_of;
    rename(from: *const c_char as path, to: *const c_char as path) -> c_int, or -1
        => Rename, Nothing, errno_of;
    renameat(
        folder: c_int as dirfd, from: *const c_char as path, other: c_int as dirfd,
        to: *const c_char as path,
    ) -> c_int, or -1
        => Rename, Nothing, errno_of;
    #[since("2.28")]
    renameat2(
        folder: c_int as dirfd, from: *const c_char as path, other: c_int as dirfd,
        to: *const c_char as path, flags: c_uint as number(flags),
    ) -> c_int, or -1 => Rename, Nothing, errno_of;
}

/// The third or fourth argument is there only if a file may be created; else its register holds anything.
mod opening {
    use super::{c_char, c_int, mode_t, opens};

    opens! {
        open(path: *const c_char as path, flags: c_int as number(flags), mode: mode_t as number(permissions))
            -> c_int, or -1 => Open, path;
        open64(path: *const c_char as path, flags: c_int as number(flags),
            mode: mode_t as number(permissions)) -> c_int, or -1 => Open, path;
        __open_2(path: *const c_char as path, flags: c_int as number(flags)) -> c_int, or -1 => Open, path;
        __open64_2(path: *const c_char as path, flags: c_int as number(flags)) -> c_int, or -1 => Open, path;
        openat(
            folder: c_int as dirfd, path: *const c_char as path, flags: c_int as number(flags),
            mode: mode_t as number(permissions),
        ) -> c_int, or -1 => OpenAt, path;
        openat64(
            folder: c_int as dirfd, path: *const c_char as path, flags: c_int as number(flags),
            mode: mode_t as number(permissions),
        ) -> c_int, or -1 => OpenAt, path;
        __openat_2(folder: c_int as dirfd, path: *const c_char as path, flags: c_int as number(flags))
            -> c_int, or -1 => OpenAt, path;
        __openat64_2(folder: c_int as dirfd, path: *const c_char as path, flags: c_int as number(flags))
            -> c_int, or -1 => OpenAt, path;
        creat(path: *const c_char as path, mode: mode_t as number(permissions)) -> c_int, or -1
            => Create, path;
        creat64(path: *const c_char as path, mode: mode_t as number(permissions)) -> c_int, or -1
            => Create, path;
    }
}
