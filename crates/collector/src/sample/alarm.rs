//! The alarm: a thread's timer on the wall's clock, which brings its sample between two ticks.
//!
//! It keeps running while the thread is blocked, and its signal would then interrupt a system call that a CPU
//! timer's signal never interrupts. Three things prevent that:
//!
//! - A hook that is about to block first marks that (the operation is open), then disarms. The handler arms
//!   nothing while an operation is open. After the wait the timer is armed for what is left by the CPU clock;
//!   if the instant has passed meanwhile, the thread used its processor inside of the operation then, and the
//!   sample is taken there.
//! - The timer is armed only in threads all of whose voluntary context switches lie in hooked operations.
//!   That is looked at while the timer would be armed, for some samples before it ever is ([`AT_FIRST`]), and
//!   whenever it was. One switch that no hook explains ends it, for longer each time (`Pace::suspect`).
//! - A call that it interrupts all the same is continued ([`resume`](super::resume)).
//!
//! Disarming and arming cost more than a short operation takes. So the timer is armed only where it will
//! probably expire before the next operation ([`stretches`](super::stretches)), a few times for one sample at
//! most (`ARMED_AT_MOST`), and not at all for a while where that was never enough ([`Rest`]).

use core::sync::atomic::{AtomicU32, Ordering};

use super::pace::{Arrival, Pace, tick_ns};
use super::{signal, timer};
use crate::lane::{self, Lane, Usage};
use crate::path::memo::State;
use crate::{clock, life, raw};

/// How often the timer is armed for one sample. A thread that is interrupted more often, by its own waits or
/// by others that want its processor, gets this sample at a tick: the cost is bounded by the number of
/// samples, not by how often the thread waits.
const ARMED_AT_MOST: u32 = 6;
/// As [`ARMED_AT_MOST`], of a timer that is armed for longer than a tick. After that the CPU timer brings the
/// thread near its sample first.
const ARMED_FAR_AT_MOST: u32 = 2;

/// What disarming takes at most; a thread that was displaced meanwhile did not use its processor for longer.
const DISARMED_IN_NS: u64 = 30_000;
/// The timer is armed for so long at least, so that it does not expire in the hook that arms it: arming may
/// take 10 µs in a virtual machine.
const SOONEST_NS: u64 = 20_000;

/// So many samples of a new thread pass without an unexplained switch before its timer is armed.
pub const AT_FIRST: u32 = 4;
/// So many after the first switch that no hook explains, and twice as many after each further one.
pub const AFTER_ONE: u32 = 32;
const AT_MOST: u32 = 1 << 24;
/// In so many samples before the timer may be armed (again) its switches are looked at.
pub const LOOKED_AT: u32 = 8;

/// The state of a thread's timer on the wall's clock: a word beside that of the operation that the thread is
/// in, since both are read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Alarm {
    /// Nothing: hooks do not care.
    Off = 0,
    /// It is armed, or would be if the thread were trusted: a hook that is about to block calls
    /// [`Lane::suspend_alarm`].
    Set = 1,
    /// It was, or it will be when the sample is nearer: wanted when the thread continues from an operation
    /// ([`Lane::resume_alarm`]).
    Suspended = 2,
}

/// Whether a thread calls hooked functions so often that its alarm never expires between two of them.
///
/// Such a thread's samples are taken at ticks in any case, and each try costs the program several system
/// calls in its own hooks. After some tries in a row that failed, samples are taken without one for a while,
/// for longer each time.
#[derive(Debug, Default)]
pub struct Rest {
    /// Samples in a row for which the timer was armed too often.
    in_vain: AtomicU32,
    /// Samples for which it is not armed.
    left: AtomicU32,
}

/// So many tries in a row may fail.
const TRIED_IN_VAIN: u32 = 4;
/// The longest rest is two to this power, in samples.
const LONGEST_REST: u32 = 4;

impl Rest {
    /// A thread begins.
    pub fn begin(&self) {
        self.in_vain.store(0, Ordering::Relaxed);
        self.left.store(0, Ordering::Relaxed);
    }

    /// Whether the timer is not armed now.
    pub fn is_on(&self) -> bool {
        self.left.load(Ordering::Relaxed) != 0
    }

