//! One thread's record: its lane in the log, its tree and memo, its clocks.
//!
//! Lanes are made once and go from thread to thread. A lane's record is used by its owner only, in the
//! owner's signal handler or in a hook, never both at once; another thread may look into it at the process's
//! end. Each takes it first (`hold.rs`).

use core::cell::UnsafeCell;
use core::mem::offset_of;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use proust_log::layout::{LaneHeader, chunk_bytes};
use proust_log::writer::LaneWriter;

use crate::free_list::FreeList;
use crate::openmp::Member;
use crate::path::modules;
use crate::path::stack::OwnStack;
use crate::room::Room;
use crate::turn::Quiet;
use crate::{clock, logfile, mpi, operation, sample};

pub mod binding;
mod current;
mod docked;
mod docking;
mod ids;
mod left;
mod lent;
mod marked;
mod output;
mod own_time;
mod paths;
mod record;
mod record_lock;
mod scheduler;
mod unrecorded;
mod usage;
mod waiting;

pub use current::{
    begin_fork, control_block, end_fork, get as current, is_forking, set as set_current, set_visits, visits,
};
pub use ids::Ids;
pub use left::is_left;
pub use output::{Output, write_module};
pub use record::{Record, Start};
pub use record_lock::prepare as prepare_record_locks;
use record_lock::{OwnerGuard, RecordLock};
pub use scheduler::WORTH_ASKING_NS;
pub use usage::{Usage, scheduler_numbers};

/// `owner` of a lane that was claimed for a thread which does not run yet.
pub const RESERVED: u32 = u32::MAX;

/// A lane: whose it is, which thread uses it, and what each source of data keeps of its thread. Fields that
/// every operation reads are in as few cache lines as possible: the program and the kernel have evicted them
/// since the last one.
#[repr(C, align(64))]
pub struct Lane {
    /// The lane's header in the log; null = none. Other threads read it for each region that they open:
    /// nothing in this line, up to `hold`, is written often.
    header: AtomicPtr<LaneHeader>,
    /// The owner's place in a parallel program.
    pub member: &'static Member,
    /// Kernel id of the thread it belongs to; 0 = free.
    pub owner: AtomicU32,
    /// [`GENERATION`] when it was made.
    generation: u32,
    /// Address of the owner's control block, which is its `pthread_t`; 0 = not known.
    pub thread: AtomicU64,
    next: AtomicPtr<Lane>,
    /// The word of the list of free lanes.
    next_free: AtomicU64,
    /// When the owner began.
    born_ns: AtomicU64,
    /// The stack pointer of the owner's hook that unloads a library; 0 = none does.
    unloading: AtomicU64,
    /// Which thread uses the record: the owner in a hook or in its handler, or a thread that closes it in the
    /// owner's place.
    pub record_lock: RecordLock,
    /// The owner's state in hooked functions.
    pub operations: operation::Shared,
    /// When the owner's samples are due, and what brings them.
    pub samples: sample::Shared,
    /// A stack to work on.
    pub room: Room,
    /// The owner's state in calls of MPI.
    pub mpi: &'static mpi::Shared,
    record: UnsafeCell<Record>,
}

const _: () = {
    let line = offset_of!(Lane, record_lock);
    assert!(line == 64 && operation::fits_at(offset_of!(Lane, operations) - line));
};

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

/// A lane for a thread about to be created; None if there is no memory or no room in the log.
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
    let mpi: &'static mpi::Shared = Box::leak(Box::default());
    let lane: &'static Lane = Box::leak(Box::new(Lane {
        header: AtomicPtr::new(writer.as_ref().map_or(core::ptr::null_mut(), LaneWriter::header)),
        member,
        owner: AtomicU32::new(RESERVED),
        generation: GENERATION.load(Ordering::Relaxed),
        thread: AtomicU64::new(0),
        next: AtomicPtr::new(core::ptr::null_mut()),
        next_free: AtomicU64::new(0),
        born_ns: AtomicU64::new(0),
        unloading: AtomicU64::new(0),
        record_lock: RecordLock::new(),
        operations: operation::Shared::default(),
        samples: sample::Shared::default(),
        room: Room::new(),
        mpi,
        record: UnsafeCell::new(Record::new(writer, member, mpi)),
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

