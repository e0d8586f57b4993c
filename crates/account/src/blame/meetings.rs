//! Where locations synchronise, and which of them: known from the whole run before it is swept.
//!
//! A *meeting* is an object at which locations wait for each other: a barrier, a team of OpenMP with its
//! barriers and the ends of its regions, later a communicator. Its *group* are all locations that ever take
//! part. A fork of a region belongs to the meeting of its team. A wait of only some of a team (for tasks, for
//! an iteration) is a meeting of its own and synchronises no other member.
//!
//! Memory is that of meetings times members, not of waits.

use proust_profile::{Detail, LocationId, OperationKind, ProcessId, Profile, RegionId, StayRow};

use super::evidence::{Done, Evidence, Kind};
use super::object::ObjectId;
use super::stays::StaysOf;
use rustc_hash::FxHashMap as Map;

/// Position in [`Meetings::all`].
pub(super) type MeetingId = u32;
/// Position in [`Meetings::groups`].
pub(super) type GroupId = u32;

/// More groups than this are not compared with each other: each then restarts by its own meetings alone.
const MOST_COMPARED: usize = 512;

/// Where locations synchronise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Meeting {
    pub(super) object: ObjectId,
    pub(super) group: GroupId,
    pub(super) process: ProcessId,
    /// A team of OpenMP: the stays show which location is in it when.
    pub(super) is_team: bool,
}

/// The same locations, whatever they meet at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    /// In order.
    pub(super) members: Vec<LocationId>,
    /// Groups all of whose members are in this one, itself included: they synchronise when this one does.
    pub(super) parts: Vec<GroupId>,
}

/// All of a profile.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    pub(super) all: Vec<Meeting>,
    pub(super) groups: Vec<Group>,
    /// The groups that each location is in.
    pub(super) of_location: Vec<Vec<GroupId>>,
    /// By object, and whether only some of a team wait.
    known: Map<(ObjectId, bool), MeetingId>,
    of_region: Vec<Option<MeetingId>>,
}

/// Whether only some of a team wait in this operation.
fn is_partial(operation: Option<OperationKind>) -> bool {
    matches!(operation.map(|kind| kind.detail), Some(Detail::TaskWait | Detail::TaskGroup | Detail::Doacross))
}

fn is_of_team(operation: Option<OperationKind>) -> bool {
    matches!(
        operation.map(|kind| kind.detail),
        Some(Detail::TeamBarrier | Detail::RegionEnd | Detail::CopyPrivate)
    )
}

/// The meetings that locations were seen at so far.
pub(super) struct Gathering<'p> {
    profile: &'p Profile,
    meetings: Meetings,
    members: Vec<Vec<LocationId>>,
    /// Those that wait at some in sums.
    in_sums: Vec<LocationId>,
    /// Those of the location that is looked at.
    stays: Option<(LocationId, StaysOf<'p>)>,
}

