//! The locks: objects by kind and by the place where they were first waited for.

use proust_profile::{ContextId, LocationId, ProcessId};
use serde::{Deserialize, Serialize};

use super::evidence::{Done, Evidence, Kind};
use super::groups::{LockId, LockKind};
use super::object::ObjectId;
use crate::ledger::{Window, Windows};
use rustc_hash::FxHashMap as Map;

/// A lock, or several of one kind that were first waited for at the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// What it is.
    pub kind: LockKind,
    /// In which process.
    pub process: ProcessId,
    /// Where it was first waited for.
    pub site: ContextId,
    /// The address, of several of the first.
    pub object: u64,
    /// How many locks these are.
    pub objects: u64,
    /// Sections that ended while others waited; where only some of them were recorded, an estimate.
    pub holds: u64,
    /// How long they were, ns.
    pub held_ns: u64,
    /// The longest that was recorded, ns.
    pub longest_hold_ns: u64,
}

/// The waits of a location for a lock in a context that were recorded one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LockWaits {
    /// The lock.
    pub lock: LockId,
    /// The location that waited.
    pub location: LocationId,
    /// Where.
    pub context: ContextId,
    /// How many waits.
    pub waits: u64,
    /// The longest, ns.
    pub longest_ns: u64,
}

/// The locks of a profile.
pub(super) fn locks(evidence: &Evidence<'_>) -> Vec<Lock> {
    let mut locks: Vec<Lock> = (evidence.groups.firsts.iter())
        .map(|&id| {
            let object = &evidence.objects[id as usize];
            Lock {
                kind: LockKind::of(evidence.operation(object.first.operation)),
                process: object.process,
                site: object.first.context,
                object: object.first.address,
                objects: 0,
                holds: 0,
                held_ns: 0,
                longest_hold_ns: 0,
            }
        })
        .collect();
    let mut holds = vec![0.0; locks.len()];
    for id in 0..evidence.objects.len() {
        let Some(lock_id) = evidence.groups.lock(id as ObjectId) else { continue };
        let lock = &mut locks[lock_id as usize];
        lock.objects += 1;
        for one in evidence.releases.each_of_object(id as ObjectId) {
            let section_ns = match one.since_ns {
                0 => one.held_ns,
                since_ns => one.time_ns.saturating_sub(since_ns).min(if one.held_ns > 0 {
                    one.held_ns
                } else {
                    u64::MAX
                }),
            };
            // It is not known for how long it was held.
            if section_ns == 0 {
                continue;
            }
            let (stands_for_ns, sections) = match one.is_sampled() {
                true => (one.weight_ns, one.weight_ns as f64 / one.held_ns as f64),
                false => (section_ns, 1.0),
            };
            lock.held_ns = lock.held_ns.saturating_add(stands_for_ns);
            holds[lock_id as usize] += sections;
            lock.longest_hold_ns = lock.longest_hold_ns.max(section_ns);
        }
    }
    for (lock, holds) in locks.iter_mut().zip(holds) {
        lock.holds = f64::round(holds) as u64;
    }
    locks
}

/// The waits of a location for locks that were recorded one by one, so far.
pub(super) struct WaitsOf<'e> {
    evidence: &'e Evidence<'e>,
    windows: &'e Windows,
    sums: Map<(LockId, LocationId, ContextId), (u64, u64)>,
}

impl<'e> WaitsOf<'e> {
    pub(super) fn new(evidence: &'e Evidence<'e>, windows: &'e Windows) -> WaitsOf<'e> {
        WaitsOf { evidence, windows, sums: Map::default() }
    }

    pub(super) fn see(&mut self, &Done { row: ref event, kind, object, .. }: &Done) {
        if kind != Kind::Lock || event.summed {
            return;
        }
        let Some(lock) = object.and_then(|object| self.evidence.groups.lock(object)) else { return };
        let overlaps = |window: &Window| window.start_ns < event.end_ns && window.end_ns > event.begin_ns;
        if self.windows.as_slice().iter().any(overlaps) {
            let sum = self.sums.entry((lock, event.location, event.context)).or_default();
            (sum.0, sum.1) = (sum.0 + 1, sum.1.max(event.time_ns));
        }
    }

    pub(super) fn rows(self) -> impl Iterator<Item = LockWaits> {
        let row = |((lock, location, context), (waits, longest_ns))| LockWaits {
            lock,
            location,
            context,
            waits,
            longest_ns,
        };
        self.sums.into_iter().map(row)
    }
}
