//! The signal state that a child process inherits: signals are ignored or blocked as the program has set it.

use core::sync::atomic::{AtomicU32, Ordering};

use super::signal_masks;
use super::signal_moves::drop_pending;
use super::signals::{self, in_front_of, remembered, take_over};
use crate::interpose::call_real;
use crate::life::{self, Life};
use crate::sample::signal::{self, CANDIDATES};
use crate::{lane, raw, thread};

/// Threads that have the program's own actions in place just now.
static HANDING_OVER: AtomicU32 = AtomicU32::new(0);

/// An exec is about to be tried: no sample's signal may be pending when it succeeds, if that would end the
/// new program.
pub fn before_exec(life: &Life) {
    let Some(lane) = lane::current() else { return };
    let candidate = lane.samples.signal.load(Ordering::Relaxed);
    if !signal::is_deadly(candidate) || life::is_borrowed(life) {
        return;
    }
    lane.stop_timers();
    drop_pending(candidate);
}

/// The exec failed.
pub fn after_failed_exec(life: &Life) {
    let Some(lane) = lane::current() else { return };
    if signal::is_deadly(lane.samples.signal.load(Ordering::Relaxed)) && !life::is_borrowed(life) {
        thread::start_timer(life, lane, lane.owner.load(Ordering::Relaxed));
    }
}

/// State that is set as the program wants it, for a while.
#[derive(Default)]
pub struct HandedOver {
    ignored: [bool; CANDIDATES.len()],
    /// The kernel's mask before, and the program's.
    masks: (u64, u64),
    counts: bool,
}

/// Before a process becomes another program, or makes one: that must find the sampling signals ignored or
/// blocked if the program has them so.
pub fn hand_over(life: &Life) -> HandedOver {
    let is_borrowed = life::is_borrowed(life);
    // A vforked child has its own actions: where it has not set one, our handler is there.
    let is_ours = |candidate: usize| {
        raw::signal_action(signal::number(candidate), None).is_ok_and(|action| action.handler > libc::SIG_IGN)
    };
    let ignored: [bool; CANDIDATES.len()] = core::array::from_fn(|candidate| {
        in_front_of(signal::number(candidate)).is_some()
            && remembered(candidate).sa_sigaction == libc::SIG_IGN
            && (!is_borrowed || is_ours(candidate))
    });
    let counts = !is_borrowed && ignored.contains(&true);
    if counts {
        HANDING_OVER.fetch_add(1, Ordering::AcqRel);
    }
    for candidate in (0..CANDIDATES.len()).filter(|&candidate| ignored.get(candidate) == Some(&true)) {
        call_real!(signals::real::sigaction(signal::number(candidate), &remembered(candidate),
            core::ptr::null_mut()) else -1);
    }
    let kernel = raw::signal_mask(libc::SIG_BLOCK, 0);
    let wanted = signal_masks::wanted(kernel);
    if wanted != kernel {
        raw::signal_mask(libc::SIG_SETMASK, wanted);
    }
    HandedOver { ignored, masks: (kernel, wanted), counts }
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
        let (kernel, wanted) = self.masks;
        if kernel != wanted {
            raw::signal_mask(libc::SIG_SETMASK, kernel);
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
