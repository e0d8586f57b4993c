//! A thread's visits to barriers: how many of each, and which of them are measured ([`draws`]).
//!
//! A visit that is not drawn reads no clock and touches no memory that other threads write: it finds its
//! site's line, counts, and says that it is inside. What such visits took is estimated later
//! ([`estimate`](super::estimate)), at the latest when the thread is sampled. Sites are found by their
//! address and stack pointer. A thread has room for so many; visits to others are all measured.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use proust_log::operations::Operation;

use super::draws;
use super::estimate::Tally;
use super::long_gaps::Long;
use super::settling;
use super::team::Team;
use crate::arena;
use crate::clock;
use crate::lane::{self, Lane};
use crate::life;
use crate::path::stack::OwnStack;

/// Sites at which a thread may leave out visits.
pub const SITES: usize = 32;

/// Outside of any region, and inside one of which nobody knows the team.
pub const OUTSIDE: u64 = 1;

/// A site's level is thought of no more often than that.
const THOUGHT_APART_NS: u64 = 100_000;

/// So often a thread looks at what reading the clock takes; and more than that it does not take.
const READINGS: u32 = 64;
const MOST_READING_NS: u64 = 50;

const NOT_SEEN: u32 = 0;
const SEEN_AT_WORK: u32 = 1;
const SEEN_INSIDE: u32 = 2;

const NOT_INSIDE: u32 = 0;
/// Added to [`Inside`]: this visit is drawn.
const DRAWN: u32 = 4;

/// How a thread is inside a barrier for which no operation is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Inside {
    /// The hook's frame lasts until it is over.
    WithFrame = 1,
    /// The runtime has said so by a call that is over already.
    WithoutFrame = 2,
}

/// A site, and the visits to it. One line of the processor's cache, of its thread alone.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Visit {
    address: AtomicU64,
    sp: AtomicU64,
    /// The execution of a region in which visits are counted.
    epoch: AtomicU64,
    /// Visits in that.
    count: AtomicU64,
    /// The next one that is drawn.
    next: AtomicU64,
    /// Visits that were not drawn, in all executions.
    undrawn: AtomicU64,
    /// Those of them that are settled.
    settled: AtomicU64,
    region: AtomicU32,
    /// Level of the draws, and above it the operation that it counts as.
    kind: AtomicU32,
}

const _: () = assert!(size_of::<Visit>() == 64);
const LEVEL_BITS: u32 = 8;

/// What every visit needs besides its site's line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Now {
    /// The execution that the thread is in; 0 = the next visit has to look again, since something was
    /// measured.
    epoch: AtomicU64,
    /// The word of the lane's header that says what the thread is in.
    wait_operation: AtomicPtr<u32>,
    /// Of a drawn visit: when the thread arrived, and when it began or went on to wait.
    came_ns: AtomicU64,
    waits_since_ns: AtomicU64,
    inside: AtomicU32,
    /// Whether a visit was not drawn since the thread's clock was last read for its segments.
    is_in_gap: AtomicU32,
    /// For how many visits that reading stands.
    weight: AtomicU32,
    /// The site of the newest visit, and of the one before the newest that was looked at; [`SITES`] = there
    /// is no room for it.
    at: AtomicU32,
    before: AtomicU32,
    /// Where the thread was when it was sampled in a gap: [`NOT_SEEN`], [`SEEN_AT_WORK`], or [`SEEN_INSIDE`]
    /// and the site.
    seen: AtomicU32,
    /// Whether a level has changed since the begin of the region.
    has_changed: AtomicU32,
    /// Stands in for a header's word where there is none.
    no_header: AtomicU32,
}

/// What is written with the lane's record taken.
#[derive(Debug, Default)]
pub struct Pending {
    /// Time that passed with visits that were not drawn, but for what was measured meanwhile.
    pub gap_ns: u64,
    /// Begin of the first such time.
    pub since_ns: u64,
    /// What is known of waits and work, by site.
    pub tallies: [Tally; SITES],
    /// Drawn visits by site, in all executions.
    pub drawn: [u64; SITES],
    /// Of gaps that are long.
    pub long: Long,
    /// What reading the clock takes, and how often that was looked at.
    reading: (u64, u32),
    /// When a site's level was last thought of, and at which visit. By who says the level.
    thought: [(u64, u64); SITES],
}

