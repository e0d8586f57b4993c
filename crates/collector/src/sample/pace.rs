//! When a thread's next sample is due, and which timer brings it there.
//!
//! The instant is drawn ([`gamma`](super::gamma)) on the thread's CPU clock. A CPU timer alone cannot meet
//! it: it expires at the kernel's ticks, and what the program repeats in step with these would be sampled at
//! the same places again and again. So the CPU timer comes up to a tick early, and for the rest a timer on
//! the wall's clock is armed.
//!
//! Such a timer goes on while the thread is blocked, and its signal would then interrupt a system call that
//! a CPU timer's signal never interrupts. Three things prevent that:
//!
//! - A hook that is about to block says so first (the operation is open), then disarms. The handler arms
//!   nothing while an operation is open. After the wait the timer is armed for what is left by the CPU clock;
//!   if the instant has passed meanwhile, the thread used its processor inside of the operation then, and the
//!   sample is taken there.
//! - The timer is armed only in threads all of whose voluntary context switches lie in hooked operations.
//!   That is looked at while the timer would be armed, for some samples before it ever is ([`AT_FIRST`]), and
//!   whenever it was. One switch that no hook explains ends it, for longer each time (`Pace::suspect`).
//! - What it interrupts all the same goes on ([`resume`](super::resume)).
//!
//! Where the timer must not be armed, samples come at the ticks next to their instants, and say so
//! ([`SAMPLE_AT_TICK`]).

use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

use proust_log::control::{NO_IO, NO_WAITS};
use proust_log::records::{SAMPLE_AT_TICK, SAMPLE_LATE};

use super::gamma::Random;
use super::{signal, timer};
use crate::hooks::borrowers;
use crate::lane::{self, Lane, Usage};
use crate::path::memo::State;
use crate::{clock, life, options, raw};

/// As near to its instant a sample is taken: an interrupt takes as long.
const NEAR_NS: u64 = 20_000;
/// Later than that a sample is marked: what ran may have been the reason.
const LATE_NS: u64 = 100_000;
/// The tick of a kernel that does not say how long it is.
const USUAL_TICK_NS: u64 = 10_000_000;
/// A CPU timer that is set to an instant which has passed expires at once, and not at the next tick.
const AHEAD_NS: u64 = 50_000;

/// How often the timer is armed for one sample. A thread that is interrupted more often, by its own waits or
/// by others who want its processor, gets this sample at a tick: what it takes is bounded by the samples, not
/// by how often the thread waits.
const ARMED_AT_MOST: u32 = 6;

/// So many samples of a new thread pass without an unexplained switch before its timer is armed.
pub const AT_FIRST: u32 = 4;
/// So many after the first switch that no hook explains, and twice as many after each further one.
const AFTER_ONE: u32 = 32;
const AT_MOST: u32 = 1 << 24;
/// In so many samples before the timer may be armed (again) its switches are looked at.
const LOOKED_AT: u32 = 8;

/// `one_shot`: there is none yet.
const NONE: i32 = -1;
/// `one_shot`: the kernel refused one, or there are too many.
const REFUSED: i32 = -2;

/// What a thread's timer on the wall's clock is doing: a word beside that of the operation that the thread is
/// in, since both are asked at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Alarm {
    /// Nothing.
    Off = 0,
    /// It is armed, or would be if the thread were trusted: who is about to block calls
    /// [`Lane::hold_sample`].
    Set = 1,
    /// It was, and is wanted again when the thread goes on: [`Lane::go_on`].
    Held = 2,
}

static TICK_NS: AtomicU64 = AtomicU64::new(USUAL_TICK_NS);
/// Timers on the wall's clock in this process, and how many there may be: every timer takes a place among the
/// signals that may be pending for the user, which the program may need itself.
static ONE_SHOTS: AtomicU32 = AtomicU32::new(0);
static ONE_SHOTS_AT_MOST: AtomicU32 = AtomicU32::new(u32::MAX);

/// Finds out how long a tick is.
pub fn find() {
    let tick_ns = raw::clock_resolution_ns(libc::CLOCK_MONOTONIC_COARSE);
    if tick_ns != 0 {
        TICK_NS.store(tick_ns, Ordering::Relaxed);
    }
    let most = raw::limit(libc::RLIMIT_SIGPENDING) / 4;
    ONE_SHOTS_AT_MOST.store(most.min(u32::MAX.into()) as u32, Ordering::Relaxed);
}

