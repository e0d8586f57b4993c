//! The collector's life in a process: off, on, ended.
//!
//! It begins in the library's constructor, before the program's own code, and again in each forked child. A
//! word in memory that the kernel wipes in a fork shows a child that it is one, where no handler of a fork
//! ran.

use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use proust_log::control::OFF as OFF_FOR_NOW;
use proust_log::layout::{
    ENDIAN_MARK, Ending, FileHeader, HEADER_BYTES, MAGIC, MAX_CHUNK_BYTES, Origin, VERSION,
};
use proust_log::records::ThreadOrigin;

use crate::facts::Facts;
use crate::hooks::borrowers;
use crate::interpose::{scope, unexported};
use crate::lane;
use crate::openmp::ompt::start;
use crate::operation::{rehearsal, threshold};
use crate::options::{self, Options};
use crate::path::stack::OwnStack;
use crate::path::{coroutine, modules, python, rules};
use crate::sample::{contain, pace, resume, split_stacks};
use crate::thread::Beginning;
use crate::{
    arch, brief, clock, control, hooks, interpose, logfile, process, raw, single_threaded, source, thread,
};

/// State that stays the same while a process records.
pub struct Life {
    /// Process id.
    pub pid: u32,
    /// The run's options.
    pub options: Options,
    /// The facts of the process that its log records.
    pub facts: Facts,
    /// Environment at the start, for the strings the collector puts back into children's.
    pub library: &'static core::ffi::CStr,
}

const OFF: u32 = 0;
const ON: u32 = 1;
const ENDED: u32 = 2;
/// A forked child that has nothing to record yet (`brief.rs`).
const BRIEF: u32 = 3;

static STATE: AtomicU32 = AtomicU32::new(OFF);
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
static RESUMPTIONS: AtomicU32 = AtomicU32::new(0);
static IS_PAUSED: AtomicBool = AtomicBool::new(false);
static LIFE: AtomicPtr<Life> = AtomicPtr::new(core::ptr::null_mut());

/// In [`OfThisProcess::records`]: this process records, but is paused.
const PAUSED: u32 = 4;

/// A page of words that the kernel wipes in a forked child, where it can do that. A hook asks one word of it.
#[repr(C, align(4096))]
struct OfThisProcess {
    /// [`ON`] while this process records; [`PAUSED`] while it would.
    records: AtomicU32,
    /// 1 from the moment on at which this process began, in it alone.
    began: AtomicU32,
    _rest: [AtomicU32; 1022],
}

static HERE: OfThisProcess = OfThisProcess {
    records: AtomicU32::new(OFF),
    began: AtomicU32::new(0),
    _rest: [const { AtomicU32::new(0) }; 1022],
};

const _: () = assert!(size_of::<OfThisProcess>() == arch::PAGE_BYTES);

/// So many modules, about 130 bytes each, leave room in a page of the log for all other facts of a short
/// process.
const FEW_MODULES: usize = 12;

/// Largest stack assumed for a first thread without a limit.
const UNLIMITED_STACK_BYTES: u64 = 64 << 20;

/// The life, while samples and records are wanted. For hooks and handlers alike.
#[inline]
pub fn recording() -> Option<&'static Life> {
    if STATE.load(Ordering::Acquire) != ON {
        return None;
    }
    // SAFETY: set before the state became ON, and never freed.
    unsafe { LIFE.load(Ordering::Acquire).as_ref() }
}

/// The life, for hooks: like [`recording`], but a child that was forked behind the collector's back begins
/// its own record here.
#[inline(always)]
pub fn in_hook() -> Option<&'static Life> {
    if !records_here() {
        return not_known_to_record();
    }
    // SAFETY: set before anything records, and never freed.
    unsafe { LIFE.load(Ordering::Acquire).as_ref() }
}

/// Whether this very process records. One comparison: a child that was forked behind the collector's back
/// says no until [`in_hook`] is asked.
#[inline(always)]
pub fn records_here() -> bool {
    // SAFETY: an aligned word. Volatile is all that this processor needs for an ordered load, and can be
    // compared in place.
    unsafe { HERE.records.as_ptr().read_volatile() == ON }
}

/// As [`in_hook`], for hooks that do nothing but measure: None while recording is paused.
#[inline(always)]
pub fn measuring() -> Option<&'static Life> {
    if !records_here() {
        return not_known_to_measure();
    }
    // SAFETY: as in `in_hook`.
    unsafe { LIFE.load(Ordering::Acquire).as_ref() }
}

