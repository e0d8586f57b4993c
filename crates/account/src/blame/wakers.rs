//! Which location wakes which: the last wake of the object during each passive wait.

use proust_profile::{ContextId, LocationId};
use serde::{Deserialize, Serialize};

use super::evidence::{Done, Evidence, Kind};
use super::releases::{Found, Nearby};
use crate::ledger::Windows;
use rustc_hash::FxHashMap as Map;

/// Passive waits of one place that were ended from another one. Outside of all accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WakerRow {
    /// The location that waited.
    pub location: LocationId,
    /// Where.
    pub context: ContextId,
    /// The location that woke it, and where. None = no wake was seen: the time was over, or the wake was not
    /// recorded.
    pub waker: Option<(LocationId, ContextId)>,
    /// How many waits.
    pub waits: u64,
    /// How long they were, ns.
    pub ns: u64,
}

/// The location, and where.
type Place = (LocationId, ContextId);

/// The wakers of a location, so far.
pub(super) struct WakersOf<'e> {
    evidence: &'e Evidence<'e>,
    windows: &'e Windows,
    sums: Map<(Place, Option<Place>), (u64, u64)>,
}

impl<'e> WakersOf<'e> {
    pub(super) fn new(evidence: &'e Evidence<'e>, windows: &'e Windows) -> WakersOf<'e> {
        WakersOf { evidence, windows, sums: Map::default() }
    }

    pub(super) fn see(&mut self, &Done { row: ref event, kind, object, .. }: &Done, nearby: &mut Nearby<'_>) {
        if kind != Kind::Woken || event.summed {
            return;
        }
        let in_window = |window: &crate::ledger::Window| {
            event.end_ns.min(window.end_ns).saturating_sub(event.begin_ns.max(window.start_ns))
        };
        let ns: u64 = self.windows.as_slice().iter().map(in_window).sum();
        if ns == 0 {
            return;
        }
        let wakes = object.map_or(Found::NONE, |object| nearby.of(object, event.begin_ns, event.end_ns));
        let last = wakes.meanwhile().iter().rfind(|wake| wake.location != event.location);
        let waker = last.map(|wake| (wake.location, self.evidence.releases.place(wake.place).context));
        let sum = self.sums.entry(((event.location, event.context), waker)).or_default();
        (sum.0, sum.1) = (sum.0 + 1, sum.1.saturating_add(ns));
    }

    pub(super) fn rows(self) -> impl Iterator<Item = WakerRow> {
        let row =
            |(((location, context), waker), (waits, ns))| WakerRow { location, context, waker, waits, ns };
        self.sums.into_iter().map(row)
    }
}
