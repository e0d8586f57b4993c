//! Where the sampling signal goes when the program wants it: to another number, or, when the program really gets all that
//! there are by waiting for them, nowhere: then nothing is sampled any more, and the notes say so.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use proust_log::records::NoteCode;

use super::signal_masks::{first_word, set_first_word};
use super::signals::{begin_awaiting, is_claimed, is_handler, mend_handler_masks, note_shared, take_over};
use crate::lane::{self, Lane};
use crate::sample::handler::is_ours;
use crate::sample::signal::{self, CANDIDATES};
use crate::sample::timer;
use crate::{life, raw};

/// Sampling goes over to a candidate that the program does not use, if there is one; `taken` are signals that it is
/// about to use.
pub fn give_way(taken: u64) -> bool {
    let free = (0..CANDIDATES.len()).find(|&candidate| {
        if candidate == signal::current() || is_claimed(candidate) || signal::bit(candidate) & taken != 0 {
            return false;
        }
        let installed = raw::signal_action(signal::number(candidate), None);
        installed.is_ok_and(|action| !is_handler(action.handler))
    });
    match free {
        Some(candidate) if signal::current() != signal::NONE && take_over(candidate) => {
            signal::set_current(candidate);
            mend_handler_masks();
            true
        }
        _ => false,
    }
}

/// Nothing is sampled any more.
fn give_up() {
    signal::set_current(signal::NONE);
    for timer in lane::live().filter_map(|lane| lane.replace_timer(None)) {
        timer::stop(timer);
    }
    mend_handler_masks();
    for descriptor in &DESCRIPTORS {
        descriptor.give_all();
    }
}

/// A signal came that the program believes blocked: from here on it is, and waits as it should.
///
/// # Safety
/// The arguments are those that the kernel gave to the handler of the calling thread, whose lane it is.
pub unsafe fn hand_back(
    lane: &Lane,
    number: c_int,
    info: *const libc::siginfo_t,
    context: &mut libc::ucontext_t,
) {
    let candidate = lane.signal.load(Ordering::Relaxed);
    let bit = signal::bit(candidate);
    let is_owner = life::recording().is_some_and(|life| !life::is_borrowed(life));
    if is_owner {
        if candidate == signal::current() && !give_way(bit) {
            give_up();
        }
        lane.follow_signal(Some(context));
    }
    let mask = first_word(&context.uc_sigmask) | bit;
    set_first_word(&mut context.uc_sigmask, mask);
    // SAFETY: the caller's promise.
    unsafe { raw::queue_signal(number, info) };
}

/// The program is about to wait for these signals: sampling goes out of their way. False if it cannot: then what comes out of
/// the wait may be a sample's.
pub fn make_way(wanted: u64) -> bool {
    let current = signal::current();
    if wanted & signal::bit(current) == 0 {
        return true;
    }
    if begin_awaiting(current) {
        note_shared();
    }
    if !give_way(wanted) {
        return false;
    }
    if let Some(lane) = lane::current() {
        lane.follow_signal(None);
    }
    true
}

/// A signalfd that lacks the sampling signal, and all that the program wants to read from it.
struct SignalDescriptor {
    /// One more than the descriptor; 0 = free.
    descriptor: AtomicU64,
    wanted: AtomicU64,
}

/// More of them are no program's.
static DESCRIPTORS: [SignalDescriptor; 16] =
    [const { SignalDescriptor { descriptor: AtomicU64::new(0), wanted: AtomicU64::new(0) } }; 16];

impl SignalDescriptor {
    fn give_all(&self) {
        let descriptor = self.descriptor.swap(0, Ordering::AcqRel);
        if let Some(descriptor) = descriptor.checked_sub(1) {
            raw::set_signal_descriptor(descriptor as c_int, self.wanted.load(Ordering::Acquire));
        }
    }
}

/// Keeps that a signalfd got less than it wants.
pub fn keep_descriptor(descriptor: c_int, wanted: u64) {
    let Ok(descriptor) = u64::try_from(descriptor) else { return };
    let key = descriptor + 1;
    for place in &DESCRIPTORS {
        let known = place.descriptor.load(Ordering::Acquire);
        if known == key {
            place.wanted.store(wanted, Ordering::Release);
            return;
        }
    }
    for place in &DESCRIPTORS {
        if place.descriptor.compare_exchange(0, u64::MAX, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            place.wanted.store(wanted, Ordering::Release);
            place.descriptor.store(key, Ordering::Release);
            return;
        }
    }
    give_up();
    raw::set_signal_descriptor(descriptor as c_int, wanted);
}

static TOLD: AtomicBool = AtomicBool::new(false);

impl Lane {
    /// The calling thread, the lane's owner, goes over to the current signal: its timer, and its mask, which is in
    /// `context` where this is its signal handler.
    pub fn follow_signal(&self, context: Option<&mut libc::ucontext_t>) {
        let (old, mut new) = (self.signal.load(Ordering::Relaxed), signal::current());
        let Some(life) = life::recording().filter(|_| old != new) else { return };
        let tid = self.owner.load(Ordering::Relaxed);
        let timer = (new != signal::NONE)
            .then(|| timer::start(tid, life.options.period_ns, signal::number(new)).ok())
            .flatten();
        if timer.is_none() {
            new = signal::NONE;
        }
        if let Some(before) = self.replace_timer(timer) {
            timer::stop(before);
        }
        if context.is_some() {
            // One that came during the handler would take the place of the program's next.
            raw::drop_pending(signal::bit(old), |info| {
                // SAFETY: the kernel told of the signal.
                unsafe { is_ours(info) }
            });
        }
        let before = match &context {
            Some(context) => first_word(&context.uc_sigmask),
            None => raw::signal_mask(libc::SIG_BLOCK, 0),
        };
        let blocked_old = if self.is_blocked_under(before) { signal::bit(old) } else { 0 };
        self.signal.store(new, Ordering::Relaxed);
        let now = (before | blocked_old) & !signal::bit(new);
        match context {
            Some(context) => set_first_word(&mut context.uc_sigmask, now),
            None => {
                raw::signal_mask(libc::SIG_SETMASK, now);
            }
        }
        self.begin_belief(now, before & signal::bit(new) != 0);
        if new == signal::NONE && !TOLD.load(Ordering::Relaxed) {
            let told = self.with_record(|record| record.note(NoteCode::SignalGivenUp, 0));
            TOLD.store(told.is_some(), Ordering::Relaxed);
        }
    }
}
