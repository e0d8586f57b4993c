//! The probable caller, found before a thread blocks: for processes that are killed while it does.
//!
//! A thread that waits for ever and is killed never gets to find its call path. So a path is found beforehand
//! where no operation of this kind was seen at this depth of the stack yet, and kept for the next one there.
//! An operation that ends has its path found again.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::Kind;
use crate::path::tree::NodeId;

const PLACES: usize = 8;
/// So many paths may be found beforehand at once, and one more after each pause.
const MOST_AT_ONCE: u64 = 16;
const PAUSE_NS: u64 = 1_000_000;

#[derive(Debug, Default)]
#[repr(align(16))]
struct Place {
    kind: AtomicU32,
    sp: AtomicU64,
    node: AtomicU32,
}

/// A thread's newest callers by kind and depth. Used by the owner alone.
#[derive(Debug, Default)]
pub struct Callers {
    places: [Place; PLACES],
    /// Finding is paid for with time that passed: up to here all is spent.
    spent_until_ns: AtomicU64,
}

impl Callers {
    #[inline]
    fn place(&self, kind: Kind, sp: u64) -> &Place {
        &self.places[(kind.number() as usize ^ (sp >> 5) as usize) % PLACES]
    }

    /// The last caller from there; 0 = none.
    #[inline]
    pub fn known(&self, kind: Kind, sp: u64) -> NodeId {
        let place = self.place(kind, sp);
        let fits =
            place.kind.load(Ordering::Relaxed) == kind.number() && place.sp.load(Ordering::Relaxed) == sp;
        if fits { place.node.load(Ordering::Relaxed) } else { 0 }
    }

    /// Whether it is time to find another one.
    #[inline]
    pub fn may_find(&self, now_ns: u64) -> bool {
        now_ns.saturating_sub(self.spent_until_ns.load(Ordering::Relaxed)) >= PAUSE_NS
    }

    /// A caller was looked for at `now_ns`.
    pub fn looked(&self, now_ns: u64) {
        let spent_ns =
            self.spent_until_ns.load(Ordering::Relaxed).max(now_ns.saturating_sub(MOST_AT_ONCE * PAUSE_NS));
        self.spent_until_ns.store(spent_ns + PAUSE_NS, Ordering::Relaxed);
    }

    /// Until [`Callers::forget`] none is looked for.
    pub fn rest(&self) {
        self.spent_until_ns.store(u64::MAX, Ordering::Relaxed);
    }

    /// Keeps the caller.
    #[inline]
    pub fn keep(&self, kind: Kind, sp: u64, node: NodeId) {
        let place = self.place(kind, sp);
        place.kind.store(kind.number(), Ordering::Relaxed);
        place.sp.store(sp, Ordering::Relaxed);
        place.node.store(node, Ordering::Relaxed);
    }

    /// The lane's next thread begins.
    pub fn forget(&self) {
        for place in &self.places {
            place.kind.store(0, Ordering::Relaxed);
        }
        self.spent_until_ns.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proust_log::operations::Operation;

    #[test]
    fn a_caller_is_known_at_its_depth_only() {
        let callers = Callers::default();
        let (lock, sleep) = (Kind::from(Operation::MutexLock), Kind::from(Operation::NanoSleep));
        callers.keep(lock, 0x7000, 5);
        assert_eq!(callers.known(lock, 0x7000), 5);
        assert_eq!(callers.known(lock, 0x7020), 0);
        assert_eq!(callers.known(sleep, 0x7000), 0);
        callers.forget();
        assert_eq!(callers.known(lock, 0x7000), 0);
        callers.rest();
        assert!(!callers.may_find(1 << 60));
        callers.forget();
        assert!(callers.may_find(1 << 60));
    }

    #[test]
    fn finding_beforehand_is_bounded() {
        let callers = Callers::default();
        let mut found = 0;
        for call in 0..10_000_u64 {
            let now_ns = 1_000_000_000 + call * 10_000;
            if callers.may_find(now_ns) {
                callers.looked(now_ns);
                found += 1;
            }
        }
        // 100 ms of calls.
        assert_eq!(found, MOST_AT_ONCE + 99);
    }
}
