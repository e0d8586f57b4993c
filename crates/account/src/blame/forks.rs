//! When regions were opened: a fork is a synchronisation of all that take part.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use proust_profile::{LocationId, RegionId};

use super::evidence::Evidence;
use super::meetings::{MeetingId, Meetings};
use rustc_hash::FxHashMap as Map;

/// The forks of regions, in order of time.
pub(super) struct Forks<'e> {
    evidence: &'e Evidence<'e>,
    /// The next stay of each location: when its region was opened, the stay, and the first behind them all.
    next: BinaryHeap<Reverse<(u64, usize, usize)>>,
    /// When each meeting's last one was.
    last_ns: Map<MeetingId, u64>,
}

impl<'e> Forks<'e> {
    pub(super) fn new(evidence: &'e Evidence<'e>, meetings: &Meetings) -> Forks<'e> {
        let stays = &evidence.profile.stays;
        let ranges =
            (0..meetings.of_location.len()).map(|location| meetings.stays(LocationId::from_index(location)));
        let next = ranges.filter(|range| !range.is_empty());
        Forks {
            evidence,
            next: next.map(|range| Reverse((stays[range.start].fork_ns, range.start, range.end))).collect(),
            last_ns: Map::default(),
        }
    }

    /// The next fork until an instant: when, of which meeting's group, of which region.
    pub(super) fn next_until(
        &mut self,
        now_ns: u64,
        meetings: &Meetings,
    ) -> Option<(u64, MeetingId, RegionId)> {
        let profile = self.evidence.profile;
        while let Some(&Reverse((fork_ns, row, end))) = self.next.peek() {
            if fork_ns > now_ns {
                return None;
            }
            self.next.pop();
            if row + 1 < end {
                self.next.push(Reverse((profile.stays[row + 1].fork_ns, row + 1, end)));
            }
            let stay = &profile.stays[row];
            // Of a thread that began in its first region the log says when it began.
            let born_ns = (profile.locations[stay.location].start_s * 1e9).round() as u64;
            let Some(meeting) = meetings.of_region(stay.region).filter(|_| fork_ns > born_ns) else {
                continue;
            };
            let last_ns = self.last_ns.entry(meeting).or_default();
            if fork_ns > *last_ns {
                *last_ns = fork_ns;
                return Some((fork_ns, meeting, stay.region));
            }
        }
        None
    }
}
