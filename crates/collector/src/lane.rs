//! One thread's record: its lane in the log, its tree and memo, its clocks.
//!
//! Lanes are made once and go from thread to thread. A lane is used by its owner only: in the owner's
//! signal handler, or in a hook with `busy` set, never both at once.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering, compiler_fence};

use proust_log::layout::{FileHeader, LaneHeader};
use proust_log::records::{
    self, Birth, Body, Child, Node, Note, NoteCode, Sample, SchedStat, Subject, TEXT_BYTES, ThreadBegin,
    ThreadEnd, ThreadOrigin,
};
use proust_log::writer::{Full, LaneWriter};

use crate::path::Announce;
use crate::path::memo::{Memo, State, Surroundings};
use crate::path::modules::{self, Module};
use crate::path::reference::Reference;
use crate::path::stack::OwnStack;
use crate::path::tree::{Frame, NodeId, Tree};
use crate::{clock, logfile, raw};

/// `owner` of a lane that was claimed for a thread which does not run yet.
pub const RESERVED: u32 = u32::MAX;

/// A lane.
pub struct Lane {
    /// Kernel id of the thread it belongs to; 0 = free.
    pub owner: AtomicU32,
    /// Set while the owner is inside the collector outside of its handler.
    pub busy: AtomicBool,
    /// Whether the program believes the sampling signal blocked in this thread.
    pub blocked: AtomicBool,
    /// Whether such a signal, not ours, came meanwhile and waits.
    pub held: AtomicBool,
    /// The owner's CPU timer; -1 = none.
    timer: AtomicI32,
    /// The lane's header in the log; null = none.
    header: AtomicPtr<LaneHeader>,
    next: AtomicPtr<Lane>,
    record: UnsafeCell<Record>,
}

// SAFETY: `record` is only touched by the owner (see the module's text); the rest is atomic.
unsafe impl Sync for Lane {}

/// Time off the processor since the last record from which on the scheduler's file is read at a thread's end.
const WORTH_ASKING_NS: u64 = 200_000;

/// What a new thread shall run.
#[derive(Clone, Copy, Default)]
pub struct Start {
    /// The program's start function.
    pub routine: usize,
    /// Its argument.
    pub argument: usize,
    /// Kernel id of the creating thread.
    pub parent: u32,
    /// Whether the creating thread has the sampling signal blocked, as it believes.
    pub blocked: bool,
}

/// The owner's part of a lane.
pub struct Record {
    /// The log's end of the lane.
    pub output: Output,
    /// Contexts seen in this lane.
    pub tree: Tree,
    /// The last path.
    pub memo: Memo,
    /// The thread's stack, once it is known.
    pub own_stack: OwnStack,
    /// How often the stack was looked for.
    pub stack_searches: u32,
    /// Use of resources at the newest record.
    pub usage: Usage,
    /// Time in the collector since the newest record.
    pub own_ns: u64,
    /// Same, whole thread.
    pub own_total_ns: u64,
    /// Merged timer expirations, whole thread.
    pub overruns: u64,
    /// When the scheduler's numbers were last read.
    pub scheduler_read_ns: u64,
    /// For the thread that this lane was claimed for.
    pub start: Start,
    /// Where a thread's start function hangs: for which place and modules, and the node.
    pub start_path: ((u64, u32), NodeId),
    /// The thread's name as last written; empty = not yet.
    pub name: [u8; 16],
    /// Checks paths in debug mode.
    pub reference: Option<Box<Reference>>,
    /// Images that vforked children loaded while this thread waited, to be told when it goes on.
    pub lent: Lent,
    /// Memory for the arguments and the environment of an exec.
    pub exec_memory: (*mut u8, usize),
}

/// Counters of a thread as the kernel keeps them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// User time, microseconds.
    pub user_us: u64,
    /// System time, microseconds.
    pub system_us: u64,
    /// Page faults without and with I/O.
    pub faults: (u64, u64),
    /// Voluntary and involuntary context switches.
    pub switches: (u64, u64),
}

impl Usage {
    /// Of the calling thread.
    pub fn now() -> Usage {
        // SAFETY: all-zero is a valid `rusage`.
        let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
        raw::thread_usage(&mut usage);
        let micros = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
        Usage {
            user_us: micros(usage.ru_utime),
            system_us: micros(usage.ru_stime),
            faults: (usage.ru_minflt as u64, usage.ru_majflt as u64),
            switches: (usage.ru_nvcsw as u64, usage.ru_nivcsw as u64),
        }
    }

