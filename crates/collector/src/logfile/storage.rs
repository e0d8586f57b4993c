//! Room on storage for a file, before its mapped pages are written to.

use crate::raw;

/// Makes sure that the storage has room for these bytes of the file.
///
/// # Errors
/// The errno with which the system refused it.
pub fn reserve(descriptor: i32, start: u64, bytes: u64) -> Result<(), u32> {
    // Growing a file beyond this limit would raise SIGXFSZ.
    if start + bytes > raw::limit(libc::RLIMIT_FSIZE) {
        return Err(libc::EFBIG as u32);
    }
    let outcome = raw::fallocate(descriptor, start, bytes);
    if outcome == -(libc::EOPNOTSUPP as isize) || outcome == -(libc::ENOSYS as isize) {
        return write_zeros(descriptor, start, bytes);
    }
    if raw::failed(outcome) { Err(-outcome as u32) } else { Ok(()) }
}

/// On file systems without reservation, written zeros reserve.
fn write_zeros(descriptor: i32, start: u64, bytes: u64) -> Result<(), u32> {
    static ZEROS: [u8; 4096] = [0; 4096];
    let mut at = start;
    while at < start + bytes {
        let wanted = ZEROS.len().min((start + bytes - at) as usize);
        let written = raw::pwrite(descriptor, &ZEROS[..wanted], at);
        match written {
            0 => return Err(libc::ENOSPC as u32),
            _ if raw::failed(written) => return Err(-written as u32),
            _ => at += written as u64,
        }
    }
    Ok(())
}
