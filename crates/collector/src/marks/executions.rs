//! How an execution of an interval gets into the log: alone, or as part of a sum.
//!
//! All are recorded alone until a thread has too many of them in a window of time. From then on of each
//! interval one of n is, and n follows the rate; the others are summed up exactly: how many, how long, the
//! shortest, the longest, the iterations. How many lie between two is random, n on average: what a program
//! does in every tenth execution is in one of ten of those recorded, whatever n is.

use proust_log::records::{Execution, ExecutionSum, LONG_EXECUTION_NS};

use super::definitions::Definitions;
use crate::lane::{Lane, Output, Record};
use crate::sample::gamma::Random;

/// An execution that is over.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// Of which interval; 0 = one that is not followed.
    pub index: u32,
    /// Begin.
    pub begin_ns: u64,
    /// End.
    pub end_ns: u64,
    /// Iterations.
    pub iterations: u64,
    /// [`crate::control::switches`] at the begin.
    pub switches: u32,
    /// `EXECUTION_` bits.
    pub flags: u16,
}

impl Done {
    /// Whether its interval has a number.
    #[inline]
    pub fn is_followed(&self) -> bool {
        self.index != 0
    }
}

/// Executions of one interval that were not recorded alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    since_ns: u64,
    until_ns: u64,
    ns: u64,
    min_ns: u64,
    max_ns: u64,
    executions: u64,
    iterations: u64,
    /// As many more end before one is recorded alone, that one included.
    until_turn: u32,
}

impl Sums {
    #[inline]
    fn add(&mut self, done: &Done) {
        let ns = done.end_ns - done.begin_ns;
        if self.executions == 0 {
            (self.since_ns, self.min_ns) = (done.begin_ns, ns);
        }
        self.since_ns = self.since_ns.min(done.begin_ns);
        self.until_ns = self.until_ns.max(done.end_ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        self.ns = self.ns.saturating_add(ns);
        self.iterations = self.iterations.saturating_add(done.iterations);
        self.executions += 1;
    }

    /// Whether it is the turn of the next one to be recorded alone; it is that of the very first.
    #[inline]
    fn is_turn(&mut self, every: u32, random: &mut Random) -> bool {
        // The rate may have fallen since the turn was drawn.
        let until_turn = self.until_turn.min(2 * every);
        if until_turn > 1 {
            self.until_turn = until_turn - 1;
            return false;
        }
        self.until_turn = next_turn(every, random);
        true
    }
}

/// After how many executions the next one is recorded alone: from 1 to 2 × `every` - 1, all equally likely.
fn next_turn(every: u32, random: &mut Random) -> u32 {
    let choices = u64::from(every.min(MOST_EVERY)) * 2 - 1;
    1 + ((u128::from(random.take()) * u128::from(choices)) >> 64) as u32
}

/// Of so many executions at least one is recorded alone.
const MOST_EVERY: u32 = 1 << 30;

/// How long a thread's rate is watched before n changes.
const WINDOW_NS: u64 = 10_000_000;
/// Executions in a window that may be recorded alone: 10⁵ marks a second.
const MOST_IN_WINDOW: u32 = 500;

/// How often a thread marks.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Every so-manieth execution is recorded alone.
    every: u32,
    window_begin_ns: u64,
    in_window: u32,
    alone_in_window: u32,
    random: Random,
}

impl Default for Rate {
    fn default() -> Rate {
        let random = Random(crate::clock::now_ns());
        Rate { every: 1, window_begin_ns: 0, in_window: 0, alone_in_window: 0, random }
    }
}

impl Rate {
    /// An execution has ended at `now_ns`: every how many are recorded alone.
    #[inline]
    fn every(&mut self, now_ns: u64) -> u32 {
        if now_ns.saturating_sub(self.window_begin_ns) >= WINDOW_NS {
            self.begin_window(now_ns);
        }
        self.in_window += 1;
        self.every
    }

    #[cold]
    fn begin_window(&mut self, now_ns: u64) {
        let windows = now_ns.saturating_sub(self.window_begin_ns) / WINDOW_NS;
        let in_each = u64::from(self.in_window) / windows.max(1);
        self.every = (in_each / u64::from(MOST_IN_WINDOW)).clamp(1, u64::from(MOST_EVERY)) as u32;
        (self.window_begin_ns, self.in_window, self.alone_in_window) = (now_ns, 0, 0);
    }

    /// One was recorded alone.
    #[inline]
    fn recorded(&mut self) {
        self.alone_in_window += 1;
        if self.alone_in_window >= 2 * MOST_IN_WINDOW {
            self.every = self.every.saturating_mul(2).min(MOST_EVERY);
            self.alone_in_window = MOST_IN_WINDOW;
        }
    }
}

