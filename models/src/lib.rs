//! The collector's own sources of five protocols, with the words of a checker that tries every interleaving
//! and every value that the memory model allows a load to return. `cargo test --release` runs the models.
//!
//! What these sources use of the rest of the collector is replaced here by what it means for one thread.

#![allow(dead_code, missing_docs, reason = "parts of the collector without the rest of it")]

#[path = "../../crates/collector/src/openmp/arrivals.rs"]
pub mod arrivals;
#[path = "../../crates/collector/src/free_list.rs"]
pub mod free_list;
pub mod lane;
pub mod ompt;
pub mod team;

/// The checker's words.
pub mod sync {
    pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

    /// The checker never moves what the compiler could move.
    pub fn compiler_fence(_: Ordering) {}

    /// The checker's word at this address.
    ///
    /// # Safety
    /// There is one.
    pub unsafe fn word_at<'a, T>(word: *mut T) -> &'a AtomicU64 {
        // SAFETY: the caller's promise.
        unsafe { &*word.cast() }
    }

    /// As [`word_at`], of 32 bits.
    ///
    /// # Safety
    /// There is one.
    pub unsafe fn half_word_at<'a, T>(word: *mut T) -> &'a AtomicU32 {
        // SAFETY: the caller's promise.
        unsafe { &*word.cast() }
    }
}

pub mod arena {
    /// Memory that stays, for the model's run and longer.
    pub fn pages(bytes: usize) -> *mut u8 {
        let layout = std::alloc::Layout::from_size_align(bytes, crate::free_list::ALIGNMENT).unwrap();
        // SAFETY: not of size 0.
        unsafe { std::alloc::alloc_zeroed(layout) }
    }
}

pub mod arch {
    pub mod registers {
        /// Each thread of a model has a stack of its own; where it is there does not matter.
        pub fn stack_pointer() -> u64 {
            0x1000
        }
    }
}

pub mod path {
    pub mod stack {
        /// Bounds of a stack, which no model looks at.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct OwnStack;

        impl OwnStack {
            pub fn contains(&self, _: u64) -> bool {
                false
            }
        }
    }
}

pub mod turn {
    /// Signals that are blocked.
    #[derive(Debug)]
    pub struct Quiet;

    impl Quiet {
        pub fn begin() -> Quiet {
            Quiet
        }
    }
}

pub mod clock {
    /// No time passes in a model.
    pub fn now_ns() -> u64 {
        0
    }
}

pub mod raw {
    /// This kernel has no `membarrier`: both sides of a record pay for their order.
    pub fn register_barriers() -> bool {
        false
    }

    pub fn barrier() {}

    pub fn give_processor_away() {
        loom::thread::yield_now();
    }

    pub fn alternate_stack() -> core::ops::Range<u64> {
        0..0
    }
}
