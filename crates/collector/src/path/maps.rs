//! Reads `/proc/self/maps` by system calls, so that a signal handler may ask what lies at an address.

use core::ops::Range;

use crate::raw;

/// Longest path that is kept.
const PATH_BYTES: usize = 1024;

/// One mapping of the address space.
pub struct Mapping {
    /// Addresses.
    pub range: Range<u64>,
    /// Offset in its file.
    pub offset: u64,
    /// Whether it may be read.
    pub readable: bool,
    /// Whether code may run in it.
    pub executable: bool,
    /// Inode of its file; 0 = no file.
    pub inode: u64,
    path: [u8; PATH_BYTES],
    path_bytes: usize,
}

impl Mapping {
    /// Path of the file, with a zero behind it; empty for anonymous memory.
    pub fn path(&self) -> &core::ffi::CStr {
        self.path
            .get(..=self.path_bytes)
            .and_then(|bytes| core::ffi::CStr::from_bytes_with_nul(bytes).ok())
            .unwrap_or(c"")
    }
}

/// The mapping that contains `address`.
pub fn find(address: u64) -> Option<Mapping> {
    first(|line| line.mapping(|range| range.contains(&address), |_| true))
}

/// The first mapping of a file whose path is wanted.
pub fn find_file(is_wanted: impl Fn(&[u8]) -> bool) -> Option<Mapping> {
    first(|line| line.mapping(|_| true, &is_wanted))
}

/// Calls `visit` with the addresses and the file's inode of each mapping; false if they cannot be read.
pub fn each(visit: &mut dyn FnMut(&Range<u64>, u64)) -> bool {
    in_file(|descriptor| {
        search::<()>(descriptor, |line| {
            if let Some((range, inode)) = line.place() {
                visit(&range, inode);
            }
            None
        });
    })
    .is_some()
}

fn first(found: impl Fn(&Line) -> Option<Mapping>) -> Option<Mapping> {
    in_file(|descriptor| search(descriptor, found))?
}

fn in_file<R>(read: impl FnOnce(i32) -> R) -> Option<R> {
    let descriptor = raw::open(c"/proc/self/maps", libc::O_RDONLY, 0);
    if raw::failed(descriptor) {
        return None;
    }
    let result = read(descriptor as i32);
    raw::close(descriptor as i32);
    Some(result)
}

fn search<R>(descriptor: i32, mut found: impl FnMut(&Line) -> Option<R>) -> Option<R> {
    let mut buffer = [0_u8; 2048];
    let mut line = Line::default();
    loop {
        let got = raw::read(descriptor, &mut buffer);
        if got <= 0 {
            return None;
        }
        for &byte in buffer.get(..got as usize)? {
            if byte == b'\n' {
                if let Some(result) = found(&line) {
                    return Some(result);
                }
                line = Line::default();
            } else {
                line.push(byte);
            }
        }
    }
}

/// A line of the file while it is read: `start-end perms offset device inode path`.
struct Line {
    text: [u8; 96 + PATH_BYTES],
    bytes: usize,
}

impl Default for Line {
    fn default() -> Line {
        Line { text: [0; 96 + PATH_BYTES], bytes: 0 }
    }
}

impl Line {
    fn push(&mut self, byte: u8) {
        if let Some(slot) = self.text.get_mut(self.bytes) {
            *slot = byte;
            self.bytes += 1;
        }
    }

    fn place(&self) -> Option<(Range<u64>, u64)> {
        let mut fields = self.text.get(..self.bytes)?.splitn(6, |&byte| byte == b' ');
        let range = range(fields.next()?)?;
        Some((range, number(fields.nth(3)?, 10)?))
    }

    fn mapping(
        &self,
        is_range: impl Fn(&Range<u64>) -> bool,
        is_path: impl Fn(&[u8]) -> bool,
    ) -> Option<Mapping> {
        let text = self.text.get(..self.bytes)?;
        let mut fields = text.splitn(6, |&byte| byte == b' ');
        let range = range(fields.next()?)?;
        if !is_range(&range) {
            return None;
        }
        let permissions = fields.next()?;
        let offset = number(fields.next()?, 16)?;
        let _device = fields.next()?;
        let inode = number(fields.next()?, 10)?;
        let name = fields.next().unwrap_or(b"").trim_ascii_start();
        if !is_path(name) {
            return None;
        }
        let mut path = [0; PATH_BYTES];
        let path_bytes = name.len().min(PATH_BYTES - 1);
        path.get_mut(..path_bytes)?.copy_from_slice(name.get(..path_bytes)?);
        Some(Mapping {
            range,
            offset,
            readable: permissions.first() == Some(&b'r'),
            executable: permissions.get(2) == Some(&b'x'),
            inode,
            path,
            path_bytes,
        })
    }
}

fn range(text: &[u8]) -> Option<Range<u64>> {
    let mut bounds = text.splitn(2, |&byte| byte == b'-');
    Some(number(bounds.next()?, 16)?..number(bounds.next()?, 16)?)
}

/// An unsigned number in ASCII digits.
pub fn number(digits: &[u8], base: u32) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, &digit| {
        let digit = (digit as char).to_digit(base)?;
        value.checked_mul(u64::from(base))?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_stack_and_holes_are_distinguished() {
        let code = find(find as *const () as u64).unwrap();
        assert!(code.executable && code.readable && code.inode != 0);
        let own = std::env::current_exe().unwrap();
        assert_eq!(code.path().to_str().unwrap(), own.to_str().unwrap());
        let local = 0_u8;
        let stack = find(&raw const local as u64).unwrap();
        assert!(!stack.executable && stack.readable && stack.inode == 0);
        assert!(find(8).is_none());
    }

    #[test]
    fn all_are_visited() {
        let here = find as *const () as u64;
        let (mut found, mut count) = (None, 0);
        assert!(each(&mut |range, inode| {
            count += 1;
            if range.contains(&here) {
                found = Some(inode);
            }
        }));
        assert_eq!(found, Some(find(here).unwrap().inode));
        assert!(count > 5, "{count}");
    }

    #[test]
    fn a_file_is_found_by_its_path() {
        let own = std::env::current_exe().unwrap();
        let own = own.to_str().unwrap().as_bytes();
        assert_eq!(find_file(|path| path == own).unwrap().path().to_bytes(), own);
        assert!(find_file(|path| path.ends_with(b"no such file")).is_none());
    }

    #[test]
    fn numbers_are_read_or_refused() {
        assert_eq!(number(b"7f00", 16), Some(0x7f00));
        assert_eq!(number(b"0", 10), Some(0));
        assert_eq!(number(b"", 10), None);
        assert_eq!(number(b"12x", 10), None);
        assert_eq!(number(b"18446744073709551616", 10), None);
    }
}
