//! Which objects are one lock: those of one kind that were first waited for at the same place.

use proust_profile::{ContextId, Detail, Nature, OperationKind, ProcessId};
use serde::{Deserialize, Serialize};

use super::object::{NONE, Object, ObjectId};
use proust_profile::event_metrics::Operations;
use rustc_hash::FxHashMap as Map;

/// A lock, or several of one kind that are used at the same place: its position in [`super::Blame::locks`].
pub type LockId = u32;

/// What a lock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum LockKind {
    /// A mutex of POSIX or C11.
    Mutex,
    /// A reader-writer lock.
    RwLock,
    /// A spin lock.
    Spin,
    /// What is initialised once.
    Once,
    /// A locked file.
    File,
    /// A futex: the locks of Rust, of parking_lot, of language runtimes.
    Futex,
    /// A condition variable that a runtime makes a lock of: an interpreter's lock.
    Condition,
    /// Something else that counts as a lock.
    Other,
    /// A critical section or an atomic update of OpenMP.
    Critical,
    /// An ordered section of OpenMP.
    Ordered,
    /// A lock of OpenMP.
    Omp,
}

impl LockKind {
    /// The stable identifier, as in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            LockKind::Mutex => "mutex",
            LockKind::RwLock => "rwlock",
            LockKind::Spin => "spin",
            LockKind::Once => "once",
            LockKind::File => "file",
            LockKind::Futex => "futex",
            LockKind::Condition => "condition",
            LockKind::Other => "other",
            LockKind::Critical => "critical",
            LockKind::Ordered => "ordered",
            LockKind::Omp => "omp-lock",
        }
    }

    pub(super) fn of(operation: Option<OperationKind>) -> LockKind {
        let Some(operation) = operation else { return LockKind::Other };
        match operation.detail {
            Detail::Mutex => LockKind::Mutex,
            Detail::SpinLock => LockKind::Spin,
            Detail::ReadWriteLock => LockKind::RwLock,
            Detail::Once => LockKind::Once,
            Detail::Critical | Detail::Atomic => LockKind::Critical,
            Detail::Ordered => LockKind::Ordered,
            Detail::OmpLock => LockKind::Omp,
            Detail::FileLock => LockKind::File,
            _ => match operation.nature {
                Nature::Futex => LockKind::Futex,
                Nature::Condition => LockKind::Condition,
                _ => LockKind::Other,
            },
        }
    }
}

/// Which lock an object belongs to.
#[derive(Debug, Default)]
pub(super) struct Groups {
    of_object: Vec<LockId>,
    /// By lock the object that was waited for first.
    pub(super) firsts: Vec<ObjectId>,
}

impl Groups {
    pub(super) fn new(objects: &[Object], operations: &Operations) -> Groups {
        let mut order: Vec<ObjectId> =
            (0..objects.len() as ObjectId).filter(|&id| objects[id as usize].lock_waits > 0).collect();
        order.sort_unstable_by_key(|&id| {
            let first = &objects[id as usize].first;
            (first.begin_ns, first.location, first.address)
        });
        let mut known: Map<(ProcessId, u8, ContextId), LockId> = Map::default();
        let mut groups = Groups { of_object: vec![NONE; objects.len()], firsts: Vec::new() };
        for id in order {
            let object = &objects[id as usize];
            let kind = LockKind::of(operations.get(object.first.operation));
            let next = groups.firsts.len() as LockId;
            let lock = *known.entry((object.process, kind as u8, object.first.context)).or_insert(next);
            if lock == next {
                groups.firsts.push(id);
            }
            groups.of_object[id as usize] = lock;
        }
        groups
    }

    /// The lock that an object belongs to, if it was waited for as a lock.
    pub(super) fn lock(&self, object: ObjectId) -> Option<LockId> {
        self.of_object.get(object as usize).copied().filter(|&lock| lock != NONE)
    }
}
