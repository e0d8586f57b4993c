//! Settings of the C library's allocator, from which Rust's standard one takes its memory.

#![allow(unsafe_code)]

/// Blocks of so many bytes and more are mappings of their own, and a heap whose end has so much free is cut.
#[cfg(target_env = "gnu")]
const RETURNED_BYTES: libc::c_int = 1 << 20;

/// Has what is freed given back to the system, or used again.
///
/// glibc raises the size from which blocks are mappings, up to 32 MiB, with each such block that is freed,
/// and has eight heaps for each processor, of which none uses what is free in another. With tables that grow
/// in many threads, a third more memory is reserved then than is in use.
pub(crate) fn keep_little_free() {
    #[cfg(target_env = "gnu")]
    {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        for (of, limit) in [
            (libc::M_MMAP_THRESHOLD, RETURNED_BYTES),
            (libc::M_TRIM_THRESHOLD, RETURNED_BYTES),
            (libc::M_ARENA_MAX, libc::c_int::try_from(processors).unwrap_or(libc::c_int::MAX)),
        ] {
            // SAFETY: `mallopt` sets a number under the allocator's own lock; any thread may call it.
            unsafe { libc::mallopt(of, limit) };
        }
    }
}
