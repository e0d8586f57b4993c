//! One thread's record: its lane in the log, its tree and memo, its clocks.
//!
//! Lanes are made once and go from thread to thread. A lane's record is used by its owner only, in the
//! owner's signal handler or in a hook, never both at once; another thread may look into it at the process's
//! end. Each holds it meanwhile (`hold.rs`).

use core::cell::UnsafeCell;
use core::mem::offset_of;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use proust_log::layout::{LaneHeader, chunk_bytes};
use proust_log::operations::Operation;
use proust_log::writer::LaneWriter;

use crate::free_list::FreeList;
use crate::hooks::signal_moves::Silence;
use crate::openmp::Member;
use crate::operation::Kind;
use crate::operation::callers::Callers;
use crate::operation::known_paths::KnownPaths;
use crate::operation::open::Open;
use crate::operation::postponed::{Postponed, Section, WithoutPath};
use crate::operation::releases::LastWake;
use crate::operation::sampling::Sampling;
use crate::operation::sections::Sections;
use crate::operation::tries::Tries;
use crate::operation::waited;
use crate::path::memo::State;
use crate::path::modules;
use crate::path::stack::OwnStack;
use crate::path::tree::NodeId;
use crate::room::Room;
use crate::sample::contain::Entry;
use crate::sample::pace::Pace;
use crate::sample::resume::Resumed;
use crate::turn::Quiet;
use crate::{clock, logfile};

mod current;
mod hold;
mod ids;
mod left;
mod lent;
mod output;
mod passed;
mod record;
mod usage;

pub use current::{
    begin_fork, control_block, end_fork, get as current, is_forking, set as set_current, set_visits, visits,
};
pub use hold::prepare as prepare_holds;
use hold::{ByOwner, Hold};
pub use ids::Ids;
pub use left::is_left;
pub use output::{Output, write_module};
pub use record::{Record, Start, WORTH_ASKING_NS};
pub use usage::{Usage, scheduler_numbers};

/// `owner` of a lane that was claimed for a thread which does not run yet.
pub const RESERVED: u32 = u32::MAX;

/// A lane. What every operation asks comes first, in as few lines of the processor's cache as can be: what
/// the program and the kernel did since the last one has made it forget them.
#[repr(C, align(64))]
pub struct Lane {
    /// The lane's header in the log; null = none. Read by other threads for each region that they open: in
    /// this line, up to `open`, is nothing that the owner writes often.
    header: AtomicPtr<LaneHeader>,
    /// What the owner is in of a parallel program.
    pub member: &'static Member,
    /// Kernel id of the thread it belongs to; 0 = free.
    pub owner: AtomicU32,
    /// The owner's CPU timer; -1 = none.
    timer: AtomicI32,
    /// Address of the owner's control block, which is its `pthread_t`; 0 = not known.
    pub thread: AtomicU64,
    next: AtomicPtr<Lane>,
    /// When the owner began.
    born_ns: AtomicU64,
    /// Which sampling signal the owner's timer sends, as a position in [`crate::sample::signal::CANDIDATES`].
    pub signal: AtomicUsize,
    /// The function that initialises where the owner is inside a `pthread_once`.
    pub initialiser: AtomicUsize,
    /// The operation that the owner is in.
    pub open: Open,
    /// Who uses the record: the owner in a hook or in its handler, or who closes it for him.
    pub hold: Hold,
    /// The owner's operations since it last asked what a descriptor leads to.
    pub targets_used: AtomicU32,
    /// What the owner has still to tell of its waits for locks.
    pub postponed: Postponed,
    /// The owner's tries to take a lock.
    pub tries: Tries,
    /// Who called the owner's operations.
    pub callers: Callers,
    /// Call paths of the owner's waits for locks, and of its unlocks.
    pub known_paths: KnownPaths,
    /// Call paths from which the owner opened parallel regions.
    pub opening_paths: KnownPaths,
    /// Where the owner's handler began.
    pub entry: Entry,
    /// For a call of the owner that a sample interrupted.
    pub resumed: Resumed,
    /// When the owner's next sample is due.
    pub pace: Pace,
    /// Why the owner has no timer, if it has none.
    pub silence: Silence,
    /// The stack pointer of the owner's hook that unloads a library; 0 = none does.
    unloading: AtomicU64,
    /// The critical sections that the owner is in.
    pub sections: Sections,
    /// Which of them are recorded.
    pub sampling: Sampling,
    /// The owner's short waits for locks without a call path.
    pub without_path: WithoutPath,
    /// What is to be told of a section that has ended.
    pub postponed_section: Section,
    /// When the owner last recorded that it woke another thread.
    pub last_wake: LastWake,
    /// A stack to work on.
    pub room: Room,
    /// [`GENERATION`] when it was made.
    generation: u32,
    /// The word of the list of free lanes.
    next_free: AtomicU64,
    record: UnsafeCell<Record>,
}

