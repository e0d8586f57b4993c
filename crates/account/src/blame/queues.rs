//! The queues at locks: how long locations waited in all, for how long at least one did, and since when at
//! each release of a lock.
//!
//! Only waits that were recorded one by one are known well enough for that. Findings need this beyond the
//! causes.

use std::sync::atomic::{AtomicU64, Ordering};

use proust_profile::LocationId;
use rayon::prelude::*;

use super::evidence::{Done, Evidence, Kind};
use super::groups::LockId;
use super::object::ObjectId;
use super::releases::Nearby;
use crate::ledger::Window;
use rustc_hash::FxHashMap as Map;

/// The waits for one lock by the charged locations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// How long all of them were, ns.
    pub waited_ns: u64,
    /// How long anybody waited, ns.
    pub any_ns: u64,
}

/// Those of all locks.
#[derive(Debug, Default, PartialEq)]
pub struct Queues {
    by_lock: Vec<Queue>,
    /// By row of the profile's releases; [`NOBODY`].
    since_ns: Vec<u64>,
}

/// No location waited when a lock was released.
const NOBODY: u64 = u64::MAX;

/// The queues so far: locations are looked at side by side, slice of time by slice.
pub(super) struct Queueing<'e> {
    evidence: &'e Evidence<'e>,
    by_lock: Vec<Queue>,
    since_ns: Vec<AtomicU64>,
}

impl<'e> Queueing<'e> {
    pub(super) fn new(evidence: &'e Evidence<'e>, locks: usize) -> Queueing<'e> {
        let releases = evidence.profile.releases.len();
        let since_ns = (0..releases).map(|_| AtomicU64::new(NOBODY)).collect();
        Queueing { evidence, by_lock: vec![Queue::default(); locks], since_ns }
    }

    /// Begins with a location in a slice.
    pub(super) fn of(&self, location: LocationId, slice: Window) -> QueueingOf<'_> {
        let is_charged = !self.evidence.profile.locations[location].service;
        QueueingOf { all: self, is_charged, slice, waits: Map::default() }
    }

    /// Adds the waits of all locations in a slice.
    pub(super) fn add(&mut self, by_location: Vec<Map<LockId, Waits>>) {
        let mut by_lock: Map<LockId, Vec<Waits>> = Map::default();
        for (lock, waits) in by_location.into_iter().flatten() {
            by_lock.entry(lock).or_default().push(waits);
        }
        let queues: Vec<(LockId, Queue)> =
            by_lock.into_par_iter().map(|(lock, waits)| (lock, all(waits))).collect();
        for (lock, queue) in queues {
            let sum = &mut self.by_lock[lock as usize];
            sum.waited_ns += queue.waited_ns;
            sum.any_ns += queue.any_ns;
        }
    }

    /// The queues, when all locations were looked at.
    pub(super) fn finish(self) -> Queues {
        let since_ns = self.since_ns.into_iter().map(AtomicU64::into_inner).collect();
        Queues { by_lock: self.by_lock, since_ns }
    }
}

impl Queues {
    /// The waits for a lock.
    pub fn of_lock(&self, lock: LockId) -> Queue {
        self.by_lock.get(lock as usize).copied().unwrap_or_default()
    }

    /// Since when a location had waited that still did at this recorded release.
    pub fn since_ns(&self, row: usize) -> Option<u64> {
        self.since_ns.get(row).copied().filter(|&since_ns| since_ns != NOBODY)
    }
}

/// The waits of some locations for one lock.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    sum_ns: u64,
    /// When anybody waited: stretches that have nothing in common, in order.
    any: Vec<(u64, u64)>,
}

impl Waits {
    /// Adds a wait that ends no earlier than those before.
    fn add(&mut self, begin_ns: u64, end_ns: u64) {
        self.sum_ns += end_ns - begin_ns;
        push(&mut self.any, (begin_ns, end_ns));
    }

