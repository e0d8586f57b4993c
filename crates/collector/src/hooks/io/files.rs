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
    close(file: c_int) -> c_int, or -1 => Close, Closing(file), closed;
    fsync(file: c_int) -> c_int, or -1 => Synchronise, Descriptor(file), errno_of;
    fdatasync(file: c_int) -> c_int, or -1 => SynchroniseData, Descriptor(file), errno_of;
    sync_file_range(file: c_int, at: off64_t, size: off64_t, flags: c_uint) -> c_int, or -1
        => SynchroniseRange, Descriptor(file), errno_of;
    syncfs(file: c_int) -> c_int, or -1 => SynchroniseFileSystem, Descriptor(file), errno_of;
    sync() -> (), or () => SynchroniseAll, Nothing, |()| Outcome::default();
    msync(memory: *mut c_void, size: size_t, flags: c_int) -> c_int, or -1 => SynchroniseMemory, Nothing, errno_of;
    ftruncate(file: c_int, size: off_t) -> c_int, or -1 => Truncate, Descriptor(file), errno_of;
    ftruncate64(file: c_int, size: off64_t) -> c_int, or -1 => Truncate, Descriptor(file), errno_of;
    truncate(path: *const c_char, size: off_t) -> c_int, or -1 => Truncate, Nothing, errno_of;
    truncate64(path: *const c_char, size: off64_t) -> c_int, or -1 => Truncate, Nothing, errno_of;
    fallocate(file: c_int, mode: c_int, at: off_t, size: off_t) -> c_int, or -1
        => Allocate, Descriptor(file), errno_of;
    fallocate64(file: c_int, mode: c_int, at: off64_t, size: off64_t) -> c_int, or -1
        => Allocate, Descriptor(file), errno_of;
    posix_fallocate(file: c_int, at: off_t, size: off_t) -> c_int, or libc::ENOSYS
        => Allocate, Descriptor(file), Outcome::code;
    posix_fallocate64(file: c_int, at: off64_t, size: off64_t) -> c_int, or libc::ENOSYS
        => Allocate, Descriptor(file), Outcome::code;
    unlink(path: *const c_char) -> c_int, or -1 => Unlink, Nothing, errno_of;
    unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int, or -1 => Unlink, Nothing, errno_of;
    remove(path: *const c_char) -> c_int, or -1 => Unlink, Nothing, errno_of;
    rename(from: *const c_char, to: *const c_char) -> c_int, or -1 => Rename, Nothing, errno_of;
    renameat(folder: c_int, from: *const c_char, other: c_int, to: *const c_char) -> c_int, or -1
        => Rename, Nothing, errno_of;
    renameat2(
        folder: c_int, from: *const c_char, other: c_int, to: *const c_char, flags: c_uint,
    ) -> c_int, or -1 => Rename, Nothing, errno_of;
}

/// The third or fourth argument is there only if a file may be created; else its register holds anything.
mod opening {
    use super::{c_char, c_int, mode_t, opens};

    opens! {
        open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int, or -1 => Open, path;
        open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int, or -1 => Open, path;
        __open_2(path: *const c_char, flags: c_int) -> c_int, or -1 => Open, path;
        __open64_2(path: *const c_char, flags: c_int) -> c_int, or -1 => Open, path;
        openat(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int, or -1 => OpenAt, path;
        openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int, or -1 => OpenAt, path;
        __openat_2(folder: c_int, path: *const c_char, flags: c_int) -> c_int, or -1 => OpenAt, path;
        __openat64_2(folder: c_int, path: *const c_char, flags: c_int) -> c_int, or -1 => OpenAt, path;
        creat(path: *const c_char, mode: mode_t) -> c_int, or -1 => Create, path;
        creat64(path: *const c_char, mode: mode_t) -> c_int, or -1 => Create, path;
    }
}

/// Finds the real functions of the whole family.
pub fn find_family() {
    find_all();
    opening::find_all();
}
