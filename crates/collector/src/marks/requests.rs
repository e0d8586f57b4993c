//! What a program asks of its recording: to pause, to resume, to take a sample, to name a thread, and what
//! time it has used.

use core::sync::atomic::{AtomicU32, Ordering};

use proust_log::control::OFF;
use proust_log::records::{Subject, SwitchedTo};

use super::mark::lane_of_caller;
use crate::lane::Lane;
use crate::operation::elapsed::What;
use crate::operation::postponed;
use crate::{clock, control, options, raw, sample};

/// Recording stops in this process.
pub fn pause() {
    let Some((life, lane)) = lane_of_caller() else { return };
    control::look_here(life);
    lane.with_record(|record| control::switch_now(record, SwitchedTo::Off));
}

/// Recording continues in this process. Not where the run is paused by a command.
pub fn resume() {
    let Some((life, lane)) = lane_of_caller() else { return };
    control::look_here(life);
    if options::live() & OFF != 0 {
        return;
    }
    lane.with_record(|record| control::switch_now(record, SwitchedTo::On));
    if lane.samples.pace.ends_rest() {
        lane.begin_again(clock::thread_cpu_ns(), life.options.mean_distance_ns);
    }
}

/// Numbers of labels: apart from those of commands.
static LABELS: AtomicU32 = AtomicU32::new(1 << 31);

/// Most bytes of a label.
const MOST_LABEL_BYTES: usize = 255;

/// Samples the process.
pub fn sample(label: &[u8]) {
    let Some((_, lane)) = lane_of_caller() else { return };
    if crate::life::is_paused() {
        return;
    }
    let label = &label[..label.len().min(MOST_LABEL_BYTES)];
    let number = LABELS.fetch_add(1, Ordering::Relaxed);
    if lane.with_record(|record| sample::process::take_marked(record, label, number)).is_none() {
        super::state::miss();
    }
}

/// Names the calling thread, in reports only.
pub fn name_thread(name: &[u8]) {
    let Some((_, lane)) = lane_of_caller() else { return };
    let tid = lane.owner.load(Ordering::Relaxed);
    let name = &name[..name.len().min(MOST_LABEL_BYTES)];
    lane.with_record(|record| {
        // The name that the system knows is written first: this one is newer.
        record.push_name(tid);
        record.output.push_text(Subject::ThreadName, tid, name);
    });
}

/// Seconds of the calling thread on an account so far; less than 0 = not known.
///
/// What a wait counts as, whether a processor was missing, and what a page fault took is found by the
/// analysis: of these accounts nothing is known here.
pub fn elapsed(account: &[u8]) -> f64 {
    const UNKNOWN: f64 = -1.0;
    let Some((_, lane)) = lane_of_caller() else { return UNKNOWN };
    let cpu_ns = || raw::clock_ns(libc::CLOCK_THREAD_CPUTIME_ID);
    let own_ns = || lane.with_record_in_silence(|record| record.own.total_ns);
    let ns = match account {
        b"wall" => Some(clock::now_ns().saturating_sub(lane.born_ns())),
        b"cpu" => Some(cpu_ns()),
        b"compute" => own_ns().map(|own_ns| cpu_ns().saturating_sub(own_ns)),
        b"user" => Some(in_mode(cpu_ns(), true)),
        b"system" => Some(in_mode(cpu_ns(), false)),
        b"measurement" => own_ns(),
        b"io" => in_operations(lane, What::Io),
        b"wait" => in_operations(lane, What::Wait),
        b"mpi" => in_operations(lane, What::Mpi),
        b"paused" => lane.with_record_in_silence(|record| {
            control::paused_ns().saturating_sub(record.marks.paused_before())
        }),
        _ => None,
    };
    ns.map_or(UNKNOWN, |ns| ns as f64 / 1e9)
}

/// The part of the thread's processor time in user mode, or in the kernel: the kernel counts both in ticks,
/// and their shares are taken of the exact time.
fn in_mode(cpu_ns: u64, is_user: bool) -> u64 {
    let usage = raw::usage(libc::RUSAGE_THREAD);
    let us = |time: libc::timeval| time.tv_sec as u128 * 1_000_000 + time.tv_usec as u128;
    let (user_us, system_us) = (us(usage.ru_utime), us(usage.ru_stime));
    let user_ns = (u128::from(cpu_ns) * user_us).checked_div(user_us + system_us).unwrap_or(0) as u64;
    if is_user { user_ns } else { cpu_ns - user_ns }
}

/// How long the thread was in operations that are over.
fn in_operations(lane: &'static Lane, what: What) -> Option<u64> {
    lane.with_record_in_silence(|record| {
        if lane.operations.postponed.is_any() {
            postponed::settle_in(lane, record);
        }
        let mut elapsed = record.operations.elapsed;
        record.operations.sums.add_to(&mut elapsed);
        elapsed.ns(what)
    })
}