    /// A sample was taken; for it the timer was armed so often.
    pub fn sampled(&self, armed: u32) {
        let left = self.left.load(Ordering::Relaxed);
        if left != 0 {
            self.left.store(left - 1, Ordering::Relaxed);
        } else if armed <= ARMED_AT_MOST {
            self.in_vain.store(0, Ordering::Relaxed);
        } else {
            let in_vain = (self.in_vain.load(Ordering::Relaxed) + 1).min(TRIED_IN_VAIN + LONGEST_REST);
            self.in_vain.store(in_vain, Ordering::Relaxed);
            if in_vain > TRIED_IN_VAIN {
                self.left.store(1 << (in_vain - TRIED_IN_VAIN), Ordering::Relaxed);
            }
        }
    }
}

impl Pace {
    /// Whether the timer may be armed as far as the thread's switches say.
    pub(super) fn is_trusted(&self) -> bool {
        self.untrusted.load(Ordering::Relaxed) == 0
    }

    /// The thread blocked, and no hook knows in what.
    pub(super) fn suspect(&self) {
        let samples = self.next_untrusted.load(Ordering::Relaxed);
        self.untrusted.store(samples, Ordering::Relaxed);
        self.next_untrusted.store((samples * 2).min(AT_MOST), Ordering::Relaxed);
    }
}

impl Lane {
    /// The handler wants the alarm in `left_ns`; but a thread that is about to block, or does, sets it when
    /// it continues.
    pub(super) fn want_alarm(&self, arrival: &Arrival, left_ns: u64) {
        let paused = self.samples.pace.paused.load(Ordering::Relaxed);
        if !self.operations.open.is_free()
            || self.member.docked_ns() != 0
            || paused != 0 && arrival.sp <= paused
        {
            self.operations.open.set_alarm(Alarm::Suspended);
            return;
        }
        let pace = &self.samples.pace;
        if self.operations.open.alarm() == Alarm::Set
            && arrival.time_ns < pace.expires_ns.load(Ordering::Relaxed)
        {
            return;
        }
        pace.stretches.runs(arrival.time_ns);
        self.arm_if_near(arrival, left_ns);
    }

    /// Sets the alarm, or puts it off.
    fn arm_if_near(&self, now: &Arrival, left_ns: u64) {
        let pace = &self.samples.pace;
        if pace.is_trusted() && pace.stretches.put_off(now.time_ns, left_ns) {
            // Should the thread enter no operation any more, the CPU timer brings the sample.
            self.sample_at_tick(now.cpu_ns);
            self.operations.open.set_alarm(Alarm::Suspended);
        } else {
            self.arm(now, left_ns);
        }
    }

    /// Hooks no longer care for the alarm.
    pub(super) fn stop_alarm(&self) {
        self.operations.open.set_alarm(Alarm::Off);
        self.samples.pace.stretches.stop();
    }

    /// Sets the alarm; where the thread is not trusted yet only in name, so that its switches are looked at.
    fn arm(&self, now: &Arrival, left_ns: u64) {
        let pace = &self.samples.pace;
        let armed = pace.armed.load(Ordering::Relaxed);
        pace.armed.store((armed + 1).min(ARMED_AT_MOST + 1), Ordering::Relaxed);
        if !pace.is_trusted() {
            let is_looked_at = armed < ARMED_AT_MOST;
            pace.switches.store(now.usage.unexplained(), Ordering::Relaxed);
            pace.expires_ns.store(u64::MAX, Ordering::Relaxed);
            if is_looked_at {
                self.operations.open.set_alarm(Alarm::Set)
            } else {
                self.stop_alarm()
            }
            return;
        }
        let timer = if armed < ARMED_AT_MOST { pace.one_shot(self) } else { None };
        let Some(timer) = timer else {
            self.stop_alarm();
            self.sample_at_tick(now.cpu_ns);
            return;
        };
        pace.switches.store(now.usage.unexplained(), Ordering::Relaxed);
        pace.expires_ns.store(now.time_ns + left_ns, Ordering::Relaxed);
        self.operations.open.set_alarm(Alarm::Set);
        timer::after(timer, left_ns);
    }

    /// While the timer is armed: whether the thread has blocked since, in what no hook knows of. Threads of a
    /// team meet in their runtime, which looks again whenever it is woken.
    pub(super) fn look_at_switches(&self, usage: &Usage) {
        let now = usage.unexplained();
        if now > self.samples.pace.switches.swap(now, Ordering::Relaxed) && self.member.team_size() < 2 {
            self.samples.pace.suspect();
        }
    }

