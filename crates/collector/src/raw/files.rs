//! Files and folders.

use core::ffi::CStr;

use super::{Outcome, call, failed, sys, until_done};

/// Opens a file; the descriptor is closed on exec.
pub fn open(path: &CStr, flags: i32, mode: u32) -> Outcome {
    until_done(|| sys!(SYS_openat, libc::AT_FDCWD as isize, path.as_ptr(), flags | libc::O_CLOEXEC, mode))
}

/// As [`open`], by a path relative to the folder of a descriptor.
pub fn open_at(folder: i32, path: &CStr, flags: i32) -> Outcome {
    sys!(SYS_openat, folder as isize, path.as_ptr(), flags | libc::O_CLOEXEC, 0)
}

/// Whether the process may use a file so (`X_OK`, `R_OK`).
pub fn may(path: &CStr, mode: i32) -> bool {
    !failed(sys!(SYS_faccessat, libc::AT_FDCWD as isize, path.as_ptr(), mode, 0))
}

/// Opens a file by an absolute path in which nothing is a symbolic link: another user may have put one in the
/// place of the run's folder, or of the one with the logs.
pub fn open_in_run(path: &CStr, flags: i32, mode: u32) -> Outcome {
    until_done(|| open_without_links(path, flags, mode))
}

fn open_without_links(path: &CStr, flags: i32, mode: u32) -> Outcome {
    // SAFETY: all-zero is a valid `open_how`.
    let mut how: libc::open_how = unsafe { core::mem::zeroed() };
    (how.flags, how.mode) = ((flags | libc::O_CLOEXEC) as u64, mode.into());
    how.resolve = libc::RESOLVE_NO_SYMLINKS;
    let outcome =
        sys!(SYS_openat2, libc::AT_FDCWD as isize, path.as_ptr(), &raw const how, size_of_val(&how));
    if outcome != -(libc::ENOSYS as isize) && outcome != -(libc::EPERM as isize) {
        return outcome;
    }
    // An older kernel, or one that may not be asked: by steps, from the run's folder on.
    let mut folder = [0_u8; 4096];
    let bytes = path.to_bytes();
    let Some(end) = bytes.iter().rposition(|&byte| byte == b'/').filter(|&end| end < folder.len()) else {
        return -(libc::ENAMETOOLONG as isize);
    };
    folder[..end].copy_from_slice(&bytes[..end]);
    let in_folder = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let parent = sys!(SYS_openat, libc::AT_FDCWD as isize, folder.as_ptr(), in_folder, 0);
    if failed(parent) {
        return parent;
    }
    // SAFETY: the part after the last slash ends where the path does.
    let name = unsafe { path.as_ptr().add(end + 1) };
    let outcome = sys!(SYS_openat, parent, name, flags | libc::O_NOFOLLOW | libc::O_CLOEXEC, mode);
    close(parent as i32);
    outcome
}

/// Gives a file a second name, unless there is one of that name.
pub fn link(file: &CStr, name: &CStr) -> Outcome {
    let here = libc::AT_FDCWD as isize;
    sys!(SYS_linkat, here, file.as_ptr(), here, name.as_ptr(), 0)
}

/// Takes a file's name away.
pub fn unlink(path: &CStr) -> Outcome {
    sys!(SYS_unlinkat, libc::AT_FDCWD as isize, path.as_ptr(), 0)
}

/// Closes a descriptor.
pub fn close(descriptor: i32) {
    sys!(SYS_close, descriptor);
}

/// Reads into `buffer`.
pub fn read(descriptor: i32, buffer: &mut [u8]) -> Outcome {
    sys!(SYS_read, descriptor, buffer.as_mut_ptr(), buffer.len())
}

/// Reads into `buffer` from `offset`.
pub fn pread(descriptor: i32, buffer: &mut [u8], offset: u64) -> Outcome {
    sys!(SYS_pread64, descriptor, buffer.as_mut_ptr(), buffer.len(), offset)
}

/// Writes `bytes` at `offset`.
pub fn pwrite(descriptor: i32, bytes: &[u8], offset: u64) -> Outcome {
    until_done(|| sys!(SYS_pwrite64, descriptor, bytes.as_ptr(), bytes.len(), offset))
}

/// Writes these pieces of memory behind each other, from `offset` on.
pub fn write_pieces(descriptor: i32, pieces: &[libc::iovec], offset: u64) -> Outcome {
    until_done(|| sys!(SYS_pwritev, descriptor, pieces.as_ptr(), pieces.len(), offset, 0))
}

/// Reserves storage for a range of a file, extending it.
pub fn fallocate(descriptor: i32, offset: u64, bytes: u64) -> Outcome {
    until_done(|| sys!(SYS_fallocate, descriptor, 0, offset, bytes))
}

/// Cuts a file.
pub fn ftruncate(descriptor: i32, bytes: u64) -> Outcome {
    until_done(|| sys!(SYS_ftruncate, descriptor, bytes))
}

/// Sets the permissions of an open file.
pub fn fchmod(descriptor: i32, mode: u32) {
    sys!(SYS_fchmod, descriptor, mode);
}

/// Status of an open file.
pub fn fstat(descriptor: i32) -> Option<libc::stat> {
    let mut status = core::mem::MaybeUninit::<libc::stat>::zeroed();
    let outcome = sys!(SYS_fstat, descriptor, status.as_mut_ptr());
    // SAFETY: all-zero is a valid `stat`, and the kernel filled it in on success.
    (!failed(outcome)).then(|| unsafe { status.assume_init() })
}

/// Status of a path.
pub fn stat(path: &CStr) -> Option<libc::stat> {
    let mut status = core::mem::MaybeUninit::<libc::stat>::zeroed();
    let outcome = sys!(SYS_newfstatat, libc::AT_FDCWD as isize, path.as_ptr(), status.as_mut_ptr(), 0);
    // SAFETY: as above.
    (!failed(outcome)).then(|| unsafe { status.assume_init() })
}

/// Entries of an open folder, in the kernel's `linux_dirent64` layout.
pub fn getdents(descriptor: i32, buffer: &mut [u8]) -> Outcome {
    sys!(SYS_getdents64, descriptor, buffer.as_mut_ptr(), buffer.len())
}

/// Target of a symbolic link; number of bytes.
pub fn readlink(path: &CStr, buffer: &mut [u8]) -> Outcome {
    sys!(SYS_readlinkat, libc::AT_FDCWD as isize, path.as_ptr(), buffer.as_mut_ptr(), buffer.len())
}

/// Working folder; number of bytes, the final zero included.
pub fn getcwd(buffer: &mut [u8]) -> Outcome {
    sys!(SYS_getcwd, buffer.as_mut_ptr(), buffer.len())
}

/// The result of `work` on a small text file, of which it gets at most `BYTES`; None if the file cannot be
/// read. The text lies on the stack.
pub fn with_text<const BYTES: usize, R>(path: &CStr, work: impl FnOnce(&[u8]) -> R) -> Option<R> {
    let descriptor = open(path, libc::O_RDONLY, 0);
    if failed(descriptor) {
        return None;
    }
    let mut text = [0_u8; BYTES];
    let got = read(descriptor as i32, &mut text);
    close(descriptor as i32);
    text.get(..usize::try_from(got).ok()?).map(work)
}
