//! What a user asks of this process by signals: samples, and to pause or to resume.
//!
//! A handler only counts. It is carried out at once where the thread that has received the signal may write,
//! and otherwise by the next one that looks for commands.

use core::sync::atomic::{AtomicU32, Ordering};

use proust_log::control::OFF;
use proust_log::records::SwitchedTo;

use crate::lane::Lane;
use crate::{life, options, sample};

/// Of the word: one sample, and one switch.
const SAMPLE: u32 = 1;
const SWITCH: u32 = 1 << 16;
/// Further samples that are due at the same time are one.
const MOST_SAMPLES: u32 = 1000;

/// What was asked for and is not carried out yet: samples, and in the upper half switches.
static REQUESTED: AtomicU32 = AtomicU32::new(0);

/// A sample is asked for.
pub fn add_sample() {
    if REQUESTED.load(Ordering::Relaxed) % SWITCH < MOST_SAMPLES {
        REQUESTED.fetch_add(SAMPLE, Ordering::Relaxed);
    }
}

/// Recording is to be paused, or resumed where it is paused.
pub fn add_switch() {
    REQUESTED.fetch_add(SWITCH, Ordering::Relaxed);
}

/// Whether anything is asked for.
#[inline]
pub fn are_any() -> bool {
    REQUESTED.load(Ordering::Relaxed) != 0
}

/// A process begins: what its parent was asked for is not its own.
pub fn forget() {
    REQUESTED.store(0, Ordering::Relaxed);
}

/// Carries out what was asked for. `lane` is the calling thread's.
pub(super) fn carry_out(lane: &'static Lane) {
    if !are_any() {
        return;
    }
    lane.with_record(|record| {
        let requested = REQUESTED.swap(0, Ordering::Relaxed);
        for _ in 0..requested % SWITCH {
            sample::process::take_signalled(record);
        }
        // A pause by a command is ended by a command only.
        if requested / SWITCH % 2 == 1 && options::live() & OFF == 0 {
            let to = if life::is_paused() { SwitchedTo::On } else { SwitchedTo::Off };
            super::switch_now(record, to);
        }
    });
}
