//! Room on storage for a file, before its mapped pages are written to.

use crate::raw;

/// Reservations of fewer bytes are not written: a process that records little needs one page or two.
const LEAST_WRITTEN_BYTES: u64 = 1 << 15;
/// Of larger ones so many bytes are written as zeros, at most.
const MOST_WRITTEN_BYTES: u64 = 1 << 19;

/// Pages of zeros that are written at once.
const PAGES: usize = 16;
static PAGE: [u8; 4096] = [0; 4096];

/// The same page several times.
struct Zeros([libc::iovec; PAGES]);

// SAFETY: they point to a constant.
unsafe impl Sync for Zeros {}

static ZEROS: Zeros = {
    let page = libc::iovec { iov_base: (&raw const PAGE).cast_mut().cast(), iov_len: PAGE.len() };
    Zeros([page; PAGES])
};

/// Makes sure that the storage has room for these bytes of the file. If they are many, the first of them are
/// in memory, too.
///
/// A page of a file's unwritten part takes 2.5 µs when it is touched: it is read, and then made one that may
/// be written. Where zeros are written, many pages at once are made so, in a third of that time, and the
/// first touch of each costs next to nothing (ext4, Linux 6.18).
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
        // On file systems without reservation, written zeros reserve.
        return write_zeros(descriptor, start, bytes);
    }
    if raw::failed(outcome) {
        return Err(-outcome as u32);
    }
    match bytes {
        ..LEAST_WRITTEN_BYTES => Ok(()),
        _ => write_zeros(descriptor, start, bytes.min(MOST_WRITTEN_BYTES)),
    }
}

fn write_zeros(descriptor: i32, start: u64, bytes: u64) -> Result<(), u32> {
    let mut at = start;
    while at < start + bytes {
        let left = start + bytes - at;
        let pages = (left / PAGE.len() as u64).min(PAGES as u64) as usize;
        let written = match pages {
            0 => raw::pwrite(descriptor, PAGE.get(..left as usize).unwrap_or_default(), at),
            _ => raw::write_pieces(descriptor, ZEROS.0.get(..pages).unwrap_or_default(), at),
        };
        match written {
            0 => return Err(libc::ENOSPC as u32),
            _ if raw::failed(written) => return Err(-written as u32),
            _ => at += written as u64,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use super::*;

    fn file_for(test: &str, work: impl FnOnce(&Path)) {
        let path = std::env::temp_dir().join(format!("proust-{test}-{}", std::process::id()));
        work(&path);
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn as_many_zeros_as_wanted_are_written_where_they_are_wanted() {
        file_for("zeros", |path| {
            for (start, bytes) in [(0, 100), (4096, 4096), (8192, 35 * 4096 + 100), (4096, 16 * 4096)] {
                let all = vec![0xff_u8; 60 * 4096];
                fs::write(path, &all).unwrap();
                let file = fs::OpenOptions::new().write(true).open(path).unwrap();
                assert_eq!(write_zeros(file.as_raw_fd(), start as u64, bytes as u64), Ok(()));
                let mut expected = all;
                expected[start..start + bytes].fill(0);
                assert!(fs::read(path).unwrap() == expected, "{start} {bytes}");
            }
        });
    }

    #[test]
    fn what_is_reserved_is_there_and_zero() {
        file_for("reserved", |path| {
            let file = fs::File::create(path).unwrap();
            let mut end = 0;
            for bytes in [4096, LEAST_WRITTEN_BYTES, MOST_WRITTEN_BYTES + 4096] {
                assert_eq!(reserve(file.as_raw_fd(), end, bytes), Ok(()));
                end += bytes;
                let found = fs::metadata(path).unwrap();
                assert!(found.len() == end && found.blocks() * 512 >= end, "{found:?}");
            }
            assert!(fs::read(path).unwrap().iter().all(|&byte| byte == 0));
        });
    }

    #[test]
    fn what_is_refused_is_an_error() {
        assert_eq!(reserve(-1, 0, 4096), Err(libc::EBADF as u32));
        assert_eq!(write_zeros(-1, 0, 1 << 20), Err(libc::EBADF as u32));
        let file = fs::File::open("/dev/null").unwrap();
        assert!(reserve(file.as_raw_fd(), 0, 1 << 20).is_err());
    }
}
