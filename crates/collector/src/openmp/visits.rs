//! A thread's visits to barriers: how many of each, and which of them are measured ([`draws`]).
//!
//! A visit that is not drawn reads no clock and touches no memory that other threads write: it finds its
//! site's line, counts, and notes that it is inside. The time of such visits is estimated later
//! ([`estimate`](super::estimate)), at the latest when the thread is sampled. Sites are found by their
//! address and stack pointer. A thread has room for so many; visits to others are all measured.
//!
//! A team of one waits for no other thread, so a visit of its thread is only counted ([`pass_alone`]): the
//! hook does not stand between the runtime and the program when the runtime returns.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use proust_log::operations::Operation;

use super::draws;
use super::estimate::Tally;
use super::long_gaps::Long;
use crate::arena::{self, spread};
use crate::lane::{self, Lane};
use crate::life;
use crate::path::stack::OwnStack;

mod choice;
mod doubled;
mod inside;

pub use choice::Levels;
pub use doubled::Trial;
pub use inside::Interrupted;

/// Sites at which a thread may leave out visits.
pub const SITES: usize = 32;

/// Outside of any region, and inside one whose team is unknown.
pub const OUTSIDE: u64 = 1;

/// A site's level is reconsidered no more often than that.
const THOUGHT_APART_NS: u64 = 100_000;

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

/// The data that every visit needs besides its site's line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Now {
    /// The execution that the thread is in; 0 = the next visit has to look again, since something was
    /// measured.
    epoch: AtomicU64,
    /// The word of the lane's header that says what the thread is in.
    wait_operation: AtomicPtr<u32>,
    /// Of a drawn visit: when the thread arrived, and when it began or continued to wait.
    arrived_ns: AtomicU64,
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
    has_changed: AtomicBool,
    /// Whether the thread is a team of one in the execution that it is in.
    is_alone: AtomicBool,
    /// Stands in for a header's word where there is none.
    no_header: AtomicU32,
}

const _: () = assert!(size_of::<Now>() == 64);

/// Fields that are written with the lane's record taken.
#[derive(Debug, Default)]
pub struct Pending {
    /// Time that passed with visits that were not drawn, but for what was measured meanwhile.
    pub gap_ns: u64,
    /// Begin of the first such time.
    pub since_ns: u64,
    /// The data of waits and work, by site.
    pub tallies: [Tally; SITES],
    /// Drawn visits by site, in all executions.
    pub drawn: [u64; SITES],
    /// Of gaps that are long.
    pub long: Long,
    /// The cost of counting a visit, by site.
    pub trials: [Trial; SITES],
    /// When a site's level was last reconsidered, and at which visit. By the thread that sets the level.
    thought: [(u64, u64); SITES],
}

/// The visits of a thread. Used by its thread alone; by another one only where that has taken the record.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Visits {
    now: Now,
    sites: [Visit; SITES],
    doubled: doubled::Doubled,
    pending: UnsafeCell<Pending>,
}

/// How a visit is treated.
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
    /// The operation that the visits count as.
    pub operation: Option<Operation>,
    /// Address behind the call.
    pub address: u64,
    /// See [`CallSite`].
    pub sp: u64,
}

#[inline(always)]
fn home(address: u64) -> usize {
    (spread(address) >> 59) as usize % SITES
}

/// A place from which a thread calls the runtime, as visits and segments are kept by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The address behind the call.
    pub address: u64,
    /// A stack pointer that is the same whenever the same frame calls from there. Of a hook that returns to
    /// the program: where its return address lies.
    pub sp: u64,
}