    /// The owner is about to block, and has said so: its timer must not expire before it continues.
    #[cold]
    #[inline(never)]
    pub fn suspend_alarm(&self) {
        self.samples.pace.stretches.ends(self.operations.open.begin_ns());
        if self.operations.open.alarm() != Alarm::Set {
            return;
        }
        self.operations.open.set_alarm(Alarm::Suspended);
        let begin_ns = clock::now_ns();
        let timer = self.samples.pace.one_shot_made();
        if self.samples.pace.is_trusted() && timer >= 0 {
            timer::disarm(timer);
        }
        self.look_at_switches(&Usage::now());
        // This happens shortly before samples only: it would attract them to the operation.
        let own_ns = clock::now_ns().saturating_sub(begin_ns);
        self.samples.pace.postpone(own_ns.min(DISARMED_IN_NS));
    }

    /// As [`Lane::suspend_alarm`], where it is unknown when the owner continues.
    pub fn leave_sample_to_tick(&self) {
        if self.operations.open.alarm() == Alarm::Set {
            self.suspend_alarm();
            self.sample_at_tick(clock::thread_cpu_ns());
        }
    }

    /// The owner continues: where its next sample was due meanwhile, it is taken here, otherwise its timers
    /// are set for what is left.
    #[cold]
    #[inline(never)]
    pub fn resume_alarm(&self) {
        if self.operations.open.alarm() != Alarm::Suspended {
            return;
        }
        let pace = &self.samples.pace;
        let time_ns = clock::now_ns();
        pace.stretches.runs(time_ns);
        if pace.stretches.is_far(time_ns) {
            return;
        }
        self.operations.open.set_alarm(Alarm::Off);
        let cpu_ns = clock::thread_cpu_ns();
        let now = Arrival { time_ns, cpu_ns, sp: 0, is_asked: false, usage: Usage::now() };
        let due_ns = pace.due_ns.load(Ordering::Relaxed);
        if due_ns > cpu_ns {
            self.continue_to(&now, due_ns);
        } else if due_ns + time_ns.saturating_sub(self.operations.open.begin_ns()) < cpu_ns {
            // It was due before the operation, in a stretch longer than those before.
            self.stop_alarm();
            self.sample_at_tick(cpu_ns);
        } else if pace.is_trusted() && life::recording().is_some_and(|life| life.pid == raw::getpid()) {
            raw::signal_self(
                signal::number(self.samples.signal.load(Ordering::Relaxed)),
                timer::ASKED,
                timer::COOKIE,
            );
        } else {
            self.stop_alarm();
        }
    }

    /// Sets the timers for a sample that is due after the owner has continued.
    fn continue_to(&self, now: &Arrival, due_ns: u64) {
        let pace = &self.samples.pace;
        let left_ns = (due_ns - now.cpu_ns).max(SOONEST_NS);
        if !pace.is_trusted() {
            self.sample_at_tick(now.cpu_ns);
            self.arm(now, left_ns);
        } else if !self.is_above_net(due_ns) {
            if left_ns <= tick_ns() { self.arm_if_near(now, left_ns) } else { self.stop_alarm() }
        } else if pace.armed.load(Ordering::Relaxed) < ARMED_FAR_AT_MOST && !pace.stretches.is_beyond(left_ns)
        {
            self.arm(now, left_ns);
        } else if left_ns > tick_ns() {
            self.stop_alarm();
            self.set_cpu_timer(due_ns - tick_ns());
        } else {
            self.set_cpu_timer(due_ns);
            self.arm_if_near(now, left_ns);
        }
    }

    #[inline]
    fn without_samples<R>(&self, sp: u64, call: impl FnOnce() -> R) -> R {
        self.samples.pace.paused.store(sp, Ordering::Relaxed);
        if self.operations.open.alarm() == Alarm::Set {
            self.suspend_alarm();
        }
        let result = call();
        self.samples.pace.paused.store(0, Ordering::Relaxed);
        if self.operations.open.alarm() == Alarm::Suspended {
            self.resume_alarm();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_never_gets_its_alarm_is_tried_more_and_more_rarely() {
        let rest = Rest::default();
        let mut tried = Vec::new();
        for sample in 0..200 {
            if !rest.is_on() {
                tried.push(sample);
            }
            rest.sampled(if rest.is_on() { 0 } else { ARMED_AT_MOST + 1 });
        }
        let gaps: Vec<i32> = tried.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps[..8], [1, 1, 1, 1, 3, 5, 9, 17]);
        assert!(gaps[8..].iter().all(|&gap| gap == 17), "{gaps:?}");
    }

    #[test]
    fn one_sample_between_ticks_resets_the_count() {
        let rest = Rest::default();
        for sample in 0..100 {
            assert!(!rest.is_on(), "sample {sample}");
            rest.sampled(if sample % 4 == 0 { 1 } else { ARMED_AT_MOST + 1 });
        }
    }
}
