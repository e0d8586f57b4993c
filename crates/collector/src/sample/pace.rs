//! When a thread's next sample is due, and which timer brings it there.
//!
//! The instant is drawn ([`gamma`](super::gamma)) on the thread's CPU clock. A CPU timer alone cannot meet
//! it: it expires at the kernel's ticks, and what the program repeats in step with these would be sampled at
//! the same places again and again. So a timer on the wall's clock, the alarm ([`alarm`](super::alarm)),
//! brings the sample between two ticks.
//!
//! An interrupt costs more than all the handler does (20 µs where a virtual machine's host takes part in it),
//! while a signal at a tick that happens anyway costs little. So each sample has one interrupt, in one of two
//! ways:
//!
//! - A thread that ran through since its last sample (`Pace::is_calm`) gets the alarm for the whole distance
//!   at once, and no signal of the CPU timer. That one is only a safety net, many ticks away, and is moved on
//!   when it is near.
//! - For others the CPU timer expires at a tick up to a tick before the instant, and the alarm is set for the
//!   rest: the shorter it is set, the more rarely a wait or another program's turn falls between.
//!
//! Where the alarm must not be set, or would be set in vain, samples are taken at the ticks next to their
//! instants, and say so ([`SAMPLE_AT_TICK`]).

use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

use proust_log::control::{NO_IO, NO_WAITS};
use proust_log::records::{SAMPLE_AT_TICK, SAMPLE_LATE};

use super::alarm::{AFTER_ONE, AT_FIRST, Alarm, LOOKED_AT, Rest};
use super::gamma::Random;
use super::stretches::Stretches;
use super::{signal, timer};
use crate::arch::context::CAN_REPEAT_CALLS;
use crate::hooks::borrowers;
use crate::lane::{self, Lane, Record, Usage};
use crate::{clock, options, raw};

/// As near to its instant a sample is taken: an interrupt takes as long.
const NEAR_NS: u64 = 20_000;
/// Later than that a sample is marked: the code that ran may have been the reason.
const LATE_NS: u64 = 100_000;
/// The tick of a kernel that does not say how long it is.
const USUAL_TICK_NS: u64 = 10_000_000;
/// A CPU timer that is set to an instant which has passed expires at once, and not at the next tick.
const AHEAD_NS: u64 = 50_000;
/// So many ticks after a sample's instant the CPU timer expires that is only the net below it: setting it
/// costs a system call, so it is set for several samples at once.
const NET_TICKS: u64 = 8;

/// While recording is paused timers expire after so much CPU time: often enough to notice soon that it
/// resumes.
const PAUSED_NS: u64 = 20_000_000;

/// `one_shot`: there is none yet.
const NONE: i32 = -1;
/// `one_shot`: the kernel refused one, or there are too many.
const REFUSED: i32 = -2;

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
pub(super) fn tick_ns() -> u64 {
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

/// To what a CPU timer is set that is to expire at the tick next to `due_ns`.
fn at_tick_near(due_ns: u64, cpu_ns: u64) -> u64 {
    due_ns.saturating_sub(tick_ns() / 2).max(cpu_ns + AHEAD_NS)
}

/// When a thread is sampled. Used by its thread alone.
#[derive(Debug)]
pub struct Pace {
    /// The CPU clock at the next sample.
    pub(super) due_ns: AtomicU64,
    /// To what the CPU timer is set. Once that has passed it expires at every tick.
    cpu_timer_ns: AtomicU64,
    random: AtomicU64,
    /// The timer on the wall's clock; or [`NONE`], [`REFUSED`].
    one_shot: AtomicI32,
    /// When that expires.
    pub(super) expires_ns: AtomicU64,
    /// [`Usage::unexplained`] when the alarm was set.
    pub(super) switches: AtomicU64,
    /// Switches of all kinds up to the last sample.
    all_switches: AtomicU64,
    /// Whether the thread ran through between its last two samples, and the alarm was set once for that.
    is_calm: AtomicBool,
    /// How often it was armed for this sample.
    pub(super) armed: AtomicU32,
    pub(super) rest: Rest,
    pub(super) stretches: Stretches,
    /// So many samples have to pass before it may be armed.
    pub(super) untrusted: AtomicU32,
    /// As many after the next switch that no hook explains.
    pub(super) next_untrusted: AtomicU32,
    /// The stack pointer of a hook that is in a call which must not be interrupted, and is no operation.
    pub(super) paused: AtomicU64,
    /// A signal may have interrupted a call that no hook knows of.
    has_interrupted: AtomicBool,
    /// Time in handlers that took no sample.
    own_ns: AtomicU64,
    /// The thread's timer was last set for a time in which recording was paused.
    is_paused: AtomicBool,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            due_ns: AtomicU64::new(0),
            cpu_timer_ns: AtomicU64::new(0),
            random: AtomicU64::new(0),
            one_shot: AtomicI32::new(NONE),
            expires_ns: AtomicU64::new(0),
            switches: AtomicU64::new(0),
            all_switches: AtomicU64::new(0),
            is_calm: AtomicBool::new(false),
            armed: AtomicU32::new(0),
            rest: Rest::default(),
            stretches: Stretches::default(),
            untrusted: AtomicU32::new(AT_FIRST),
            next_untrusted: AtomicU32::new(AFTER_ONE),
            paused: AtomicU64::new(0),
            has_interrupted: AtomicBool::new(false),
            own_ns: AtomicU64::new(0),
            is_paused: AtomicBool::new(false),
        }
    }
}

