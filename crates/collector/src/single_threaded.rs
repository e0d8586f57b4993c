//! Whether the process has a single thread, as the C library keeps it for itself.

use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

/// The C library's word that is 1 as long as the process never had a second thread.
static WORD: AtomicPtr<AtomicU8> = AtomicPtr::new(core::ptr::null_mut());

/// Finds it. Not as the next one after this library's: a program that uses it has the word in itself.
pub fn find() {
    // SAFETY: the name is a C string.
    let word = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()) };
    WORD.store(word.cast(), Ordering::Relaxed);
}

/// Whether no other thread can do anything meanwhile; false where the C library does not report it (before
/// 2.32). Costs two loads.
#[inline]
pub fn is() -> bool {
    // SAFETY: the C library's variable, one byte that is never unmapped.
    unsafe { WORD.load(Ordering::Relaxed).as_ref() }.is_some_and(|word| word.load(Ordering::Relaxed) != 0)
}
