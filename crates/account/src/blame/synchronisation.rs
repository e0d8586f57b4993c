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

use proust_profile::{ContextId, LocationId};

use super::doing::Doing;
use super::evidence::{Evidence, Kind};
use super::meetings::{MeetingId, Meetings};
use super::object::ObjectId;
use super::releases::within;
use crate::ledger::Window;

/// An arrival within this of the last counts as last, too; or within a hundredth of the longest wait.
const TOGETHER_NS: u64 = 20_000;
/// A call that takes longer than this waits: it is not the last one.
pub(super) const WAITS_NS: u64 = 20_000;

/// A member whose wait is known.
#[derive(Clone, Debug)]
pub(super) struct Come {
    pub(super) location: LocationId,
    /// Where it waited.
    pub(super) context: ContextId,
    /// Position in the profile's events.
    pub(super) event: usize,
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

    /// The last to arrive. `short` finds short waits that are known by sums only.
    pub(super) fn last(&self, evidence: &Evidence<'_>, meetings: &Meetings, short: &mut ShortWaits) -> Last {
        let departure_ns = self.departure_ns();
        let meeting = &meetings.all[self.meeting as usize];
        let begins = || self.come.iter().map(|come| come.begin_ns);
        let (first_ns, last_ns) = (begins().min().unwrap_or(0), begins().max().unwrap_or(0));
        let opens_ns = self.opens_ns.max(last_ns);
        let mut waiting: Vec<LocationId> = self.come.iter().map(|come| come.location).collect();
        waiting.sort_unstable();
        let is_waiting = |location: LocationId| waiting.binary_search(&location).is_ok();
        let wakes = within(evidence.releases.of_object(meeting.object), last_ns, departure_ns);
        if let Some(wake) = wakes.iter().rfind(|wake| !is_waiting(wake.location)) {
            return Last { arrival_ns: wake.time_ns, late: vec![wake.location] };
        }
        let members = &meetings.groups[meeting.group as usize].members;
        let others = || members.iter().copied().filter(|&member| !is_waiting(member));
        // A location that arrived later than all of those arrived between these two.
        let came = (last_ns.saturating_sub(WAITS_NS), departure_ns);
        let missing: Vec<LocationId> = match meeting.is_team {
            true => others()
                .filter(|&member| meetings.has_stay(evidence.profile, (self.meeting, member), came))
                .collect(),
            false => {
                let object = meeting.object;
                others().filter(|&member| short.has(evidence, (member, object), came)).collect()
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
#[derive(Debug)]
pub(super) struct ShortWaits {
    /// By location, the next sum and the next single event that may be one.
    next: Vec<(usize, usize)>,
}

impl ShortWaits {
    pub(super) fn new(evidence: &Evidence<'_>) -> ShortWaits {
        ShortWaits { next: evidence.ranges.iter().map(|range| (range.start, range.start)).collect() }
    }

    /// Whether a location may have waited shortly between two instants, the first no earlier than those asked
    /// for before: in a sum, or alone, but queueing for a processor all the time.
    fn has(
        &mut self,
        evidence: &Evidence<'_>,
        (location, object): (LocationId, ObjectId),
        (from_ns, to_ns): (u64, u64),
    ) -> bool {
        let end = evidence.ranges[location.index()].end;
        let events = &evidence.profile.events;
        let is_barrier = |id: usize| evidence.kind(id) == Kind::Barrier;
        // Events are in order of their ends: a sum that reaches far is behind many single ones.
        let (sum, single) = &mut self.next[location.index()];
        let is_sum = |id: usize| events[id].summed && is_barrier(id);
        while *sum < end && (!is_sum(*sum) || events[*sum].end_ns < from_ns) {
            *sum += 1;
        }
        while *single < end && (events[*single].summed || events[*single].end_ns < from_ns) {
            *single += 1;
        }
        let mut singles = (*single..end).filter(|&id| !events[id].summed);
        let is_here = |id: usize| is_barrier(id) && evidence.object(id) == Some(object);
        *sum < end && events[*sum].begin_ns <= to_ns
            || singles.by_ref().take_while(|&id| events[id].begin_ns <= to_ns).any(is_here)
    }
}
