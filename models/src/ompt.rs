//! Two words in place of one.

pub mod layout {
    use loom::cell::UnsafeCell;
    use loom::sync::atomic::{AtomicU64, Ordering};

    /// A word that the runtime keeps for the tool, or one of a pair: then a tool uses what it leads to.
    #[derive(Debug, Default)]
    pub struct Data {
        pub value: AtomicU64,
        pub used: UnsafeCell<u64>,
    }

    impl Data {
        /// The word of a tool that has not written one.
        ///
        /// # Safety
        /// Nobody uses it at once: the checker fails the model otherwise.
        pub unsafe fn clear(data: *mut Data) {
            // SAFETY: the caller's promise.
            unsafe {
                (*data).value.store(0, Ordering::Relaxed);
                (*data).used.with_mut(|used| *used = 0);
            }
        }
    }
}

#[path = "../../crates/collector/src/openmp/ompt/pairs.rs"]
pub mod pairs;