impl Pace {
    /// A thread begins.
    pub fn begin(&self) {
        self.random.store(seed().0, Ordering::Relaxed);
        self.untrusted.store(AT_FIRST, Ordering::Relaxed);
        self.next_untrusted.store(AFTER_ONE, Ordering::Relaxed);
        self.armed.store(0, Ordering::Relaxed);
        self.rest.begin();
        self.stretches.begin();
        self.is_calm.store(false, Ordering::Relaxed);
        self.cpu_timer_ns.store(0, Ordering::Relaxed);
        self.paused.store(0, Ordering::Relaxed);
        self.has_interrupted.store(false, Ordering::Relaxed);
        self.own_ns.store(0, Ordering::Relaxed);
        self.is_paused.store(false, Ordering::Relaxed);
    }

    /// The first sample of the thread was due at this instant before it had a lane.
    pub fn set_due(&self, due_ns: u64) {
        self.due_ns.store(due_ns, Ordering::Relaxed);
    }

    /// The next sample is due so much later.
    pub fn postpone(&self, by_ns: u64) {
        self.due_ns.store(self.due_ns.load(Ordering::Relaxed).saturating_add(by_ns), Ordering::Relaxed);
    }

    /// Whether the thread's timer was last set while recording was paused; once.
    pub fn ends_rest(&self) -> bool {
        self.is_paused.load(Ordering::Relaxed) && self.is_paused.swap(false, Ordering::Relaxed)
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

    /// The timer on the wall's clock, made when it is first needed; None where there can be none.
    pub(super) fn one_shot(&self, lane: &Lane) -> Option<i32> {
        let timer = self.one_shot.load(Ordering::Relaxed);
        if timer >= 0 {
            return Some(timer);
        }
        if timer == REFUSED {
            return None;
        }
        let made = if ONE_SHOTS.fetch_add(1, Ordering::Relaxed) < ONE_SHOTS_AT_MOST.load(Ordering::Relaxed) {
            let number = signal::number(lane.samples.signal.load(Ordering::Relaxed));
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

    /// The timer on the wall's clock, if there is one; otherwise less than 0.
    pub(super) fn one_shot_made(&self) -> i32 {
        self.one_shot.load(Ordering::Relaxed)
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

/// Where a thread stands: where the handler's signal was delivered, or where a hook continues.
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
    /// The thread's use of time.
    pub usage: Usage,
}

impl Lane {
    /// Stops the owner's timers.
    pub fn stop_timers(&self) {
        if let Some(timer) = self.samples.replace_timer(None) {
            timer::stop(timer);
        }
        self.samples.pace.stop();
        self.stop_alarm();
    }

    /// Makes the CPU timer of thread `tid`, the owner, and arms it for a first sample; an errno if the kernel
    /// refuses.
    pub fn begin_sampling(&self, tid: u32, mean_ns: u64) -> Result<(), i32> {
        let timer = timer::create(tid, signal::number(self.samples.signal.load(Ordering::Relaxed)))?;
        let cpu_ns = raw::clock_ns(clock::cpu_clock_of(tid));
        let due_ns = cpu_ns + self.samples.pace.draw(|random| random.first_ns(mean_ns));
        self.samples.pace.due_ns.store(due_ns, Ordering::Relaxed);
        self.stop_alarm();
        self.samples.pace.cpu_timer_ns.store(0, Ordering::Relaxed);
        let armed = timer::at_cpu(timer, at_tick_near(due_ns, cpu_ns), tick_ns());
        if raw::failed(armed) {
            timer::stop(timer);
            return Err(-armed as i32);
        }
        if let Some(before) = self.samples.replace_timer(Some(timer)) {
            timer::stop(before);
        }
        Ok(())
    }

    /// In the owner's handler: recording is paused, and it is enough to look now and then whether it still
    /// is.
    pub fn rest_while_paused(&self, cpu_ns: u64) {
        if !self.samples.pace.is_paused.swap(true, Ordering::Relaxed) {
            self.with_record(Record::follow_switch);
        }
        self.stop_alarm();
        self.samples.pace.due_ns.store(cpu_ns + PAUSED_NS, Ordering::Relaxed);
        self.set_cpu_timer(cpu_ns + PAUSED_NS);
    }

    /// In the owner's handler: recording resumes, and the next sample is drawn as a thread's first one is.
    pub fn begin_again(&self, cpu_ns: u64, mean_ns: u64) {
        let due_ns = cpu_ns + self.samples.pace.draw(|random| random.first_ns(mean_ns));
        self.samples.pace.due_ns.store(due_ns, Ordering::Relaxed);
        self.stop_alarm();
        self.set_cpu_timer(at_tick_near(due_ns, cpu_ns));
    }

    /// Whether the owner's timer on the wall's clock may be armed at all.
    fn may_have_alarm(&self) -> bool {
        // Hooks see only a thread that finds its lane, and only what they are there for.
        CAN_REPEAT_CALLS
            && lane::current().is_some_and(|current| core::ptr::eq(current, self))
            && !borrowers::share_storage()
            && options::live() & (NO_WAITS | NO_IO) == 0
            && self.samples.pace.one_shot.load(Ordering::Relaxed) != REFUSED
    }

    /// Sets the CPU timer. A lane without one is not sampled any more.
    pub(super) fn set_cpu_timer(&self, at_ns: u64) {
        let timer = self.samples.timer();
        if timer >= 0 {
            self.samples.pace.cpu_timer_ns.store(at_ns, Ordering::Relaxed);
            timer::at_cpu(timer, at_ns, tick_ns());
        }
    }

    /// Whether the CPU timer is only the net below a sample that is due then.
    pub(super) fn is_above_net(&self, due_ns: u64) -> bool {
        self.samples.pace.cpu_timer_ns.load(Ordering::Relaxed) > due_ns + tick_ns()
    }

    /// The alarm will not bring the sample: the CPU timer has to.
    pub(super) fn sample_at_tick(&self, cpu_ns: u64) {
        let due_ns = self.samples.pace.due_ns.load(Ordering::Relaxed);
        if self.is_above_net(due_ns) {
            self.set_cpu_timer(at_tick_near(due_ns, cpu_ns));
        }
    }

    /// In the owner's handler: whether a sample is due, and its flags. The next one's instant is drawn then;
    /// [`Lane::await_sample`] has to follow. Where it is too early, the timers are set for what is left.
    pub fn sample_is_due(&self, arrival: &Arrival, mean_ns: u64) -> Option<u16> {
        let pace = &self.samples.pace;
        let may_have_alarm = self.may_have_alarm();
        let was_on = self.operations.open.alarm() == Alarm::Set;
        let was_armed = was_on && pace.is_trusted();
        if was_on {
            pace.has_interrupted.store(was_armed && self.operations.open.is_free(), Ordering::Relaxed);
            self.look_at_switches(&arrival.usage);
        }
        let is_exact = may_have_alarm && pace.is_trusted() && !pace.rest.is_on();
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
            pace.stretches.sampled(arrival.time_ns);
            let armed = pace.armed.swap(0, Ordering::Relaxed);
            if may_have_alarm {
                let untrusted = pace.untrusted.load(Ordering::Relaxed);
                pace.untrusted.store(untrusted.saturating_sub(1), Ordering::Relaxed);
                pace.rest.sampled(armed);
            }
            let switches = arrival.usage.switches.0 + arrival.usage.switches.1;
            let ran_through = pace.all_switches.swap(switches, Ordering::Relaxed) == switches;
            let runs_on = !pace.stretches.is_beyond(distance_ns);
            pace.is_calm.store(was_on && armed == 1 && ran_through && runs_on, Ordering::Relaxed);
            return Some(flags);
        }
        if arrival.is_asked {
            return Some(0);
        }
        let left_ns = due_ns - arrival.cpu_ns;
        if is_exact && left_ns <= tick_ns() {
            self.want_alarm(arrival, left_ns);
        } else if is_exact && self.is_above_net(due_ns) {
            self.set_cpu_timer(due_ns - tick_ns());
        } else {
            self.sample_at_tick(arrival.cpu_ns);
        }
        None
    }

    /// In the owner's handler, at its end: sets the timers for the next sample. `arrival` says where the
    /// clocks stood shortly before.
    pub fn await_sample(&self, arrival: &Arrival) {
        if self.samples.timer() < 0 {
            return;
        }
        let pace = &self.samples.pace;
        let due_ns = pace.due_ns.load(Ordering::Relaxed);
        let left_ns = due_ns.saturating_sub(arrival.cpu_ns);
        self.stop_alarm();
        let may_have_alarm = self.may_have_alarm();
        let untrusted = pace.untrusted.load(Ordering::Relaxed);
        if !may_have_alarm || untrusted > 0 || pace.rest.is_on() {
            self.set_cpu_timer(at_tick_near(due_ns, arrival.cpu_ns));
            if may_have_alarm && (1..=LOOKED_AT).contains(&untrusted) {
                self.want_alarm(arrival, left_ns);
            }
        } else if pace.is_calm.load(Ordering::Relaxed) {
            if !self.is_above_net(due_ns) {
                self.set_cpu_timer(due_ns + NET_TICKS * tick_ns());
            }
            self.want_alarm(arrival, left_ns);
        } else if left_ns > tick_ns() {
            self.set_cpu_timer(due_ns - tick_ns());
        } else {
            self.set_cpu_timer(due_ns);
            self.want_alarm(arrival, left_ns);
        }
    }
}