    /// What was added since `earlier`.
    pub fn since(&self, earlier: &Usage) -> Usage {
        Usage {
            user_us: self.user_us.saturating_sub(earlier.user_us),
            system_us: self.system_us.saturating_sub(earlier.system_us),
            faults: (
                self.faults.0.saturating_sub(earlier.faults.0),
                self.faults.1.saturating_sub(earlier.faults.1),
            ),
            switches: (
                self.switches.0.saturating_sub(earlier.switches.0),
                self.switches.1.saturating_sub(earlier.switches.1),
            ),
        }
    }
}

const LENT_CHILDREN: usize = 4;
const LENT_PATH_BYTES: usize = 200;

/// What vforked children left in the memory that they borrowed; more than fits is forgotten.
pub struct Lent {
    count: usize,
    children: [(u32, usize, [u8; LENT_PATH_BYTES]); LENT_CHILDREN],
}

impl Default for Lent {
    fn default() -> Lent {
        Lent { count: 0, children: [(0, 0, [0; LENT_PATH_BYTES]); LENT_CHILDREN] }
    }
}

impl Lent {
    /// Keeps what child `pid` is about to become. Called by the child, which may not write to the log.
    pub fn keep(&mut self, pid: u32, target: &[u8]) {
        if let Some((place, length, path)) = self.children.get_mut(self.count) {
            *place = pid;
            *length = target.len().min(LENT_PATH_BYTES);
            path[..*length].copy_from_slice(&target[..*length]);
            self.count += 1;
        }
    }
}

/// The log's end of a lane. Without room for a context the lane goes on with totals only.
pub struct Output {
    writer: Option<LaneWriter>,
    totals_only: bool,
}

impl Output {
    /// Appends a record, in a new chunk if need be; false if there is no room.
    #[inline]
    pub fn push<B: Body>(&mut self, a: u16, b: u16, body: &B) -> bool {
        self.with_room(|writer| writer.push(a, b, body))
    }

    /// Appends a text of any length.
    pub fn push_text(&mut self, subject: Subject, id: u32, text: &[u8]) -> bool {
        let parts = text.chunks(TEXT_BYTES).chain(text.is_empty().then_some(&[][..]));
        let mut all = true;
        for (part, bytes) in parts.enumerate() {
            all &= self.with_room(|writer| writer.push_text(subject, part as u16, id, bytes));
        }
        all
    }

    #[inline]
    fn with_room(&mut self, mut write: impl FnMut(&mut LaneWriter) -> Result<(), Full>) -> bool {
        if self.totals_only {
            return false;
        }
        let Some(writer) = &mut self.writer else { return false };
        if write(writer).is_ok() {
            return true;
        }
        let chunk = logfile::take_chunk();
        if chunk.is_null() {
            return false;
        }
        // SAFETY: a fresh chunk is mapped, reserved, zero and ours.
        unsafe { writer.extend(chunk) };
        write(writer).is_ok()
    }

    /// Appends a thread's last record into the room that is kept for it.
    pub fn push_last<B: Body>(&mut self, body: &B) -> bool {
        self.writer.as_mut().is_some_and(|writer| writer.push_last(0, 0, body).is_ok())
    }

    /// Runs `work` on the lane's mutable header.
    pub fn header(&mut self, work: impl FnOnce(&mut LaneHeader)) {
        if let Some(writer) = &self.writer {
            // SAFETY: the header is mapped for the process's life, and the lane is ours (see `Lane`).
            work(unsafe { &mut *writer.header() });
        }
    }

    /// Whether contexts can still be written.
    pub fn is_open(&self) -> bool {
        !self.totals_only && self.writer.is_some()
    }
}

impl Announce for Output {
    fn module(&mut self, module: &Module) {
        write_module(self, module);
    }

    fn node(&mut self, id: NodeId, frame: &Frame) {
        let module = modules::known(frame.lookup).filter(|module| module.id == frame.module);
        let node = Node {
            id,
            parent: frame.parent,
            module: module.map_or(0, |module| module.id),
            address: frame.lookup.wrapping_sub(module.map_or(0, |module| module.bias)),
            reserved: 0,
        };
        if !self.push(0, 0, &node) {
            // Later samples would name a context that the log does not hold.
            self.totals_only = true;
        }
    }
}

/// Writes a module and its path.
pub fn write_module(output: &mut Output, module: &Module) {
    let (build_id_bytes, facts, path) = module.for_log();
    output.push(build_id_bytes, 0, facts);
    output.push_text(Subject::ModulePath, module.id, path.to_bytes());
    logfile::with_header(|header| header.modules = header.modules.max(module.id));
}