/// A forked child has none of its parent's timers.
pub fn after_fork() {
    ONE_SHOTS.store(0, Ordering::Relaxed);
}

/// The kernel's tick.
#[inline]
fn tick_ns() -> u64 {
    TICK_NS.load(Ordering::Relaxed)
}

/// Seeds a thread's random numbers.
fn seed() -> Random {
    let mut word = [0_u8; 8];
    if raw::random(&mut word) {
        return Random(u64::from_ne_bytes(word));
    }
    // SAFETY: getauxval only reads the auxiliary vector.
    let given = unsafe { libc::getauxval(libc::AT_RANDOM) } as *const u64;
    // SAFETY: the kernel puts 16 random bytes there, for the process's life.
    let word = if given.is_null() { 0 } else { unsafe { given.read_unaligned() } };
    let mut random = Random(word ^ u64::from(raw::gettid()));
    random.take();
    random
}

/// The first sample of a thread without a lane whose CPU clock stands at `cpu_ns`: when it is due, and its
/// timer armed for that.
///
/// That is not before a mean distance has passed. Most such children soon load another program, and one that
/// has asked to be traced before that (PTRACE_TRACEME) would stand at the signal until its tracer looks,
/// which often waits for the load itself.
pub fn start_without_lane(timer: i32, cpu_ns: u64, mean_ns: u64) -> Result<u64, i32> {
    let due_ns = cpu_ns + seed().first_ns(mean_ns).max(mean_ns);
    let armed = timer::at_cpu(timer, at_tick_near(due_ns, cpu_ns), tick_ns());
    if raw::failed(armed) { Err(-armed as i32) } else { Ok(due_ns) }
}

/// To what a CPU timer is set that shall expire at the tick next to `due_ns`.
fn at_tick_near(due_ns: u64, cpu_ns: u64) -> u64 {
    due_ns.saturating_sub(tick_ns() / 2).max(cpu_ns + AHEAD_NS)
}

/// When a thread is sampled. Used by its thread alone.
#[derive(Debug)]
pub struct Pace {
    /// The CPU clock at the next sample.
    due_ns: AtomicU64,
    random: AtomicU64,
    /// The timer on the wall's clock; or [`NONE`], [`REFUSED`].
    one_shot: AtomicI32,
    /// When that expires.
    expires_ns: AtomicU64,
    /// Voluntary switches when the alarm was set, less those for pages that had to be read.
    switches: AtomicU64,
    /// How often it was armed for this sample.
    armed: AtomicU32,
    /// So many samples have to pass before it may be armed.
    untrusted: AtomicU32,
    /// As many after the next switch that no hook explains.
    next_untrusted: AtomicU32,
    /// The stack pointer of a hook that is in a call which must not be interrupted, and is no operation.
    paused: AtomicU64,
    /// A signal may have interrupted a call that no hook knows of.
    has_interrupted: AtomicBool,
    /// Time in handlers that took no sample.
    own_ns: AtomicU64,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            due_ns: AtomicU64::new(0),
            random: AtomicU64::new(0),
            one_shot: AtomicI32::new(NONE),
            expires_ns: AtomicU64::new(0),
            switches: AtomicU64::new(0),
            armed: AtomicU32::new(0),
            untrusted: AtomicU32::new(AT_FIRST),
            next_untrusted: AtomicU32::new(AFTER_ONE),
            paused: AtomicU64::new(0),
            has_interrupted: AtomicBool::new(false),
            own_ns: AtomicU64::new(0),
        }
    }
}

/// Voluntary switches of the calling thread but those for pages that had to be read.
fn switches() -> u64 {
    let usage = Usage::now();
    usage.switches.0.wrapping_sub(usage.faults.1)
}

impl Pace {
    /// A thread begins.
    pub fn begin(&self) {
        self.random.store(seed().0, Ordering::Relaxed);
        self.untrusted.store(AT_FIRST, Ordering::Relaxed);
        self.next_untrusted.store(AFTER_ONE, Ordering::Relaxed);
        self.armed.store(0, Ordering::Relaxed);
        self.paused.store(0, Ordering::Relaxed);
        self.has_interrupted.store(false, Ordering::Relaxed);
        self.own_ns.store(0, Ordering::Relaxed);
    }