/// Forgets all lanes: a forked child starts from scratch (its memory is a copy, its log another file).
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

    /// Whether this process made it: a signal handler may fork in a hook that has a lane, and the child
    /// continues in that hook.
    pub fn is_of_this_process(&self) -> bool {
        self.generation == GENERATION.load(Ordering::Relaxed)
    }

    /// Gives a claimed or finished lane back. A lane of a process that this one was forked off is left alone.
    pub fn release(&self) {
        if !self.is_of_this_process() {
            return;
        }
        self.thread.store(0, Ordering::Relaxed);
        modules::forget_unloading_of(self);
        self.record_lock.forget_owner();
        let owner = self.owner.swap(0, Ordering::AcqRel);
        if owner == 0 {
            return;
        }
        if owner == RESERVED { &CLAIMED } else { &OWNED }.fetch_sub(1, Ordering::AcqRel);
        // SAFETY: lanes are never freed, and this one has no owner.
        unsafe { FREE.give(core::ptr::from_ref(self).cast_mut().cast()) };
    }

    /// The stack pointer of the owner's hook that unloads a library; 0 = none does.
    pub fn unloading(&self) -> &AtomicU64 {
        &self.unloading
    }

    /// In a forked child: nothing is written through the parent's lane any more, by whatever hook the child
    /// continues in. Returns where the lane's header lay, null = nowhere: its address may be in a register.
    pub fn leave_log(&self) -> *mut u8 {
        // SAFETY: the child's only thread, with all signals blocked: nothing else uses the record.
        unsafe { self.record() }.output = Output::new(None);
        self.header.swap(core::ptr::null_mut(), Ordering::Relaxed).cast()
    }

    /// The owner's part.
    ///
    /// # Safety
    /// The caller has taken the record, in the owner's handler, in a hook or for a closed process, or has the
    /// lane [`RESERVED`]; and no other reference from this function is alive.
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

    /// From which length on the owner's operations are recorded alone, ns.
    ///
    /// # Safety
    /// The caller is the owner.
    #[inline]
    pub unsafe fn limit_ns(&self) -> u64 {
        // SAFETY: the caller's promise; a copy of a word that only the owner changes.
        unsafe { (*self.record.get()).operations.limit.ns }
    }

    /// The owner's first instant.
    #[inline]
    pub fn born_ns(&self) -> u64 {
        self.born_ns.load(Ordering::Relaxed)
    }

    /// The owner's time from here on is recorded: its first instant.
    pub fn is_born(&self, now_ns: u64) {
        self.born_ns.store(now_ns, Ordering::Relaxed);
    }

    /// The owner takes the record in a hook; None if the collector is at work in this thread already, or
    /// another thread has it.
    #[inline]
    pub fn take(&self) -> Option<OwnerGuard<'_>> {
        // SAFETY: the caller is the owner (or a vforked child, for which the owner waits).
        self.record_lock.acquire(|| unsafe { self.own_stack() })
    }

    /// As [`Lane::take`], where it must not be left out because another thread looks into the record.
    #[inline]
    pub fn acquire_in_time(&self) -> Option<OwnerGuard<'_>> {
        // SAFETY: the caller is the owner (or a vforked child, for which the owner waits).
        self.take().or_else(|| self.record_lock.acquire_in_time(unsafe { self.own_stack() }))
    }

    /// Runs `work` on the owner's part with all signals blocked, and with plenty of stack; None if the
    /// collector is at work in this thread already.
    pub fn with_record<R>(&self, work: impl FnOnce(&mut Record) -> R) -> Option<R> {
        let _quiet = Quiet::begin();
        let _guard = self.take()?;
        // SAFETY: called by the owner (or a vforked child, for which the owner waits), who has taken the
        // record.
        Some(unsafe { self.with_room_in_quiet(|| timed(self.record(), work)) })
    }

    /// Like [`Lane::with_record`], where it must not be left out because another thread looks into the record
    /// just now.
    pub fn with_record_in_time<R>(&self, work: impl FnOnce(&mut Record) -> R) -> Option<R> {
        let _quiet = Quiet::begin();
        // SAFETY: called by the owner.
        let _guard = self.record_lock.acquire_in_time(unsafe { self.own_stack() })?;
        // SAFETY: called by the owner, which has taken the record.
        Some(unsafe { self.with_room_in_quiet(|| timed(self.record(), work)) })
    }

    /// Like [`Lane::with_record`], but writes nothing to the log by itself, for vforked children too, stays
    /// on the caller's stack, and leaves signals as they are: `work` may be left by a jump at any
    /// instruction.
    pub fn with_record_in_silence<R>(&self, work: impl FnOnce(&mut Record) -> R) -> Option<R> {
        let _guard = self.take()?;
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