/// As [`measuring`], for hooks whose calls are not worth a log, as [`in_passing`].
#[inline]
pub fn measuring_in_passing() -> Option<&'static Life> {
    if records_here() || !is_brief() { measuring() } else { None }
}

#[cold]
#[inline(never)]
fn not_known_to_measure() -> Option<&'static Life> {
    if is_off_for_now() {
        return None;
    }
    // A brief child makes no log for what it would not record.
    if options::live() & OFF_FOR_NOW != 0 && is_brief() {
        return None;
    }
    let life = not_known_to_record()?;
    control::look_here(life);
    (!is_paused()).then_some(life)
}

/// As [`is_paused`], where no command says otherwise that this process has still to notice. For hooks, before
/// they find out anything: one comparison in a process that records.
#[inline(always)]
pub fn is_off_for_now() -> bool {
    HERE.records.load(Ordering::Relaxed) == PAUSED && !control::are_new()
}

/// Whether this process records, but is paused.
#[inline]
pub fn is_paused() -> bool {
    IS_PAUSED.load(Ordering::Relaxed)
}

/// Recording pauses in this process, or resumes.
pub fn set_paused(is_paused: bool) {
    IS_PAUSED.store(is_paused, Ordering::Relaxed);
    if STATE.load(Ordering::Acquire) == ON {
        HERE.records.store(word_of_records(), Ordering::Release);
    }
}

/// The value of the word while this process records: hooks compare it with [`ON`], and look closer otherwise.
fn word_of_records() -> u32 {
    if is_paused() {
        PAUSED
    } else if borrowers::share_storage() {
        OFF
    } else {
        ON
    }
}

/// As [`in_hook`], for hooks whose calls are not worth a log: in a brief child they record nothing.
#[inline]
pub fn in_passing() -> Option<&'static Life> {
    if records_here() || !is_brief() { in_hook() } else { None }
}

/// Whether this very process is a forked child that has nothing to record yet.
#[inline]
pub fn is_brief() -> bool {
    STATE.load(Ordering::Acquire) == BRIEF && HERE.began.load(Ordering::Relaxed) == 1
}

/// As [`is_brief`], for a child of such a one, too.
pub fn was_brief() -> bool {
    STATE.load(Ordering::Acquire) == BRIEF
}

/// The life of a brief child; None in any other process, one that borrows its memory included.
pub fn of_brief() -> Option<&'static Life> {
    if !is_brief() || is_other_process() {
        return None;
    }
    // SAFETY: set before the first fork, and never freed.
    unsafe { LIFE.load(Ordering::Acquire).as_ref() }
}

/// Whether the caller is in another process than the one that owns this memory.
pub fn is_other_process() -> bool {
    // SAFETY: as in `recording`.
    unsafe { LIFE.load(Ordering::Acquire).as_ref() }.is_none_or(is_borrowed)
}

#[cold]
#[inline(never)]
fn not_known_to_record() -> Option<&'static Life> {
    if is_brief() {
        if !is_other_process() {
            brief::begin_log();
        }
        return recording();
    }
    if was_brief() {
        // A child of a brief one, whose fork no handler reported.
        process::begin_in_child();
    }
    let life = recording()?;
    if HERE.began.load(Ordering::Relaxed) == 1 {
        // It stopped, and resumes just now. Or tasks share their thread-local storage: none but the lane's
        // owner uses it.
        let is_owner = |lane: &lane::Lane| lane.owner.load(Ordering::Relaxed) == raw::gettid();
        return (!borrowers::share_storage() || lane::current().is_none_or(is_owner)).then_some(life);
    }
    process::begin_in_child();
    recording()
}

/// Whether this process, or one that it was forked from, has begun to record: our handler is installed, and
/// the kernel's signal masks are not the program's own.
#[inline]
pub fn has_begun() -> bool {
    HAS_BEGUN.load(Ordering::Relaxed)
}

/// Whether the caller is a vforked child, which borrows its parent's memory and must write nothing.
pub fn is_borrowed(life: &Life) -> bool {
    raw::getpid() != life.pid
}

#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = construct;

#[used]
#[unsafe(link_section = ".fini_array")]
static DESTRUCTOR: extern "C" fn() = destruct;

