//! What a thread is in: its innermost region, the segment of work that it is at, and since when it has been
//! without any.
//!
//! A thread that has done its part of a region it did not open is *docked*: it waits for the others, and then
//! for the next region. It does not know when the one becomes the other; who opened the region writes that
//! into the lane's header.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::arrivals::{Barriers, Passed};
use super::own_cost::OwnCost;
use super::settling;
use super::team::Team;
use super::visits::{OUTSIDE, Visits};
use crate::lane::Lane;
use crate::operation::known_paths::KnownPaths;
use crate::path::tree::NodeId;
use crate::room;

/// Regions inside regions that one thread opens; deeper ones are not followed.
pub const LEVELS: usize = 16;

/// A wait as long as that is worth reading the CPU clock at its begin.
const LONG_WAIT_NS: u64 = 20_000;

/// Work in a region, or outside, as long as that is worth reading the CPU clock at its end: what of it was on
/// a processor is known then, and not only by samples.
pub const LONG_WORK_NS: u64 = 1_000_000;

/// Parts of regions that are shorter are brief.
const BRIEF_NS: u64 = 20_000;

/// Used by its thread alone, but for `next`.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Member {
    region: AtomicU32,
    /// The team that it works in; null = none.
    team: AtomicPtr<Team>,
    /// Its number in that team.
    number: AtomicU32,
    /// Threads of that team; 0 = not known.
    size: AtomicU32,
    /// The execution of a region that it is in, the same for all of its team; [`OUTSIDE`] = none.
    epoch: AtomicU64,
    /// Its visits to barriers; null = none yet.
    visits: AtomicPtr<Visits>,
    /// Its barriers in that team.
    pub barriers: Barriers,
    /// What measuring its parts of regions takes.
    pub own_cost: OwnCost,
    /// Requests for iterations.
    requests: AtomicU32,
    /// Where the loop is whose iterations are handed out to it; 0 = none.
    handed_out: AtomicU64,
    /// Begin of its part of the region.
    begin_ns: AtomicU64,
    /// Since when it has been at work, if it is.
    since_ns: AtomicU64,
    /// Work since the last site, but for that since `since_ns`.
    worked_ns: AtomicU64,
    /// Waiting that was interrupted by work, and goes on.
    waited_ns: AtomicU64,
    /// Address of what the copier of the task that is being made needs.
    given: AtomicUsize,
    /// How long its newest wait took.
    last_wait_ns: AtomicU64,
    /// When the newest region that it opened was over.
    closed_ns: AtomicU64,
    /// Since when it is docked; 0 = it is not.
    docked_ns: AtomicU64,
    /// The team at the end of whose region it docked last; null = none.
    docked_in: AtomicPtr<Team>,
    /// A team whose newest region it closed without telling the others; null = none.
    owed: AtomicPtr<Team>,
    /// Path of a thread of the runtime without work; 0 = not known.
    idle_node: AtomicU32,
    /// Call paths from which it opened regions.
    pub opening_paths: KnownPaths,
    /// Next in the list of the team's members.
    next: AtomicPtr<Lane>,
    /// Teams that it has opened, outermost first; made once for each level.
    levels: [AtomicPtr<Team>; LEVELS],
    depth: AtomicU32,
}

/// What [`Member`] says of the region around one that is opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// Its number; 0 = none.
    pub region: u32,
    /// Address of the team; 0 = none.
    pub team: usize,
    /// The number in the team.
    pub number: u32,
    /// Threads of the team.
    pub size: u32,
    /// The execution of the region; 0 = none.
    pub epoch: u64,
    /// Barriers passed in it.
    pub barriers: Passed,
    /// Begin of the part.
    pub begin_ns: u64,
    /// Work since the last site.
    pub worked_ns: u64,
}

impl Member {
    /// Number of the innermost region; 0 = none.
    #[inline]
    pub fn region(&self) -> u32 {
        self.region.load(Ordering::Relaxed)
    }

    /// Sets that number, for records to come.
    #[inline]
    pub fn set_region(&self, region: u32) {
        self.region.store(region, Ordering::Relaxed);
    }

