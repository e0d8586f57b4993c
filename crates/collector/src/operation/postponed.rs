//! The end of a wait for a lock that was not long, and of a section: recorded later, when no thread waits for
//! the calling one.
//!
//! The thread that had the lock before wants it again in a moment. If it is still held then, that thread has
//! to sleep, and so on: a tenth of a microsecond more with the lock costs several of them. So between the
//! wait and the program's own section a clock is read, and no more. Nor is the wait recorded where the lock
//! is unlocked: two threads that take turns fall out of step if one of them returns later than it otherwise
//! would, which costs as much. Where a thread has just found a lock taken it has time: there it records the
//! wait and the section before. So does the next code that records something for the thread, its sampler
//! included.
//!
//! That time is short if sections are: while a thread records, the lock may become free, and nobody takes it.
//! So waits that end up in a sum anyway, and whose call path is not wanted, are added to those before, which
//! takes two additions, and their sum is recorded when something else is.

use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, compiler_fence};

use proust_log::operations::{Operation, Target};
use proust_log::records::SUM_PATH_NS;

use super::recording::{CLOCKED_LATER_NS, Completed, is_owner, record_next};
use super::short_waits::ShortWaits;
use super::sums::Several;
use super::{Kind, Outcome, Ticket, inside, known_path, releases, waited};
use crate::clock::{self, ticks};
use crate::lane::{self, Lane, Record};
use crate::life::{self, Life};
use crate::path::tree::NodeId;

/// Waits of that length are recorded at once: half a microsecond more is nothing to them.
const AT_ONCE_NS: u64 = 1_000_000;

/// Waits and a section that are over and not recorded yet. Written by their thread alone, and read by others
/// at the process's end: `pending` is stored last.
#[derive(Debug, Default)]
pub struct Postponed {
    /// [`WAIT`], [`SECTION`], [`DUE`], [`SHORT`].
    pending: AtomicU8,
    /// A [`Target`].
    target: AtomicU8,
    /// An [`Operation`].
    operation: AtomicU16,
    node: AtomicU32,
    begin_ns: AtomicU64,
    end_ns: AtomicU64,
    object: AtomicU64,
}

/// There is a wait.
const WAIT: u8 = 1;
/// It was so long that the thread's CPU clock is read, which is meaningful only soon after it.
const DUE: u8 = 2;
/// There is a section.
const SECTION: u8 = 4;
/// There are [`ShortWaits`], which ended before that wait and that section.
const SHORT: u8 = 8;

/// [`releases::Postponed`], as others may read it.
#[derive(Debug, Default)]
pub struct Section {
    operation: AtomicU16,
    is_bound: AtomicBool,
    node: AtomicU32,
    object: AtomicU64,
    ticks: AtomicU64,
    own_ticks: AtomicU64,
    weight_ns: AtomicU64,
    site: AtomicU64,
}

/// Time in short waits since one had its call path found, ns: as samples represent CPU time.
#[derive(Debug, Default)]
pub struct WithoutPath(AtomicU64);

impl WithoutPath {
    /// The lane's next thread begins.
    pub fn begin(&self) {
        self.0.store(SUM_PATH_NS, Ordering::Relaxed);
    }

    /// Whether a short wait gets its call path found, for all of this thread since the last such one.
    #[inline]
    fn wants_path(&self, ns: u64) -> bool {
        let without_ns = self.0.load(Ordering::Relaxed) + ns;
        let is_wanted = without_ns >= SUM_PATH_NS;
        self.0.store(if is_wanted { 0 } else { without_ns }, Ordering::Relaxed);
        is_wanted
    }
}

