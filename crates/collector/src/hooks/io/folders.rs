//! Folders: opening, reading, closing.

use core::ffi::{c_char, c_int, c_void};

use libc::{DIR, dirent, dirent64, size_t, ssize_t};

use super::bracket::{About, Closing, Descriptor, io, opens};
use crate::hooks::family::errno_of;
use crate::operation::{Outcome, errno};

/// The descriptor of an open folder.
pub(super) fn descriptor(folder: *mut DIR) -> c_int {
    // SAFETY: the program gives an open folder, or null, which the real functions refuse.
    if folder.is_null() { -1 } else { unsafe { libc::dirfd(folder) } }
}

/// Of functions that return null at the end, too, but then leave `errno` as it `was`.
fn entry<T>(result: *mut T, was: u32) -> Outcome {
    let error = if result.is_null() && errno() != was { errno() } else { 0 };
    Outcome { bytes: 0, error }
}

/// An entry's bytes are no measure of anything: entries are counted.
fn reading(folder: *mut DIR) -> impl About {
    Descriptor(descriptor(folder))
}

io! {
    readdir(folder: *mut DIR as folder) -> *mut dirent, or core::ptr::null_mut()
        => ReadDirectory, reading(folder), { let was = errno(); move |result| entry(result, was) };
    readdir64(folder: *mut DIR as folder) -> *mut dirent64, or core::ptr::null_mut()
        => ReadDirectory, reading(folder), { let was = errno(); move |result| entry(result, was) };
    #[since("2.30")]
    getdents64(folder: c_int as fd, to: *mut c_void as bytes_out(size), size: size_t as number(size))
        -> ssize_t, or -1
        => ReadDirectory, Descriptor(folder), Outcome::bytes;
    closedir(folder: *mut DIR as folder) -> c_int, or -1
        => CloseDirectory, Closing(descriptor(folder)), errno_of;
}

mod opening {
    use super::{DIR, c_char, opens};

    opens! {
        opendir(path: *const c_char as path) -> *mut DIR, or core::ptr::null_mut() => OpenDirectory, path;
    }
}