    /// The team that the thread works in.
    #[inline]
    pub fn team(&self) -> Option<&'static Team> {
        // SAFETY: null, or a team, and those are never freed.
        unsafe { self.team.load(Ordering::Relaxed).as_ref() }
    }

    /// The thread's number in its team.
    #[inline]
    pub fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    /// Threads of its team; 0 = not known, saturates.
    #[inline]
    pub fn team_size(&self) -> u16 {
        u16::try_from(self.size.load(Ordering::Relaxed)).unwrap_or(u16::MAX)
    }

    /// Begin of its part.
    #[inline]
    pub fn begin_ns(&self) -> u64 {
        self.begin_ns.load(Ordering::Relaxed)
    }

    /// How many requests for iterations it made before this one.
    #[inline]
    pub fn next_request(&self) -> u32 {
        let made = self.requests.load(Ordering::Relaxed);
        self.requests.store(made.wrapping_add(1), Ordering::Relaxed);
        made
    }

    /// Where the loop is whose iterations are handed out to it; 0 = none.
    #[inline]
    pub fn handed_out(&self) -> u64 {
        self.handed_out.load(Ordering::Relaxed)
    }

    /// Sets that.
    #[inline]
    pub fn set_handed_out(&self, site: u64) {
        self.handed_out.store(site, Ordering::Relaxed);
    }

    /// The work since the last site, up to when it stopped working.
    pub fn worked_ns(&self) -> u64 {
        self.worked_ns.load(Ordering::Relaxed)
    }

    /// Sets the work since the last site.
    pub fn set_worked(&self, worked_ns: u64) {
        self.worked_ns.store(worked_ns, Ordering::Relaxed);
    }

    /// The execution of a region that it is in, the same for all of its team.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed).max(OUTSIDE)
    }

    fn set_epoch(&self, epoch: u64) {
        self.epoch.store(epoch, Ordering::Relaxed);
        if let Some(visits) = self.visits() {
            visits.look_again();
        }
    }

    /// Its visits to barriers.
    #[inline]
    pub fn visits(&self) -> Option<&'static Visits> {
        // SAFETY: null, or pages that are never given back.
        unsafe { self.visits.load(Ordering::Relaxed).as_ref() }
    }

    /// Sets them, once.
    pub fn set_visits(&self, visits: *mut Visits) {
        self.visits.store(visits, Ordering::Relaxed);
    }

    /// Takes the work of the segment that has ended at `now_ns` at no barrier. If barriers were passed in it
    /// that were not measured, it is no work but a gap. For who has taken the record.
    #[inline]
    pub fn take_work_after_visits(&self, now_ns: u64) -> u64 {
        let work_ns = self.take_work();
        match self.visits() {
            Some(visits) if visits.end_segment() => {
                // SAFETY: the caller has taken the record.
                settling::add_gap(unsafe { visits.pending() }, work_ns, now_ns);
                0
            }
            _ => work_ns,
        }
    }

    /// It begins its part in a team, in the execution of the region that was opened at `fork_ns`.
    pub fn enter(
        &self,
        team: &'static Team,
        region: u32,
        (number, size): (u32, u32),
        (fork_ns, now_ns): (u64, u64),
    ) {
        self.set_epoch(fork_ns.max(OUTSIDE + 1));
        self.size.store(size, Ordering::Relaxed);
        self.region.store(region, Ordering::Relaxed);
        self.team.store(core::ptr::from_ref(team).cast_mut(), Ordering::Relaxed);
        self.number.store(number, Ordering::Relaxed);
        self.barriers.restore(&Passed::default());
        self.begin_ns.store(now_ns, Ordering::Relaxed);
        self.worked_ns.store(0, Ordering::Relaxed);
        self.since_ns.store(now_ns, Ordering::Relaxed);
    }

    /// It is in no team any more.
    pub fn leave(&self) {
        self.set_epoch(OUTSIDE);
        self.team.store(core::ptr::null_mut(), Ordering::Relaxed);
        self.since_ns.store(0, Ordering::Relaxed);
    }

    /// It stops working at `now_ns`, for something that is no part of its segment.
    #[inline]
    pub fn pause(&self, now_ns: u64) {
        let since_ns = self.since_ns.swap_relaxed(0);
        if since_ns != 0 {
            let worked_ns = self.worked_ns.load(Ordering::Relaxed) + now_ns.saturating_sub(since_ns);
            self.worked_ns.store(worked_ns, Ordering::Relaxed);
        }
    }

    /// It goes on working.
    #[inline]
    pub fn resume(&self, now_ns: u64) {
        self.since_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Takes the work of the segment that has ended.
    #[inline]
    pub fn take_work(&self) -> u64 {
        self.worked_ns.swap_relaxed(0)
    }

    /// Address of what a copier needs.
    #[inline]
    pub fn given(&self) -> usize {
        self.given.load(Ordering::Relaxed)
    }

    /// Sets it; the one before comes back.
    #[inline]
    pub fn give(&self, address: usize) -> usize {
        let before = self.given();
        self.given.store(address, Ordering::Relaxed);
        before
    }

    /// Whether the thread's CPU clock is worth a reading where it begins to wait: its waits are long. What it
    /// used before and what in the wait could not be told apart otherwise, since runtimes look for a while
    /// before they sleep.
    #[inline]
    pub fn waits_long(&self) -> bool {
        self.last_wait_ns.load(Ordering::Relaxed) >= LONG_WAIT_NS
    }

    /// How long its newest wait took.
    #[inline]
    pub fn last_wait_ns(&self) -> u64 {
        self.last_wait_ns.load(Ordering::Relaxed)
    }

    /// A wait took so long.
    #[inline]
    pub fn has_waited(&self, ns: u64) {
        self.last_wait_ns.store(ns, Ordering::Relaxed);
    }

    /// Adds to the waiting that was interrupted.
    pub fn waited(&self, ns: u64) {
        self.waited_ns.store(self.waited_ns.load(Ordering::Relaxed) + ns, Ordering::Relaxed);
    }

    /// Takes it.
    #[inline]
    pub fn take_waited(&self) -> u64 {
        self.waited_ns.swap_relaxed(0)
    }

    /// What it is in, to be taken up again after a region inside.
    pub fn place(&self) -> Place {
        Place {
            region: self.region(),
            team: self.team.load(Ordering::Relaxed) as usize,
            number: self.number(),
            size: self.size.load(Ordering::Relaxed),
            epoch: self.epoch.load(Ordering::Relaxed),
            barriers: self.barriers.passed(),
            begin_ns: self.begin_ns(),
            worked_ns: self.worked_ns.load(Ordering::Relaxed),
        }
    }

    /// Takes it up again.
    pub fn restore(&self, place: &Place, now_ns: u64) {
        self.set_epoch(place.epoch);
        self.region.store(place.region, Ordering::Relaxed);
        self.team.store(place.team as *mut Team, Ordering::Relaxed);
        self.number.store(place.number, Ordering::Relaxed);
        self.size.store(place.size, Ordering::Relaxed);
        self.barriers.restore(&place.barriers);
        self.begin_ns.store(place.begin_ns, Ordering::Relaxed);
        self.worked_ns.store(place.worked_ns, Ordering::Relaxed);
        self.since_ns.store(if place.team == 0 { 0 } else { now_ns }, Ordering::Relaxed);
    }

    /// When the newest region that it opened was over.
    #[inline]
    pub fn closed_ns(&self) -> u64 {
        self.closed_ns.load(Ordering::Relaxed)
    }

    /// Keeps it.
    #[inline]
    pub fn set_closed(&self, now_ns: u64) {
        self.closed_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Since when it is docked; 0 = it is not.
    #[inline]
    pub fn docked_ns(&self) -> u64 {
        self.docked_ns.load(Ordering::Relaxed)
    }

    /// It docks, or with 0 does so no more.
    #[inline]
    pub fn set_docked(&self, now_ns: u64) {
        self.docked_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Whether its part of the last region was so brief that the next one shall cost as little as can be. By
    /// chance one of 16 was not.
    #[inline]
    pub fn was_brief(&self) -> bool {
        let docked_ns = self.docked_ns();
        let chance = docked_ns.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60;
        docked_ns != 0 && docked_ns.saturating_sub(self.begin_ns()) < BRIEF_NS && chance != 0
    }

    /// The team at the end of whose region it docked last.
    #[inline]
    pub fn docked_in(&self) -> Option<&'static Team> {
        // SAFETY: null, or a team, and those are never freed.
        unsafe { self.docked_in.load(Ordering::Relaxed).as_ref() }
    }

    /// It docks at the end of a region of `team`.
    #[inline]
    pub fn set_docked_in(&self, team: &'static Team) {
        self.docked_in.store(core::ptr::from_ref(team).cast_mut(), Ordering::Relaxed);
    }

    /// Whether it closed a region without telling the others.
    #[inline]
    pub fn owes(&self) -> bool {
        !self.owed.load(Ordering::Relaxed).is_null()
    }

    /// The others of this team are to be told that its newest region is over, if it takes long until the next
    /// one.
    #[inline]
    pub fn owe(&self, team: &'static Team) {
        self.owed.store(core::ptr::from_ref(team).cast_mut(), Ordering::Relaxed);
    }

    /// The team whose others are to be told; it is told only once.
    #[inline]
    pub fn take_owed(&self) -> Option<&'static Team> {
        if !self.owes() {
            return None;
        }
        // SAFETY: null, or a team, and those are never freed.
        unsafe { self.owed.swap(core::ptr::null_mut(), Ordering::Relaxed).as_ref() }
    }

    /// Path of the thread without work.
    #[inline]
    pub fn idle_node(&self) -> NodeId {
        self.idle_node.load(Ordering::Relaxed)
    }

    /// Keeps it.
    pub fn set_idle_node(&self, node: NodeId) {
        self.idle_node.store(node, Ordering::Relaxed);
    }

    /// The next member of the team that it is in the list of. For who opened that team.
    #[inline]
    pub fn next(&self) -> *mut Lane {
        self.next.load(Ordering::Relaxed)
    }

    /// Sets that.
    #[inline]
    pub fn set_next(&self, lane: *mut Lane) {
        self.next.store(lane, Ordering::Relaxed);
    }

    /// The team for the next region that it opens; None if there are too many, or no memory.
    pub fn push_level(&self) -> Option<&'static Team> {
        let depth = self.depth.load(Ordering::Relaxed);
        let level = self.levels.get(depth as usize)?;
        let mut team = level.load(Ordering::Relaxed);
        if team.is_null() {
            team = room::apart(|| core::ptr::from_ref(Team::made()).cast_mut());
            level.store(team, Ordering::Relaxed);
        }
        self.depth.store(depth + 1, Ordering::Relaxed);
        // SAFETY: made above, or when this level was first reached; never freed.
        unsafe { team.as_ref() }
    }

    /// Whether it is in no region, as far as is known.
    #[inline]
    pub fn is_outside(&self) -> bool {
        self.region() == 0 && self.depth.load(Ordering::Relaxed) == 0
    }

    /// The innermost team that it has opened and not closed.
    pub fn last_level(&self) -> Option<&'static Team> {
        let depth = (self.depth.load(Ordering::Relaxed) as usize).checked_sub(1)?;
        // SAFETY: as above.
        unsafe { self.levels.get(depth)?.load(Ordering::Relaxed).as_ref() }
    }

    /// That one is closed.
    pub fn pop_level(&self) {
        let depth = self.depth.load(Ordering::Relaxed);
        self.depth.store(depth.saturating_sub(1), Ordering::Relaxed);
    }

    /// The lane's next thread begins.
    pub fn forget(&self) {
        self.restore(&Place::default(), 0);
        self.opening_paths.forget();
        if let Some(visits) = self.visits() {
            visits.forget();
        }
        self.docked_ns.store(0, Ordering::Relaxed);
        self.docked_in.store(core::ptr::null_mut(), Ordering::Relaxed);
        self.owed.store(core::ptr::null_mut(), Ordering::Relaxed);
        self.idle_node.store(0, Ordering::Relaxed);
        self.depth.store(0, Ordering::Relaxed);
    }
}

