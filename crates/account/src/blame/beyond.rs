//! What operations say beyond the causes: the waits for locks one by one, the wakers, and the queues at
//! locks.
//!
//! The run is cut into slices of time with about as many operations each, so that what is kept of single
//! waits, when anybody waited for a lock, does not grow with the run. A wait that lasts longer than a slice
//! counts in each of them with its part.

use proust_profile::LocationId;
use rayon::prelude::*;
use rustc_hash::FxHashMap as Map;

use super::evidence::Evidence;
use super::groups::LockId;
use super::locks::{LockWaits, WaitsOf};
use super::queues::{Queueing, Queues, Waits};
use super::releases::Nearby;
use super::wakers::{WakerRow, WakersOf};
use crate::ledger::{Window, Windows};

/// Operations that end in a slice, about: at least so many.
const OPERATIONS: usize = 1_000_000;
/// And so many of each location, since each is opened in each slice.
const OF_LOCATION: usize = 1_000;

/// All of it.
#[derive(Debug, PartialEq)]
pub(super) struct Beyond {
    /// Sorted.
    pub(super) lock_waits: Vec<LockWaits>,
    /// Sorted.
    pub(super) wakers: Vec<WakerRow>,
    pub(super) queues: Option<Queues>,
}

/// What is known of a location so far.
struct Of<'e> {
    location: LocationId,
    waits: WaitsOf<'e>,
    wakers: WakersOf<'e>,
}

impl Beyond {
    /// With one look at each operation. The queues are those of so many locks.
    pub(super) fn of(evidence: &Evidence<'_>, windows: &Windows, locks: Option<usize>) -> Beyond {
        let locations = evidence.profile.locations.len();
        let borders = evidence.profile.events.slices(OPERATIONS.max(OF_LOCATION * locations));
        Beyond::in_slices(evidence, windows, locks, borders)
    }

    /// The same, in slices between these instants, which are in order.
    pub(super) fn in_slices(
        evidence: &Evidence<'_>,
        windows: &Windows,
        locks: Option<usize>,
        borders: Vec<u64>,
    ) -> Beyond {
        let needed = evidence.met.locks || evidence.met.woken;
        let locations = if needed { evidence.profile.events.locations() } else { Vec::new() };
        let of = |location| Of {
            location,
            waits: WaitsOf::new(evidence, windows),
            wakers: WakersOf::new(evidence, windows),
        };
        let mut all: Vec<Of<'_>> = locations.into_iter().map(of).collect();
        let mut queueing = locks.map(|locks| Queueing::new(evidence, locks));
        let mut from_ns = 0;
        let borders = borders.into_iter().filter(|_| needed);
        for to_ns in borders.chain(needed.then_some(u64::MAX)) {
            let slice = Window::new(from_ns, to_ns);
            let look = |of: &mut Of<'_>| of.look(evidence, queueing.as_ref(), slice);
            let waits: Vec<Map<LockId, Waits>> = all.par_iter_mut().map(look).collect();
            if let Some(queueing) = &mut queueing {
                queueing.add(waits);
            }
            from_ns = to_ns;
        }
        let (mut lock_waits, mut wakers) = (Vec::new(), Vec::new());
        for of in all {
            lock_waits.extend(of.waits.rows());
            wakers.extend(of.wakers.rows());
        }
        lock_waits.sort_unstable();
        wakers.sort_unstable();
        Beyond { lock_waits, wakers, queues: queueing.map(Queueing::finish) }
    }
}

impl Of<'_> {
    /// Looks at the operations in a slice: at those that end in it, its end included, and at the part in it
    /// of the one that goes on.
    fn look(
        &mut self,
        evidence: &Evidence<'_>,
        queueing: Option<&Queueing<'_>>,
        slice: Window,
    ) -> Map<LockId, Waits> {
        let mut queue = queueing.map(|queueing| queueing.of(self.location, slice));
        let mut nearby = Nearby::new(&evidence.releases);
        for done in evidence.ending_after(self.location, slice.start_ns) {
            // Those that were recorded alone do not overlap: behind one that begins later there is none.
            if done.row.begin_ns >= slice.end_ns && !done.row.summed && done.row.end_ns > slice.end_ns {
                break;
            }
            if done.row.end_ns <= slice.end_ns {
                self.waits.see(&done);
                self.wakers.see(&done, &mut nearby);
                queue.iter_mut().for_each(|queue| queue.ends(&done, &mut nearby));
            }
            queue.iter_mut().for_each(|queue| queue.see(&done));
        }
        queue.map(|queue| queue.waits).unwrap_or_default()
    }
}