static LANES: AtomicPtr<Lane> = AtomicPtr::new(core::ptr::null_mut());
static FREE: AtomicU32 = AtomicU32::new(0);
static LANE_COUNT: AtomicU32 = AtomicU32::new(0);

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

/// A lane for a thread to come; None if there is no memory or no room in the log.
pub fn claim() -> Option<&'static Lane> {
    if FREE.load(Ordering::Acquire) > 0 {
        let free = all().find(|lane| {
            lane.owner.compare_exchange(0, RESERVED, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        });
        if let Some(lane) = free {
            FREE.fetch_sub(1, Ordering::AcqRel);
            return Some(lane);
        }
    }
    let chunk = logfile::take_chunk();
    let number = LANE_COUNT.fetch_add(1, Ordering::Relaxed);
    let writer = (!chunk.is_null()).then(|| {
        // SAFETY: a fresh chunk is mapped, reserved, zero and ours.
        unsafe { LaneWriter::begin(number, chunk) }
    });
    logfile::with_header(|header| header.lanes = header.lanes.max(number + 1));
    let lane: &'static Lane = Box::leak(Box::new(Lane {
        owner: AtomicU32::new(RESERVED),
        busy: AtomicBool::new(false),
        blocked: AtomicBool::new(false),
        held: AtomicBool::new(false),
        timer: AtomicI32::new(-1),
        header: AtomicPtr::new(writer.as_ref().map_or(core::ptr::null_mut(), LaneWriter::header)),
        next: AtomicPtr::new(core::ptr::null_mut()),
        record: UnsafeCell::new(Record {
            output: Output { writer, totals_only: false },
            tree: Tree::default(),
            memo: Memo::default(),
            own_stack: OwnStack::default(),
            stack_searches: 0,
            usage: Usage::default(),
            own_ns: 0,
            own_total_ns: 0,
            overruns: 0,
            scheduler_read_ns: 0,
            start: Start::default(),
            start_path: ((0, 0), 0),
            name: [0; 16],
            lent: Lent::default(),
            reference: None,
            exec_memory: (core::ptr::null_mut(), 0),
        }),
    }));
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
    FREE.store(0, Ordering::Release);
    LANE_COUNT.store(0, Ordering::Release);
}

impl Lane {
    /// Gives a claimed or finished lane back.
    pub fn release(&self) {
        self.owner.store(0, Ordering::Release);
        FREE.fetch_add(1, Ordering::AcqRel);
    }

    /// The owner's part.
    ///
    /// # Safety
    /// The caller is the owner's handler, or the owner with `busy` set, or holds the lane [`RESERVED`];
    /// and no other reference from this function is alive.
    #[expect(clippy::mut_from_ref, reason = "exclusive by ownership of the lane, which the type cannot show")]
    pub unsafe fn record(&self) -> &mut Record {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.record.get() }
    }

    /// Sets the owner's timer; the one before comes back.
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

    /// Runs `work` on the owner's part with the handler kept out; None if the collector is at work in this
    /// thread already.
    pub fn with_record<R>(&self, work: impl FnOnce(&mut Record) -> R) -> Option<R> {
        self.with_record_in_silence(|record| {
            let begin = clock::now_ns();
            let result = work(record);
            record.spent(clock::now_ns().saturating_sub(begin));
            result
        })
    }

    /// Like [`Lane::with_record`], but writes nothing to the log by itself: for vforked children too.
    pub fn with_record_in_silence<R>(&self, work: impl FnOnce(&mut Record) -> R) -> Option<R> {
        if self.busy.swap(true, Ordering::Relaxed) {
            return None;
        }
        // The handler runs on this very thread: the compiler must not move the work out of the bracket.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: called by the owner (or a vforked child, for which the owner waits), with `busy` set.
        let result = work(unsafe { self.record() });
        compiler_fence(Ordering::SeqCst);
        self.busy.store(false, Ordering::Relaxed);
        Some(result)
    }
}

impl Record {
    /// Adds to the time spent in the collector.
    pub fn spent(&mut self, ns: u64) {
        self.own_ns += ns;
        self.own_total_ns += ns;
        let total = self.own_total_ns;
        self.output.header(|header| header.own_ns = total);
    }