    /// The first sample of the thread was due at this instant before it had a lane.
    pub fn set_due(&self, due_ns: u64) {
        self.due_ns.store(due_ns, Ordering::Relaxed);
    }

    /// Time in handlers that took no sample since this was last asked.
    pub fn take_own_ns(&self) -> u64 {
        self.own_ns.swap(0, Ordering::Relaxed)
    }

    /// A handler took no sample, and so long.
    pub fn spent(&self, own_ns: u64) {
        self.own_ns.store(self.own_ns.load(Ordering::Relaxed) + own_ns, Ordering::Relaxed);
    }

    /// Whether the signal that is being handled may have interrupted a call that no hook knows of; once.
    pub fn take_has_interrupted(&self) -> bool {
        self.has_interrupted.swap(false, Ordering::Relaxed)
    }

    fn draw(&self, draw: impl FnOnce(&mut Random) -> u64) -> u64 {
        let mut random = Random(self.random.load(Ordering::Relaxed));
        let drawn = draw(&mut random);
        self.random.store(random.0, Ordering::Relaxed);
        drawn
    }

    fn is_trusted(&self) -> bool {
        self.untrusted.load(Ordering::Relaxed) == 0
    }

    /// The thread blocked, and no hook knows in what.
    pub(super) fn suspect(&self) {
        let samples = self.next_untrusted.load(Ordering::Relaxed);
        self.untrusted.store(samples, Ordering::Relaxed);
        self.next_untrusted.store((samples * 2).min(AT_MOST), Ordering::Relaxed);
    }

    /// The timer on the wall's clock, made when it is first needed; None where there can be none.
    fn one_shot(&self, lane: &Lane) -> Option<i32> {
        let timer = self.one_shot.load(Ordering::Relaxed);
        if timer >= 0 {
            return Some(timer);
        }
        if timer == REFUSED {
            return None;
        }
        let made = if ONE_SHOTS.fetch_add(1, Ordering::Relaxed) < ONE_SHOTS_AT_MOST.load(Ordering::Relaxed) {
            let number = signal::number(lane.signal.load(Ordering::Relaxed));
            timer::create_one_shot(lane.owner.load(Ordering::Relaxed), number).ok()
        } else {
            None
        };
        if made.is_none() {
            ONE_SHOTS.fetch_sub(1, Ordering::Relaxed);
        }
        self.one_shot.store(made.unwrap_or(REFUSED), Ordering::Relaxed);
        made
    }

