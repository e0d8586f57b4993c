//! Which visits to a site are drawn, and at what level.

use crate::arena::spread;
use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::operations::Operation;

use super::{
    CallSite, Inside, LEVEL_BITS, Pending, SITES, THOUGHT_APART_NS, Trial, Visit, Visits, Way, home,
};
use crate::lane::Lane;
use crate::openmp::estimate::Tally;
use crate::openmp::team::Team;
use crate::openmp::{draws, settling};

impl Visits {
    /// Counts a visit that [`pass`](super::pass) did not: how it is treated, and whether it is the first of
    /// the region's execution.
    pub fn arrive(&self, lane: &Lane, operation: Operation, call: CallSite, inside: Inside) -> (Way, bool) {
        let epoch = lane.member.epoch();
        self.doubled.observe_by(inside);
        self.now.is_alone.store(operation == Operation::OmpBarrierOfOne, Ordering::Relaxed);
        self.find_header(lane);
        self.now.before.store(self.now.at.load(Ordering::Relaxed), Ordering::Relaxed);
        let Some(at) = self.find(lane, operation, call, epoch) else {
            self.now.at.store(SITES as u32, Ordering::Relaxed);
            return (Way::Drawn, true);
        };
        self.now.at.store(at as u32, Ordering::Relaxed);
        let site = &self.sites[at];
        let count = site.count.load(Ordering::Relaxed);
        site.count.store(count + 1, Ordering::Relaxed);
        // One that was drawn may have been missed: it was inside of something else.
        let is_drawn = count >= site.next.load(Ordering::Relaxed) && !self.doubled.has(at, count);
        if is_drawn {
            return (Way::Drawn, count == 0);
        }
        site.undrawn.store(site.undrawn.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        let follows = self.now.is_in_gap.load(Ordering::Relaxed) == 0;
        self.now.epoch.store(epoch, Ordering::Relaxed);
        self.now.is_in_gap.store(1, Ordering::Relaxed);
        (if follows { Way::ClockBefore } else { Way::Undrawn }, count == 0)
    }

    /// The site's place. All threads of a team find room for the same sites of an execution.
    fn find(&self, lane: &Lane, operation: Operation, call: CallSite, epoch: u64) -> Option<usize> {
        let home = home(call.address);
        let is_here = |site: &Visit| {
            site.address.load(Ordering::Relaxed) == call.address && site.sp.load(Ordering::Relaxed) == call.sp
        };
        let around = || (0..SITES).map(|step| (home + step) % SITES);
        let at = around().find(|&at| is_here(&self.sites[at])).or_else(|| {
            let free = around().find(|&at| self.sites[at].epoch.load(Ordering::Relaxed) != epoch)?;
            self.make(lane, free, operation, call).then_some(free)
        })?;
        let site = &self.sites[at];
        let region = lane.member.region();
        // What is not settled yet was counted in the region that the thread was in before.
        if site.region.load(Ordering::Relaxed) != region && site.has_undrawn() {
            lane.with_record_in_silence(settling::settle)?;
        }
        if site.epoch.load(Ordering::Relaxed) != epoch {
            let team = lane.member.team();
            let level = match team {
                Some(team) => team.levels.of(call.address),
                // Alone, the thread need not agree with others.
                None => site.level(),
            };
            site.epoch.store(epoch, Ordering::Relaxed);
            site.count.store(0, Ordering::Relaxed);
            site.set_level(level);
            self.set_next(at, draws::next(self.seed(lane), 0, level), false);
        }
        // The operation it counts as depends on the team's size.
        site.set_operation(operation);
        site.region.store(region, Ordering::Relaxed);
        Some(at)
    }

    /// Makes room for a site at a place; false if what is there cannot be settled now.
    #[cold]
    fn make(&self, lane: &Lane, at: usize, operation: Operation, call: CallSite) -> bool {
        lane.with_record_in_silence(|record| {
            settling::settle(record);
            let site = &self.sites[at];
            site.address.store(call.address, Ordering::Relaxed);
            site.sp.store(call.sp, Ordering::Relaxed);
            site.epoch.store(0, Ordering::Relaxed);
            site.kind.store(0, Ordering::Relaxed);
            site.set_operation(operation);
            // SAFETY: the owner, which has taken the record.
            let pending = unsafe { self.pending() };
            pending.tallies[at] = Tally::default();
            pending.trials[at] = Trial::default();
            self.doubled.forget_site(at);
            (pending.drawn[at], pending.thought[at]) = (0, (0, 0));
        })
        .is_some()
    }

    fn seed(&self, lane: &Lane) -> u64 {
        draws::seed(lane.member.team().map_or(0, Team::object), lane.member.epoch())
    }

    /// The level that the site of the newest visit that was looked at gets from now on, by how closely
    /// its visits follow each other. For the thread that passes it to the team, or has no team to pass it to;
    /// `pending` is its own.
    pub fn wanted_level(&self, pending: &mut Pending, now_ns: u64) -> u32 {
        let at = self.at();
        let Some(site) = self.sites.get(at) else { return 0 };
        let (before_ns, before) = pending.thought[at];
        if now_ns.saturating_sub(before_ns) < THOUGHT_APART_NS {
            return site.level();
        }
        let visits = pending.drawn[at] + site.undrawn.load(Ordering::Relaxed);
        pending.thought[at] = (now_ns, visits);
        if before_ns == 0 {
            return site.level();
        }
        let (count, epoch) = (site.count.load(Ordering::Relaxed), site.epoch.load(Ordering::Relaxed));
        let beside = self.sites.iter().filter(|other| {
            let of_other = other.count.load(Ordering::Relaxed);
            // Sites that are visited much less often take little time, and of those visited much more often
            // little is measured.
            let is_like = of_other.saturating_mul(4) >= count && of_other <= count.saturating_mul(4);
            other.epoch.load(Ordering::Relaxed) == epoch && is_like
        });
        let apart_ns = (now_ns - before_ns) / visits.saturating_sub(before).max(1);
        draws::level(apart_ns, beside.count() as u64)
    }

    /// A drawn visit is over: for how many visits it stands, and whether the work before it lies in a gap.
    /// The next one is found, at the level that the team has said, if it has.
    pub fn drawn(&self, lane: &Lane, level: Option<u32>) -> (u32, bool) {
        let was_in_gap = self.now.is_in_gap.load(Ordering::Relaxed) != 0;
        self.now.is_in_gap.store(0, Ordering::Relaxed);
        self.look_again();
        let Some(site) = self.sites.get(self.at()) else {
            self.now.weight.store(1, Ordering::Relaxed);
            return (1, was_in_gap);
        };
        let weight = 1 << site.level();
        self.now.weight.store(weight, Ordering::Relaxed);
        self.draw_next(lane, self.at(), level);
        (weight, was_in_gap)
    }

    /// The team has said the level of the site at a place, which a visit of this execution had.
    pub fn set_level(&self, lane: &Lane, at: usize, level: u32) {
        if let Some(site) = self.sites.get(at)
            && site.epoch.load(Ordering::Relaxed) == lane.member.epoch()
            && site.level() != level
        {
            self.draw_next(lane, at, Some(level));
        }
    }

    fn draw_next(&self, lane: &Lane, at: usize, level: Option<u32>) {
        let site = &self.sites[at];
        if let Some(level) = level.filter(|&level| level != site.level()) {
            site.set_level(level);
            self.now.has_changed.store(true, Ordering::Relaxed);
        }
        let (seed, count, level) = (self.seed(lane), site.count.load(Ordering::Relaxed), site.level());
        let next = draws::next(seed, count, level);
        let is_doubled = self.doubled.is_on() && draws::is_doubled(seed, count.saturating_sub(1), level);
        self.set_next(at, next, is_doubled);
    }

    /// The next visit to the site at a place that is drawn, and whether those before it are counted twice.
    fn set_next(&self, at: usize, next: u64, is_doubled: bool) {
        let epoch = self.sites[at].epoch.load(Ordering::Relaxed);
        self.doubled.set_until(at, if is_doubled { next } else { 0 }, epoch);
        // Visits that are counted twice leave the usual way where drawn ones do.
        self.sites[at].next.store(if is_doubled { 0 } else { next }, Ordering::Relaxed);
    }

    /// The level of the site of the newest visit that was looked at.
    pub fn level(&self) -> u32 {
        self.sites.get(self.at()).map_or(0, Visit::level)
    }

    /// Whether the newest visit that was looked at is to a site of which visits are left out.
    pub fn leaves_out(&self) -> bool {
        self.sites.get(self.at()).is_some_and(Visit::leaves_out)
    }

    /// Whether the site at a place had a visit in the execution that the thread is in.
    pub fn is_of_now(&self, lane: &Lane, at: usize) -> bool {
        self.sites.get(at).is_some_and(|site| site.epoch.load(Ordering::Relaxed) == lane.member.epoch())
    }

    /// Levels that have changed, as the team gets them when it is next brought together. By the thread
    /// that opened the region, at its end.
    pub fn publish(&self, team: &Team, epoch: u64) {
        if !self.now.has_changed.load(Ordering::Relaxed) {
            return;
        }
        self.now.has_changed.store(false, Ordering::Relaxed);
        for site in &self.sites {
            if site.epoch.load(Ordering::Relaxed) == epoch {
                team.levels.set(site.address.load(Ordering::Relaxed), site.level());
            }
        }
    }
}

/// The levels at which a team begins a region, by site. Written by the thread that opens its regions, between
/// two of them.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Levels([AtomicU64; 16]);

impl Levels {
    fn place(&self, address: u64) -> &AtomicU64 {
        &self.0[(spread(address) >> 60) as usize]
    }

    /// That of a site.
    pub fn of(&self, address: u64) -> u32 {
        let known = self.place(address).load(Ordering::Relaxed);
        if known >> LEVEL_BITS == address & (u64::MAX >> LEVEL_BITS) { (known & 0xff) as u32 } else { 0 }
    }

    fn set(&self, address: u64, level: u32) {
        self.place(address).store(address << LEVEL_BITS | u64::from(level), Ordering::Relaxed);
    }
}