    /// Makes the lane ready for a thread and writes its begin.
    pub fn begin(&mut self, begin: &ThreadBegin, origin: ThreadOrigin) {
        self.memo.forget();
        self.own_stack = OwnStack::default();
        self.stack_searches = 0;
        self.usage = Usage::default();
        self.own_ns = 0;
        self.own_total_ns = 0;
        self.overruns = 0;
        self.name = [0; 16];
        self.scheduler_read_ns = begin.time_ns;
        self.output.header(|header| {
            *header = LaneHeader {
                tid: begin.tid,
                last_ns: begin.time_ns,
                last_cpu_ns: begin.cpu_ns,
                ..LaneHeader::default()
            };
        });
        self.output.push(origin as u16, 0, begin);
    }

    /// The node of the path that begins at `leaf`, and its sample flags.
    pub fn path(&mut self, leaf: State, process: u32) -> (NodeId, u16) {
        use crate::path::memo::UpperEnd;
        let mut around = Surroundings { own_stack: self.own_stack, process, announce: &mut self.output };
        let path = self.memo.path(leaf, &mut self.tree, &mut around);
        let generation = modules::generation();
        if let Some(reference) = &mut self.reference
            && path.upper_end != UpperEnd::Truncated
        {
            let agrees = reference.agrees(leaf, path.node, &self.tree, &around)
                // Another thread loaded or unloaded code meanwhile: the two saw different modules.
                || modules::generation() != generation;
            logfile::count(|header: *mut FileHeader| field(header, |h| &raw mut h.paths_compared), 1);
            if !agrees {
                logfile::count(|header: *mut FileHeader| field(header, |h| &raw mut h.path_mismatches), 1);
            }
        }
        let flags = match path.upper_end {
            UpperEnd::Complete => 0,
            UpperEnd::Partial => records::SAMPLE_PARTIAL,
            UpperEnd::Truncated => records::SAMPLE_TRUNCATED,
        };
        (path.node, flags)
    }

    /// Writes a sample, or counts it where there is no room.
    pub fn push_sample(&mut self, flags: u16, sample: &Sample) {
        let written = self.output.push(flags, 0, sample);
        self.output.header(|header| {
            if !written {
                header.unrecorded_samples += 1;
                header.unrecorded_cpu_ns += sample.cpu_ns.saturating_sub(header.last_cpu_ns);
            }
            header.last_ns = sample.time_ns;
            header.last_cpu_ns = sample.cpu_ns;
        });
    }

    /// Writes the calling thread's name, if it has changed since it was last written.
    pub fn push_name(&mut self, tid: u32) {
        let mut name = [0_u8; 16];
        // PR_GET_NAME fills 16 bytes, the final zero included.
        // SAFETY: the buffer has that size.
        unsafe {
            raw::call(libc::SYS_prctl, [libc::PR_GET_NAME as usize, name.as_mut_ptr() as usize, 0, 0, 0, 0])
        };
        if name != self.name {
            self.name = name;
            let length = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
            self.output.push_text(Subject::ThreadName, tid, &name[..length]);
        }
    }

    /// Reads and writes the scheduler's numbers of the calling thread.
    pub fn push_scheduler(&mut self, now: u64) {
        self.scheduler_read_ns = now;
        if let Some((run_ns, queued_ns)) = scheduler_numbers(c"/proc/thread-self/schedstat") {
            self.output.push(0, 0, &SchedStat { time_ns: now, run_ns, queued_ns });
        }
    }

    /// Writes what vforked children became.
    pub fn tell_lent(&mut self) {
        for index in 0..core::mem::take(&mut self.lent.count) {
            let Some(&(pid, length, path)) = self.lent.children.get(index) else { break };
            let child = Child { time_ns: clock::now_ns(), pid, reserved: 0 };
            self.output.push(Birth::Fork as u16, 0, &child);
            self.output.push_text(Subject::ExecTarget, pid, path.get(..length).unwrap_or(&[]));
        }
    }

    /// Writes a note.
    pub fn note(&mut self, code: NoteCode, value: u64) {
        self.output.push(code as u16, 0, &Note { time_ns: clock::now_ns(), value });
    }

