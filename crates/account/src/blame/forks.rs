//! When regions were opened: a fork is a synchronisation of all that take part.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use proust_profile::{LocationId, RegionId, RowsOf, StayRow};

use super::evidence::Evidence;
use super::meetings::{MeetingId, Meetings};
use rustc_hash::FxHashMap as Map;

/// The forks of regions, in order of time.
pub(super) struct Forks<'e> {
    evidence: &'e Evidence<'e>,
    /// By location, the stays behind the next one.
    rest: Vec<RowsOf<'e, StayRow>>,
    /// When the region of each location's next stay was opened, whose it is, and of which region.
    next: BinaryHeap<Reverse<(u64, LocationId, RegionId)>>,
    /// When each meeting's last one was.
    last_ns: Map<MeetingId, u64>,
}

impl<'e> Forks<'e> {
    pub(super) fn new(evidence: &'e Evidence<'e>, meetings: &Meetings) -> Forks<'e> {
        let stays = &evidence.profile.stays;
        let locations = (0..meetings.of_location.len()).map(LocationId::from_index);
        let mut forks = Forks {
            evidence,
            rest: locations.clone().map(|location| stays.of(location)).collect(),
            next: BinaryHeap::new(),
            last_ns: Map::default(),
        };
        locations.for_each(|location| forks.read(location));
        forks
    }

    /// Reads the next stay of a location.
    fn read(&mut self, location: LocationId) {
        if let Some(stay) = self.rest[location.index()].next() {
            self.next.push(Reverse((stay.fork_ns, location, stay.region)));
        }
    }

    /// The next fork until an instant: when, of which meeting's group, of which region.
    pub(super) fn next_until(
        &mut self,
        now_ns: u64,
        meetings: &Meetings,
    ) -> Option<(u64, MeetingId, RegionId)> {
        let profile = self.evidence.profile;
        while let Some(&Reverse((fork_ns, location, region))) = self.next.peek() {
            if fork_ns > now_ns {
                return None;
            }
            self.next.pop();
            self.read(location);
            // Of a thread that began in its first region the log says when it began.
            let born_ns = profile.locations[location].start.unsigned();
            let Some(meeting) = meetings.of_region(region).filter(|_| fork_ns > born_ns) else {
                continue;
            };
            let last_ns = self.last_ns.entry(meeting).or_default();
            if fork_ns > *last_ns {
                *last_ns = fork_ns;
                return Some((fork_ns, meeting, region));
            }
        }
        None
    }
}