impl Postponed {
    /// Whether there is anything.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.pending.load(Ordering::Relaxed) != 0
    }

    /// Whether there are at most waits that another one may be added to.
    #[inline]
    pub fn may_wait(&self) -> bool {
        self.pending.load(Ordering::Relaxed) & !SHORT == 0
    }

    /// Whether it is to be recorded at the unlock.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.pending.load(Ordering::Relaxed) & DUE != 0
    }

    #[inline]
    fn keep(&self, kind: Kind, (begin_ns, end_ns): (u64, u64), object: u64, node: NodeId) {
        self.node.store(node, Ordering::Relaxed);
        self.begin_ns.store(begin_ns, Ordering::Relaxed);
        self.end_ns.store(end_ns, Ordering::Relaxed);
        self.object.store(object, Ordering::Relaxed);
        self.target.store(kind.target as u8, Ordering::Relaxed);
        self.operation.store(kind.operation as u16, Ordering::Relaxed);
        let due = if end_ns.saturating_sub(begin_ns) >= CLOCKED_LATER_NS { DUE } else { 0 };
        self.add(WAIT | due);
    }

    /// Adds a wait of the owner's to those that are pending, unless they are of another kind, or something
    /// else is pending.
    ///
    /// The owner's sampler may come in between, and records what is pending then. So nothing is while the sum
    /// is changed.
    #[inline]
    fn keep_short(&self, short: &ShortWaits, kind: Kind, span: (u64, u64)) -> bool {
        if !self.may_wait() {
            return false;
        }
        self.pending.store(0, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let is_added = short.add(kind, span);
        self.pending.store(SHORT, Ordering::Release);
        is_added
    }

    #[inline]
    fn add(&self, what: u8) {
        self.pending.store(self.pending.load(Ordering::Relaxed) | what, Ordering::Release);
    }

    /// For the thread that has taken the lane's record.
    fn take(&self, short: &ShortWaits, section: &Section) -> Taken {
        let pending = self.pending.load(Ordering::Acquire);
        let taken = Taken {
            short: if pending & SHORT != 0 { short.take() } else { None },
            wait: if pending & WAIT != 0 { self.wait() } else { None },
            section: if pending & SECTION != 0 { section.get() } else { None },
        };
        self.forget();
        taken
    }

    fn wait(&self) -> Option<Completed> {
        let operation = Operation::from_number(self.operation.load(Ordering::Relaxed))?;
        let target = Target::from_number(self.target.load(Ordering::Relaxed));
        Some(Completed {
            kind: Kind { operation, target },
            begin_ns: self.begin_ns.load(Ordering::Relaxed),
            end_ns: self.end_ns.load(Ordering::Relaxed),
            object: self.object.load(Ordering::Relaxed),
            object2: 0,
            request: 0,
            outcome: Outcome::default(),
            flags: 0,
            state: None,
            node: (self.node.load(Ordering::Relaxed), 0),
            is_postponed: true,
        })
    }

    /// The lane's next thread begins.
    pub fn forget(&self) {
        self.pending.store(0, Ordering::Relaxed);
    }
}

/// What was postponed, in the order of time.
struct Taken {
    short: Option<Several>,
    wait: Option<Completed>,
    section: Option<releases::Postponed>,
}

impl Section {
    fn set(&self, release: &releases::Postponed) {
        self.operation.store(release.operation as u16, Ordering::Relaxed);
        self.is_bound.store(release.is_bound, Ordering::Relaxed);
        self.node.store(release.node, Ordering::Relaxed);
        self.object.store(release.object, Ordering::Relaxed);
        self.ticks.store(release.ticks, Ordering::Relaxed);
        self.own_ticks.store(release.own_ticks, Ordering::Relaxed);
        self.weight_ns.store(release.weight_ns, Ordering::Relaxed);
        self.site.store(release.site, Ordering::Relaxed);
    }

    fn get(&self) -> Option<releases::Postponed> {
        Some(releases::Postponed {
            operation: Operation::from_number(self.operation.load(Ordering::Relaxed))?,
            is_bound: self.is_bound.load(Ordering::Relaxed),
            node: self.node.load(Ordering::Relaxed),
            object: self.object.load(Ordering::Relaxed),
            ticks: self.ticks.load(Ordering::Relaxed),
            own_ticks: self.own_ticks.load(Ordering::Relaxed),
            weight_ns: self.weight_ns.load(Ordering::Relaxed),
            site: self.site.load(Ordering::Relaxed),
        })
    }
}

