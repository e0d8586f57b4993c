//! The threads of a parallel region, from its begin to its end.
//!
//! A team belongs to the thread that opened the region and is used again for its next one of that depth. Until the region
//! is over the others may look at it; afterwards none of them does, since no runtime lets the opener go on before all have
//! come to the region's end.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use proust_log::operations::Operation;
use proust_log::records::{RegionOrigin, Stay};

use super::member::{Member, Place};
use super::sites::{Passed, Site};
use crate::clock;
use crate::lane::{self, Lane, Record};
use crate::life;
use crate::operation::{self, Kind, Outcome, Ticket, here, stretch};
use crate::path::memo::State;
use crate::path::modules;
use crate::path::tree::{Frame as PathFrame, NodeId};

/// A line of the processor's cache: what several threads write often has one of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Arrival(AtomicU64);

/// A team.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Team {
    /// Number of the region; 0 = it has none.
    region: AtomicU32,
    /// [`Opening::construct`].
    construct: AtomicU64,
    /// When the region was opened.
    fork_ns: AtomicU64,
    /// What the program wants to be run, and its argument.
    function: AtomicUsize,
    data: AtomicUsize,
    /// Who opened it.
    opener: AtomicPtr<Lane>,
    /// The opener's frame, which lives until the region is over, and a word in it. Without a word there is no such frame.
    frame: Frame,
    /// What the opener is in otherwise.
    outer: Outer,
    /// The opener's, and its alone.
    own: Own,
    /// Those that began their part, by their number. What stays the same from one execution to the next is not written
    /// again: the processors keep it.
    members: Members,
    /// Those whose number is too high for that, the newest first.
    first: AtomicPtr<Lane>,
    /// When the last one came to a barrier; two barriers can be in use at a time.
    arrivals: [Arrival; 2],
}

/// What the opener writes while others read the rest.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Own {
    /// Threads in the team; 0 = not known yet.
    size: AtomicU32,
    /// When the opener had done its own part.
    done_ns: AtomicU64,
}

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
        }
    }
}

#[derive(Debug, Default)]
struct Outer {
    region: AtomicU32,
    number: AtomicU32,
    size: AtomicU32,
    barriers: AtomicU32,
    team: AtomicUsize,
    begin_ns: AtomicU64,
    worked_ns: AtomicU64,
}

impl Outer {
    fn set(&self, place: &Place) {
        self.region.store(place.region, Ordering::Relaxed);
        self.number.store(place.number, Ordering::Relaxed);
        self.size.store(place.size, Ordering::Relaxed);
        self.barriers.store(place.barriers, Ordering::Relaxed);
        self.team.store(place.team, Ordering::Relaxed);
        self.begin_ns.store(place.begin_ns, Ordering::Relaxed);
        self.worked_ns.store(place.worked_ns, Ordering::Relaxed);
    }

    fn place(&self) -> Place {
        Place {
            region: self.region.load(Ordering::Relaxed),
            number: self.number.load(Ordering::Relaxed),
            size: self.size.load(Ordering::Relaxed),
            barriers: self.barriers.load(Ordering::Relaxed),
            team: self.team.load(Ordering::Relaxed),
            begin_ns: self.begin_ns.load(Ordering::Relaxed),
            worked_ns: self.worked_ns.load(Ordering::Relaxed),
        }
    }
}

/// What a region is made of.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// A word that tells the construct from others.
    pub construct: u64,
    /// Who says so.
    pub origin: RegionOrigin,
    /// What the program wants to be run, and its argument, if that is known.
    pub function: usize,
    /// See `function`.
    pub data: usize,
    /// A frame of the opener, where its call path begins.
    pub state: State,
    /// A word in that frame, if it lives until the region is over; null otherwise.
    pub marker: *mut u64,
}

impl Team {
    /// Number of the region.
    #[inline]
    pub fn region(&self) -> u32 {
        self.region.load(Ordering::Relaxed)
    }

    /// What stands for it among the objects that threads wait for.
    #[inline]
    pub fn object(&self) -> u64 {
        core::ptr::from_ref(self) as u64
    }

    /// What the program wants to be run, and its argument.
    pub fn body(&self) -> (usize, *mut core::ffi::c_void) {
        (self.function.load(Ordering::Relaxed), self.data.load(Ordering::Relaxed) as *mut _)
    }

    /// Whether it is told from others by this word.
    pub fn is_of(&self, construct: u64) -> bool {
        self.construct.load(Ordering::Relaxed) == construct
    }