const _: () = assert!(offset_of!(Lane, open) == 64 && offset_of!(Lane, tries) < 192);

// SAFETY: `record` is only touched by the owner (see the module's text); the rest is atomic.
unsafe impl Sync for Lane {}

static LANES: AtomicPtr<Lane> = AtomicPtr::new(core::ptr::null_mut());
static FREE: FreeList = FreeList::new(offset_of!(Lane, next_free));

/// How often this process's image was forked off another one: lanes of the ones before are in memory that was
/// copied, and write into logs that are not mapped here.
static GENERATION: AtomicU32 = AtomicU32::new(0);
static LANE_COUNT: AtomicU32 = AtomicU32::new(0);
/// Lanes that belong to a thread now, and those that are claimed for one.
static OWNED: AtomicUsize = AtomicUsize::new(0);
static CLAIMED: AtomicUsize = AtomicUsize::new(0);

/// All lanes of this process.
pub fn all() -> impl Iterator<Item = &'static Lane> {
    // SAFETY: lanes are never freed.
    let at = |pointer: &AtomicPtr<Lane>| unsafe { pointer.load(Ordering::Acquire).as_ref() };
    core::iter::successors(at(&LANES), move |lane: &&'static Lane| at(&lane.next))
}

/// Lanes that belong to a thread now.
pub fn live() -> impl Iterator<Item = &'static Lane> {
    all().filter(|lane| !matches!(lane.owner.load(Ordering::Acquire), 0 | RESERVED))
}

/// The lane of thread `tid`.
pub fn of_thread(tid: u32) -> Option<&'static Lane> {
    all().find(|lane| lane.owner.load(Ordering::Acquire) == tid)
}

/// How many lanes belong to a thread now, and how many are claimed for a thread that does not run yet.
pub fn counts() -> (usize, usize) {
    (OWNED.load(Ordering::Acquire), CLAIMED.load(Ordering::Acquire))
}

/// A lane for a thread to come; None if there is no memory or no room in the log.
pub fn claim() -> Option<&'static Lane> {
    // SAFETY: the list has lanes, which are never freed.
    if let Some(lane) = unsafe { FREE.take().cast::<Lane>().as_ref() } {
        lane.owner.store(RESERVED, Ordering::Release);
        CLAIMED.fetch_add(1, Ordering::AcqRel);
        return Some(lane);
    }
    let number = LANE_COUNT.fetch_add(1, Ordering::Relaxed);
    // SAFETY: a fresh chunk is mapped, reserved, zero and ours.
    let writer = logfile::take_chunk(chunk_bytes(0)).map(|chunk| unsafe { LaneWriter::begin(number, chunk) });
    logfile::with_header(|header| header.lanes = header.lanes.max(number + 1));
    let member: &'static Member = Box::leak(Box::default());
    let lane: &'static Lane = Box::leak(Box::new(Lane {
        owner: AtomicU32::new(RESERVED),
        hold: Hold::new(),
        entry: Entry::default(),
        resumed: Resumed::default(),
        pace: Pace::default(),
        silence: Silence::default(),
        thread: AtomicU64::new(0),
        unloading: AtomicU64::new(0),
        signal: AtomicUsize::new(0),
        initialiser: AtomicUsize::new(0),
        open: Open::default(),
        sections: Sections::default(),
        sampling: Sampling::default(),
        last_wake: LastWake::default(),
        postponed: Postponed::default(),
        postponed_section: Section::default(),
        without_path: WithoutPath::default(),
        room: Room::new(),
        callers: Callers::default(),
        known_paths: KnownPaths::default(),
        opening_paths: KnownPaths::default(),
        tries: Tries::default(),
        member,
        born_ns: AtomicU64::new(0),
        targets_used: AtomicU32::new(0),
        timer: AtomicI32::new(-1),
        header: AtomicPtr::new(writer.as_ref().map_or(core::ptr::null_mut(), LaneWriter::header)),
        next: AtomicPtr::new(core::ptr::null_mut()),
        generation: GENERATION.load(Ordering::Relaxed),
        next_free: AtomicU64::new(0),
        record: UnsafeCell::new(Record::new(writer, member)),
    }));
    CLAIMED.fetch_add(1, Ordering::AcqRel);
    let mut head = LANES.load(Ordering::Acquire);
    loop {
        lane.next.store(head, Ordering::Relaxed);
        let new = core::ptr::from_ref(lane).cast_mut();
        match LANES.compare_exchange(head, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Some(lane),
            Err(other) => head = other,
        }
    }
}