extern "C" fn construct(_: c_int, arguments: *const *const c_char, environment: *const *const c_char) {
    unexported::begin();
    interpose::find_all();
    single_threaded::find();
    clock::processor::find();
    scope::prepare();
    // A name that was not found has left a message for the program.
    // SAFETY: forgets the calling thread's message.
    unsafe { libc::dlerror() };
    clock::find();
    resume::find();
    pace::find();
    contain::prepare();
    let begin = clock::now_ns();
    // SAFETY: the C library passes the process's environment, which lives on the first stack.
    let Some(options) = (unsafe { options::read(environment) }) else { return };
    if !arch::has_expected_pages() {
        return;
    }
    split_stacks::find();
    // Where the kernel cannot, only the C library reports forks.
    raw::madvise((&raw const HERE).cast_mut().cast(), size_of::<OfThisProcess>(), libc::MADV_WIPEONFORK);
    // SAFETY: as above.
    let library = unsafe { options::variable(environment, "LD_PRELOAD") }
        .and_then(|list| hooks::environment::own_entry(list.to_bytes()))
        .unwrap_or(c"");
    // SAFETY: the C library passes the process's arguments, which lie on the first stack.
    let facts = Facts::of_this_image(unsafe { Strings::new(arguments) });
    let life = Life { pid: raw::getpid(), options, facts, library };
    LIFE.store(Box::into_raw(Box::new(life)), Ordering::Release);
    threshold::calibrate(options.sync_threshold_ns);
    coroutine::find_return_address();
    modules::load_initial();
    python::find();
    rules::prepare_step_cache();
    hooks::environment::prepare(&options, library);
    if !thread::prepare() || !hooks::signals::install() {
        return;
    }
    HAS_BEGUN.store(true, Ordering::Release);
    hooks::signal_masks::begin();
    process::watch_forks();
    // SAFETY: as above.
    begin_recording(
        begin,
        Origin::Image,
        first_stack(arguments as u64),
        Some(unsafe { Strings::new(environment) }),
        None,
    );
    hooks::signal_requests::install(&options);
    start::look_for_other();
}

extern "C" fn destruct() {
    if brief::end(Ending::Exit, 0, b"") {
        return;
    }
    if let Some(life) = in_hook() {
        process::end(life, Ending::Exit, 0);
    }
}

/// The stack of the process's first thread, whose arguments lie at this address.
fn first_stack(arguments: u64) -> OwnStack {
    let limit = match raw::limit(libc::RLIMIT_STACK) {
        libc::RLIM64_INFINITY => UNLIMITED_STACK_BYTES,
        limit => limit,
    };
    // An address that the kernel put at the upper end. SAFETY: asks for a number.
    let end = unsafe { libc::getauxval(libc::AT_EXECFN) }.next_multiple_of(arch::PAGE_BYTES as u64);
    OwnStack::of_first_thread(arguments, end, limit)
}

/// State from before a process makes its log.
pub struct Before {
    /// The process's CPU clock when its measurement began.
    pub process_cpu_ns: u64,
    /// Its first thread at that time.
    pub first: Beginning,
    /// When it began to make its log.
    pub started_ns: u64,
}

/// A forked child, which began at `begin`, is a process of its own from here on.
pub fn begin_child(begin: u64) -> Option<&'static Life> {
    // SAFETY: set by `construct`, and never freed; only the one thread of a new process changes it.
    let life = unsafe { LIFE.load(Ordering::Acquire).as_mut() }?;
    life.pid = raw::getpid();
    life.facts.follow_clock(begin);
    HERE.began.store(1, Ordering::Relaxed);
    Some(life)
}

/// Opens the log and puts the calling thread, which has this stack of its own, under measurement. `before` is
/// given where the measurement began some time ago.
pub fn begin_recording(
    begin: u64,
    origin: Origin,
    stack: OwnStack,
    environment: Option<Strings>,
    before: Option<&Before>,
) {
    // SAFETY: set by `construct`, and never freed; only the one thread of a new process changes it.
    let Some(life) = (unsafe { LIFE.load(Ordering::Acquire).as_ref() }) else { return };
    HERE.began.store(1, Ordering::Relaxed);
    let has_few = modules::all().len() <= FEW_MODULES;
    let units = if has_few { logfile::FEW_UNITS } else { logfile::USUAL_UNITS };
    if !logfile::create(&life.options, life.pid, begin, units) {
        return;
    }
    let process_cpu_ns = before.map_or_else(clock::process_cpu_ns, |before| before.process_cpu_ns);
    write_header(life, begin, process_cpu_ns, origin);
    lane::prepare_record_locks();
    let Some(lane) = lane::claim() else { return };
    if !thread::attach(life, lane, ThreadOrigin::First, stack, None, before.map(|before| &before.first)) {
        return;
    }
    lane.with_record(|record| {
        life.facts.write(&mut record.output, environment);
        source::each(|source| source.process_begins(record, begin, origin == Origin::Fork));
    });
    resume();
    control::begin(lane, begin, life);
    rehearsal::rehearse(lane);
    // The timer starts last: from here on samples are taken.
    thread::start_timer(life, lane, raw::gettid());
    let started_ns = before.map_or(begin, |before| before.started_ns);
    logfile::with_header(|header| header.startup_ns = clock::now_ns().saturating_sub(started_ns));
}

