//! The collector's own sources of what it keeps in memory: arena, tables, tree, memo. They run here without
//! the rest of it, so that an interpreter of the program (Miri) can check each access: no byte outside of its
//! block, none that was never written, none that another thread writes at once. `tests/miri` runs it.
//!
//! What these sources use of the rest of the collector is replaced by what it means for them.

#![allow(dead_code, missing_docs, reason = "parts of the collector without the rest of it")]

#[path = "../../../crates/collector/src"]
mod collector {
    pub mod arena;
    pub mod free_list;
    pub mod sync;
}
pub mod arch;
pub mod path;
pub mod stacks;

pub use collector::{arena, free_list, sync};

pub mod placement {
    /// No place is better than another.
    pub fn arena() -> usize {
        0
    }

    pub fn map_private(_: usize, bytes: usize) -> *mut u8 {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a fresh mapping.
        let memory = unsafe { libc::mmap(core::ptr::null_mut(), bytes, access, kind, -1, 0) };
        if memory == libc::MAP_FAILED { core::ptr::null_mut() } else { memory.cast() }
    }

    pub fn map_large(bytes: usize) -> *mut u8 {
        map_private(0, bytes)
    }
}

pub mod raw {
    pub fn failed(outcome: isize) -> bool {
        outcome < 0
    }

    /// This kernel gives no advice.
    pub fn madvise(_: *mut u8, _: usize, _: i32) -> isize {
        -1
    }

    /// # Safety
    /// A mapping of so many bytes, which nothing uses.
    pub unsafe fn unmap(memory: *mut u8, bytes: usize) -> isize {
        // SAFETY: the caller's promise.
        unsafe { libc::munmap(memory.cast(), bytes) as isize }
    }

    /// Reads what can be read, as the system call does: of the stacks here.
    pub fn read_memory(_: u32, address: u64, bytes: &mut [u8]) -> isize {
        crate::stacks::read(address, bytes) as isize
    }
}

pub mod room {
    /// There is room on every stack here.
    pub fn apart<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
}
