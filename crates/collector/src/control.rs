//! Recording is switched off and on while the program runs, by commands in the run's control page.
//!
//! Nothing notifies this process: a signal from outside could interrupt a call of the program's, and meet an
//! image that has no handler for it yet. The process notices by itself, when it next begins an operation or
//! when a thread's timer expires, whichever is first; a process that does neither has nothing to record. The
//! command carries its time, so a switch applies from there on, not from when it was noticed.
//!
//! The thread that notices first switches for the whole process: it writes where each thread's CPU clock
//! stood at that time ([`Switched`]). The threads used little between the command and the notice, since each
//! would have noticed at its next sample (`MOST_UNNOTICED_NS`).
//!
//! While recording is off hooks that measure end at one comparison ([`life::measuring`]). Those that follow
//! threads, processes, modules and signals stay active, or nothing could be measured afterwards; so do those
//! of parallel regions, whose threads count together: what they write is cut off in the analysis. Timers keep
//! running at long intervals ([`pace::Resting`](crate::sample::pace)), to notice that recording is wanted
//! again.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use proust_log::control::Command;
use proust_log::layout::Ending;
use proust_log::records::{Switched, SwitchedTo};

use crate::lane::{self, Lane, Record};
use crate::life::{self, Life};
use crate::{clock, process, raw, sample, source};

mod commands;
pub mod requested;

pub use commands::has_stopped;

/// A thread that computes notices a command within this much of its CPU time: the longest distance of samples
/// at usual rates, and of timers while recording is off.
const MOST_UNNOTICED_NS: u64 = 40_000_000;

static SWITCHES: AtomicU32 = AtomicU32::new(0);

/// How long this process was paused, up to its last switch, and when that was if it is paused now; 0 = it is
/// not.
static PAUSED_NS: AtomicU64 = AtomicU64::new(0);
static PAUSED_SINCE_NS: AtomicU64 = AtomicU64::new(0);

/// How long recording was switched off in this process so far, ns.
pub fn paused_ns() -> u64 {
    let since_ns = PAUSED_SINCE_NS.load(Ordering::Relaxed);
    let now_ns = if since_ns == 0 { 0 } else { clock::now_ns().saturating_sub(since_ns) };
    PAUSED_NS.load(Ordering::Relaxed) + now_ns
}

/// Counts the time of a switch.
fn count_paused(to: SwitchedTo, time_ns: u64) {
    if to == SwitchedTo::Off {
        PAUSED_SINCE_NS.store(time_ns.max(1), Ordering::Relaxed);
    } else {
        let since_ns = PAUSED_SINCE_NS.swap(0, Ordering::Relaxed);
        PAUSED_NS.fetch_add(time_ns.saturating_sub(since_ns), Ordering::Relaxed);
    }
}

/// Whether this process, or one that it is a fork of, has begun to record.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// How often this process was switched: counts that a thread made before belong to another stretch.
pub fn switches() -> u32 {
    SWITCHES.load(Ordering::Relaxed)
}

/// Whether there is something that this process has been commanded or asked for, and has not carried out.
#[inline]
pub fn are_new() -> bool {
    commands::are_new() || requested::are_any()
}

/// This process begins to record at `begin_ns`, in the calling thread, whose lane this is: perhaps paused.
pub fn begin(lane: &'static Lane, begin_ns: u64, life: &Life) {
    let newest = commands::at_begin();
    // A forked child begins as its parent stood.
    PAUSED_NS.store(0, Ordering::Relaxed);
    PAUSED_SINCE_NS.store(0, Ordering::Relaxed);
    let is_as_begun = !HAS_BEGUN.swap(true, Ordering::Relaxed) || life::is_paused();
    life::set_paused(false);
    requested::forget();
    let is_commanded = matches!(newest, Some(Command::Pause | Command::Stop));
    if is_commanded || life.options.begins_paused && is_as_begun {
        lane.with_record(|record| switch(record, SwitchedTo::Off, begin_ns, clock::now_ns()));
    }
}

/// Carries out what was commanded since this process last looked. For hooks and the handler; `lane` is the
/// calling thread's.
#[cold]
#[inline(never)]
pub fn look(life: &Life, lane: &'static Lane) {
    if life::is_borrowed(life) {
        return;
    }
    requested::carry_out(lane);
    while let Some((number, given)) = commands::next() {
        let carried_out = lane.with_record(|record| {
            if !commands::take(number) {
                return false;
            }
            let now_ns = clock::now_ns();
            let time_ns = instant(life, &given, now_ns);
            match Command::from_number(given.command) {
                Some(Command::Pause | Command::Stop) => switch(record, SwitchedTo::Off, time_ns, now_ns),
                Some(Command::Resume) => switch(record, SwitchedTo::On, time_ns, now_ns),
                Some(Command::Sample) => {
                    let (label, bytes) = commands::label(number);
                    sample::process::take_asked(record, label.get(..bytes).unwrap_or(&[]), number + 1);
                }
                None => {}
            }
            true
        });
        match carried_out {
            // The collector is at work in this thread already: another time.
            None => return,
            Some(true) if given.command == Command::Stop as u32 => {
                process::end_for_good(life, Ending::Stopped);
                return;
            }
            Some(_) => {}
        }
    }
}

/// As [`look`], where this thread may have no lane.
pub fn look_here(life: &Life) {
    if are_new()
        && let Some(lane) = lane::current()
    {
        look(life, lane);
    }
}

/// When a command was given, by this process's clock; when it was noticed, if that time is unknown.
fn instant(life: &Life, given: &proust_log::control::Switch, now_ns: u64) -> u64 {
    let time_ns = given.time_ns.checked_add_signed(life.facts.clock_offset_ns());
    match time_ns.filter(|&time_ns| time_ns <= now_ns) {
        Some(time_ns) if commands::is_from_here(given) => time_ns,
        _ => now_ns,
    }
}

/// Switches the whole process, as of `time_ns`.
fn switch(record: &mut Record, to: SwitchedTo, time_ns: u64, now_ns: u64) {
    if life::is_paused() == (to == SwitchedTo::Off) {
        return;
    }
    let (mut process_cpu_ns, unnoticed_ns) = (clock::process_cpu_ns(), now_ns - time_ns.min(now_ns));
    for lane in lane::live() {
        let tid = lane.owner.load(Ordering::Relaxed);
        let cpu_now_ns = raw::clock_ns(clock::cpu_clock_of(tid));
        if cpu_now_ns == 0 {
            continue;
        }
        let since_record_ns = cpu_now_ns.saturating_sub(lane.last_cpu_ns());
        let since_ns = unnoticed_ns.min(since_record_ns).min(MOST_UNNOTICED_NS);
        process_cpu_ns = process_cpu_ns.saturating_sub(since_ns);
        push(
            record,
            to,
            Switched { time_ns, cpu_ns: cpu_now_ns - since_ns, noticed_ns: now_ns, tid, reserved: 0 },
        );
    }
    push(record, to, Switched { time_ns, cpu_ns: process_cpu_ns, noticed_ns: now_ns, tid: 0, reserved: 0 });
    source::each(|source| source.switched(record, to));
    SWITCHES.fetch_add(1, Ordering::Relaxed);
    count_paused(to, time_ns);
    life::set_paused(to == SwitchedTo::Off);
    record.follow_switch();
}

/// The program switches this process now.
pub fn switch_now(record: &mut Record, to: SwitchedTo) {
    let now_ns = clock::now_ns();
    switch(record, to, now_ns, now_ns);
}

fn push(record: &mut Record, to: SwitchedTo, switched: Switched) {
    record.output.push(to as u16, 0, &switched);
}
