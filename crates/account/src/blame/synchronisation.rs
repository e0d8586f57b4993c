//! A synchronisation: one time that all members of a group waited until the last of them had arrived.
//!
//! Waits at one meeting that have an instant in common are one synchronisation. It opens when the first of
//! them ends. The last to arrive is
//!
//! - the location that woke the others, without waiting itself;
//! - of a team of OpenMP, each member that was in the region then and is not known to have waited;
//! - otherwise each location that may have had so short a wait then that it is in a sum;
//! - or the last of those that are known to have waited, if it waited for none any more.
//!
//! Several that arrived together are all last, and share the waits of the others.

use std::iter::Peekable;

use proust_profile::{ContextId, EventRow, LocationId};

use super::doing::Doing;
use super::evidence::{Done, Evidence};
use super::lately::Lately;
use super::meetings::{MeetingId, Meetings};
use super::object::ObjectId;
use super::releases::Nearby;
use super::stays::StaysOf;
use crate::ledger::Window;

/// An arrival within this of the last counts as last, too; or within a hundredth of the longest wait.
const TOGETHER_NS: u64 = 20_000;
/// So many waits of a location are kept behind the last synchronisation.
const KEPT: usize = 64;
/// A call that takes longer than this waits: it is not the last one.
pub(super) const WAITS_NS: u64 = 20_000;

/// A member whose wait is known.
#[derive(Clone, Debug)]
pub(super) struct Come {
    pub(super) location: LocationId,
    /// Where it waited.
    pub(super) context: ContextId,
    /// Its number among the operations of its location.
    pub(super) number: u32,
    pub(super) begin_ns: u64,
    /// When it continued: later than its wait was over, if it had no processor then.
    pub(super) end_ns: u64,
    /// The amounts that the ledger has charged for it: when, and empty slots, ns.
    pub(super) charges: Vec<(Window, f64)>,
}

/// A synchronisation.
#[derive(Clone, Debug)]
pub(super) struct Synchronisation {
    pub(super) meeting: MeetingId,
    /// When the first one did not wait any more.
    pub(super) opens_ns: u64,
    pub(super) come: Vec<Come>,
    /// The acts of each member since the group's previous synchronisation.
    pub(super) doing: Vec<(LocationId, Doing)>,
}

/// The last to arrive, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Last {
    pub(super) arrival_ns: u64,
    /// Empty if that is not known.
    pub(super) late: Vec<LocationId>,
}

impl Synchronisation {
    /// Whether a wait is a part of it.
    pub(super) fn takes(&self, location: LocationId, begin_ns: u64) -> bool {
        begin_ns <= self.departure_ns() && self.come.iter().all(|come| come.location != location)
    }

    /// When the first one continued: all have arrived by then.
    pub(super) fn departure_ns(&self) -> u64 {
        self.come.iter().map(|come| come.end_ns).min().unwrap_or(self.opens_ns).max(self.opens_ns)
    }

    pub(super) fn doing(&self, location: LocationId) -> Option<&Doing> {
        let at = self.doing.binary_search_by_key(&location, |(member, _)| *member).ok()?;
        Some(&self.doing[at].1)
    }

    /// Where it was: the first of the places.
    pub(super) fn site(&self) -> Option<ContextId> {
        self.come.iter().map(|come| come.context).min()
    }