impl Pending {
    /// What reading the clock takes where it has just been read: the least of some times. At the process's
    /// begin it takes longer than later on.
    pub fn reading_ns(&mut self) -> u64 {
        let (least_ns, times) = &mut self.reading;
        if *times < READINGS {
            let begin_ns = clock::now_ns();
            let ns = clock::now_ns().saturating_sub(begin_ns).min(MOST_READING_NS);
            *least_ns = if *times == 0 { ns } else { ns.min(*least_ns) };
            *times += 1;
        }
        *least_ns
    }
}

/// The visits of a thread. Used by its thread alone; by another one only where that has taken the record.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Visits {
    now: Now,
    sites: [Visit; SITES],
    pending: UnsafeCell<Pending>,
}

/// What is to be done with a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is measured.
    Drawn,
    /// It is not; but the clock is read where it begins: the work before it followed something measured.
    ClockBefore,
    /// It is not.
    Undrawn,
}

/// A site whose visits are to be settled.
#[derive(Clone, Copy, Debug)]
pub struct SiteOf {
    /// Number of the region.
    pub region: u32,
    /// What the visits count as.
    pub operation: Option<Operation>,
    /// Address behind the call.
    pub address: u64,
    /// Stack pointer there.
    pub sp: u64,
}

#[inline(always)]
fn home(address: u64) -> usize {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59) as usize % SITES
}

/// Passes a barrier that is not drawn, if that is all there is to do: the thread is inside then until
/// [`Visits::over`]. None if the visit has to be looked at.
#[inline(always)]
pub fn pass(address: u64, sp: u64, inside: Inside) -> Option<&'static Visits> {
    if !life::records_here() {
        return None;
    }
    let visits = lane::visits()?;
    let at = home(address);
    let site = &visits.sites[at];
    let count = site.count.load(Ordering::Relaxed);
    let is_known = site.address.load(Ordering::Relaxed) == address
        && site.sp.load(Ordering::Relaxed) == sp
        && site.epoch.load(Ordering::Relaxed) == visits.now.epoch.load(Ordering::Relaxed);
    if !is_known {
        return None;
    }
    if count >= site.next.load(Ordering::Relaxed) {
        if !site.leaves_out() {
            return None;
        }
        site.count.store(count + 1, Ordering::Relaxed);
        visits.now.at.store(at as u32, Ordering::Relaxed);
        visits.enter_drawn(inside);
        return Some(visits);
    }
    site.count.store(count + 1, Ordering::Relaxed);
    site.undrawn.store(site.undrawn.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    visits.now.at.store(at as u32, Ordering::Relaxed);
    visits.enter(inside);
    Some(visits)
}

/// A visit to a barrier that was interrupted by something else, such as a task that the thread does inside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interrupted {
    inside: u32,
    at: u32,
    came_ns: u64,
    is_in_gap: bool,
}

/// The calling thread's visits, if it is inside one that is not drawn.
#[inline]
pub fn inside() -> Option<&'static Visits> {
    lane::visits().filter(|visits| visits.is_inside())
}

