//! Which signal takes samples when the program uses the sampling signal itself: the fallback. And where
//! sampling stops: in a thread that blocks that one, too.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use proust_log::records::{NoteCode, ThreadOrigin};

use super::signal_masks::{self, first_word, set_first_word};
use super::signal_stacks;
use super::signals::{is_handled, note_shared, take_over};
use crate::lane::{self, Lane};
use crate::life::{self, Life};
use crate::sample::handler::is_ours;
use crate::sample::signal::{self, FALLBACK};
use crate::{raw, room, thread};

/// Why a thread has no timer, a bit each.
#[derive(Debug, Default)]
pub struct Silence(AtomicU8);

/// The thread blocks the signal that its timer would send.
pub const BLOCKED: u8 = 1;
/// Its alternate stack is too small.
pub const SMALL_STACK: u8 = 2;
/// It has asked to be traced: see `tracing`.
pub const TRACED: u8 = 4;

/// This process records, and the caller is not a vforked child of it.
fn owning() -> Option<&'static Life> {
    life::recording().filter(|life| !life::is_borrowed(life))
}

/// A thread begins to be measured in `lane`: which signal its timer sends, and what speaks against one. It
/// has inherited its creator's mask, with what stands in it for the sampling signal.
pub fn begin(lane: &Lane, origin: ThreadOrigin) {
    let signal = signal::current();
    lane.samples.signal.store(signal, Ordering::Relaxed);
    let blocked = raw::signal_mask(libc::SIG_BLOCK, 0) & signal::bit(signal) != 0;
    // A created thread has no alternate stack.
    let stack = if origin == ThreadOrigin::Created { 0 } else { signal_stacks::silence_at_begin() };
    lane.samples.silence.begin(if blocked { BLOCKED } else { 0 } | stack);
}

/// A forked child is recorded from now on, under the forking thread's mask: signals blocked until now show
/// nothing.
pub fn begin_child(mask: u64) {
    if let Some((life, lane)) = owning().zip(lane::current()) {
        lane.set_silence(life, BLOCKED, mask & signal::bit(signal::current()) != 0);
    }
}

/// The program uses the first candidate: sampling moves to the other one, the calling thread at once.
pub fn give_way() {
    apart(give_way_under);
}

/// As [`give_way`], with all signals blocked; the thread continues under `mask`.
fn give_way_under(mask: &mut u64) {
    if signal::current() != FALLBACK && take_over(FALLBACK) {
        signal::set_current(FALLBACK);
    }
    if let Some(lane) = lane::current() {
        lane.follow_under(mask);
    }
}

/// Runs `work` on a stack of the collector's, if the caller's has little left, with all signals blocked: it
/// takes 3 KiB. The mask that it sets is the thread's mask afterwards.
#[inline(never)]
fn apart(work: impl FnOnce(&mut u64)) {
    let mut mask = raw::signal_mask(libc::SIG_SETMASK, u64::MAX);
    room::apart(|| work(&mut mask));
    raw::signal_mask(libc::SIG_SETMASK, mask);
}

/// The program is about to block what this mask says. If it names the sampling signal, it uses it.
#[inline]
pub fn before_mask(mask: u64) {
    if signal_masks::kernel(mask) & signal::bit(signal::current()) != 0 {
        before_naming();
    }
}

#[cold]
#[inline(never)]
fn before_naming() {
    // A brief child's timer goes with its lane.
    if life::is_brief() {
        life::in_hook();
    }
    if life::recording().is_some_and(life::is_borrowed) || signal::current() == FALLBACK {
        return;
    }
    apart(|mask| {
        note_shared(signal::current());
        give_way_under(mask);
    });
}

/// The program is about to wait for these signals without a handler.
pub fn before_wait(awaited: u64) {
    if awaited & signal::bit(signal::current()) != 0 {
        before_naming();
    }
}

/// The calling thread's mask is another one.
#[inline]
pub fn after_mask(mask: u64) {
    if let Some(lane) = lane::current() {
        let blocks = mask & signal::bit(lane.samples.signal.load(Ordering::Relaxed)) != 0;
        if blocks != lane.samples.silence.has(BLOCKED) {
            after_blocking(lane, blocks);
        }
    }
}

#[cold]
#[inline(never)]
fn after_blocking(lane: &Lane, blocks: bool) {
    if let Some(life) = owning() {
        lane.set_silence(life, BLOCKED, blocks);
    }
}