impl<'p> Gathering<'p> {
    pub(super) fn new(profile: &'p Profile) -> Gathering<'p> {
        let of_region = vec![None; profile.regions.len()];
        let meetings = Meetings { of_region, ..Meetings::default() };
        Gathering { profile, meetings, members: Vec::new(), in_sums: Vec::new(), stays: None }
    }

    /// Sees an operation: those of a location one after the other.
    #[inline]
    pub(super) fn see(&mut self, evidence: &Evidence<'_>, done: &Done) {
        if done.kind == Kind::Barrier {
            self.see_barrier(evidence, done);
        }
    }

    fn see_barrier(&mut self, evidence: &Evidence<'_>, &Done { row: ref event, object, .. }: &Done) {
        let (location, meetings) = (event.location, &mut self.meetings);
        let operation = evidence.operation(event.operation);
        let Some(object) = object else {
            let may_be_any = event.summed && !is_of_team(operation) && !is_partial(operation);
            if may_be_any && self.in_sums.last() != Some(&location) {
                self.in_sums.push(location);
            }
            return;
        };
        let next = meetings.all.len() as MeetingId;
        let meeting = *meetings.known.entry((object, is_partial(operation))).or_insert(next);
        if meeting == next {
            let (process, is_team) = (evidence.process(location), is_of_team(operation));
            meetings.all.push(Meeting { object, group: 0, process, is_team });
            self.members.push(Vec::new());
        }
        let of_meeting = &mut self.members[meeting as usize];
        if of_meeting.last() != Some(&location) {
            of_meeting.push(location);
        }
        if !is_of_team(operation) {
            return;
        }
        if self.stays.as_ref().is_none_or(|(of, _)| *of != location) {
            self.stays = Some((location, StaysOf::new(&self.profile.stays, location)));
        }
        let stay =
            self.stays.as_mut().and_then(|(_, stays)| stays.newest(event.begin_ns, event.begin_ns, |_| true));
        if let Some(stay) = stay {
            meetings.of_region[stay.region.index()].get_or_insert(meeting);
        }
    }

    /// All of the profile.
    pub(super) fn finish(self, evidence: &Evidence<'_>) -> Meetings {
        let Gathering { mut meetings, mut members, in_sums, .. } = self;
        if meetings.all.is_empty() {
            return Meetings::default();
        }
        meetings.add_those_never_seen(evidence, &mut members, &in_sums);
        meetings.group(members, evidence.profile.locations.len());
        meetings
    }
}

impl Meetings {
    /// A location that always arrives last waits so shortly that it is in sums alone; one that wakes the
    /// others waits nowhere.
    fn add_those_never_seen(
        &self,
        evidence: &Evidence<'_>,
        members: &mut [Vec<LocationId>],
        in_sums: &[LocationId],
    ) {
        let profile = evidence.profile;
        for stay in profile.stays.iter() {
            if let Some(meeting) = self.of_region[stay.region.index()]
                && members[meeting as usize].last() != Some(&stay.location)
            {
                members[meeting as usize].push(stay.location);
            }
        }
        let mut seen = vec![false; profile.locations.len()];
        let plain = || (0..self.all.len()).filter(|&meeting| !self.all[meeting].is_team);
        for meeting in plain() {
            members[meeting].iter().for_each(|&member| seen[member.index()] = true);
        }
        for &location in in_sums.iter().filter(|&&location| !seen[location.index()]) {
            for meeting in plain().filter(|&id| self.all[id].process == evidence.process(location)) {
                members[meeting].push(location);
            }
        }
        for meeting in plain() {
            let wakes = evidence.releases.each_of_object(self.all[meeting].object);
            let mut wakers: Vec<LocationId> = wakes.map(|wake| wake.location).collect();
            wakers.sort_unstable();
            wakers.dedup();
            members[meeting].extend(wakers);
        }
    }

    fn group(&mut self, members: Vec<Vec<LocationId>>, locations: usize) {
        let partial: Vec<bool> = {
            let mut partial = vec![false; self.all.len()];
            self.known.iter().for_each(|(&(_, is_partial), &id)| partial[id as usize] = is_partial);
            partial
        };
        let mut known: Map<Vec<LocationId>, GroupId> = Map::default();
        let mut whole: Vec<bool> = Vec::new();
        for (id, mut of_meeting) in members.into_iter().enumerate() {
            of_meeting.sort_unstable();
            of_meeting.dedup();
            let next = self.groups.len() as GroupId;
            let group = if partial[id] { next } else { *known.entry(of_meeting.clone()).or_insert(next) };
            if group == next {
                self.groups.push(Group { members: of_meeting, parts: vec![next] });
                whole.push(!partial[id]);
            }
            self.all[id].group = group;
        }
        self.of_location = vec![Vec::new(); locations];
        for (id, group) in self.groups.iter().enumerate() {
            for &member in &group.members {
                self.of_location[member.index()].push(id as GroupId);
            }
        }
        if self.groups.len() > MOST_COMPARED {
            return;
        }
        for id in (0..self.groups.len()).filter(|&id| whole[id]) {
            let is_part = |&other: &usize| {
                other != id && is_subset(&self.groups[other].members, &self.groups[id].members)
            };
            let parts: Vec<GroupId> =
                (0..self.groups.len()).filter(is_part).map(|other| other as GroupId).collect();
            self.groups[id].parts.extend(parts);
        }
    }

    /// Whether there is nothing to compare.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The meeting that a wait is at.
    pub(super) fn of_wait(&self, evidence: &Evidence<'_>, wait: &Done) -> Option<MeetingId> {
        let operation = evidence.operation(wait.row.operation);
        self.known.get(&(wait.object?, is_partial(operation))).copied()
    }

    /// The meeting of the team that executes a region, where one of its waits was recorded.
    pub(super) fn of_region(&self, region: RegionId) -> Option<MeetingId> {
        self.of_region.get(region.index()).copied().flatten()
    }

    /// Whether a location was in a region of this meeting that had begun when the first one continued, and
    /// its own part lasted until some arrived.
    pub(super) fn has_stay(
        &self,
        meeting: MeetingId,
        stays: &mut StaysOf<'_>,
        (came_ns, departure_ns): (u64, u64),
    ) -> bool {
        let is_of = |stay: &StayRow| self.of_region(stay.region) == Some(meeting);
        stays.newest(departure_ns, came_ns, is_of).is_some()
    }
}

/// Of two lists in order, whether all of the first is in the second.
fn is_subset(some: &[LocationId], all: &[LocationId]) -> bool {
    some.len() <= all.len() && some.iter().all(|one| all.binary_search(one).is_ok())
}