/// The visits of the lane's owner, the caller; None if there is no memory.
pub fn of(lane: &'static Lane) -> Option<&'static Visits> {
    if let Some(visits) = lane::visits() {
        return Some(visits);
    }
    let mut visits = lane.member.visits();
    if visits.is_none() {
        let fresh = arena::pages(size_of::<Visits>()).cast::<Visits>();
        // SAFETY: fresh zero pages, if any, which are such a value, and are never given back.
        visits = unsafe { fresh.as_ref() };
        lane.member.set_visits(fresh);
    }
    let visits = visits?;
    visits.find_header(lane);
    lane::set_visits(Some(visits));
    Some(visits)
}

impl Visits {
    /// The thread is inside a barrier that is not measured; the log says so before it may block.
    #[inline(always)]
    pub fn enter(&self, inside: Inside) {
        self.now.inside.store(inside as u32, Ordering::Relaxed);
        // SAFETY: a word of the lane's header, which is mapped for the process's life, or one of these pages.
        // Volatile, so that it is stored now: the process may be killed inside.
        unsafe {
            self.now.wait_operation.load(Ordering::Relaxed).write_volatile(Operation::OmpBarrier as u32)
        };
    }

    /// As [`Visits::enter`], in a drawn visit. Nothing but this lies between the program's work and its
    /// barrier: if measuring delayed the thread, waits that are measured would differ from those that are
    /// not.
    #[inline(always)]
    pub fn enter_drawn(&self, inside: Inside) {
        self.enter(inside);
        self.now.inside.store(inside as u32 | DRAWN, Ordering::Relaxed);
        let now_ns = clock::now_ns();
        self.now.came_ns.store(now_ns, Ordering::Relaxed);
        self.now.waits_since_ns.store(now_ns, Ordering::Relaxed);
    }

    /// It is inside no more. What is to be done if the visit was drawn; it gets when it was over.
    #[inline(always)]
    pub fn over(&'static self, drawn: impl FnOnce(u64)) {
        // A child that was forked inside has other visits, and another record.
        if life::records_here() && lane::visits().is_some_and(|visits| core::ptr::eq(visits, self)) {
            let is_drawn = self.now.inside.load(Ordering::Relaxed) & DRAWN != 0;
            if is_drawn {
                let end_ns = clock::now_ns();
                self.leave();
                drawn(end_ns);
            } else {
                self.leave();
            }
        }
    }

    /// When the thread arrived at its newest drawn visit, and since when it has waited, but for what
    /// interrupted that.
    pub fn came_and_waits_since(&self) -> (u64, u64) {
        (self.now.came_ns.load(Ordering::Relaxed), self.now.waits_since_ns.load(Ordering::Relaxed))
    }

    /// Since when the thread has waited in the drawn visit that it is inside, if it is.
    pub fn waits_since(&self) -> Option<u64> {
        let is_drawn = self.now.inside.load(Ordering::Relaxed) & DRAWN != 0;
        is_drawn.then(|| self.now.waits_since_ns.load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn leave(&self) {
        // SAFETY: as above.
        unsafe { self.now.wait_operation.load(Ordering::Relaxed).write_volatile(0) };
        self.now.inside.store(NOT_INSIDE, Ordering::Relaxed);
    }

    /// Whether the thread is inside a barrier for which no operation is open.
    #[inline]
    pub fn is_inside(&self) -> bool {
        self.now.inside.load(Ordering::Relaxed) != NOT_INSIDE
    }

    /// Whether it is, seen from a call whose frame is at `sp`: what it calls there is the runtime's waiting.
    /// A handler of the program may have left the barrier by a jump; then it is inside no more.
    #[inline]
    pub fn is_inside_at(&self, sp: u64, own_stack: OwnStack) -> bool {
        let inside = self.now.inside.load(Ordering::Relaxed);
        if inside == NOT_INSIDE {
            return false;
        }
        if inside & !DRAWN == Inside::WithFrame as u32
            && let Some(site) = self.sites.get(self.at())
        {
            let frame = site.sp.load(Ordering::Relaxed);
            if frame < sp && own_stack.contains(frame) && own_stack.contains(sp) {
                self.leave();
                return false;
            }
        }
        true
    }

    /// Something else is measured inside it (a task), to be taken up by [`Visits::go_on`].
    pub fn interrupt(&self) -> Interrupted {
        let interrupted = Interrupted {
            inside: self.now.inside.load(Ordering::Relaxed),
            at: self.now.at.load(Ordering::Relaxed),
            came_ns: self.now.came_ns.load(Ordering::Relaxed),
            is_in_gap: self.now.is_in_gap.load(Ordering::Relaxed) != 0,
        };
        if interrupted.inside != NOT_INSIDE {
            self.leave();
        }
        self.look_again();
        self.now.is_in_gap.store(0, Ordering::Relaxed);
        interrupted
    }

    /// Goes on at `now_ns` behind what was measured inside.
    pub fn go_on(&self, interrupted: &Interrupted, now_ns: u64) {
        self.now.is_in_gap.store(u32::from(interrupted.is_in_gap), Ordering::Relaxed);
        if interrupted.inside != NOT_INSIDE {
            self.enter(Inside::WithFrame);
            self.now.inside.store(interrupted.inside, Ordering::Relaxed);
            self.now.at.store(interrupted.at, Ordering::Relaxed);
            self.now.came_ns.store(interrupted.came_ns, Ordering::Relaxed);
            self.now.waits_since_ns.store(now_ns, Ordering::Relaxed);
        }
    }

    /// Finds the lane's header in the log. A forked child has none before its first record.
    fn find_header(&self, lane: &Lane) {
        let word = lane.wait_operation_word();
        let word = if word.is_null() { self.now.no_header.as_ptr() } else { word };
        self.now.wait_operation.store(word, Ordering::Relaxed);
    }

    /// Counts a visit that [`pass`] did not: what is to be done with it, and whether it is the first of the
    /// region's execution.
    pub fn come(&self, lane: &Lane, operation: Operation, (address, sp): (u64, u64)) -> (Way, bool) {
        let epoch = lane.member.epoch();
        self.find_header(lane);
        self.now.before.store(self.now.at.load(Ordering::Relaxed), Ordering::Relaxed);
        let Some(at) = self.find(lane, operation, (address, sp), epoch) else {
            self.now.at.store(SITES as u32, Ordering::Relaxed);
            return (Way::Drawn, true);
        };
        self.now.at.store(at as u32, Ordering::Relaxed);
        let site = &self.sites[at];
        let count = site.count.load(Ordering::Relaxed);
        site.count.store(count + 1, Ordering::Relaxed);
        // One that was drawn may have been missed: it was inside of something else.
        if count >= site.next.load(Ordering::Relaxed) {
            return (Way::Drawn, count == 0);
        }
        site.undrawn.store(site.undrawn.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        let follows = self.now.is_in_gap.load(Ordering::Relaxed) == 0;
        self.now.epoch.store(epoch, Ordering::Relaxed);
        self.now.is_in_gap.store(1, Ordering::Relaxed);
        (if follows { Way::ClockBefore } else { Way::Undrawn }, count == 0)
    }

    /// The site's place. All threads of a team find room for the same sites of an execution.
    fn find(
        &self,
        lane: &Lane,
        operation: Operation,
        (address, sp): (u64, u64),
        epoch: u64,
    ) -> Option<usize> {
        let home = home(address);
        let is_here = |site: &Visit| {
            site.address.load(Ordering::Relaxed) == address && site.sp.load(Ordering::Relaxed) == sp
        };
        let around = || (0..SITES).map(|step| (home + step) % SITES);
        let at = around().find(|&at| is_here(&self.sites[at])).or_else(|| {
            let free = around().find(|&at| self.sites[at].epoch.load(Ordering::Relaxed) != epoch)?;
            self.make(lane, free, operation, (address, sp)).then_some(free)
        })?;
        let site = &self.sites[at];
        if site.epoch.load(Ordering::Relaxed) != epoch {
            let team = lane.member.team();
            let level = match team {
                Some(team) => team.levels.of(address),
                // Alone, there is nobody to agree with.
                None => site.level(),
            };
            site.epoch.store(epoch, Ordering::Relaxed);
            site.count.store(0, Ordering::Relaxed);
            site.set_level(level);
            site.next.store(draws::next(self.seed(lane), 0, level), Ordering::Relaxed);
        }
        // What it counts as depends on the team's size.
        site.set_operation(operation);
        site.region.store(lane.member.region(), Ordering::Relaxed);
        Some(at)
    }

    /// Makes room for a site at a place; false if what is there cannot be settled now.
    #[cold]
    fn make(&self, lane: &Lane, at: usize, operation: Operation, (address, sp): (u64, u64)) -> bool {
        lane.with_record_in_silence(|record| {
            settling::settle(record);
            let site = &self.sites[at];
            site.address.store(address, Ordering::Relaxed);
            site.sp.store(sp, Ordering::Relaxed);
            site.epoch.store(0, Ordering::Relaxed);
            site.kind.store(0, Ordering::Relaxed);
            site.set_operation(operation);
            // SAFETY: the owner, who has taken the record.
            let pending = unsafe { self.pending() };
            pending.tallies[at] = Tally::default();
            (pending.drawn[at], pending.thought[at]) = (0, (0, 0));
        })
        .is_some()
    }

    fn seed(&self, lane: &Lane) -> u64 {
        draws::seed(lane.member.team().map_or(0, Team::object), lane.member.epoch())
    }

    /// The thread enters or leaves a region, or something else was measured: the next visit is to be looked
    /// at.
    #[inline]
    pub fn look_again(&self) {
        self.now.epoch.store(0, Ordering::Relaxed);
    }

    /// The thread is sampled at `sp`, on its `own_stack` or another: whether it is inside. In a gap that
    /// tells where the time goes.
    ///
    pub fn is_sampled_inside(&self, sp: u64, own_stack: OwnStack) -> bool {
        let is_inside = self.is_inside_at(sp, own_stack);
        // The time in a drawn visit is no part of the gap before it.
        if self.is_in_gap() && self.waits_since().is_none() {
            let seen = if is_inside { SEEN_INSIDE + self.at() as u32 } else { SEEN_AT_WORK };
            self.now.seen.store(seen, Ordering::Relaxed);
        }
        is_inside
    }

    /// Where it was seen in the gap that is over: None = it was not sampled; otherwise at which site, None =
    /// at work.
    pub fn take_seen(&self) -> Option<Option<usize>> {
        let seen = self.now.seen.load(Ordering::Relaxed);
        self.now.seen.store(NOT_SEEN, Ordering::Relaxed);
        (seen != NOT_SEEN).then(|| seen.checked_sub(SEEN_INSIDE).map(|at| at as usize))
    }

    /// Whether a visit was not drawn since the clock was last read for the thread's segments.
    pub fn is_in_gap(&self) -> bool {
        self.now.is_in_gap.load(Ordering::Relaxed) != 0
    }

    /// The site of the visit before the newest one that was looked at.
    pub fn before(&self) -> usize {
        self.now.before.load(Ordering::Relaxed) as usize
    }

    /// One visit to a site that was not drawn is as good as measured: whether there is one that is not
    /// settled.
    pub fn take_one(&self, at: usize) -> bool {
        let Some(site) = self.sites.get(at) else { return false };
        let settled = site.settled.load(Ordering::Relaxed);
        let is_there = site.undrawn.load(Ordering::Relaxed) > settled;
        site.settled.store(settled + u64::from(is_there), Ordering::Relaxed);
        is_there
    }

    /// The level that the site of the newest visit that was looked at shall have from now on, by how closely
    /// its visits follow each other. For who says it to the team, or has nobody to say it to; `pending` is
    /// its own.
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
            // What is visited much less often takes little, and of what is visited much more often little is
            // measured.
            let is_like = of_other.saturating_mul(4) >= count && of_other <= count.saturating_mul(4);
            other.epoch.load(Ordering::Relaxed) == epoch && is_like
        });
        let apart_ns = (now_ns - before_ns) / visits.saturating_sub(before).max(1);
        draws::level(apart_ns, beside.count() as u64)
    }

    /// The place of the newest visit that was looked at; [`SITES`] if there is no room for it.
    pub fn at(&self) -> usize {
        self.now.at.load(Ordering::Relaxed) as usize
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
        self.draw_next(lane, site, level);
        (weight, was_in_gap)
    }

    /// The team has said the level of the site at a place, which a visit of this execution had.
    pub fn set_level(&self, lane: &Lane, at: usize, level: u32) {
        if let Some(site) = self.sites.get(at)
            && site.epoch.load(Ordering::Relaxed) == lane.member.epoch()
        {
            self.draw_next(lane, site, Some(level));
        }
    }

    fn draw_next(&self, lane: &Lane, site: &Visit, level: Option<u32>) {
        if let Some(level) = level.filter(|&level| level != site.level()) {
            site.set_level(level);
            self.now.has_changed.store(1, Ordering::Relaxed);
        }
        let next = draws::next(self.seed(lane), site.count.load(Ordering::Relaxed), site.level());
        site.next.store(next, Ordering::Relaxed);
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

    /// The clock was read where a segment ended that was no barrier's: whether it lies in a gap.
    #[inline]
    pub fn end_segment(&self) -> bool {
        let was_in_gap = self.now.is_in_gap.load(Ordering::Relaxed) != 0;
        self.now.is_in_gap.store(0, Ordering::Relaxed);
        self.now.seen.store(NOT_SEEN, Ordering::Relaxed);
        self.now.weight.store(1, Ordering::Relaxed);
        self.look_again();
        was_in_gap
    }

    /// For how many visits the newest reading of the clock stands.
    pub fn weight(&self) -> u32 {
        self.now.weight.load(Ordering::Relaxed).max(1)
    }

    /// Levels that have changed, as the team shall have them when it is next brought together. By who opened
    /// the region, at its end.
    pub fn publish(&self, team: &Team, epoch: u64) {
        if self.now.has_changed.load(Ordering::Relaxed) == 0 {
            return;
        }
        self.now.has_changed.store(0, Ordering::Relaxed);
        for site in &self.sites {
            if site.epoch.load(Ordering::Relaxed) == epoch {
                team.levels.set(site.address.load(Ordering::Relaxed), site.level());
            }
        }
    }

    /// What is still to be settled.
    ///
    /// # Safety
    /// The caller has taken the lane's record, and no other reference from this function is alive.
    #[expect(clippy::mut_from_ref, reason = "exclusive by the lane's record, which the type cannot show")]
    pub unsafe fn pending(&self) -> &mut Pending {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.pending.get() }
    }

    /// The visits that were not drawn since this was last asked, by site. For who has taken the record.
    pub fn take_undrawn(&self) -> [u64; SITES] {
        core::array::from_fn(|at| {
            let site = &self.sites[at];
            let undrawn = site.undrawn.load(Ordering::Relaxed);
            let settled = site.settled.load(Ordering::Relaxed);
            site.settled.store(undrawn, Ordering::Relaxed);
            undrawn.saturating_sub(settled)
        })
    }

    /// The site at a place.
    pub fn site(&self, at: usize) -> SiteOf {
        let site = &self.sites[at];
        SiteOf {
            region: site.region.load(Ordering::Relaxed),
            operation: Operation::from_number((site.kind.load(Ordering::Relaxed) >> LEVEL_BITS) as u16),
            address: site.address.load(Ordering::Relaxed),
            sp: site.sp.load(Ordering::Relaxed),
        }
    }

    /// The lane's next thread begins.
    pub fn forget(&self) {
        for site in &self.sites {
            for word in [&site.address, &site.sp, &site.epoch, &site.count, &site.next] {
                word.store(0, Ordering::Relaxed);
            }
            site.undrawn.store(0, Ordering::Relaxed);
            site.settled.store(0, Ordering::Relaxed);
            site.kind.store(0, Ordering::Relaxed);
        }
        let now = &self.now;
        for word in
            [&now.inside, &now.is_in_gap, &now.weight, &now.has_changed, &now.at, &now.before, &now.seen]
        {
            word.store(0, Ordering::Relaxed);
        }
        self.look_again();
    }
}

impl Visit {
    /// Whether some of its visits are not measured.
    #[inline(always)]
    fn leaves_out(&self) -> bool {
        self.kind.load(Ordering::Relaxed) & ((1 << LEVEL_BITS) - 1) != 0
    }

    fn level(&self) -> u32 {
        (self.kind.load(Ordering::Relaxed) & ((1 << LEVEL_BITS) - 1)).min(draws::HIGHEST_LEVEL)
    }

    fn set_level(&self, level: u32) {
        let kind = self.kind.load(Ordering::Relaxed);
        self.kind.store(kind & !((1 << LEVEL_BITS) - 1) | level, Ordering::Relaxed);
    }

    fn set_operation(&self, operation: Operation) {
        let kind = (operation as u32) << LEVEL_BITS | self.level();
        if self.kind.load(Ordering::Relaxed) != kind {
            self.kind.store(kind, Ordering::Relaxed);
        }
    }
}

/// The levels at which a team begins a region, by site. Written by who opens its regions, between two of
/// them.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Levels([AtomicU64; 16]);

impl Levels {
    fn place(&self, address: u64) -> &AtomicU64 {
        &self.0[(address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60) as usize]
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