/// A signal was delivered that the program believes it has blocked: from here on it is blocked, and the
/// signal waits as it should.
///
/// # Safety
/// The arguments are those that the kernel gave to the handler.
pub unsafe fn hand_back(number: c_int, info: *const libc::siginfo_t, context: &mut libc::ucontext_t) {
    let bit = signal::candidate(number).map_or(0, signal::bit);
    if let Some((life, lane)) = owning().zip(lane::current()) {
        if signal::bit(signal::current()) == bit && signal::current() != FALLBACK && take_over(FALLBACK) {
            note_shared(signal::current());
            signal::set_current(FALLBACK);
        }
        lane.follow_signal(context);
        if signal::bit(lane.samples.signal.load(Ordering::Relaxed)) == bit {
            lane.set_silence(life, BLOCKED, true);
        }
    }
    let mask = signal_masks::blocking(first_word(&context.uc_sigmask), bit);
    set_first_word(&mut context.uc_sigmask, mask);
    // SAFETY: the caller's promise.
    unsafe { raw::queue_signal(number, info) };
}

/// Takes back the sampling signal if one of ours waits for the calling thread.
pub fn drop_pending(candidate: usize) {
    raw::drop_pending(signal::bit(candidate), |info| {
        // SAFETY: the kernel filled it in.
        unsafe { is_ours(info) }
    });
}

static NOTED: AtomicBool = AtomicBool::new(false);

impl Silence {
    /// Whether the thread has no timer for this reason.
    #[inline]
    pub fn has(&self, reason: u8) -> bool {
        self.0.load(Ordering::Relaxed) & reason != 0
    }

    /// Whether it has none at all.
    pub fn is_any(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// A thread begins, with the reasons that there are.
    pub fn begin(&self, reasons: u8) {
        self.0.store(reasons, Ordering::Relaxed);
    }
}

impl Lane {
    /// There is a reason not to sample the owner, the caller, or there is none any more.
    pub fn set_silence(&self, life: &Life, reason: u8, holds: bool) {
        let before = self.samples.silence.0.load(Ordering::Relaxed);
        let now = if holds { before | reason } else { before & !reason };
        self.samples.silence.0.store(now, Ordering::Relaxed);
        if now != 0 && before == 0 {
            self.stop_timers();
            drop_pending(self.samples.signal.load(Ordering::Relaxed));
            if reason == BLOCKED && !NOTED.load(Ordering::Relaxed) {
                let noted = self.with_record(|record| record.note(NoteCode::SignalGivenUp, 0));
                NOTED.store(noted.is_some(), Ordering::Relaxed);
            }
        } else if now == 0 && before != 0 {
            thread::start_timer(life, self, self.owner.load(Ordering::Relaxed));
        }
    }

    /// The calling thread, the lane's owner, goes over to the current signal in its signal handler: its
    /// timer, and its mask, which is in `context`.
    pub fn follow_signal(&self, context: &mut libc::ucontext_t) {
        let old = self.samples.signal.load(Ordering::Relaxed);
        let mut mask = first_word(&context.uc_sigmask);
        if self.follow(&mut mask, || drop_pending(old)) {
            set_first_word(&mut context.uc_sigmask, mask);
        }
    }

    /// As [`Lane::follow_signal`], outside of it; the mask is the one under which the thread continues.
    fn follow_under(&self, mask: &mut u64) {
        self.follow(mask, || {});
    }

    /// Whether there was anything to follow. `settle` is done between the two timers.
    fn follow(&self, mask: &mut u64, settle: impl FnOnce()) -> bool {
        let (old, new) = (self.samples.signal.load(Ordering::Relaxed), signal::current());
        let Some(life) = owning().filter(|_| old != new) else { return false };
        self.stop_timers();
        // A signal delivered during the handler would take the place of the program's next one.
        settle();
        self.samples.signal.store(new, Ordering::Relaxed);
        *mask = signal_masks::kernel(signal_masks::wanted(*mask));
        let blocks = *mask & signal::bit(new) != 0;
        self.samples.silence.begin(self.samples.silence.0.load(Ordering::Relaxed) & !BLOCKED);
        if blocks {
            self.set_silence(life, BLOCKED, true);
        } else if !self.samples.silence.is_any() {
            thread::start_timer(life, self, self.owner.load(Ordering::Relaxed));
        }
        true
    }
}

/// Whether a sample's signal is handled under a mask of the program's: its handler has the same number.
pub fn is_shared(number: c_int) -> bool {
    signal::candidate(number).is_some_and(is_handled)
}