    /// Whether the opener calls a function at the region's end, and has no frame that lives until then.
    pub fn ends_by_call(&self) -> bool {
        self.frame.marker.load(Ordering::Relaxed) == 0
    }

    fn is_opened_by(&self, lane: &Lane) -> bool {
        core::ptr::eq(self.opener.load(Ordering::Relaxed), lane)
    }

    /// A member comes to its next barrier at `now_ns`; the number of it.
    #[inline]
    pub fn arrive(&self, member: &Member, now_ns: u64) -> u32 {
        let barrier = member.next_barrier();
        // Who comes later stores later: no need to compare, and to wait for who came before.
        self.arrivals[barrier as usize % 2].0.store(now_ns, Ordering::Relaxed);
        barrier
    }

    /// When the last one came to that barrier. For who has just left it: nobody can be at the one after the next.
    #[inline]
    pub fn last_arrival_ns(&self, barrier: u32) -> u64 {
        self.arrivals[barrier as usize % 2].0.load(Ordering::Relaxed)
    }

    fn add(&self, lane: &'static Lane, number: u32) {
        let lane_pointer = core::ptr::from_ref(lane).cast_mut();
        if let Some(place) = self.members.0.get(number as usize) {
            if place.load(Ordering::Relaxed) != lane_pointer {
                place.store(lane_pointer, Ordering::Release);
            }
            return;
        }
        let mut first = self.first.load(Ordering::Relaxed);
        loop {
            lane.member.set_next(first);
            match self.first.compare_exchange_weak(first, lane_pointer, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) => first = other,
            }
        }
    }

    fn members(&self) -> impl Iterator<Item = &'static Lane> {
        // SAFETY: lanes are never freed.
        let first = unsafe { self.first.load(Ordering::Acquire).as_ref() };
        // SAFETY: as above. Members leave the list as it is until the opener has read it.
        let others =
            core::iter::successors(first, |lane: &&'static Lane| unsafe { lane.member.next().as_ref() });
        let size = self.own.size.load(Ordering::Relaxed) as usize;
        let placed = self.members.0.iter().take(size);
        // SAFETY: as above.
        placed.filter_map(|place| unsafe { place.load(Ordering::Acquire).as_ref() }).chain(others)
    }
}

/// The calling thread opens a region; None where that is not followed.
pub fn open(opening: &Opening) -> Option<&'static Team> {
    let life = life::in_hook()?;
    let lane = lane::current()?;
    let member = &lane.member;
    leave_stale(lane, opening.state.sp);
    let mut none = 0;
    // SAFETY: the opener's own frame.
    let marker = unsafe { opening.marker.as_mut() };
    let ticket =
        operation::begin(Kind::from(Operation::OmpFork), (0, 0), opening.state, marker.unwrap_or(&mut none));
    if !ticket.is_followed() {
        return None;
    }
    if opening.marker.is_null() {
        lane.open.hold();
    }
    let fork_ns = lane.open.begin_ns();
    member.pause(fork_ns);
    let Some(team) = member.push_level() else {
        operation::end(&ticket, Outcome::default());
        return None;
    };
    let (construct, sp, parent) = (opening.construct, opening.state.sp, member.region());
    let region = lane.with_record_in_silence(|record| {
        record.regions.known(construct, sp, parent, fork_ns).unwrap_or_else(|| {
            // SAFETY: the owner, and `with_record_in_silence` has set `busy`.
            unsafe { lane.with_room(|| find_number(life, record, opening, parent, fork_ns)) }
        })
    });
    team.region.store(region.unwrap_or(0), Ordering::Relaxed);
    team.own.size.store(0, Ordering::Relaxed);
    team.construct.store(opening.construct, Ordering::Relaxed);
    team.fork_ns.store(fork_ns, Ordering::Relaxed);
    team.function.store(opening.function, Ordering::Relaxed);
    team.data.store(opening.data, Ordering::Relaxed);
    team.opener.store(core::ptr::from_ref(lane).cast_mut(), Ordering::Relaxed);
    team.frame.set(opening.state, opening.marker);
    team.own.done_ns.store(0, Ordering::Relaxed);
    team.outer.set(&member.place());
    team.first.store(core::ptr::null_mut(), Ordering::Release);
    Some(team)
}

#[cold]
#[inline(never)]
fn find_number(life: &life::Life, record: &mut Record, opening: &Opening, parent: u32, now_ns: u64) -> u32 {
    if !record.output.is_open() {
        return 0;
    }
    record.look_for_own_stack(life, opening.state.sp);
    let (node, _) = record.path(opening.state, life.pid);
    let mut body = 0;
    if opening.function != 0 {
        let lookup = opening.function as u64;
        let module = modules::known(lookup).map_or(0, |module| module.id);
        body = record.tree.child(PathFrame { parent: 0, module, lookup }, &mut record.output).unwrap_or(0);
    }
    let construct = (opening.construct, opening.state.sp);
    record.regions.number(construct, (node, parent), (opening.origin, body), now_ns, &mut record.output)
}

