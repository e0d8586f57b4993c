//! A thread's place: its innermost region, the segment of work that it is at, and since when it has been
//! without any.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::arrivals::{BarrierState, Barriers};
use super::gomp::chunk::Step;
use super::leaving::Leaving;
use super::own_cost::OwnCost;
use super::team::Team;
use super::visits::{OUTSIDE, Visits};
use crate::lane::Lane;
use crate::operation::known_paths::FewPaths;

mod docking;
mod levels;
mod work;

/// Regions inside regions that one thread opens; deeper ones are not followed.
pub const LEVELS: usize = 16;

/// Work in a region, or outside, as long as that is worth reading the CPU clock at its end: the part of it on
/// a processor is known then, and not only by samples.
pub const LONG_WORK_NS: u64 = 1_000_000;

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
    /// The newest barrier that it has left.
    pub leaving: Leaving,
    /// The cost of measuring its parts of regions.
    pub own_cost: OwnCost,
    /// Requests for iterations.
    requests: AtomicU32,
    /// Where the loop is whose iterations are handed out to it; 0 = none.
    handed_out: AtomicU64,
    /// Of the loop that it has begun: [`Step::word`].
    step: AtomicU64,
    /// Begin of its part of the region.
    begin_ns: AtomicU64,
    /// Since when it has been at work, if it is.
    since_ns: AtomicU64,
    /// Work since the last site, but for that since `since_ns`.
    worked_ns: AtomicU64,
    /// Waiting that was interrupted by work, and continues.
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
    /// A team whose newest region it closed without notifying the others; null = none.
    owed: AtomicPtr<Team>,
    /// Path of a thread of the runtime without work; 0 = not known.
    idle_node: AtomicU32,
    /// Call paths from which it opened regions.
    pub opening_paths: FewPaths,
    /// Next in the list of the team's members.
    next: AtomicPtr<Lane>,
    /// Teams that it has opened, outermost first; made once for each level.
    levels: [AtomicPtr<Team>; LEVELS],
    depth: AtomicU32,
}

/// The state of [`Member`] for the region around one that is opened.
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
    pub barriers: BarrierState,
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

    /// Sets that number, for records from now on.
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

    /// By how much the variable of its loop grows: of the one that it has begun in this region, or of the one
    /// that is the region.
    #[inline]
    pub fn step(&self) -> Step {
        let own = self.step.load(Ordering::Relaxed);
        if own != 0 { Step::of(own) } else { self.team().map_or(Step::default(), Team::step) }
    }

    /// It begins a loop.
    #[inline]
    pub fn set_step(&self, step: Step) {
        self.step.store(step.word(), Ordering::Relaxed);
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
        self.barriers.restore(&BarrierState::default());
        self.step.store(0, Ordering::Relaxed);
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

    /// Address of what a copier needs.
    #[inline]
    pub fn given(&self) -> usize {
        self.given.load(Ordering::Relaxed)
    }

    /// Sets it; returns the one before.
    #[inline]
    pub fn give(&self, address: usize) -> usize {
        let before = self.given();
        self.given.store(address, Ordering::Relaxed);
        before
    }

    /// Its place, to be restored after a region inside.
    pub fn place(&self) -> Place {
        Place {
            region: self.region(),
            team: self.team.load(Ordering::Relaxed) as usize,
            number: self.number(),
            size: self.size.load(Ordering::Relaxed),
            epoch: self.epoch.load(Ordering::Relaxed),
            barriers: self.barriers.state(),
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
        // Not that of the region inside, and the outer one's is not kept.
        self.step.store(0, Ordering::Relaxed);
        self.begin_ns.store(place.begin_ns, Ordering::Relaxed);
        self.worked_ns.store(place.worked_ns, Ordering::Relaxed);
        self.since_ns.store(if place.team == 0 { 0 } else { now_ns }, Ordering::Relaxed);
    }

    /// The next member of the team whose list it is in. For the thread that opened that team.
    #[inline]
    pub fn next(&self) -> *mut Lane {
        self.next.load(Ordering::Relaxed)
    }

    /// Sets that.
    #[inline]
    pub fn set_next(&self, lane: *mut Lane) {
        self.next.store(lane, Ordering::Relaxed);
    }

    /// The lane's next thread begins.
    pub fn forget(&self) {
        self.restore(&Place::default(), 0);
        self.leaving.forget();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_inside_leaves_the_outer_one_as_it_was() {
        let member = Member::default();
        let (outer, inner) = (member.push_level().unwrap(), member.push_level().unwrap());
        member.enter(outer, 7, (3, 4), (990, 1_000));
        outer.arrivals.arrive(&member.barriers, true, 1_005, || 0);
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
}