/// Forgets all lanes: a forked child begins anew (its memory is a copy, its log another file).
pub fn abandon_all() {
    LANES.store(core::ptr::null_mut(), Ordering::Release);
    GENERATION.fetch_add(1, Ordering::Relaxed);
    FREE.forget();
    LANE_COUNT.store(0, Ordering::Release);
    OWNED.store(0, Ordering::Release);
    CLAIMED.store(0, Ordering::Release);
}

impl Lane {
    /// A claimed lane belongs to thread `tid` from here on.
    pub fn begin_owner(&self, tid: u32) {
        self.owner.store(tid, Ordering::Release);
        OWNED.fetch_add(1, Ordering::AcqRel);
        CLAIMED.fetch_sub(1, Ordering::AcqRel);
    }

    /// Whether this process made it: a signal handler may fork in a hook that holds a lane, and the child
    /// goes on in that hook.
    pub fn is_of_this_process(&self) -> bool {
        self.generation == GENERATION.load(Ordering::Relaxed)
    }

    /// Gives a claimed or finished lane back. One of a process that this one was forked off belongs to
    /// nobody.
    pub fn release(&self) {
        if !self.is_of_this_process() {
            return;
        }
        self.thread.store(0, Ordering::Relaxed);
        modules::forget_unloading_of(self);
        self.hold.forget_owner();
        let owner = self.owner.swap(0, Ordering::AcqRel);
        if owner == 0 {
            return;
        }
        if owner == RESERVED { &CLAIMED } else { &OWNED }.fetch_sub(1, Ordering::AcqRel);
        // SAFETY: lanes are never freed, and nobody owns this one.
        unsafe { FREE.give(core::ptr::from_ref(self).cast_mut().cast()) };
    }

    /// The stack pointer of the owner's hook that unloads a library; 0 = none does.
    pub fn unloading(&self) -> &AtomicU64 {
        &self.unloading
    }

    /// In a forked child: nothing is written through the parent's lane any more, by whatever hook the child
    /// goes on in. Returns where the lane's header lay, null = nowhere: its address may be in a register.
    pub fn leave_log(&self) -> *mut u8 {
        // SAFETY: the child's only thread, with all signals blocked: nobody is at work on the record.
        unsafe { self.record() }.output = Output::new(None);
        self.header.swap(core::ptr::null_mut(), Ordering::Relaxed).cast()
    }

