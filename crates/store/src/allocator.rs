//! Settings of the C library's allocator, from which Rust's standard one takes its memory.

#![allow(unsafe_code)]

/// Blocks of so many bytes and more are mappings of their own, and a heap whose end has so much free is cut.
#[cfg(target_env = "gnu")]
const RETURNED_BYTES: libc::c_int = 1 << 20;

/// Has large blocks given back to the system when they are freed. glibc raises the size from which it does
/// that, up to 32 MiB, with each such block that is freed: then tables that grow, in many threads, leave a
/// third more memory behind than is in use.
pub(crate) fn return_large_blocks() {
    #[cfg(target_env = "gnu")]
    for of in [libc::M_MMAP_THRESHOLD, libc::M_TRIM_THRESHOLD] {
        // SAFETY: `mallopt` sets a number under the allocator's own lock, and may be called by any thread.
        unsafe { libc::mallopt(of, RETURNED_BYTES) };
    }
}
