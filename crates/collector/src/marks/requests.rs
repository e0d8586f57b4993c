//! What a program asks of its recording: to pause, to resume, to take a sample, to name a thread, and what
//! time it has used.

use core::sync::atomic::{AtomicU32, Ordering};

use proust_log::control::OFF;
use proust_log::records::{Subject, SwitchedTo};

use super::mark::lane_of_caller;
use crate::{clock, control, options, raw, sample};

/// Recording stops in this process.
pub fn pause() {
    let Some((life, lane)) = lane_of_caller() else { return };
    control::look_here(life);
    lane.with_record(|record| control::switch_now(record, SwitchedTo::Off));
}

/// Recording goes on in this process. Not where the run is paused by a command.
pub fn resume() {
    let Some((life, lane)) = lane_of_caller() else { return };
    control::look_here(life);
    if options::live() & OFF != 0 {
        return;
    }
    lane.with_record(|record| control::switch_now(record, SwitchedTo::On));
    if lane.samples.pace.ends_rest() {
        lane.begin_again(clock::thread_cpu_ns(), life.options.period_ns);
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
pub fn elapsed(account: &[u8]) -> f64 {
    const UNKNOWN: f64 = -1.0;
    let Some((_, lane)) = lane_of_caller() else { return UNKNOWN };
    let own_ns = || lane.with_record_in_silence(|record| record.own.total_ns);
    let ns = match account {
        b"wall" => Some(clock::now_ns().saturating_sub(lane.born_ns())),
        b"cpu" => Some(raw::clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)),
        b"measurement" => own_ns(),
        _ => None,
    };
    ns.map_or(UNKNOWN, |ns| ns as f64 / 1e9)
}