/// Records an execution. Takes little of the stack, and may be left by a jump at any instruction.
#[inline]
pub fn record(lane: &Lane, record: &mut Record, done: &Done) {
    let Record { marks, output, .. } = record;
    let Some(of_thread) = marks.of_thread() else { return };
    let every = of_thread.rate.every(done.end_ns);
    let Some(defined) = of_thread.definitions.get_mut(done.index) else { return };
    // What took long, or what no mark of its own has ended, is worth a record.
    let is_short = done.flags == 0 && done.end_ns - done.begin_ns < LONG_EXECUTION_NS;
    if every > 1 && is_short && !defined.sums.is_turn(every, &mut of_thread.rate.random) {
        return defined.sums.add(done);
    }
    of_thread.rate.recorded();
    let execution = of(done, defined.id);
    if output.has_room_for::<Execution>() {
        output.push_in_place(done.flags, 0, &execution);
        return;
    }
    // SAFETY: called by the owner, which has taken the record.
    unsafe { lane.with_room(|| write(record, done)) };
}

fn of(done: &Done, interval: u32) -> Execution {
    let Done { begin_ns, end_ns, iterations, .. } = *done;
    Execution { begin_ns, end_ns, iterations, interval, reserved: 0 }
}

/// Writes an execution, in a new chunk if need be; where there is no room it counts as missed.
#[cold]
#[inline(never)]
pub fn write(record: &mut Record, done: &Done) {
    let Record { marks, output, .. } = record;
    let Some(of_thread) = marks.of_thread() else { return };
    let id = of_thread.definitions.id(done.index);
    if !output.push_shaped(done.flags, 0, &of(done, id)) {
        super::state::miss();
    }
}

/// Writes the sums of all intervals.
pub fn write_sums(definitions: &mut Definitions, output: &mut Output) {
    for defined in definitions.all_mut() {
        let sums = core::mem::take(&mut defined.sums);
        defined.sums.until_turn = sums.until_turn;
        if sums.executions == 0 {
            continue;
        }
        let Sums { since_ns, until_ns, ns, min_ns, max_ns, executions, iterations, .. } = sums;
        let interval = defined.id;
        output.push(
            0,
            0,
            &ExecutionSum {
                since_ns,
                until_ns,
                ns,
                min_ns,
                max_ns,
                executions,
                iterations,
                interval,
                reserved: 0,
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_rates_have_all_executions_recorded_alone() {
        let mut rate = Rate::default();
        for at in 0..100_000_u64 {
            assert_eq!(rate.every(1_000_000_000 + at * 25_000), 1);
            rate.recorded();
        }
    }

    #[test]
    fn of_many_executions_about_as_many_are_recorded_alone_as_may_be() {
        let mut rate = Rate::default();
        let (mut sums, mut random) = (Sums::default(), Random(1));
        let (mut alone, second_ns) = (0, 1_000_000_000_u64);
        for at in 0..5_000_000_u64 {
            let now_ns = second_ns + at * 200;
            let every = rate.every(now_ns);
            if every == 1 || sums.is_turn(every, &mut random) {
                rate.recorded();
                alone += 1;
            } else {
                sums.add(&Done {
                    index: 1,
                    begin_ns: now_ns - 150,
                    end_ns: now_ns,
                    iterations: 2,
                    switches: 0,
                    flags: 0,
                });
            }
        }
        // A second's worth, and the beginning, at which the rate was not known yet.
        assert!((40_000..70_000).contains(&alone), "{alone}");
        assert_eq!(sums.executions + alone, 5_000_000);
        assert_eq!((sums.ns, sums.min_ns, sums.max_ns), (sums.executions * 150, 150, 150));
        assert_eq!(sums.iterations, 2 * sums.executions);
        // The rate falls: all are recorded alone again.
        rate.every(20 * second_ns);
        assert_eq!(rate.every(20 * second_ns + WINDOW_NS), 1);
    }

    #[test]
    fn one_of_n_is_recorded_of_executions_of_any_period() {
        for (every, period) in [(2, 2), (10, 10), (20, 4), (64, 1000)] {
            let (mut sums, mut random) = (Sums::default(), Random(7));
            let (mut alone, mut at_phase) = (0_u32, 0_u32);
            for at in 0..2_000_000_u32 {
                if sums.is_turn(every, &mut random) {
                    alone += 1;
                    at_phase += u32::from(at % period == 0);
                }
            }
            let share = |part: u32, all: u32| f64::from(part) / f64::from(all);
            let one_of = share(alone, 2_000_000) * f64::from(every);
            assert!((0.98..1.02).contains(&one_of), "one of {every}: {one_of}");
            // Of the recorded ones as many are at the phase as of all, within five standard deviations.
            let expected = f64::from(alone) / f64::from(period);
            let off = (f64::from(at_phase) - expected).abs() / expected.sqrt();
            assert!(off < 5.0, "one of {every}, period {period}: {at_phase}, {expected}");
        }
    }
}