/// Ends a wait for a lock: now, or if it was not long and its call path is known, later.
#[inline]
pub fn end(ticket: Ticket, outcome: Outcome) {
    let Some(lane) = ticket.lane else { return inside::end(ticket, outcome) };
    let is_mine = lane::current().is_some_and(|current| core::ptr::eq(current, lane));
    if !is_mine || outcome.error != 0 {
        super::end(ticket, outcome);
        lane.operations.sampling.has_read(ticks::now());
        return;
    }
    let (end_ns, end_ticks) = clock::now();
    lane.operations.sampling.has_read(end_ticks);
    // SAFETY: this is the owner.
    let limit_ns = unsafe { lane.limit_ns() };
    let Some(kind) = lane.operations.open.kind_since(ticket.begin_ns) else { return };
    let ns = end_ns.saturating_sub(ticket.begin_ns);
    let is_short = ns < limit_ns;
    let wants_path = if is_short { lane.operations.without_path.wants_path(ns) } else { ns < AT_ONCE_NS };
    let postponed = &lane.operations.postponed;
    let span = (ticket.begin_ns, end_ns);
    let is_added = is_short && !wants_path && postponed.keep_short(&lane.operations.short_waits, kind, span);
    let node = if wants_path { path(lane, kind) } else { 0 };
    if is_added {
        lane.leave_to_record(kind.operation, ns, 0);
    } else if node == 0 {
        super::end_found(lane, ticket, (kind, lane.operations.open.object()), end_ns, outcome);
    } else {
        postponed.keep(kind, span, lane.operations.open.object(), node);
        lane.leave_to_record(kind.operation, ns, node);
    }
}

/// The call path of the wait that has just ended: its frame will be gone when it is recorded. 0 where it has
/// to be recorded now.
#[inline(never)]
fn path(lane: &'static Lane, kind: Kind) -> NodeId {
    let Some(life) = life::in_hook() else { return 0 };
    match known_path(life, lane, &lane.operations.open.state()) {
        0 => find_caller(life, lane, kind),
        node => node,
    }
}

/// As [`path`], where none is known.
#[cold]
#[inline(never)]
fn find_caller(life: &Life, lane: &'static Lane, kind: Kind) -> NodeId {
    if !is_owner(lane) {
        return 0;
    }
    let state = lane.operations.open.state();
    let found = lane.with_record(|record| {
        if record.output.is_open() {
            record.path_to_know(state, life.pid, &lane.operations.known_paths)
        } else {
            (0, 0)
        }
    });
    match found {
        Some((node, 0)) => {
            lane.operations.callers.keep(kind, state.sp, node);
            node
        }
        _ => 0,
    }
}

/// Records what was postponed, before an operation begins; returns when it does. A thread that has found a
/// lock taken waits already.
#[inline(never)]
pub fn settle_before(lane: &'static Lane, operation: Operation) -> u64 {
    let waits_since_ns = if waited::is_for_lock(operation) { clock::now_ns() } else { 0 };
    settle(lane);
    if waits_since_ns != 0 { waits_since_ns } else { clock::now_ns() }
}

/// Records what was postponed. By the owner.
#[inline(never)]
pub fn settle(lane: &'static Lane) {
    if let Some(_guard) = lane.take() {
        // SAFETY: called by the owner, which has taken the record.
        settle_in(lane, unsafe { lane.record() });
    }
}

/// As [`settle`], where the lane's record has been taken.
#[inline(never)]
pub fn settle_in(lane: &Lane, record: &mut Record) {
    // SAFETY: the record has been taken; should this not be the owner, it is a thread that closes its record
    // for it, with all signals blocked.
    unsafe { lane.with_room_for(|| settle_here(lane, record)) }
}