/// Counts the visit of a team of one to a barrier that is not drawn. Returns whether that is all there is to
/// do: the hook may then jump to the runtime. An instruction behind a system call that returns to the program
/// takes longer than all of this, since the kernel leaves the processor no way to predict it.
#[inline(always)]
pub fn pass_alone(call: CallSite) -> bool {
    if !life::records_here() {
        return false;
    }
    let Some(visits) = lane::visits() else { return false };
    if !visits.now.is_alone.load(Ordering::Relaxed) {
        return false;
    }
    let at = home(call.address);
    let site = &visits.sites[at];
    let count = site.count.load(Ordering::Relaxed);
    if !site.is_of_now(visits, call) {
        return false;
    }
    if count >= site.next.load(Ordering::Relaxed) {
        if !visits.doubled.has(at, count) {
            return false;
        }
        visits.count_alone_once_more(at, call);
    }
    site.count.store(count + 1, Ordering::Relaxed);
    site.undrawn.store(site.undrawn.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    visits.now.at.store(at as u32, Ordering::Relaxed);
    true
}

/// Passes a barrier that is not drawn, if that is all there is to do: the thread is inside then until
/// [`Visits::over`]. None if the visit has to be looked at.
#[inline(always)]
pub fn pass(call: CallSite, inside: Inside) -> Option<&'static Visits> {
    if !life::records_here() {
        return None;
    }
    let visits = lane::visits()?;
    let at = home(call.address);
    let site = &visits.sites[at];
    let count = site.count.load(Ordering::Relaxed);
    if !site.is_of_now(visits, call) {
        return None;
    }
    if count >= site.next.load(Ordering::Relaxed) {
        if !site.leaves_out() {
            return None;
        }
        if visits.doubled.has(at, count) {
            visits.count_twice(at, call, inside);
            return Some(visits);
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
    /// Finds the lane's header in the log. A forked child has none before its first record.
    fn find_header(&self, lane: &Lane) {
        let word = lane.wait_operation_word();
        let word = if word.is_null() { self.now.no_header.as_ptr() } else { word };
        self.now.wait_operation.store(word, Ordering::Relaxed);
    }

    /// The thread enters or leaves a region, or something else was measured: the next visit is to be looked
    /// at.
    #[inline]
    pub fn look_again(&self) {
        self.now.epoch.store(0, Ordering::Relaxed);
    }

    /// The thread is sampled at `sp`, on its `own_stack` or another: whether it is inside. In a gap that
    /// shows where the time goes.
    pub fn is_sampled_inside(&self, sp: u64, own_stack: OwnStack) -> bool {
        let is_inside = self.is_inside_at(sp, own_stack) || self.is_inside_alone(sp, own_stack);
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

    /// The place of the newest visit that was looked at; [`SITES`] if there is no room for it.
    pub fn at(&self) -> usize {
        self.now.at.load(Ordering::Relaxed) as usize
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

    /// The visits still to be settled.
    ///
    /// # Safety
    /// The caller has taken the lane's record, and no other reference from this function is alive.
    #[expect(clippy::mut_from_ref, reason = "exclusive by the lane's record, which the type cannot show")]
    pub unsafe fn pending(&self) -> &mut Pending {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.pending.get() }
    }

    /// Whether there are visits that were not drawn since [`Visits::take_undrawn`] was last called.
    pub fn has_undrawn(&self) -> bool {
        self.sites.iter().any(Visit::has_undrawn)
    }

    /// The visits that were not drawn since the last call, by site. For the thread that has taken the record.
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
        self.doubled.forget();
        let now = &self.now;
        for word in [&now.inside, &now.is_in_gap, &now.weight, &now.at, &now.before, &now.seen] {
            word.store(0, Ordering::Relaxed);
        }
        for word in [&now.has_changed, &now.is_alone] {
            word.store(false, Ordering::Relaxed);
        }
        self.look_again();
    }
}

impl Visit {
    /// Whether it has visits that were not drawn and are not settled.
    fn has_undrawn(&self) -> bool {
        self.undrawn.load(Ordering::Relaxed) > self.settled.load(Ordering::Relaxed)
    }

    /// Whether it is this one, and had a visit in the execution that the thread is in.
    #[inline(always)]
    fn is_of_now(&self, visits: &Visits, call: CallSite) -> bool {
        self.address.load(Ordering::Relaxed) == call.address
            && self.sp.load(Ordering::Relaxed) == call.sp
            && self.epoch.load(Ordering::Relaxed) == visits.now.epoch.load(Ordering::Relaxed)
    }

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
