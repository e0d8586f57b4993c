//! The signal handler: it records the interrupted thread's call path, and its use of time since its last
//! record.

use core::ffi::c_void;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::control::{CHECK_PATHS, EMPTY_HANDLER, NO_MEMO, PANIC};
use proust_log::records::{SAMPLE_IN_OPERATION, Sample};

use crate::arch::context::stack_pointer;
use crate::hooks::borrowers;
use crate::lane::{self, Lane, Record, Usage};
use crate::openmp::team;
use crate::operation::{self, postponed, tries};
use crate::path::modules;
use crate::sample::pace::Arrival;
use crate::sample::timer::{ASKED, COOKIE};
use crate::sample::{contain, entered, resume, signal};
use crate::{brief, clock, control, hooks, life, logfile, options, raw, source, thread};

/// How much of a stack the handler may use beside the kernel's own frame, before it goes to another one.
pub const LEAST_ROOM_BYTES: usize = 4 << 10;

/// The part of `siginfo_t` that a timer fills in.
#[repr(C)]
#[derive(Debug)]
pub struct TimerInfo {
    signal: i32,
    errno: i32,
    /// Why the signal was sent.
    pub code: i32,
    padding: i32,
    timer: i32,
    overrun: i32,
    /// What the timer's maker gave it.
    pub value: usize,
}

/// The data of a signal of ours.
#[derive(Clone, Copy)]
struct Source {
    /// The timer that sent it.
    timer: i32,
    /// Expirations of its timer that it represents besides its own.
    overrun: u32,
    /// Whether the thread sent it itself, to be sampled here and now.
    is_asked: bool,
}

impl Source {
    fn of(info: &TimerInfo) -> Source {
        Source {
            timer: info.timer,
            overrun: u32::try_from(info.overrun).unwrap_or(0),
            is_asked: info.timer == ASKED,
        }
    }
}

/// A sample that is due.
struct Due {
    /// Where and when its signal was delivered.
    arrival: Arrival,
    /// Expirations that the signal represents besides its own.
    overrun: u32,
    /// Flags of the sample that say how near it is to its instant.
    flags: u16,
}

/// Whether a signal is from one of our timers.
///
/// # Safety
/// `info` is the kernel's data of a signal.
pub unsafe fn is_ours(info: *const libc::siginfo_t) -> bool {
    // SAFETY: the kernel's siginfo is larger than what a timer fills in.
    let timer = unsafe { &*info.cast::<TimerInfo>() };
    timer.code == libc::SI_TIMER && timer.value == COOKIE
}

/// Longer than a handler takes unless it was preempted or had much to do.
const LONG_NS: u64 = 10_000;
/// How often the scheduler's numbers are read and unseen threads looked for: from cold caches each takes as
/// long as twenty samples.
const SCHEDULER_PERIOD_NS: u64 = 500_000_000;
const CENSUS_PERIOD_NS: u64 = 500_000_000;

static LAST_CENSUS_NS: AtomicU64 = AtomicU64::new(0);

/// The handler.
///
/// Makes system calls only directly, so `errno` stays the program's. The program's own handler, which it
/// calls for what is not ours, may throw through it.
///
/// # Safety
/// For the kernel, which passes a valid siginfo and context.
pub unsafe extern "C-unwind" fn on_signal(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo of 128 bytes, and the arguments are those that it gave.
    let source = unsafe {
        if !is_ours(info) {
            hooks::signals::pass_on(signal, info, context);
            return;
        }
        Source::of(&*info.cast::<TimerInfo>())
    };
    if life::is_brief() && !life::is_other_process() {
        // SAFETY: the kernel passes a valid context.
        let interrupted =
            hooks::signal_masks::first_word(unsafe { &(*context.cast::<libc::ucontext_t>()).uc_sigmask });
        let mask = raw::signal_mask(libc::SIG_BLOCK, u64::MAX);
        brief::begin_log_under(interrupted);
        raw::signal_mask(libc::SIG_SETMASK, mask);
    }
    if life::recording().is_some() {
        // A number that the program uses as well is handled under the program's mask.
        let shared = hooks::signal_moves::is_shared(signal);
        let mask = shared.then(|| raw::signal_mask(libc::SIG_SETMASK, u64::MAX));
        // SAFETY: the kernel passes a valid context.
        let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
        match lane::current() {
            // SAFETY: the owner's handler, with all signals blocked. (A task that shares its maker's storage
            // works on a stack of the collector's, too, or on the maker's: it finds the same state there.)
            Some(lane) => unsafe { lane.with_room_at_once(|| handle(Some(lane), context, source)) },
            None => handle(None, context, source),
        }
        if let Some(mask) = mask {
            raw::signal_mask(libc::SIG_SETMASK, mask);
        }
    }
}

