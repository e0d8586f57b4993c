//! What a child process inherits of the program's signals: what is ignored or blocked, as the program believes it to be.

use core::sync::atomic::{AtomicU32, Ordering};

use super::signals::{ours, remembered, take_over};
use crate::life::{self, Life};
use crate::real::call_real;
use crate::sample::handler::is_ours;
use crate::sample::signal::{self, CANDIDATES};
use crate::sample::timer;
use crate::{lane, raw, thread};

/// Threads that have the program's own actions in place just now.
static HANDING_OVER: AtomicU32 = AtomicU32::new(0);

/// An exec is about to be tried: no sample's signal may be pending when it succeeds, if that would end the new program.
pub fn before_exec(life: &Life) {
    let Some(lane) = lane::current() else { return };
    let candidate = lane.signal.load(Ordering::Relaxed);
    if !signal::is_deadly(candidate) || life::is_borrowed(life) {
        return;
    }
    if let Some(timer) = lane.replace_timer(None) {
        timer::stop(timer);
    }
    raw::drop_pending(signal::bit(candidate), |info| {
        // SAFETY: the kernel told of the signal.
        unsafe { is_ours(info) }
    });
}

/// The exec failed.
pub fn after_failed_exec(life: &Life) {
    let Some(lane) = lane::current() else { return };
    if signal::is_deadly(lane.signal.load(Ordering::Relaxed)) && !life::is_borrowed(life) {
        thread::start_timer(life, lane, lane.owner.load(Ordering::Relaxed));
    }
}

/// What is set as the program believes it to be, for a while.
#[derive(Default)]
pub struct HandedOver {
    ignored: [bool; CANDIDATES.len()],
    blocked: u64,
    counts: bool,
}

/// Before a process becomes another program, or makes one: that shall find the sampling signals ignored or blocked if the
/// program has them so.
pub fn hand_over(life: &Life) -> HandedOver {
    let Some(lane) = lane::current() else { return HandedOver::default() };
    let is_borrowed = life::is_borrowed(life);
    let wanted = |candidate: usize| {
        ours(signal::number(candidate)) == Some(candidate)
            && remembered(candidate).sa_sigaction == libc::SIG_IGN
            && !(is_borrowed && lane.has_borrower_set(life, candidate))
    };
    let ignored: [bool; CANDIDATES.len()] = core::array::from_fn(wanted);
    let counts = !is_borrowed && ignored.contains(&true);
    if counts {
        HANDING_OVER.fetch_add(1, Ordering::AcqRel);
    }
    for candidate in (0..CANDIDATES.len()).filter(|&candidate| ignored.get(candidate) == Some(&true)) {
        call_real!(SIGACTION(signal::number(candidate), &remembered(candidate), core::ptr::null_mut()) else -1);
    }
    let blocked = lane.believed_bit(life);
    let before = if blocked == 0 { 0 } else { raw::signal_mask(libc::SIG_BLOCK, blocked) };
    HandedOver { ignored, blocked: blocked & !before, counts }
}

impl HandedOver {
    /// The new program runs, or there is none.
    pub fn take_back(self) {
        if !self.counts || HANDING_OVER.fetch_sub(1, Ordering::AcqRel) == 1 {
            for candidate in
                (0..CANDIDATES.len()).filter(|&candidate| self.ignored.get(candidate) == Some(&true))
            {
                take_over(candidate);
            }
        }
        if self.blocked != 0 {
            raw::signal_mask(libc::SIG_UNBLOCK, self.blocked);
        }
    }
}

/// Runs `call`, in which the C library makes a process that inherits from this one.
#[inline]
pub fn handing_over<R>(call: impl FnOnce() -> R) -> R {
    let handed_over = life::in_hook().map(hand_over);
    let result = call();
    if let Some(handed_over) = handed_over {
        handed_over.take_back();
    }
    result
}
