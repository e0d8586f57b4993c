//! What threads of this process wait for: so that who lets it go knows that somebody does.
//!
//! A table of counters by address. Two objects may share one: then some releases are told that nobody waited for.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use proust_log::operations::{Nature, Operation};

const SLOTS: usize = 4096;

/// Objects of one or a few addresses.
#[derive(Debug)]
pub struct Slot {
    waiters: AtomicU32,
    /// Newest of the moments when something of this slot was let go while others waited.
    released_ns: AtomicU64,
}

static TABLE: [Slot; SLOTS] =
    [const { Slot { waiters: AtomicU32::new(0), released_ns: AtomicU64::new(0) } }; SLOTS];

#[inline]
fn slot(object: u64) -> &'static Slot {
    &TABLE[(object.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % SLOTS]
}

/// Whether an operation waits for an object that another thread of the process lets go by a call that we see. The threads of a
/// team wait for each other, and none of them lets the others go.
#[inline]
pub fn tells(operation: Operation) -> bool {
    match operation.nature() {
        Nature::Lock | Nature::Spin | Nature::Condition | Nature::Semaphore | Nature::Futex => true,
        Nature::Barrier => !operation.is_of_openmp(),
        _ => false,
    }
}

/// Threads that wait by trying again and again, of the whole process: their locks do not know of them.
static TRYING: AtomicU32 = AtomicU32::new(0);

/// A thread begins to try again and again.
pub fn begin_trying() {
    TRYING.fetch_add(1, Ordering::Relaxed);
}

/// It tries no more.
pub fn end_trying() {
    TRYING.fetch_sub(1, Ordering::Relaxed);
}

/// Whether any thread does.
#[inline]
pub fn is_any_trying() -> bool {
    TRYING.load(Ordering::Relaxed) != 0
}

/// A thread begins to wait for an object.
#[inline]
pub fn begin(object: u64) {
    slot(object).waiters.fetch_add(1, Ordering::Relaxed);
}

/// It waits no more.
#[inline]
pub fn end(object: u64) {
    slot(object).waiters.fetch_sub(1, Ordering::Relaxed);
}

/// Whether somebody may wait for an object.
#[inline]
pub fn is_waited_for(object: u64) -> bool {
    slot(object).waiters.load(Ordering::Relaxed) != 0
}

/// An object was let go at `time_ns`: when something of its slot was before; 0 if nothing ever was.
pub fn released(object: u64, time_ns: u64) -> u64 {
    slot(object).released_ns.fetch_max(time_ns, Ordering::Relaxed)
}

/// A forked child has no thread that waits.
pub fn forget() {
    TRYING.store(0, Ordering::Relaxed);
    for slot in &TABLE {
        slot.waiters.store(0, Ordering::Relaxed);
        slot.released_ns.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_known_until_he_waits_no_more() {
        let object = 0x7f00_1234_5678;
        assert!(!is_waited_for(object));
        begin(object);
        begin(object);
        assert!(is_waited_for(object));
        end(object);
        assert!(is_waited_for(object));
        end(object);
        assert!(!is_waited_for(object));
        assert_eq!(released(object, 1_000), 0);
        assert_eq!(released(object, 5_000), 1_000);
        assert_eq!(released(object, 4_000), 5_000);
        assert_eq!(released(object, 6_000), 5_000);
    }

    #[test]
    fn neighbours_seldom_share_a_slot() {
        let slots: std::collections::BTreeSet<usize> =
            (0..200_u64).map(|n| core::ptr::from_ref(slot(0x5555_0000_1000 + n * 40)) as usize).collect();
        assert!(slots.len() > 150, "{}", slots.len());
    }
}
