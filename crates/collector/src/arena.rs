//! The collector's memory: never the program's heap.
//!
//! The global allocator hands out addresses from blocks of private memory by one atomic addition and never
//! takes them back; it neither locks nor fails over into the C library, so it may be met anywhere. What
//! grows with the run (trees, tables) uses [`pages`], which can be given back.

use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use crate::raw;

const BLOCK_BYTES: usize = 64 * 1024;

/// Bytes handed out so far, for the run's facts.
pub static HANDED_OUT_BYTES: AtomicU64 = AtomicU64::new(0);

struct Block {
    next_free: AtomicUsize,
    end: usize,
}

static BLOCK: AtomicPtr<Block> = AtomicPtr::new(core::ptr::null_mut());

/// Bump allocator over mapped blocks.
pub struct Arena;

#[global_allocator]
static ARENA: Arena = Arena;

impl Arena {
    fn take(layout: Layout) -> *mut u8 {
        if layout.size() + layout.align() > BLOCK_BYTES / 4 {
            return pages(layout.size());
        }
        loop {
            let block = BLOCK.load(Ordering::Acquire);
            // SAFETY: a block pointer, once published, stays valid for the process's life.
            if let Some(block) = unsafe { block.as_ref() } {
                let wanted = layout.size() + layout.align() - 1;
                let start = block.next_free.fetch_add(wanted, Ordering::Relaxed);
                if start + wanted <= block.end {
                    let aligned = start.next_multiple_of(layout.align());
                    return aligned as *mut u8;
                }
            }
            let memory = pages(BLOCK_BYTES);
            if memory.is_null() {
                return memory;
            }
            let fresh = memory.cast::<Block>();
            // SAFETY: fresh, page-aligned memory of BLOCK_BYTES that nobody else knows yet.
            unsafe {
                fresh.write(Block {
                    next_free: AtomicUsize::new(memory as usize + size_of::<Block>()),
                    end: memory as usize + BLOCK_BYTES,
                });
            }
            if BLOCK.compare_exchange(block, fresh, Ordering::AcqRel, Ordering::Relaxed).is_err() {
                // SAFETY: mapped above, and never published.
                unsafe { give_back(memory, BLOCK_BYTES) };
            }
        }
    }
}

// SAFETY: addresses come from disjoint ranges of mapped memory, aligned as asked; nothing is freed.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Arena::take(layout)
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

/// Zero-filled memory in whole pages, or null.
pub fn pages(bytes: usize) -> *mut u8 {
    let memory = raw::map_private(bytes.next_multiple_of(4096));
    if !memory.is_null() {
        HANDED_OUT_BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
    }
    memory
}

/// Gives memory of [`pages`] back.
///
/// # Safety
/// `memory` came from `pages(bytes)` and nothing uses it any more.
pub unsafe fn give_back(memory: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { raw::unmap(memory, bytes.next_multiple_of(4096)) };
    HANDED_OUT_BYTES.fetch_sub(bytes as u64, Ordering::Relaxed);
}
