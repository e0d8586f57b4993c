//! Short waits for locks that need no call path and are not recorded yet: how many, and how long in all.
//!
//! Adding one takes two additions. Written by their thread alone, and read by others at the process's end.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use proust_log::operations::{Operation, Target};

use super::Kind;
use super::sums::Several;

/// Waits of one kind.
#[derive(Debug, Default)]
pub struct ShortWaits {
    /// [`Kind::number`].
    kind: AtomicU32,
    /// 0 = there are none.
    calls: AtomicU32,
    ns: AtomicU64,
    since_ns: AtomicU64,
    until_ns: AtomicU64,
}

impl ShortWaits {
    /// Adds one; false if there are some of another kind.
    #[inline]
    pub fn add(&self, kind: Kind, (begin_ns, end_ns): (u64, u64)) -> bool {
        let calls = self.calls.load(Ordering::Relaxed);
        let mut ns = end_ns.saturating_sub(begin_ns);
        if calls == 0 {
            self.kind.store(kind.number(), Ordering::Relaxed);
            self.since_ns.store(begin_ns, Ordering::Relaxed);
        } else if self.kind.load(Ordering::Relaxed) == kind.number() {
            ns += self.ns.load(Ordering::Relaxed);
        } else {
            return false;
        }
        self.ns.store(ns, Ordering::Relaxed);
        self.until_ns.store(end_ns, Ordering::Relaxed);
        self.calls.store(calls.saturating_add(1), Ordering::Relaxed);
        true
    }

    /// Takes them.
    pub fn take(&self) -> Option<Several> {
        let (operation, target) = Kind::parts(self.kind.load(Ordering::Relaxed));
        let several = Several {
            kind: Kind {
                operation: Operation::from_number(operation)?,
                target: Target::from_number(target as u8),
            },
            calls: self.calls.load(Ordering::Relaxed).into(),
            ns: self.ns.load(Ordering::Relaxed),
            since_ns: self.since_ns.load(Ordering::Relaxed),
            until_ns: self.until_ns.load(Ordering::Relaxed),
        };
        self.forget();
        (several.calls > 0).then_some(several)
    }

    /// The lane's next thread begins.
    pub fn forget(&self) {
        self.calls.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_of_one_kind_are_added_up() {
        let waits = ShortWaits::default();
        let kind = Kind::from(Operation::MutexLock);
        assert_eq!(waits.take(), None);
        assert!(waits.add(kind, (100, 350)) && waits.add(kind, (1_000, 1_010)));
        assert!(!waits.add(Kind::from(Operation::SpinLock), (1_100, 1_110)));
        let several = Several { kind, calls: 2, ns: 260, since_ns: 100, until_ns: 1_010 };
        assert_eq!((waits.take(), waits.take()), (Some(several), None));
        assert!(waits.add(Kind::from(Operation::SpinLock), (1_100, 1_110)));
        waits.forget();
        assert_eq!(waits.take(), None);
    }
}