    fn with(self, other: &Waits) -> Waits {
        let mut any = Vec::with_capacity(self.any.len().max(other.any.len()));
        let (mut mine, mut theirs) = (self.any.iter().peekable(), other.any.iter().peekable());
        loop {
            let next = match (mine.peek(), theirs.peek()) {
                (Some(a), Some(b)) if a.1 > b.1 => theirs.next(),
                (Some(_), _) => mine.next(),
                (None, _) => theirs.next(),
            };
            let Some(&next) = next else { break };
            push(&mut any, next);
        }
        Waits { sum_ns: self.sum_ns + other.sum_ns, any }
    }
}

/// Unites a stretch with those that it has an instant in common with. None of them ends later.
fn push(any: &mut Vec<(u64, u64)>, (mut begin_ns, end_ns): (u64, u64)) {
    while let Some(last) = any.pop_if(|last| last.1 >= begin_ns) {
        begin_ns = begin_ns.min(last.0);
    }
    any.push((begin_ns, end_ns));
}

/// The waits of one location in a slice of time by lock, so far.
pub(super) struct QueueingOf<'q> {
    all: &'q Queueing<'q>,
    is_charged: bool,
    slice: Window,
    pub(super) waits: Map<LockId, Waits>,
}

impl QueueingOf<'_> {
    /// Sees an operation that lies in the slice, or a part of it.
    pub(super) fn see(&mut self, done: &Done) {
        let (row, slice) = (&done.row, self.slice);
        let lock = is_single_wait(done).and_then(|object| self.all.evidence.groups.lock(object));
        let (begin_ns, end_ns) = (row.begin_ns.max(slice.start_ns), row.end_ns.min(slice.end_ns));
        if let Some(lock) = lock.filter(|_| self.is_charged && begin_ns <= end_ns) {
            self.waits.entry(lock).or_default().add(begin_ns, end_ns);
        }
    }

    /// An operation ends in the slice: marks the releases that it has waited for.
    pub(super) fn ends(&mut self, done: &Done, nearby: &mut Nearby<'_>) {
        let event = &done.row;
        let Some(object) = is_single_wait(done) else { return };
        for one in nearby.of(object, event.begin_ns, event.end_ns).meanwhile() {
            let since_ns = &self.all.since_ns[one.row as usize];
            if since_ns.load(Ordering::Relaxed) > event.begin_ns {
                since_ns.fetch_min(event.begin_ns, Ordering::Relaxed);
            }
        }
    }
}

/// What a wait for a lock that was recorded alone waited for.
fn is_single_wait(&Done { ref row, kind, object, .. }: &Done) -> Option<ObjectId> {
    object.filter(|_| !row.summed && kind == Kind::Lock && row.end_ns >= row.begin_ns)
}

/// The waits of all locations, united two by two: what they have in common grows less with each turn.
fn all(mut waits: Vec<Waits>) -> Queue {
    while waits.len() > 1 {
        waits = (waits.par_chunks_mut(2))
            .map(|pair| match pair {
                [one, other] => std::mem::take(one).with(other),
                _ => std::mem::take(&mut pair[0]),
            })
            .collect();
    }
    let Some(Waits { sum_ns, any }) = waits.pop() else { return Queue::default() };
    Queue { waited_ns: sum_ns, any_ns: any.iter().map(|(begin_ns, end_ns)| end_ns - begin_ns).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_that_touch_are_one_whatever_their_order_of_begin() {
        let mut waits = Waits::default();
        let all = [(10, 20), (30, 40), (35, 45), (60, 70), (5, 71)];
        all.into_iter().for_each(|(begin, end)| waits.add(begin, end));
        assert_eq!((waits.sum_ns, waits.any), (10 + 10 + 10 + 10 + 66, vec![(5, 71)]));
    }

    #[test]
    fn those_of_many_locations_are_united() {
        let of = |all: &[(u64, u64)]| {
            let mut waits = Waits::default();
            all.iter().for_each(|&(begin, end)| waits.add(begin, end));
            waits
        };
        let some = [of(&[(0, 10), (20, 30)]), of(&[(5, 12), (25, 26)]), of(&[(40, 50)]), of(&[])];
        assert_eq!(all(some.into()), Queue { waited_ns: 10 + 10 + 7 + 1 + 10, any_ns: 12 + 10 + 10 });
        assert_eq!(all(Vec::new()), Queue::default());
    }
}
