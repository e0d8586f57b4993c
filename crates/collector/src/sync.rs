//! Atomic words of what threads do with each other, by a name of our own: the models (`/models`) put a
//! checker's in their place, which tries every interleaving.

pub use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, Ordering, compiler_fence, fence,
};

/// The word at this address.
///
/// # Safety
/// It is aligned, stays mapped for `'a`, and all code that may use it at once uses it as an atomic word.
#[inline]
pub unsafe fn word_at<'a>(word: *mut u64) -> &'a AtomicU64 {
    // SAFETY: the caller's promise.
    unsafe { AtomicU64::from_ptr(word) }
}

/// As [`word_at`], of 32 bits.
///
/// # Safety
/// As there.
#[inline]
pub unsafe fn half_word_at<'a>(word: *mut u32) -> &'a AtomicU32 {
    // SAFETY: the caller's promise.
    unsafe { AtomicU32::from_ptr(word) }
}