/// Regions that the thread has left without an end: by an exception, longjmp or cancellation.
fn leave_stale(lane: &'static Lane, sp: u64) {
    while let Some(team) = lane.member.last_level() {
        let frame = team.frame.sp.load(Ordering::Relaxed);
        // SAFETY: this is the owner.
        let own_stack = unsafe { lane.own_stack() };
        let is_left = frame <= sp && own_stack.contains(frame) && own_stack.contains(sp);
        if !is_left || team.frame.marker.load(Ordering::Relaxed) == 0 {
            return;
        }
        lane.member.pop_level();
        lane.member.restore(&team.outer.place(), clock::now_ns());
    }
}

/// The calling thread begins its part, as number `number` of `size`.
pub fn join(team: &'static Team, number: u32, size: u32) {
    if life::recording().is_none() {
        return;
    }
    let Some(lane) = lane::current() else { return };
    let member = &lane.member;
    let fork_ns = team.fork_ns.load(Ordering::Relaxed);
    let now_ns = if team.is_opened_by(lane) {
        team.own.size.store(size, Ordering::Relaxed);
        let now_ns = end_open(lane, Operation::OmpFork);
        if now_ns == 0 { clock::now_ns() } else { now_ns }
    } else {
        let now_ns = clock::now_ns();
        undock(lane, team.region(), fork_ns, now_ns);
        team.add(lane, number);
        now_ns
    };
    member.enter(team, team.region(), (number, size), now_ns);
    let passed = Passed {
        end_ns: now_ns,
        wait_ns: now_ns.saturating_sub(fork_ns),
        executions: 1,
        team: u16::try_from(size).unwrap_or(u16::MAX),
        ..Passed::default()
    };
    add(lane, Operation::OmpFork, team.region(), &passed);
}

/// The calling thread has done its part.
pub fn done(team: &'static Team) {
    if life::recording().is_none() {
        return;
    }
    let Some(lane) = lane::current() else { return };
    let member = &lane.member;
    if !member.team().is_some_and(|mine| core::ptr::eq(mine, team)) {
        return;
    }
    let is_opener = team.is_opened_by(lane);
    let now_ns = if is_opener {
        let now_ns = begin_end(lane, team);
        team.own.done_ns.store(now_ns, Ordering::Relaxed);
        now_ns
    } else {
        clock::now_ns()
    };
    member.pause(now_ns);
    let passed = Passed {
        end_ns: now_ns,
        work_ns: member.take_work(),
        executions: 1,
        team: member.team_size(),
        ..Passed::default()
    };
    let region = team.region();
    let state = here!();
    lane.with_record_in_silence(|record| {
        add_to(record, Operation::OmpRegionEnd, region, &passed);
        let begin_ns = member.begin_ns();
        if now_ns.saturating_sub(begin_ns) >= record.stay_limit.ns {
            let stay = Stay {
                fork_ns: team.fork_ns.load(Ordering::Relaxed),
                begin_ns,
                end_ns: now_ns,
                region,
                reserved: 0,
            };
            let number = u16::try_from(member.number()).unwrap_or(u16::MAX);
            // SAFETY: the owner, with `busy` set.
            unsafe { lane.with_room(|| record.output.push(number, member.team_size(), &stay)) };
            record.stay_limit.told(now_ns);
        }
        if !is_opener && member.idle_node() == 0 {
            // SAFETY: as above.
            let node = unsafe { lane.with_room(|| idle_node(record, state)) };
            member.set_idle_node(node);
        }
    });
    member.leave();
    if member.waits_long() {
        stretch::clock_at(lane, Operation::OmpRegionEnd, now_ns);
    }
    if !is_opener {
        member.set_docked(now_ns);
        lane.dock(now_ns, team.object(), region);
    }
}

#[cold]
#[inline(never)]
fn idle_node(record: &mut Record, state: State) -> NodeId {
    match life::recording() {
        Some(life) if record.output.is_open() => {
            record.look_for_own_stack(life, state.sp);
            record.path(state, life.pid).0
        }
        _ => 0,
    }
}