    /// Writes the end of the calling thread; where there is no room for it, its totals go to the log's first
    /// page.
    pub fn end(&mut self, tid: u32) {
        let time_ns = clock::now_ns();
        let cpu_ns = clock::thread_cpu_ns();
        let mut waited_ns = 0;
        self.output.header(|header| {
            let wall_ns = time_ns.saturating_sub(header.last_ns);
            waited_ns = wall_ns.saturating_sub(cpu_ns.saturating_sub(header.last_cpu_ns));
        });
        // Reading the scheduler's file costs more than it can tell of a thread that hardly waited.
        if waited_ns >= WORTH_ASKING_NS {
            self.push_scheduler(time_ns);
        }
        self.push_name(tid);
        self.tell_lent();
        let usage = Usage::now();
        let delta = usage.since(&self.usage);
        let mut end = ThreadEnd {
            time_ns,
            cpu_ns,
            own_ns: self.own_total_ns,
            overruns: self.overruns,
            user_us: delta.user_us as u32,
            system_us: delta.system_us as u32,
            minor_faults: delta.faults.0 as u32,
            major_faults: delta.faults.1 as u32,
            voluntary_switches: delta.switches.0 as u32,
            involuntary_switches: delta.switches.1 as u32,
            tid,
            ..ThreadEnd::default()
        };
        let mut lost_cpu_ns = 0;
        self.output.header(|header| {
            end.unrecorded_samples = header.unrecorded_samples;
            end.unrecorded_cpu_ns = header.unrecorded_cpu_ns;
            lost_cpu_ns = header.unrecorded_cpu_ns + end.cpu_ns.saturating_sub(header.last_cpu_ns);
        });
        self.usage = usage;
        // Whoever reads the log must not take what is left in the header for a thread that is still there.
        self.output.header(|header| header.tid = 0);
        if self.output.push_last(&end) {
            return;
        }
        logfile::count(|header: *mut FileHeader| field(header, |h| &raw mut h.lost_thread_ends), 1);
        logfile::count(
            |header: *mut FileHeader| field(header, |h| &raw mut h.lost_thread_cpu_ns),
            lost_cpu_ns,
        );
    }
}

/// A field of a header by raw pointer.
fn field(header: *mut FileHeader, pick: impl FnOnce(&mut FileHeader) -> *mut u64) -> *mut u64 {
    // SAFETY: callers pass the mapped header of the log.
    pick(unsafe { &mut *header })
}

/// Time on a processor and time waiting for one, nanoseconds, from a `schedstat` file.
pub fn scheduler_numbers(path: &core::ffi::CStr) -> Option<(u64, u64)> {
    let descriptor = raw::open(path, libc::O_RDONLY, 0);
    if raw::failed(descriptor) {
        return None;
    }
    let mut text = [0_u8; 96];
    let got = raw::read(descriptor as i32, &mut text);
    raw::close(descriptor as i32);
    let mut words = text.get(..usize::try_from(got).ok()?)?.split(u8::is_ascii_whitespace);
    let run_ns = crate::path::maps::number(words.next()?, 10)?;
    let queued_ns = crate::path::maps::number(words.next()?, 10)?;
    Some((run_ns, queued_ns))
}

/// The calling thread's lane pointer, in thread-local storage at a fixed offset from the thread pointer:
/// one load, no call that could allocate.
mod current {
    use super::{Lane, c_void};

    core::arch::global_asm!(
        ".pushsection .tbss.proust_lane,\"awT\",@nobits",
        ".p2align 3",
        ".globl proust_lane",
        ".hidden proust_lane",
        ".type proust_lane,@object",
        ".size proust_lane,8",
        "proust_lane:",
        ".zero 8",
        ".popsection",
    );

    fn slot() -> *mut *mut c_void {
        let slot: *mut *mut c_void;
        // SAFETY: the initial-exec model's access sequence for a variable of this library. The library is
        // preloaded, so its thread-local storage is part of every thread's static block.
        unsafe {
            core::arch::asm!(
                "mov {slot}, qword ptr [rip + proust_lane@GOTTPOFF]",
                "add {slot}, qword ptr fs:[0]",
                slot = out(reg) slot,
                options(nostack, readonly)
            );
        }
        slot
    }

    /// The calling thread's lane.
    #[inline]
    pub fn get() -> Option<&'static Lane> {
        // SAFETY: the slot is this thread's own; it is null or a lane, and lanes are never freed.
        unsafe { (*slot()).cast::<Lane>().as_ref() }
    }

    /// Sets the calling thread's lane.
    pub fn set(lane: Option<&'static Lane>) {
        let pointer = lane.map_or(core::ptr::null(), core::ptr::from_ref);
        // SAFETY: as above.
        unsafe { *slot() = pointer.cast_mut().cast() };
    }

    /// Address of the calling thread's control block, which lies at the top of its stack.
    #[inline]
    pub fn thread_pointer() -> u64 {
        let pointer: u64;
        // SAFETY: on x86-64 the word at fs:0 is the thread pointer itself.
        unsafe { core::arch::asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(nostack, readonly)) };
        pointer
    }
}

pub use current::{get as current, set as set_current, thread_pointer};
