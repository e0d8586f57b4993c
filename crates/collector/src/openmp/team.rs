//! The threads of a parallel region, from its begin to its end.
//!
//! A team belongs to the thread that opened the region and is used again for its next one of that depth.
//! Until the region is over the others may read it; afterwards none of them does, since in every runtime the
//! opener waits until all have arrived at the region's end.
//!
//! - [`opening`]: a thread opens a region
//! - [`given`]: the word that the others get with their work
//! - [`times`]: when it was opened, and the one before it was over
//! - [`part`]: a thread begins its part, does it, and waits for the others
//! - [`closing`]: the thread that opened the region continues after it

pub mod closing;
pub mod given;
pub mod opening;
pub mod part;
pub mod times;

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::arrivals::{Arrivals, Barriers};
use super::gomp::chunk::Step;
use super::member::Place;
use super::runtime::Table;
use super::visits::Levels;
use crate::lane::Lane;
use crate::path::memo::State;

pub use closing::{close, notify_the_others};
pub use opening::{Opening, open};
pub use part::{done, end_open, join, settle};
use times::Times;

/// A team.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Team {
    /// Number of the region; 0 = it has none.
    region: AtomicU32,
    /// The team's own, for [`given`]; 0 = it has none.
    number: AtomicU32,
    /// [`Opening::construct`].
    construct: AtomicU64,
    /// The function that the program wants to be run, and its argument.
    function: AtomicUsize,
    data: AtomicUsize,
    /// [`Opening::runtime`].
    runtime: AtomicPtr<Table>,
    /// The thread that opened it.
    opener: AtomicPtr<Lane>,
    /// [`Opening::step`].
    step: AtomicU64,
    /// When. The fields before it are one cache line that all threads read in each region, and that is
    /// written only where something is not as in the region before.
    times: Times,
    /// The opener's, and its alone.
    own: Own,
    /// Those that began their part, by their number, in this execution or an earlier one. Values that stay
    /// the same from one execution to the next are not written again: they stay in the processors' caches. So
    /// a thread that has not docked for this team since it was opened is no member of it.
    members: Members,
    /// Those whose number is too high for that, the newest first.
    first: First,
    /// When the last one arrived at a barrier.
    pub arrivals: Arrivals,
    /// How many visits to barriers are measured where its next region begins.
    pub levels: Levels,
}

/// Fields that the opener writes while others read the rest.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Own {
    /// Threads in the team; 0 = not known yet.
    size: AtomicU32,
    /// When the opener had done its own part.
    done_ns: AtomicU64,
    /// Regions that are over.
    ended: AtomicU32,
    /// Threads of the region before this one, if they were not notified that it is over; otherwise 0.
    owed: AtomicU32,
    /// Its frame, which lives until the region is over, and a word in it. Without a word there is no such
    /// frame.
    frame: Frame,
    /// Its other state.
    outer: Outer,
}

#[derive(Debug, Default)]
#[repr(align(64))]
struct First(AtomicPtr<Lane>);

/// Members that have a place of their own.
const PLACES: usize = 128;

#[derive(Debug)]
#[repr(align(64))]
struct Members([AtomicPtr<Lane>; PLACES]);

impl Default for Members {
    fn default() -> Members {
        Members([const { AtomicPtr::new(core::ptr::null_mut()) }; PLACES])
    }
}

#[derive(Debug, Default)]
struct Frame {
    pc: AtomicU64,
    sp: AtomicU64,
    bp: AtomicU64,
    marker: AtomicU64,
}

impl Frame {
    fn set(&self, state: State, marker: *mut u64) {
        self.pc.store(state.pc, Ordering::Relaxed);
        self.sp.store(state.sp, Ordering::Relaxed);
        self.bp.store(state.bp, Ordering::Relaxed);
        self.marker.store(marker as u64, Ordering::Relaxed);
    }

    fn state(&self) -> State {
        State {
            pc: self.pc.load(Ordering::Relaxed),
            sp: self.sp.load(Ordering::Relaxed),
            bp: self.bp.load(Ordering::Relaxed),
            exact: true,
            ..State::default()
        }
    }
}

#[derive(Debug, Default)]
struct Outer {
    region: AtomicU32,
    number: AtomicU32,
    size: AtomicU32,
    epoch: AtomicU64,
    barriers: Barriers,
    team: AtomicUsize,
    begin_ns: AtomicU64,
    worked_ns: AtomicU64,
}

impl Outer {
    fn set(&self, place: &Place) {
        self.region.store(place.region, Ordering::Relaxed);
        self.number.store(place.number, Ordering::Relaxed);
        self.size.store(place.size, Ordering::Relaxed);
        self.epoch.store(place.epoch, Ordering::Relaxed);
        self.barriers.restore(&place.barriers);
        self.team.store(place.team, Ordering::Relaxed);
        self.begin_ns.store(place.begin_ns, Ordering::Relaxed);
        self.worked_ns.store(place.worked_ns, Ordering::Relaxed);
    }

    fn place(&self) -> Place {
        Place {
            region: self.region.load(Ordering::Relaxed),
            number: self.number.load(Ordering::Relaxed),
            size: self.size.load(Ordering::Relaxed),
            epoch: self.epoch.load(Ordering::Relaxed),
            barriers: self.barriers.state(),
            team: self.team.load(Ordering::Relaxed),
            begin_ns: self.begin_ns.load(Ordering::Relaxed),
            worked_ns: self.worked_ns.load(Ordering::Relaxed),
        }
    }
}

