//! A location during the sweep: its acts since its groups synchronised, and the wait it is in.

use std::iter::Peekable;

use proust_profile::{ContextId, LocationId, RowsOf, SampleRow};

use super::delays::Causes;
use super::doing::Doing;
use super::evidence::Evidence;
use super::meetings::MeetingId;
use crate::ledger::{self, Begun, PassiveReason, State, Window};

/// A location.
pub(super) struct Doer<'e> {
    /// Its present act, counted up to `counted_ns`.
    pub(super) now: Option<Begun>,
    pub(super) counted_ns: u64,
    /// Its acts since any group that it is in synchronised.
    pub(super) current: Doing,
    /// Its acts before that, by group, in the order of
    /// [`Meetings::of_location`](super::meetings::Meetings::of_location).
    pub(super) before: Vec<Doing>,
    /// See [`grains_ns`].
    pub(super) grain_ns: f64,
    /// Its samples that were not looked at yet.
    samples: Peekable<RowsOf<'e, SampleRow>>,
    /// A wait that no synchronisation was found for yet, as it is not over.
    pub(super) unfinished: Option<Unfinished>,
    /// The number of the wait that a synchronisation was found for last, and that one's causes.
    pub(super) known: Option<(u32, Causes)>,
}

/// A wait at a meeting that was recorded alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// Its number among the operations of its location.
    pub(super) number: u32,
    pub(super) meeting: MeetingId,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
}

/// The parts so far of a wait that the ledger counts in parts: samples cut it, stops of its process, and the
/// windows that are asked about.
#[derive(Debug)]
pub(super) struct Unfinished {
    pub(super) wait: Wait,
    pub(super) context: ContextId,
    /// When, and empty slots, ns.
    pub(super) charges: Vec<(Window, f64)>,
}

pub(super) fn waits_for_others(begun: &Begun) -> bool {
    let is_for_others = |wait| matches!(wait, ledger::Wait::Barrier | ledger::Wait::MpiPartner);
    matches!(begun.state, State::Waiting(wait) | State::Polling(wait) if is_for_others(wait))
}

/// Whether something outside keeps the location from continuing: its wait is not over.
pub(super) fn is_interrupted(begun: &Begun) -> bool {
    matches!(begun.state, State::Passive(PassiveReason::Stopped | PassiveReason::NotRecorded))
}

impl<'e> Doer<'e> {
    /// A location that has done nothing yet, and is in so many groups.
    pub(super) fn new(
        evidence: &Evidence<'e>,
        location: LocationId,
        grain_ns: f64,
        groups: usize,
    ) -> Doer<'e> {
        Doer {
            now: None,
            counted_ns: 0,
            current: Doing::default(),
            before: vec![Doing::default(); groups],
            grain_ns,
            samples: evidence.profile.samples.of(location).peekable(),
            unfinished: None,
            known: None,
        }
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.unfinished.is_some() || self.now.is_some_and(|now| waits_for_others(&now))
    }

    /// Counts what it does until an instant.
    pub(super) fn count_until(&mut self, at_ns: u64) {
        let Some(now) = &self.now else { return };
        let until_ns = at_ns.min(now.window.end_ns);
        if until_ns <= self.counted_ns {
            return;
        }
        self.current.add(now, self.counted_ns, until_ns, self.grain_ns);
        while let Some(row) = self.samples.next_if(|row| row.time_ns <= until_ns) {
            if row.time_ns > self.counted_ns && !row.tail && !row.in_operation {
                self.current.sample(row.context, row.cpu_ns as f64);
            }
        }
        self.counted_ns = until_ns;
    }
}

/// The time that one sample of each location represents: Σw²/Σw, ns. So a sum of n samples has a variance of
/// n such squares, and the time that was charged by them the grain times itself.
pub(super) fn grains_ns(evidence: &Evidence<'_>) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); evidence.profile.locations.len()];
    for row in evidence.profile.samples.iter().filter(|row| !row.tail) {
        let sum: &mut (f64, f64) = &mut sums[row.location.index()];
        let weight_ns = row.cpu_ns as f64;
        (sum.0, sum.1) = (sum.0 + weight_ns, sum.1 + weight_ns * weight_ns);
    }
    let all = sums.iter().fold((0.0, 0.0), |all: (f64, f64), sum| (all.0 + sum.0, all.1 + sum.1));
    let grain = |(weights, squares): (f64, f64)| if weights > 0.0 { squares / weights } else { 0.0 };
    sums.into_iter().map(|sum| if sum.0 > 0.0 { grain(sum) } else { grain(all) }).collect()
}