/// Stops recording in this process, finally or until [`resume()`].
pub fn stop() -> bool {
    let stops = STATE.compare_exchange(ON, ENDED, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    if stops {
        HERE.records.store(OFF, Ordering::Release);
    }
    stops
}

/// A forked child has nothing to record yet.
pub fn begin_brief() {
    STATE.store(BRIEF, Ordering::Release);
}

/// A brief child is about to make its log; false if it is none any more.
pub fn leave_brief() -> bool {
    STATE.compare_exchange(BRIEF, OFF, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

/// A brief child ends; false if it is none any more.
pub fn end_brief() -> bool {
    STATE.compare_exchange(BRIEF, ENDED, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

/// Switches off without an end (a forked child, before its own begin).
pub fn switch_off() {
    IS_PAUSED.store(false, Ordering::Relaxed);
    STATE.store(OFF, Ordering::Release);
    HERE.records.store(OFF, Ordering::Release);
}

/// Whether recording ended, though the process may still fork: another thread ends it, or replaces its image.
pub fn has_stopped() -> bool {
    STATE.load(Ordering::Acquire) == ENDED
}

/// How often recording began or resumed: state that a thread keeps from before may lack its end.
pub fn resumptions() -> u32 {
    RESUMPTIONS.load(Ordering::Relaxed)
}

/// Begins, or resumes after [`stop`].
pub fn resume() {
    RESUMPTIONS.fetch_add(1, Ordering::Relaxed);
    STATE.store(ON, Ordering::Release);
    HERE.records.store(word_of_records(), Ordering::Release);
}

/// From now on each hook asks by which task it is called: some share thread-local storage, and so a lane.
pub fn ask_each_caller() {
    HERE.records.store(if is_paused() { PAUSED } else { OFF }, Ordering::Release);
}

fn write_header(life: &Life, begin: u64, process_cpu_ns: u64, origin: Origin) {
    let mut mask = [0; raw::MASK_WORDS];
    raw::affinity_of(0, &mut mask);
    let affinity = mask.iter().map(|word| word.count_ones()).sum::<u32>();
    // Part of a processor counts as one.
    let limit = life.options.quota_milli.div_ceil(1000);
    let online = clock::online_processors();
    let mut header = FileHeader {
        magic: MAGIC,
        version: VERSION,
        endian_mark: ENDIAN_MARK,
        header_bytes: HEADER_BYTES as u32,
        chunk_bytes: MAX_CHUNK_BYTES as u32,
        pid: life.pid,
        parent_pid: raw::getppid(),
        start_ns: begin,
        start_unix_ns: raw::clock_ns(libc::CLOCK_REALTIME)
            .saturating_sub(clock::now_ns().saturating_sub(begin)),
        process_cpu_start_ns: process_cpu_ns,
        tick_ns: raw::clock_resolution_ns(libc::CLOCK_MONOTONIC_COARSE) as u32,
        asked_rate_hz: life.options.rate_hz,
        page_bytes: arch::PAGE_BYTES as u32,
        available_processors: if limit == 0 { affinity } else { affinity.min(limit) },
        online_processors: online,
        origin: origin as u32,
        user: raw::getuid(),
        sync_threshold_ns: threshold::base_ns(),
        ..FileHeader::default()
    };
    header.check = header.check_of_facts();
    logfile::with_header(|place| *place = header);
}

/// Iterator over a null-terminated list of C strings.
#[derive(Clone, Copy)]
pub struct Strings(*const *const c_char);

impl Strings {
    /// The list at `start`.
    ///
    /// # Safety
    /// It is null or a null-terminated list of C strings that live as long as the iterator and its items.
    pub unsafe fn new(start: *const *const c_char) -> Strings {
        Strings(start)
    }
}

impl Iterator for Strings {
    type Item = &'static [u8];

    fn next(&mut self) -> Option<&'static [u8]> {
        // SAFETY: `new`'s contract; the pointer moves on only from entries that are not null.
        unsafe {
            if self.0.is_null() || (*self.0).is_null() {
                return None;
            }
            let text = raw::text(*self.0);
            self.0 = self.0.add(1);
            Some(text)
        }
    }
}