impl Team {
    /// Number of the region.
    #[inline]
    pub fn region(&self) -> u32 {
        self.region.load(Ordering::Relaxed)
    }

    /// Stands for it among the objects that threads wait for.
    #[inline]
    pub fn object(&self) -> u64 {
        core::ptr::from_ref(self) as u64
    }

    /// A new one, which lives for ever.
    pub fn made() -> &'static Team {
        let team: &'static Team = Box::leak(Box::default());
        team.number.store(given::number(team), Ordering::Relaxed);
        team
    }

    /// The word by which the others learn of the region, for [`given::Given`]. By the opener.
    #[inline]
    pub fn given(&'static self) -> usize {
        match self.number.load(Ordering::Relaxed) {
            0 => core::ptr::from_ref(self) as usize,
            number => given::word(number, self.times.fork_ns(), self.times.before_end_ns()) as usize,
        }
    }

    /// The function that the program wants to be run, and its argument.
    pub fn body(&self) -> (usize, *mut core::ffi::c_void) {
        (self.function.load(Ordering::Relaxed), self.data.load(Ordering::Relaxed) as *mut _)
    }

    /// [`Opening::runtime`].
    pub fn runtime(&self) -> Option<&'static Table> {
        // SAFETY: null or a table, and those are never freed.
        unsafe { self.runtime.load(Ordering::Relaxed).as_ref() }
    }

    /// [`Opening::step`].
    #[inline]
    pub fn step(&self) -> Step {
        Step::of(self.step.load(Ordering::Relaxed))
    }

    /// When the region before this one was opened.
    pub fn before_fork_ns(&self) -> u64 {
        self.times.before_fork_ns()
    }

    /// Whether this word distinguishes it from others.
    pub fn is_of(&self, construct: u64) -> bool {
        self.construct.load(Ordering::Relaxed) == construct
    }

    /// Whether the opener calls a function at the region's end, and has no frame that lives until then.
    pub fn ends_by_call(&self) -> bool {
        self.own.frame.marker.load(Ordering::Relaxed) == 0
    }

    /// When the region was over at whose end a thread began to wait at `docked_ns`; None if it is not, or if
    /// two others were since.
    pub fn ended_ns(&self, docked_ns: u64) -> Option<u64> {
        self.times.end_of(docked_ns)
    }

    /// Writes what is not as in the region before.
    fn is_for(&self, region: u32, opening: &Opening, opener: &'static Lane) {
        let opener = core::ptr::from_ref(opener).cast_mut();
        if self.region.load(Ordering::Relaxed) != region {
            self.region.store(region, Ordering::Relaxed);
        }
        if self.construct.load(Ordering::Relaxed) != opening.construct {
            self.construct.store(opening.construct, Ordering::Relaxed);
        }
        if self.function.load(Ordering::Relaxed) != opening.function {
            self.function.store(opening.function, Ordering::Relaxed);
        }
        if self.data.load(Ordering::Relaxed) != opening.data {
            self.data.store(opening.data, Ordering::Relaxed);
        }
        if self.step.load(Ordering::Relaxed) != opening.step.word() {
            self.step.store(opening.step.word(), Ordering::Relaxed);
        }
        let runtime = opening.runtime.map_or(core::ptr::null(), core::ptr::from_ref).cast_mut();
        if self.runtime.load(Ordering::Relaxed) != runtime {
            self.runtime.store(runtime, Ordering::Relaxed);
        }
        if self.opener.load(Ordering::Relaxed) != opener {
            self.opener.store(opener, Ordering::Relaxed);
        }
    }

    /// Whether this thread did.
    pub fn is_opened_by(&self, lane: &Lane) -> bool {
        core::ptr::eq(self.opener.load(Ordering::Relaxed), lane)
    }

    /// No thread whose number is too high for a place has begun its part.
    fn forget_far(&self) {
        if !self.first.0.load(Ordering::Relaxed).is_null() {
            self.first.0.store(core::ptr::null_mut(), Ordering::Release);
        }
    }

    fn add(&self, lane: &'static Lane, number: u32) {
        let lane_pointer = core::ptr::from_ref(lane).cast_mut();
        if let Some(place) = self.members.0.get(number as usize) {
            if place.load(Ordering::Relaxed) != lane_pointer {
                place.store(lane_pointer, Ordering::Release);
            }
            return;
        }
        let mut first = self.first.0.load(Ordering::Relaxed);
        loop {
            lane.member.set_next(first);
            match self.first.0.compare_exchange_weak(first, lane_pointer, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return,
                Err(other) => first = other,
            }
        }
    }

    /// Those that began their part with a number from `first` on, in a team of `size`.
    fn members(&self, first: u32, size: u32) -> impl Iterator<Item = &'static Lane> {
        // SAFETY: lanes are never freed.
        let far = unsafe { self.first.0.load(Ordering::Acquire).as_ref() };
        // SAFETY: as above. Members leave the list as it is until the opener has read it.
        let others =
            core::iter::successors(far, |lane: &&'static Lane| unsafe { lane.member.next().as_ref() });
        let placed = self.members.0.iter().take(size as usize).skip(first as usize);
        // SAFETY: as above.
        placed.filter_map(|place| unsafe { place.load(Ordering::Acquire).as_ref() }).chain(others)
    }
}