#[inline(never)]
fn handle(lane: Option<&'static Lane>, context: &mut libc::ucontext_t, source: Source) {
    let Some(life) = life::recording() else { return };
    match lane {
        Some(lane) => {
            contain::run(&lane.samples.entry, || arrive(life, context, source));
        }
        None => arrive(life, context, source),
    }
    resume::interrupted_call(lane, context);
}

/// A signal of ours was delivered: takes the sample, if it is due, and sets the timers for the next one.
fn arrive(life: &life::Life, context: &mut libc::ucontext_t, source: Source) {
    let begin = clock::now_ns();
    let Some(lane) = sampled_lane(source) else { return };
    let sp = stack_pointer(context);
    let cpu_ns = clock::thread_cpu_ns();
    let arrival = Arrival { time_ns: begin, cpu_ns, sp, is_asked: source.is_asked, usage: Usage::now() };
    if control::are_new() {
        control::look(life, lane);
    }
    if life::is_paused() {
        lane.rest_while_paused(cpu_ns);
        return;
    }
    if lane.samples.pace.ends_rest() {
        lane.with_record(Record::follow_switch);
        lane.begin_again(cpu_ns, life.options.mean_distance_ns);
        return;
    }
    let Some(flags) = lane.sample_is_due(&arrival, life.options.mean_distance_ns) else {
        lane.samples.pace.spent(own_time(begin, cpu_ns));
        return;
    };
    let own_ns = if options::live() & (EMPTY_HANDLER | PANIC) != 0 {
        assert!(options::live() & PANIC == 0, "as the test asks");
        0
    } else {
        sample(life, lane, context, &Due { arrival, overrun: source.overrun, flags })
    };
    // No allowance bounds a check, which may take longer than the distance to the next sample: counted on
    // from the sample's begin, the program would get no further between two of them.
    if options::live() & CHECK_PATHS != 0 {
        lane.samples.pace.postpone(own_ns);
    }
    // A wait in here took longer than this.
    let usage = if own_ns < LONG_NS { arrival.usage } else { Usage::now() };
    let now = Arrival { time_ns: begin + own_ns, cpu_ns: cpu_ns + own_ns, usage, ..arrival };
    lane.await_sample(&now);
}

/// The lane of the thread to which a signal of ours was delivered.
///
/// The kernel sends a timer's signal to the thread that the timer was made for. A task that shares its
/// maker's thread-local storage finds its maker's lane, though, and its timer may have the same number in
/// another process: there the kernel has to say which task runs.
fn sampled_lane(source: Source) -> Option<&'static Lane> {
    let current = lane::current();
    if !borrowers::may_be()
        && let Some(lane) = current
        && source.timer >= 0
        && (source.timer == lane.samples.timer() || source.timer == lane.samples.pace.one_shot_made())
    {
        return Some(lane);
    }
    let tid = raw::gettid();
    current.filter(|lane| lane.owner.load(Ordering::Relaxed) == tid).or_else(|| lane::of_thread(tid))
}

/// Takes a sample that is due, unless something speaks against it; how long that took.
fn sample(life: &life::Life, lane: &'static Lane, context: &mut libc::ucontext_t, due: &Due) -> u64 {
    let Arrival { time_ns: begin, cpu_ns, sp, .. } = due.arrival;
    if lane.operations.tries.is_active() && !lane.operations.tries.is_live(begin) {
        tries::stop(life, lane);
    }
    let alternate = alternate_stack(context);
    // SAFETY: the owner's handler.
    let own_stack = unsafe { lane.own_stack() };
    modules::forget_left(lane, sp);
    let Some(_guard) = lane.record_lock.acquire_in_handler(sp, own_stack, alternate.clone()) else {
        logfile::count(
            |header| {
                // SAFETY: `count` passes the mapped header.
                unsafe { &raw mut (*header).skipped_samples }
            },
            1,
        );
        return own_time(begin, cpu_ns);
    };
    // SAFETY: this is the owner's handler, which has taken the record. All signals are blocked meanwhile.
    let record = unsafe { lane.record() };
    record.spent(lane.samples.pace.take_own_ns());
    if record.samples.allowance.allows(cpu_ns) || options::live() & CHECK_PATHS != 0 {
        let on_alternate_stack = alternate.contains(&(core::ptr::from_ref(context) as u64));
        let sampling = || take(life, lane, record, context, due);
        // An alternate stack may lie within the thread's own, which has plenty of room elsewhere.
        // SAFETY: the owner, which has taken the record.
        unsafe {
            if on_alternate_stack { lane.with_own_room(sampling) } else { lane.with_room_in_quiet(sampling) }
        };
    }
    if lane.samples.signal.load(Ordering::Relaxed) != signal::current() {
        lane.follow_signal(context);
    }
    let own_ns = own_time(begin, cpu_ns);
    record.samples.allowance.spend(cpu_ns, own_ns);
    record.spent(own_ns);
    own_ns
}

