//! The objects that threads of this process wait for: so that a thread that unlocks one or wakes others knows
//! that one waits.
//!
//! For objects that threads are woken from there is a table of counters by address. Two objects may share
//! one: then some wakes are recorded that no thread waited for. A thread that waits for a lock counts
//! nothing, since such a counter would move from processor to processor with each wait: the thread's own lane
//! says what it waits for, and a thread that unlocks looks into all lanes, when it is about to record that.

use crate::arena::spread;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use proust_log::operations::{Nature, Operation};

use crate::lane::{self, Lane};

const SLOTS: usize = 4096;

/// Objects of one or a few addresses.
#[derive(Debug)]
pub struct Slot {
    waiters: AtomicU32,
    /// A thread has waited for a lock of this slot since it was last found that none did.
    is_wanted: AtomicBool,
    /// Newest of the moments when a thread was woken that waited for an object of this slot.
    woken_ns: AtomicU64,
}

static TABLE: [Slot; SLOTS] = [const {
    Slot { waiters: AtomicU32::new(0), is_wanted: AtomicBool::new(false), woken_ns: AtomicU64::new(0) }
}; SLOTS];

#[inline]
fn slot(object: u64) -> &'static Slot {
    &TABLE[(spread(object) >> 52) as usize % SLOTS]
}

/// Whether an operation waits for another thread of the process to wake this one, by a call that we see. The
/// threads of a team wait for each other, and none of them wakes the others.
#[inline]
pub fn is_woken(operation: Operation) -> bool {
    match operation.nature() {
        Nature::Condition | Nature::Semaphore | Nature::Futex => true,
        Nature::Barrier => !operation.is_of_openmp(),
        _ => false,
    }
}

/// Whether an operation waits for a lock.
#[inline]
pub fn is_for_lock(operation: Operation) -> bool {
    matches!(operation.nature(), Nature::Lock | Nature::Spin)
}

/// A thread begins to wait for a lock. Its lane says so already.
#[inline]
pub fn want(lock: u64) {
    let is_wanted = &slot(lock).is_wanted;
    if !is_wanted.load(Ordering::Relaxed) {
        is_wanted.store(true, Ordering::Relaxed);
    }
}

/// Whether a thread may be waiting for a lock. Costs a load, of a word that seldom changes.
#[inline]
pub fn is_wanted(lock: u64) -> bool {
    slot(lock).is_wanted.load(Ordering::Relaxed)
}

/// Since when another thread than the calling one, the owner of `mine`, has been waiting for a lock; None if
/// none waits.
#[cold]
pub fn wanted_since_ns(lock: u64, mine: &Lane) -> Option<u64> {
    if !is_wanted(lock) {
        return None;
    }
    let is_wanted = &slot(lock).is_wanted;
    // Before the search: a thread that begins to wait after it sets this again.
    is_wanted.store(false, Ordering::Relaxed);
    let others = lane::all().filter(|lane| !core::ptr::eq(*lane, mine));
    let since_ns = others.filter_map(|lane| lane.operations.wants_since_ns(lock)).min();
    if since_ns.is_some() {
        is_wanted.store(true, Ordering::Relaxed);
    }
    since_ns
}

/// A thread begins to wait for an object until it is woken.
#[inline]
pub fn begin(object: u64) {
    slot(object).waiters.fetch_add(1, Ordering::Relaxed);
}

/// It no longer waits.
#[inline]
pub fn end(object: u64) {
    slot(object).waiters.fetch_sub(1, Ordering::Relaxed);
}

/// How many threads may wait for an object.
#[inline]
pub fn waiters(object: u64) -> u32 {
    slot(object).waiters.load(Ordering::Relaxed)
}

/// Waiters for an object are woken at `time_ns`. Returns when one was before; 0 if never.
pub fn woken(object: u64, time_ns: u64) -> u64 {
    slot(object).woken_ns.fetch_max(time_ns, Ordering::Relaxed)
}

/// A forked child has no thread that waits.
pub fn forget() {
    for slot in &TABLE {
        slot.waiters.store(0, Ordering::Relaxed);
        slot.is_wanted.store(false, Ordering::Relaxed);
        slot.woken_ns.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiting_thread_is_known_until_it_waits_no_more() {
        let object = 0x7f00_1234_5678;
        assert_eq!(waiters(object), 0);
        begin(object);
        begin(object);
        assert_eq!(waiters(object), 2);
        end(object);
        end(object);
        assert_eq!(waiters(object), 0);
        assert_eq!(woken(object, 1_000), 0);
        assert_eq!(woken(object, 5_000), 1_000);
        assert_eq!(woken(object, 4_000), 5_000);
        assert_eq!(woken(object, 6_000), 5_000);
    }

    #[test]
    fn a_lock_that_nobody_has_waited_for_is_not_wanted() {
        let lock = 0x7f00_8765_4320;
        assert!(!is_wanted(lock));
        want(lock);
        assert!(is_wanted(lock));
    }

    #[test]
    fn neighbours_seldom_share_a_slot() {
        let slots: std::collections::BTreeSet<usize> =
            (0..200_u64).map(|n| core::ptr::from_ref(slot(0x5555_0000_1000 + n * 40)) as usize).collect();
        assert!(slots.len() > 150, "{}", slots.len());
    }
}
