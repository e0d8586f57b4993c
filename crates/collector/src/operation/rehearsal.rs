//! What a hook adds to a short operation, found by trying it where the program does nothing.
//!
//! The two readings of the clock are a third to two thirds of it, by processor; the rest only shows when the
//! whole hook runs. Hooks do not time themselves: that would take as long again.

use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::control::{NO_IO, OFF};
use proust_log::operations::Operation;

use super::{Kind, Outcome, bracket, threshold};
use crate::lane::Lane;
use crate::{clock, options};

/// 0 = not known.
static HOOK_NS: AtomicU64 = AtomicU64::new(0);

const ROUNDS: usize = 25;
const CALLS_PER_ROUND: u64 = 16;
const OPERATION: Operation = Operation::Read;

/// The time that a hook adds to a short operation, ns. Where it was not tried: two readings of the clock,
/// which is less than it takes.
pub fn hook_ns() -> u64 {
    match HOOK_NS.load(Ordering::Relaxed) {
        0 => 2 * clock::reading_ns(),
        known => known,
    }
}

/// Finds it, in the process's first thread, which records already and has had no operation. Forked children
/// inherit it.
pub fn rehearse(lane: &'static Lane) {
    if HOOK_NS.load(Ordering::Relaxed) != 0 || options::live() & (OFF | NO_IO) != 0 {
        return;
    }
    if lane.with_record(|record| record.operations.rehearse(Kind::from(OPERATION))).is_none() {
        return;
    }
    lane.operations.callers.rest();
    let mut rounds = [0; ROUNDS];
    for round in &mut rounds {
        let begin_ns = clock::now_ns();
        for _ in 0..CALLS_PER_ROUND {
            bracket(OPERATION, u64::MAX, || (), |()| Outcome::default());
        }
        *round = clock::now_ns().saturating_sub(begin_ns) / CALLS_PER_ROUND;
    }
    lane.with_record(|record| record.operations.begin());
    lane.operations.callers.forget();
    // Of the median, since the machine may have taken the processor away in any round.
    rounds.sort_unstable();
    HOOK_NS.store(rounds[ROUNDS / 2].clamp(1, threshold::MOST_NS), Ordering::Relaxed);
}