    /// The owner's part.
    ///
    /// # Safety
    /// The caller has taken the record, in the owner's handler, in a hook or for a closed process, or holds
    /// the lane [`RESERVED`]; and no other reference from this function is alive.
    #[expect(clippy::mut_from_ref, reason = "exclusive by ownership of the lane, which the type cannot show")]
    pub unsafe fn record(&self) -> &mut Record {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.record.get() }
    }

    /// The owner's stack, as far as it is known.
    ///
    /// # Safety
    /// The caller is the owner.
    pub unsafe fn own_stack(&self) -> OwnStack {
        // SAFETY: the caller's promise; a copy of two words that only the owner changes.
        unsafe { (*self.record.get()).own_stack }
    }

    /// From which length on the owner's operations are told alone, ns.
    ///
    /// # Safety
    /// The caller is the owner.
    #[inline]
    pub unsafe fn limit_ns(&self) -> u64 {
        // SAFETY: the caller's promise; a copy of a word that only the owner changes.
        unsafe { (*self.record.get()).limit.ns }
    }

    /// The owner enters an operation, and the log says so before it may block.
    #[inline]
    pub fn enter(
        &self,
        kind: Kind,
        objects: (u64, u64),
        begin_ns: u64,
        state: State,
        marker: u64,
        caller: NodeId,
    ) {
        self.enter_unwatched(kind, objects, begin_ns, state, marker, caller);
        if waited::is_woken(kind.operation) {
            waited::begin(objects.0);
        } else if waited::is_for_lock(kind.operation) {
            waited::want(objects.0);
        }
    }

    /// As [`Lane::enter`], of what nobody ends by a call that we see: who lets go need not know that the
    /// owner waits.
    #[inline]
    pub fn enter_unwatched(
        &self,
        kind: Kind,
        objects: (u64, u64),
        begin_ns: u64,
        state: State,
        marker: u64,
        caller: NodeId,
    ) {
        let header = self.header.load(Ordering::Relaxed);
        if !header.is_null() {
            // SAFETY: the header is mapped for the process's life, and these fields are written by the owner
            // alone. Volatile, so that they are stored now and in this order: the process may be killed in
            // the operation.
            unsafe {
                (&raw mut (*header).wait_object).write_volatile(objects.0);
                (&raw mut (*header).wait_since_ns).write_volatile(begin_ns);
                (&raw mut (*header).wait_node).write_volatile(caller);
                (&raw mut (*header).wait_target).write_volatile(kind.target as u32);
                (&raw mut (*header).wait_operation).write_volatile(kind.operation as u32);
            }
        }
        self.open.enter(kind, objects, begin_ns, state, marker, caller);
        if self.open.has_alarm() {
            self.hold_sample();
        }
    }

    /// The owner is in no operation any more.
    #[inline]
    pub fn leave(&self) {
        match self.open.kind() {
            Some(kind) => self.leave_as(kind.operation),
            None => self.leave_unwatched(),
        }
    }

    /// As [`Lane::leave`], of an operation of which it is known which one it is.
    #[inline]
    pub fn leave_as(&self, operation: Operation) {
        if waited::is_woken(operation) {
            waited::end(self.open.object());
        }
        self.leave_unwatched();
    }

    /// As [`Lane::leave`], of what was entered by [`Lane::enter_unwatched`].
    #[inline]
    pub fn leave_unwatched(&self) {
        let header = self.header.load(Ordering::Relaxed);
        if !header.is_null() {
            // SAFETY: as in `enter_unwatched`.
            unsafe { (&raw mut (*header).wait_operation).write_volatile(0) };
        }
        if self.open.has_alarm() {
            self.go_on();
        }
        self.open.leave();
    }

    /// Since when the owner has been waiting for a lock, if it does. For other threads.
    pub fn wants_since_ns(&self, lock: u64) -> Option<u64> {
        let waits = self.open.object() == lock
            && self.open.kind().is_some_and(|kind| waited::is_for_lock(kind.operation));
        if waits { Some(self.open.begin_ns()) } else { self.tries.since_ns(lock) }
    }

    /// The owner's CPU clock at its newest sample or begin, as its header has it. For any thread.
    pub fn last_cpu_ns(&self) -> u64 {
        let header = self.header.load(Ordering::Relaxed);
        // SAFETY: the header is mapped for the process's life; the owner may store to the field meanwhile.
        if header.is_null() { 0 } else { unsafe { (&raw const (*header).last_cpu_ns).read_volatile() } }
    }

    /// The word of the log that says which operation the owner is in; null = there is none.
    pub fn wait_operation_word(&self) -> *mut u32 {
        let header = self.header.load(Ordering::Relaxed);
        if header.is_null() {
            return core::ptr::null_mut();
        }
        // SAFETY: the header is mapped for the process's life.
        unsafe { &raw mut (*header).wait_operation }
    }

    /// The log says that a wait of the owner's which is not measured, and so has no begin, began at this
    /// instant or later.
    pub fn waits_since(&self, ns: u64) {
        let header = self.header.load(Ordering::Relaxed);
        if !header.is_null() {
            // SAFETY: as in `enter_unwatched`.
            unsafe { (&raw mut (*header).wait_since_ns).write_volatile(ns) };
        }
    }

    /// The owner's first instant.
    #[inline]
    pub fn born_ns(&self) -> u64 {
        self.born_ns.load(Ordering::Relaxed)
    }

    /// A thread begins to own the lane: what was known of a parallel program is forgotten.
    pub fn is_born(&self, now_ns: u64) {
        self.born_ns.store(now_ns, Ordering::Relaxed);
        self.member.forget();
    }

    /// The owner has done its part of a region, and waits for the others of `team`: the log says so before it
    /// blocks.
    pub fn dock(&self, now_ns: u64, team: u64, region: u32) {
        let header = self.header.load(Ordering::Relaxed);
        if !header.is_null() {
            // SAFETY: as in `enter`; `wait_released_ns` is the opener's to write only between here and
            // `undock`.
            unsafe {
                (&raw mut (*header).wait_object).write_volatile(team);
                (&raw mut (*header).wait_since_ns).write_volatile(now_ns);
                (&raw mut (*header).wait_node).write_volatile(self.member.idle_node());
                (&raw mut (*header).wait_target).write_volatile(0);
                AtomicU64::from_ptr(&raw mut (*header).wait_released_ns).store(0, Ordering::Relaxed);
                (&raw mut (*header).region).write_volatile(region);
                (&raw mut (*header).wait_operation).write_volatile(Operation::OmpRegionEnd as u32);
            }
        }
        if self.open.has_alarm() {
            self.hold_sample();
        }
    }

    /// The owner has work again; when the region at whose end it waited was over, and how long before that
    /// the last one had come. None where nobody said so.
    pub fn undock(&self) -> Option<(u64, u64)> {
        if self.open.has_alarm() {
            self.go_on();
        }
        let header = self.header.load(Ordering::Relaxed);
        if header.is_null() {
            return None;
        }
        // SAFETY: as in `dock`.
        unsafe {
            (&raw mut (*header).wait_operation).write_volatile(0);
            (&raw mut (*header).region).write_volatile(0);
            let released_ns =
                AtomicU64::from_ptr(&raw mut (*header).wait_released_ns).load(Ordering::Acquire);
            let latency_ns = AtomicU64::from_ptr(&raw mut (*header).wait_latency_ns).load(Ordering::Relaxed);
            (released_ns != 0).then_some((released_ns, latency_ns))
        }
    }

    /// The team at the end of whose region the owner waits.
    pub fn docked_for(&self) -> u64 {
        let header = self.header.load(Ordering::Relaxed);
        // SAFETY: the header is mapped for the process's life; only the owner, the caller, writes this.
        if header.is_null() { 0 } else { unsafe { (&raw const (*header).wait_object).read_volatile() } }
    }

    /// Whether the owner waits at the end of a region of `team`, and began to when it was opened or later.
    /// For who opened it: a thread that was in the team before may be docked for another one by now, or have
    /// ended, and its lane be another's.
    pub fn is_docked_for(&self, team: u64, since_ns: u64) -> bool {
        let header = self.header.load(Ordering::Relaxed);
        if header.is_null() {
            return self.member.docked_ns() >= since_ns;
        }
        // SAFETY: the header is mapped for the process's life. What its owner writes meanwhile concerns
        // another region, and is one of the two numbers or the other.
        unsafe {
            (&raw const (*header).wait_operation).read_volatile() == Operation::OmpRegionEnd as u32
                && (&raw const (*header).wait_object).read_volatile() == team
                && self.docked_since_ns() >= since_ns
        }
    }

    /// Since when the owner waits at a region's end, for who opened it.
    pub fn docked_since_ns(&self) -> u64 {
        let header = self.header.load(Ordering::Relaxed);
        if header.is_null() {
            return self.member.docked_ns();
        }
        // SAFETY: the header is mapped for the process's life.
        unsafe { AtomicU64::from_ptr(&raw mut (*header).wait_since_ns).load(Ordering::Relaxed) }
    }

    /// The region at whose end the owner waits is over; for who opened it.
    pub fn release_docked(&self, now_ns: u64, latency_ns: u64) {
        let header = self.header.load(Ordering::Relaxed);
        if !header.is_null() {
            // SAFETY: as above; the owner reads these two only when it has work again.
            unsafe {
                AtomicU64::from_ptr(&raw mut (*header).wait_latency_ns).store(latency_ns, Ordering::Relaxed);
                AtomicU64::from_ptr(&raw mut (*header).wait_released_ns).store(now_ns, Ordering::Release);
            }
        }
    }

    /// Whether the owner waits for work, the region at whose end it waited being over.
    pub fn is_idle(&self) -> bool {
        let docked_ns = self.member.docked_ns();
        let header = self.header.load(Ordering::Relaxed);
        if docked_ns == 0 || header.is_null() {
            return false;
        }
        // SAFETY: as above.
        let released_ns =
            unsafe { AtomicU64::from_ptr(&raw mut (*header).wait_released_ns).load(Ordering::Relaxed) };
        released_ns != 0 || self.member.docked_in().is_some_and(|team| team.ended_ns(docked_ns).is_some())
    }

    /// The owner's CPU timer; -1 = none.
    pub fn timer(&self) -> i32 {
        self.timer.load(Ordering::Acquire)
    }

    /// Sets the owner's CPU timer; the one before comes back.
    pub fn replace_timer(&self, timer: Option<i32>) -> Option<i32> {
        let old = self.timer.swap(timer.unwrap_or(-1), Ordering::AcqRel);
        (old >= 0).then_some(old)
    }

    /// Closes the owner's tail from another thread, or takes that back (with zeros): only the two fields of
    /// the lane's header that nobody else writes.
    pub fn close_tail(&self, time_ns: u64, cpu_ns: u64) {
        let header = self.header.load(Ordering::Acquire);
        if header.is_null() {
            return;
        }
        // SAFETY: the header is mapped for the process's life, and its fields are aligned.
        unsafe {
            AtomicU64::from_ptr(&raw mut (*header).final_cpu_ns).store(cpu_ns, Ordering::Relaxed);
            AtomicU64::from_ptr(&raw mut (*header).final_ns).store(time_ns, Ordering::Release);
        }
    }

    /// The owner takes the record in a hook; None if the collector is at work in this thread already, or
    /// another thread has it.
    #[inline]
    pub fn take(&self) -> Option<ByOwner<'_>> {
        // SAFETY: the caller is the owner (or a vforked child, for which the owner waits).
        self.hold.take(|| unsafe { self.own_stack() })
    }

    /// Runs `work` on the owner's part with all signals blocked, and with plenty of stack; None if the
    /// collector is at work in this thread already.
    pub fn with_record<R>(&self, work: impl FnOnce(&mut Record) -> R) -> Option<R> {
        let _quiet = Quiet::begin();
        let _held = self.take()?;
        // SAFETY: called by the owner (or a vforked child, for which the owner waits), who has taken the
        // record.
        Some(unsafe { self.with_room_in_quiet(|| timed(self.record(), work)) })
    }

    /// Like [`Lane::with_record`], where it must not be left out because another thread looks into the record
    /// just now.
    pub fn with_record_in_time<R>(&self, work: impl FnOnce(&mut Record) -> R) -> Option<R> {
        let _quiet = Quiet::begin();
        // SAFETY: called by the owner.
        let _held = self.hold.take_in_time(unsafe { self.own_stack() })?;
        // SAFETY: called by the owner, who has taken the record.
        Some(unsafe { self.with_room_in_quiet(|| timed(self.record(), work)) })
    }

    /// Like [`Lane::with_record`], but writes nothing to the log by itself, for vforked children too, stays
    /// on the caller's stack, and leaves signals as they are: `work` may be left by a jump at any
    /// instruction.
    pub fn with_record_in_silence<R>(&self, work: impl FnOnce(&mut Record) -> R) -> Option<R> {
        let _held = self.take()?;
        // SAFETY: called by the owner (or a vforked child, for which the owner waits), who has taken the
        // record.
        Some(work(unsafe { self.record() }))
    }
}

/// Runs `work`, and writes down what it took of the processor.
fn timed<R>(record: &mut Record, work: impl FnOnce(&mut Record) -> R) -> R {
    let begin = clock::now_ns();
    let result = work(record);
    record.spent_since(begin, 0);
    result
}
