//! The process's log file.
//!
//! All of one file is a value ([`LogFile`]). The functions here are those of this process's own.

use core::ffi::CStr;

use proust_log::layout::FileHeader;
use proust_log::writer::Chunk;

use crate::options::Options;

mod file;
mod growth;
mod parent;
mod patience;
mod storage;
mod window;

pub use file::{FEW_UNITS, LogFile, USUAL_UNITS};
pub use parent::ParentLog;

/// The log of this process.
static OWN: LogFile = LogFile::closed();

/// `folder` followed by `parts`, as a string that stays.
pub fn join(folder: &CStr, parts: &[&[u8]]) -> Option<&'static CStr> {
    let mut path = folder.to_bytes().to_vec();
    for part in parts {
        path.extend_from_slice(part);
    }
    path.push(0);
    CStr::from_bytes_with_nul(Vec::leak(path)).ok()
}

/// Digits of a number, at the end of `buffer`.
pub fn digits(mut number: u64, buffer: &mut [u8; 20]) -> &[u8] {
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &buffer[at..];
        }
    }
}

/// [`LogFile::create`]
pub fn create(options: &Options, pid: u32, start_ns: u64, units: u32) -> bool {
    OWN.create(options, pid, start_ns, units)
}

/// [`LogFile::abandon`]
pub fn abandon() -> ParentLog {
    OWN.abandon()
}

/// [`LogFile::with_header`]
pub fn with_header(work: impl FnOnce(&mut FileHeader)) {
    OWN.with_header(work);
}

/// [`LogFile::count`]
pub fn count(field: impl FnOnce(*mut FileHeader) -> *mut u64, amount: u64) {
    OWN.count(field, amount);
}

/// [`LogFile::raise`]
pub fn raise(field: impl FnOnce(&mut FileHeader) -> *mut u64, value: u64) {
    OWN.raise(field, value);
}

/// [`LogFile::take_chunk`]
pub fn take_chunk(bytes: usize) -> Option<Chunk> {
    OWN.take_chunk(bytes)
}

/// [`LogFile::write_beside`]
pub fn write_beside(extension: &str, bytes: &[u8]) -> bool {
    OWN.write_beside(extension, bytes)
}

/// [`LogFile::reserve_ahead`]
pub fn reserve_ahead(bytes: u64) {
    OWN.reserve_ahead(bytes);
}

/// [`LogFile::spares`]
#[inline]
pub fn spares() -> bool {
    OWN.spares()
}

/// [`LogFile::close`]
pub fn close() {
    OWN.close();
}

/// [`LogFile::reopen`]
pub fn reopen() {
    OWN.reopen();
}