#[inline(never)]
fn settle_here(lane: &Lane, record: &mut Record) {
    let operations = &lane.operations;
    let taken = operations.postponed.take(&operations.short_waits, &operations.postponed_section);
    if let Some(several) = &taken.short {
        record.operations.sums.add_several(several, &mut record.output);
    }
    if let Some(completed) = &taken.wait {
        record_next(lane, record, completed);
    }
    if taken.short.is_some() || taken.wait.is_some() {
        lane.is_recorded();
    }
    if let Some(release) = taken.section {
        release.write(lane, record);
    }
}

/// Keeps a section of the calling thread's that has ended; false if there is one already.
pub fn keep_section(lane: &Lane, release: &releases::Postponed) -> bool {
    let is_free = lane.operations.postponed.pending.load(Ordering::Relaxed) & SECTION == 0;
    if is_free {
        lane.operations.postponed_section.set(release);
        lane.operations.postponed.add(SECTION);
    }
    is_free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_postponed_is_recorded_once() {
        let postponed = Postponed::default();
        let take_wait = || postponed.take(&ShortWaits::default(), &Section::default()).wait;
        assert!(!postponed.is_any() && take_wait().is_none());
        postponed.keep(Kind::from(Operation::MutexLock), (100, 350), 0x1000, 7);
        assert!(postponed.is_any() && !postponed.is_due());
        let completed = take_wait().unwrap();
        assert_eq!((completed.begin_ns, completed.end_ns, completed.object), (100, 350, 0x1000));
        assert_eq!((completed.kind.operation, completed.node), (Operation::MutexLock, (7, 0)));
        assert!(completed.is_postponed);
        assert!(!postponed.is_any() && take_wait().is_none());
        postponed.keep(Kind::from(Operation::MutexLock), (100, 1_000_350), 0x1000, 7);
        assert!(postponed.is_due() && take_wait().is_some() && !postponed.is_due());
    }

    #[test]
    fn short_waits_of_a_kind_are_added_up_until_they_are_recorded() {
        let (postponed, short, section) = (Postponed::default(), ShortWaits::default(), Section::default());
        let kind = Kind::from(Operation::MutexLock);
        let several = |calls, ns, since_ns, until_ns| Several { kind, calls, ns, since_ns, until_ns };
        assert!(postponed.keep_short(&short, kind, (100, 350)));
        assert!(postponed.keep_short(&short, kind, (1_000, 1_010)));
        // Another kind has to be recorded, and these before it.
        assert!(!postponed.keep_short(&short, Kind::from(Operation::SpinLock), (1_100, 1_110)));
        assert!(postponed.is_any() && postponed.may_wait() && !postponed.is_due());
        assert_eq!(postponed.take(&short, &section).short, Some(several(2, 260, 100, 1_010)));
        assert!(!postponed.is_any() && postponed.take(&short, &section).short.is_none());

        assert!(postponed.keep_short(&short, kind, (2_000, 2_100)));
        postponed.keep(kind, (3_000, 1_003_000), 0x1000, 7);
        assert!(!postponed.may_wait() && !postponed.keep_short(&short, kind, (2_000_000, 2_000_100)));
        let taken = postponed.take(&short, &section);
        assert_eq!(taken.short, Some(several(1, 100, 2_000, 2_100)));
        assert_eq!(taken.wait.map(|wait| wait.begin_ns), Some(3_000));
    }

    #[test]
    fn a_sampler_that_comes_between_records_each_wait_once() {
        let (postponed, short, section) = (Postponed::default(), ShortWaits::default(), Section::default());
        let kind = Kind::from(Operation::MutexLock);
        // While a wait is added nothing is pending, and what was added before is there again after it.
        assert!(postponed.keep_short(&short, kind, (100, 200)));
        postponed.pending.store(0, Ordering::Relaxed);
        assert!(postponed.take(&short, &section).short.is_none());
        assert!(postponed.keep_short(&short, kind, (300, 400)));
        let several = Several { kind, calls: 2, ns: 200, since_ns: 100, until_ns: 400 };
        assert_eq!(postponed.take(&short, &section).short, Some(several));
    }
}