/// The alternate signal stack of the interrupted thread.
fn alternate_stack(context: &libc::ucontext_t) -> Range<u64> {
    let stack = &context.uc_stack;
    let start = stack.ss_sp as u64;
    if stack.ss_flags & libc::SS_DISABLE != 0 {
        0..0
    } else {
        start..start.saturating_add(stack.ss_size as u64)
    }
}

/// Time since `begin`, at which the thread's CPU clock stood a little below `cpu_ns`. The cheap clock keeps
/// running while the thread is preempted: a long time is read from the CPU clock.
fn own_time(begin: u64, cpu_ns: u64) -> u64 {
    let elapsed = clock::now_ns().saturating_sub(begin);
    if elapsed < LONG_NS { elapsed } else { elapsed.min(clock::thread_cpu_ns().saturating_sub(cpu_ns)) }
}

/// Takes the sample, which may need more stack than the interrupted thread has left.
#[inline(never)]
fn take(life: &life::Life, lane: &'static Lane, record: &mut Record, context: &libc::ucontext_t, due: &Due) {
    let Arrival { time_ns: begin, cpu_ns, usage, .. } = due.arrival;
    let leaf = entered::interrupted(context);
    if options::live() & NO_MEMO != 0 {
        record.memo.forget();
    }
    if lane.operations.postponed.is_any() {
        postponed::settle_in(lane, record);
    }
    if lane.member.owes() {
        team::notify_the_others(lane);
    }
    if !lane.operations.open.is_free()
        && !lane.operations.open.is_live(leaf.sp, false, lane, || alternate_stack(context))
    {
        operation::note_left(life, lane, record, begin);
    }
    let (node, mut flags) = if record.output.is_open() { record.path(leaf, life.pid) } else { (0, 0) };
    flags |= due.flags;
    let own_stack = record.own_stack;
    let is_inside = lane.member.visits().is_some_and(|visits| visits.is_sampled_inside(leaf.sp, own_stack));
    if is_inside
        || !lane.operations.open.is_free()
        || lane.operations.tries.is_live(begin)
        || lane.member.docked_ns() != 0
    {
        flags |= SAMPLE_IN_OPERATION;
    }
    record.follow_switch();
    operation::settle(record);
    let delta = record.take_used(usage);
    let overruns = u64::from(due.overrun) + record.samples.allowance.take_left_out();
    let sample = Sample {
        time_ns: begin,
        cpu_ns,
        node,
        own_ns: saturate32(record.own.recent_ns),
        user_us: saturate32(delta.user_us),
        system_us: saturate32(delta.system_us),
        minor_faults: saturate32(delta.faults.0),
        major_faults: saturate16(delta.faults.1),
        voluntary_switches: saturate16(delta.switches.0),
        involuntary_switches: saturate16(delta.switches.1),
        processor: clock::processor() as u16,
        interval: record.marks.interval(),
        region: if lane.is_idle() { 0 } else { lane.member.region() },
        runtime_state: 0,
        overruns: saturate16(overruns),
    };
    record.push_sample(flags, &sample);
    record.own.recent_ns = 0;
    record.samples.overruns += overruns;
    logfile::raise(|header| &raw mut header.peak_resident_kib, usage.peak_resident_kib);
    if begin.saturating_sub(record.scheduler.read_ns()) >= SCHEDULER_PERIOD_NS
        && lane::current().is_some_and(|current| core::ptr::eq(current, lane))
    {
        record.push_scheduler(begin, cpu_ns);
        record.parallel.sites.write(&mut record.output);
        record.write_lent();
        record.push_name(lane.owner.load(Ordering::Relaxed));
    }
    source::each(|source| source.sampled(record, begin));
    let last = LAST_CENSUS_NS.load(Ordering::Relaxed);
    if begin.saturating_sub(last) >= CENSUS_PERIOD_NS
        && LAST_CENSUS_NS.compare_exchange(last, begin, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    {
        thread::census(life, record);
    }
}

fn saturate32(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn saturate16(value: u64) -> u16 {
    u16::try_from(value).unwrap_or(u16::MAX)
}
