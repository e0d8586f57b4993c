//! The fields of a lane's header in the log for the marked intervals that its thread is in: if the process is
//! killed, that is all that is known of them.

use core::sync::atomic::Ordering;

use super::Lane;

impl Lane {
    /// The owner begins an interval at `begin_ns`; `level` intervals are around it.
    #[inline]
    pub fn begin_interval(&self, level: u32, begin_ns: u64, interval: u32) {
        let header = self.header.load(Ordering::Relaxed);
        if header.is_null() {
            return;
        }
        // SAFETY: the header is mapped for the process's life, and these fields are written by the owner
        // alone. Volatile and in this order: the process may be killed at any of them.
        unsafe {
            if let Some(place) = (*header).interval_begins_ns.get_mut(level as usize) {
                (&raw mut *place).write_volatile(begin_ns);
            }
            (&raw mut (*header).interval).write_volatile(interval);
        }
    }

    /// The owner is in this interval, and in none inside it; 0 = in none.
    #[inline]
    pub fn in_interval(&self, interval: u32) {
        let header = self.header.load(Ordering::Relaxed);
        if !header.is_null() {
            // SAFETY: as above.
            unsafe { (&raw mut (*header).interval).write_volatile(interval) };
        }
    }
}