/// A swap that is none of several threads: of fields that only their thread writes.
trait SwapRelaxed {
    fn swap_relaxed(&self, value: u64) -> u64;
}

impl SwapRelaxed for AtomicU64 {
    #[inline]
    fn swap_relaxed(&self, value: u64) -> u64 {
        let before = self.load(Ordering::Relaxed);
        self.store(value, Ordering::Relaxed);
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_what_lies_between_waits() {
        let member = Member::default();
        member.resume(100);
        member.pause(130);
        member.pause(150);
        member.resume(200);
        member.pause(205);
        assert_eq!(member.take_work(), 35);
        assert_eq!(member.take_work(), 0);
    }

    #[test]
    fn a_region_inside_leaves_the_outer_one_as_it_was() {
        let member = Member::default();
        let (outer, inner) = (member.push_level().unwrap(), member.push_level().unwrap());
        member.enter(outer, 7, (3, 4), (990, 1_000));
        outer.arrivals.come(&member.barriers, true, 1_005, || 0);
        member.pause(1_010);
        let place = member.place();
        member.enter(inner, 8, (0, 2), (1_015, 1_020));
        member.restore(&place, 1_100);
        assert_eq!((member.region(), member.number(), member.begin_ns()), (7, 3, 1_000));
        assert_eq!(member.team_size(), 4);
        assert_eq!(outer.arrivals.last(&member.barriers).map(|last| last.ns), Some(1_005));
        member.pause(1_105);
        assert_eq!(member.take_work(), 15);
        member.pop_level();
        assert!(core::ptr::eq(member.last_level().unwrap(), outer));
    }

    #[test]
    fn no_more_levels_than_there_are() {
        let member = Member::default();
        assert_eq!((0..LEVELS + 5).filter(|_| member.push_level().is_some()).count(), LEVELS);
    }
}