    /// Deletes the timer on the wall's clock. Another thread may do so at the process's end.
    fn stop(&self) {
        let timer = self.one_shot.swap(NONE, Ordering::AcqRel);
        if timer >= 0 {
            timer::stop(timer);
            ONE_SHOTS.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// What the handler finds where its signal came.
#[derive(Clone, Copy)]
pub struct Arrival {
    /// When that is.
    pub time_ns: u64,
    /// The thread's CPU clock.
    pub cpu_ns: u64,
    /// The interrupted stack pointer.
    pub sp: u64,
    /// Whether the thread sent the signal itself, to be sampled here and now.
    pub is_asked: bool,
}

impl Lane {
    /// Stops the owner's timers.
    pub fn stop_timers(&self) {
        if let Some(timer) = self.replace_timer(None) {
            timer::stop(timer);
        }
        self.pace.stop();
        self.open.set_alarm(Alarm::Off);
    }

    /// Makes the CPU timer of thread `tid`, the owner, and arms it for a first sample; an errno if the kernel
    /// refuses.
    pub fn begin_sampling(&self, tid: u32, mean_ns: u64) -> Result<(), i32> {
        let timer = timer::create(tid, signal::number(self.signal.load(Ordering::Relaxed)))?;
        let cpu_ns = raw::clock_ns(clock::cpu_clock_of(tid));
        let due_ns = cpu_ns + self.pace.draw(|random| random.first_ns(mean_ns));
        self.pace.due_ns.store(due_ns, Ordering::Relaxed);
        self.open.set_alarm(Alarm::Off);
        let armed = timer::at_cpu(timer, at_tick_near(due_ns, cpu_ns), tick_ns());
        if raw::failed(armed) {
            timer::stop(timer);
            return Err(-armed as i32);
        }
        if let Some(before) = self.replace_timer(Some(timer)) {
            timer::stop(before);
        }
        Ok(())
    }

    /// Whether the owner's timer on the wall's clock may be armed at all.
    fn may_have_alarm(&self) -> bool {
        // Hooks see only a thread that finds its lane, and only what they are there for.
        lane::current().is_some_and(|current| core::ptr::eq(current, self))
            && !borrowers::share_storage()
            && options::live() & (NO_WAITS | NO_IO) == 0
            && self.pace.one_shot.load(Ordering::Relaxed) != REFUSED
    }

    /// In the owner's handler: whether a sample is due, and its flags. The next one's instant is drawn then;
    /// [`Lane::await_sample`] has to follow. Where it is too early, the timers are set for what is left.
    pub fn sample_is_due(&self, arrival: &Arrival, mean_ns: u64) -> Option<u16> {
        let pace = &self.pace;
        let may_have_alarm = self.may_have_alarm();
        let was_on = self.open.alarm() == Alarm::Set;
        let was_armed = was_on && pace.is_trusted();
        if was_on {
            pace.has_interrupted.store(was_armed && self.open.is_free(), Ordering::Relaxed);
            self.look_at_switches();
        }
        let is_exact = may_have_alarm && pace.is_trusted();
        let due_ns = pace.due_ns.load(Ordering::Relaxed);
        let early_ns = if is_exact { NEAR_NS } else { tick_ns() / 2 };
        let is_due = arrival.cpu_ns + early_ns >= due_ns;
        if is_due {
            let late_ns = arrival.cpu_ns.saturating_sub(due_ns);
            let flags = if arrival.is_asked {
                0
            } else if !is_exact {
                SAMPLE_AT_TICK | if late_ns > tick_ns() { SAMPLE_LATE } else { 0 }
            } else if late_ns <= LATE_NS {
                0
            } else if was_armed {
                SAMPLE_LATE
            } else {
                SAMPLE_AT_TICK
            };
            let distance_ns = pace.draw(|random| random.distance_ns(mean_ns));
            pace.due_ns.store(arrival.cpu_ns + distance_ns, Ordering::Relaxed);
            pace.armed.store(0, Ordering::Relaxed);
            let untrusted = pace.untrusted.load(Ordering::Relaxed);
            pace.untrusted.store(untrusted.saturating_sub(u32::from(may_have_alarm)), Ordering::Relaxed);
            return Some(flags);
        }
        if arrival.is_asked {
            return Some(0);
        }
        if is_exact && due_ns - arrival.cpu_ns <= tick_ns() {
            self.want_alarm(arrival, due_ns - arrival.cpu_ns);
        }
        None
    }

    /// In the owner's handler, at its end: sets the timers for the next sample. `arrival` says where the
    /// clocks stood shortly before.
    pub fn await_sample(&self, arrival: &Arrival) {
        let timer = self.timer();
        if timer < 0 {
            return;
        }
        let pace = &self.pace;
        let due_ns = pace.due_ns.load(Ordering::Relaxed);
        let left_ns = due_ns.saturating_sub(arrival.cpu_ns);
        self.open.set_alarm(Alarm::Off);
        let may_have_alarm = self.may_have_alarm();
        let untrusted = pace.untrusted.load(Ordering::Relaxed);
        if !may_have_alarm || untrusted > 0 {
            timer::at_cpu(timer, at_tick_near(due_ns, arrival.cpu_ns), tick_ns());
            if may_have_alarm && untrusted <= LOOKED_AT {
                self.want_alarm(arrival, left_ns);
            }
        } else if left_ns > tick_ns() {
            timer::at_cpu(timer, due_ns - tick_ns(), tick_ns());
        } else {
            timer::at_cpu(timer, due_ns, tick_ns());
            self.want_alarm(arrival, left_ns);
        }
    }

    /// The handler wants the alarm in `left_ns`; but a thread that is about to block, or does, sets it when
    /// it goes on.
    fn want_alarm(&self, arrival: &Arrival, left_ns: u64) {
        let paused = self.pace.paused.load(Ordering::Relaxed);
        if !self.open.is_free() || self.member.docked_ns() != 0 || paused != 0 && arrival.sp <= paused {
            self.open.set_alarm(Alarm::Held);
            return;
        }
        if self.open.alarm() == Alarm::Set && arrival.time_ns < self.pace.expires_ns.load(Ordering::Relaxed) {
            return;
        }
        self.arm(arrival.time_ns, left_ns);
    }

    /// Sets the alarm; where the thread is not trusted yet only in name, so that its switches are looked at.
    fn arm(&self, now_ns: u64, left_ns: u64) {
        let pace = &self.pace;
        let armed = pace.armed.load(Ordering::Relaxed);
        if armed >= ARMED_AT_MOST {
            self.open.set_alarm(Alarm::Off);
            return;
        }
        pace.armed.store(armed + 1, Ordering::Relaxed);
        pace.switches.store(switches(), Ordering::Relaxed);
        if !pace.is_trusted() {
            pace.expires_ns.store(u64::MAX, Ordering::Relaxed);
            self.open.set_alarm(Alarm::Set);
        } else if let Some(timer) = pace.one_shot(self) {
            pace.expires_ns.store(now_ns + left_ns, Ordering::Relaxed);
            self.open.set_alarm(Alarm::Set);
            timer::after(timer, left_ns);
        } else {
            self.open.set_alarm(Alarm::Off);
        }
    }

    /// While the timer is armed: whether the thread has blocked since, in what no hook knows of. Threads of a
    /// team meet in their runtime, which looks again whenever it is woken.
    fn look_at_switches(&self) {
        let now = switches();
        if now > self.pace.switches.swap(now, Ordering::Relaxed) && self.member.team_size() < 2 {
            self.pace.suspect();
        }
    }

    /// The owner is about to block, and has said so: its timer must not come before it goes on.
    #[cold]
    #[inline(never)]
    pub fn hold_sample(&self) {
        if self.open.alarm() != Alarm::Set {
            return;
        }
        self.open.set_alarm(Alarm::Held);
        let timer = self.pace.one_shot.load(Ordering::Relaxed);
        if self.pace.is_trusted() && timer >= 0 {
            timer::disarm(timer);
        }
        self.look_at_switches();
    }

    /// The owner goes on: where its next sample was due meanwhile, it is taken here, otherwise its timer is
    /// armed for what is left.
    #[cold]
    #[inline(never)]
    pub fn go_on(&self) {
        if self.open.alarm() != Alarm::Held {
            return;
        }
        self.open.set_alarm(Alarm::Off);
        let (now_ns, cpu_ns) = (clock::now_ns(), clock::thread_cpu_ns());
        let due_ns = self.pace.due_ns.load(Ordering::Relaxed);
        if due_ns > cpu_ns + NEAR_NS {
            if due_ns - cpu_ns <= tick_ns() || !self.pace.is_trusted() {
                self.arm(now_ns, due_ns - cpu_ns);
            }
        } else if self.pace.is_trusted() && life::recording().is_some_and(|life| life.pid == raw::getpid()) {
            raw::signal_self(
                signal::number(self.signal.load(Ordering::Relaxed)),
                timer::ASKED,
                timer::COOKIE,
            );
        }
    }

    #[inline]
    fn without_samples<R>(&self, sp: u64, call: impl FnOnce() -> R) -> R {
        self.pace.paused.store(sp, Ordering::Relaxed);
        if self.open.alarm() == Alarm::Set {
            self.hold_sample();
        }
        let result = call();
        self.pace.paused.store(0, Ordering::Relaxed);
        if self.open.alarm() == Alarm::Held {
            self.go_on();
        }
        result
    }
}

/// Runs `call`, which is no operation of its thread's and must not be interrupted. `state` is the hook's
/// frame.
#[inline]
pub fn without_samples<R>(state: State, call: impl FnOnce() -> R) -> R {
    match lane::current().filter(|_| life::records_here()) {
        Some(lane) => lane.without_samples(state.sp, call),
        None => call(),
    }
}
