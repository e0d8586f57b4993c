//! A barrier for readers of foreign formats.

use std::panic::{self, AssertUnwindSafe};

/// The readers of debug information and unwind tables check the form of their input, not every sum and
/// difference of its values: damage can make them panic. `None` if `read` did. What they had read before
/// stays valid, since they store only complete results.
pub(crate) fn survive<T>(read: impl FnOnce() -> T) -> Option<T> {
    panic::catch_unwind(AssertUnwindSafe(read)).ok()
}
