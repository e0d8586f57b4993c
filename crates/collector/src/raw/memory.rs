//! Mapped memory, and memory that may not be mapped.

use core::ffi::c_void;

use super::{Outcome, call, failed, sys};
use crate::arch::PAGE_BYTES;

/// Maps memory; null on failure.
pub fn map(bytes: usize, protection: i32, flags: i32, descriptor: i32, offset: u64) -> *mut u8 {
    let outcome = sys!(SYS_mmap, 0, bytes, protection, flags, descriptor as isize, offset);
    if failed(outcome) { core::ptr::null_mut() } else { outcome as *mut u8 }
}

/// Maps memory without access, at `address` or where the kernel puts it; null on failure.
pub fn map_at(address: usize, bytes: usize, flags: i32, descriptor: i32, offset: u64) -> *mut u8 {
    let outcome = sys!(SYS_mmap, address, bytes, libc::PROT_NONE, flags, descriptor as isize, offset);
    if failed(outcome) { core::ptr::null_mut() } else { outcome as *mut u8 }
}

/// Puts a page of private memory where nothing is mapped any more, at this address; none if it is null.
///
/// # Safety
/// The memory there is the caller's.
pub unsafe fn put_scratch(address: *mut u8) {
    let start = address as usize & !(PAGE_BYTES - 1);
    let (access, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED);
    if start != 0 {
        sys!(SYS_mmap, start, PAGE_BYTES, access, flags, -1_isize, 0);
    }
}

/// Sets the access to memory.
pub fn protect(start: *mut u8, bytes: usize, protection: i32) -> Outcome {
    sys!(SYS_mprotect, start, bytes, protection)
}

/// Allows the kernel to take memory away from a process that has locked all that it maps.
pub fn unlock(start: *mut u8, bytes: usize) {
    sys!(SYS_munlock, start, bytes);
}

/// Unmaps memory.
///
/// # Safety
/// The range was mapped by [`map`] and nothing uses it any more.
pub unsafe fn unmap(start: *mut u8, bytes: usize) {
    sys!(SYS_munmap, start, bytes);
}

/// Advice about memory.
pub fn madvise(start: *mut u8, bytes: usize, advice: i32) -> Outcome {
    sys!(SYS_madvise, start, bytes, advice)
}

/// Writes memory that may not be writable; number of bytes written.
pub fn write_memory(process: u32, address: u64, bytes: &[u8]) -> Outcome {
    let local = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast::<c_void>(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address as *mut c_void, iov_len: bytes.len() };
    sys!(SYS_process_vm_writev, process, &raw const local, 1, &raw const remote, 1, 0)
}

/// Reads memory that may not be mapped; number of bytes read.
pub fn read_memory(process: u32, address: u64, buffer: &mut [u8]) -> Outcome {
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast::<c_void>(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: address as *mut c_void, iov_len: buffer.len() };
    sys!(SYS_process_vm_readv, process, &raw const local, 1, &raw const remote, 1, 0)
}

/// Reads pieces of memory that may not be mapped, up to the first that is not; number of bytes read.
///
/// # Safety
/// `local` describes memory of the caller's that may be written.
pub unsafe fn read_pieces(process: u32, local: &[libc::iovec], remote: &[libc::iovec]) -> Outcome {
    sys!(SYS_process_vm_readv, process, local.as_ptr(), local.len(), remote.as_ptr(), remote.len(), 0)
}