    /// The last to arrive. `short` finds short waits that are known by sums only; `stays`: the stays of each
    /// location; `nearby` finds releases.
    pub(super) fn last(
        &self,
        meetings: &Meetings,
        short: &mut ShortWaits<'_>,
        stays: &mut [StaysOf<'_>],
        nearby: &mut Nearby<'_>,
    ) -> Last {
        let departure_ns = self.departure_ns();
        let meeting = &meetings.all[self.meeting as usize];
        let begins = || self.come.iter().map(|come| come.begin_ns);
        let (first_ns, last_ns) = (begins().min().unwrap_or(0), begins().max().unwrap_or(0));
        let opens_ns = self.opens_ns.max(last_ns);
        let mut waiting: Vec<LocationId> = self.come.iter().map(|come| come.location).collect();
        waiting.sort_unstable();
        let is_waiting = |location: LocationId| waiting.binary_search(&location).is_ok();
        let wakes = nearby.of(meeting.object, last_ns, departure_ns);
        if let Some(wake) = wakes.meanwhile().iter().rfind(|wake| !is_waiting(wake.location)) {
            return Last { arrival_ns: wake.time_ns, late: vec![wake.location] };
        }
        let members = &meetings.groups[meeting.group as usize].members;
        let others = || members.iter().copied().filter(|&member| !is_waiting(member));
        // A location that arrived later than all of those arrived between these two.
        let came = (last_ns.saturating_sub(WAITS_NS), departure_ns);
        let missing: Vec<LocationId> = match meeting.is_team {
            true => others()
                .filter(|&member| meetings.has_stay(self.meeting, &mut stays[member.index()], came))
                .collect(),
            false => {
                let object = meeting.object;
                others().filter(|&member| short.has((member, object), came)).collect()
            }
        };
        let waits_itself = opens_ns.saturating_sub(last_ns) > WAITS_NS;
        if (waits_itself && !missing.is_empty()) || self.come.len() == 1 {
            return Last { arrival_ns: opens_ns, late: missing };
        }
        let longest_ns = opens_ns - first_ns.min(opens_ns);
        let border_ns = last_ns.saturating_sub((longest_ns / 100).max(TOGETHER_NS));
        let with_last = self.come.iter().filter(|come| come.begin_ns >= border_ns);
        let mut late: Vec<LocationId> = with_last.map(|come| come.location).collect();
        if !waits_itself {
            late.extend(missing);
        }
        late.sort_unstable();
        Last { arrival_ns: last_ns, late }
    }
}

/// Short waits for others, looked through in order of time.
pub(super) struct ShortWaits<'e>(Vec<OfLocation<'e>>);

/// The waits of a location for all others at a place.
struct OfLocation<'e> {
    /// In sums.
    sums: Peekable<Box<dyn Iterator<Item = EventRow> + 'e>>,
    /// Alone.
    singles: Lately<'e, Done>,
}

impl<'e> ShortWaits<'e> {
    pub(super) fn new(evidence: &'e Evidence<'e>) -> ShortWaits<'e> {
        let of_location = |location: LocationId| {
            let all = evidence.met.barrier_sums.then(|| evidence.barriers_of(location));
            let sums = all.into_iter().flatten().map(|done| done.row).filter(|row| row.summed);
            let sums: Box<dyn Iterator<Item = EventRow>> = Box::new(sums);
            let singles = move |after_ns| {
                let after =
                    evidence.barriers_of(location).skip_while(move |done| done.row.end_ns <= after_ns);
                after.filter(|done| !done.row.summed)
            };
            OfLocation { sums: sums.peekable(), singles: Lately::new(KEPT, singles) }
        };
        ShortWaits(evidence.profile.locations.keys().map(of_location).collect())
    }

    /// Whether a location may have waited shortly between two instants, the first no earlier than those asked
    /// for before: in a sum, or alone, but queueing for a processor all the time.
    fn has(&mut self, (location, object): (LocationId, ObjectId), (from_ns, to_ns): (u64, u64)) -> bool {
        // Operations are in order of their ends: a sum that reaches far is behind many single ones.
        let OfLocation { sums, singles } = &mut self.0[location.index()];
        while sums.next_if(|sum| sum.end_ns < from_ns).is_some() {}
        let mut near = singles.between(from_ns.saturating_sub(1), to_ns.saturating_add(1));
        sums.peek().is_some_and(|sum| sum.begin_ns <= to_ns) || near.any(|done| done.object == Some(object))
    }
}
