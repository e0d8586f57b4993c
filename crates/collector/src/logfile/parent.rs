//! The parent's log, in a forked child.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::layout::FileHeader;

use super::window::Left;
use crate::raw;

/// The parent's log, in a forked child.
pub struct ParentLog(pub(super) Left);

impl ParentLog {
    /// Gives it up; `followed` says whether the child has a log of its own now. Where a handler has forked
    /// inside a hook, the child continues in the middle of it, and may still write what the hook was about
    /// to: into the lane's header `left`, or the file's. So memory that nothing reads takes the place of
    /// these two pages.
    pub fn give_up(self, followed: bool, left: *mut u8) {
        let header = self.0.header().cast::<FileHeader>();
        if header.is_null() {
            return;
        }
        // SAFETY: the header is mapped, shared with the parent; the child is single-threaded and has no
        // writer.
        unsafe {
            if !followed {
                AtomicU64::from_ptr(&raw mut (*header).unfollowed_children).fetch_add(1, Ordering::Relaxed);
            }
        }
        self.leave(left, 0..0);
    }

    /// As [`ParentLog::give_up`], in a child that has no log yet; the memory of `kept` stays mapped.
    pub fn leave(&self, left: *mut u8, kept: Range<usize>) {
        let header = self.0.header();
        if header.is_null() {
            return;
        }
        // SAFETY: mapped by this process's parent, shared with it; the child is single-threaded and has no
        // writer.
        unsafe {
            self.0.unmap_but(kept);
            for page in [header, left] {
                raw::put_scratch(page);
            }
        }
    }
}