/// The opener begins to wait for the others; when that was.
fn begin_end(lane: &'static Lane, team: &'static Team) -> u64 {
    let marker = team.frame.marker.load(Ordering::Relaxed) as *mut u64;
    let mut none = 0;
    // SAFETY: a word in the frame of the opener's hook, which lives until the region is over.
    let word = unsafe { marker.as_mut() };
    let state = if marker.is_null() { here!() } else { team.frame.state() };
    let kind = Kind::from(Operation::OmpRegionEnd);
    let ticket = operation::begin(kind, (team.object(), 0), state, word.unwrap_or(&mut none));
    if !ticket.is_followed() {
        return clock::now_ns();
    }
    if marker.is_null() {
        lane.open.hold();
    }
    lane.open.begin_ns()
}

/// The calling thread, who opened the region, goes on behind it.
pub fn close(team: &'static Team, state: Option<State>) {
    if life::recording().is_none() {
        return;
    }
    let Some(lane) = lane::current().filter(|lane| team.is_opened_by(lane)) else { return };
    let member = &lane.member;
    if !member.last_level().is_some_and(|last| core::ptr::eq(last, team)) {
        return;
    }
    if let Some(state) = state {
        lane.open.set_frame(state);
    }
    let end_ns = match end_open(lane, Operation::OmpRegionEnd) {
        0 => clock::now_ns(),
        end_ns => end_ns,
    };
    // Where it never began its own part it waited for nobody.
    end_open(lane, Operation::OmpFork);
    let done_ns = match team.own.done_ns.load(Ordering::Relaxed) {
        0 => end_ns,
        done_ns => done_ns,
    };
    member.has_waited(end_ns.saturating_sub(done_ns));
    let own = core::ptr::from_ref(lane);
    let others = || team.members().filter(|other| !core::ptr::eq(*other, own));
    let last_ns = others().map(Lane::docked_since_ns).fold(done_ns, u64::max).min(end_ns);
    for other in others() {
        other.release_docked(end_ns, end_ns - last_ns);
    }
    let passed = Passed {
        end_ns,
        wait_ns: end_ns.saturating_sub(done_ns),
        latency_ns: end_ns - last_ns,
        ..Passed::default()
    };
    add(lane, Operation::OmpRegionEnd, team.region(), &passed);
    member.pop_level();
    member.restore(&team.outer.place(), end_ns);
}

/// A thread that was docked is so no more: tells what it waited for since. `fork_ns` is when it got work again.
fn undock(lane: &'static Lane, region: u32, fork_ns: u64, now_ns: u64) {
    let member = &lane.member;
    let docked_ns = member.docked_ns();
    let mut free_ns = lane.born_ns();
    if docked_ns != 0 {
        member.set_docked(0);
        member.has_waited(now_ns.saturating_sub(docked_ns));
        let (released_ns, latency_ns) = lane.undock();
        let until_ns = released_ns.clamp(docked_ns, now_ns);
        let wait_ns = until_ns - docked_ns;
        let old = member.region();
        stretch::tell(lane, Operation::OmpRegionEnd, (docked_ns, until_ns), member.idle_node());
        let passed =
            Passed { end_ns: until_ns, wait_ns, latency_ns: latency_ns.min(wait_ns), ..Passed::default() };
        add(lane, Operation::OmpRegionEnd, old, &passed);
        member.set_region(0);
        free_ns = fork_ns.clamp(until_ns, now_ns);
        stretch::tell(lane, Operation::OmpIdle, (until_ns, free_ns), member.idle_node());
    }
    member.set_region(region);
    stretch::tell(
        lane,
        Operation::OmpFork,
        (fork_ns.clamp(free_ns.min(now_ns), now_ns), now_ns),
        member.idle_node(),
    );
}

/// A thread that is docked ends.
pub fn settle(lane: &'static Lane) {
    if lane.member.docked_ns() != 0 {
        let now_ns = clock::now_ns();
        undock(lane, 0, now_ns, now_ns);
    }
}

/// Ends the operation that the lane is in, if it is this one; when that was, 0 if it is not.
pub fn end_open(lane: &'static Lane, operation: Operation) -> u64 {
    if lane.open.kind().is_some_and(|kind| kind.operation == operation) {
        operation::end(&Ticket::of_open(lane), Outcome::default())
    } else {
        0
    }
}

fn add(lane: &'static Lane, operation: Operation, region: u32, passed: &Passed) {
    lane.with_record_in_silence(|record| add_to(record, operation, region, passed));
}

fn add_to(record: &mut Record, operation: Operation, region: u32, passed: &Passed) {
    record.sites.add(&Site::of_region(region, operation), passed, &mut record.output, |_| 0);
}
