//! The program's signal actions, and our handler in front of those for the sampling signals.
//!
//! The program's action for a sampling signal is kept here, and read back as it was set. Our handler sees
//! from the timers' cookie whether a signal is a sample's, and gives the program its own signals.
//!
//! Every function of the C library that sets an action ends here; `signal_dialects.rs` has the older ones.
//! Masks of handlers are given to the kernel as masks of threads are (`signal_masks.rs`).

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use libc::sigaction as Action;
use proust_log::records::NoteCode;

use super::signal_masks::{self, first_word, set_first_word};
use super::{signal_moves, signal_requests};
use crate::arch::stacks::on_signal_first;
use crate::interpose::{call_real, interpose};
use crate::sample::resume;
use crate::sample::signal::{self, CANDIDATES, FALLBACK};
use crate::{lane, life, logfile, raw};

/// The program's action for a candidate.
struct Wanted {
    handler: AtomicUsize,
    flags: AtomicU64,
    mask: AtomicU64,
    restorer: AtomicUsize,
    /// Whether our handler is installed.
    ours: AtomicBool,
}

static WANTED: [Wanted; CANDIDATES.len()] = [const {
    Wanted {
        handler: AtomicUsize::new(libc::SIG_DFL),
        flags: AtomicU64::new(0),
        mask: AtomicU64::new(0),
        restorer: AtomicUsize::new(0),
        ours: AtomicBool::new(false),
    }
}; CANDIDATES.len()];

/// By candidate: signals whose handlers run on an alternate stack, and keep the candidate out without wanting
/// to. A bit each.
static KEPT_OUT: [AtomicU64; CANDIDATES.len()] = [const { AtomicU64::new(0) }; CANDIDATES.len()];

/// Signals that the kernel takes out of every mask.
const NEVER_BLOCKED: u64 = 1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1);

/// The C library's flag that an action has a restorer; it sets it in every action.
const SA_RESTORER: c_int = 0x0400_0000;

/// Flags that every kernel knows. Newer ones drop all that they do not know.
const KNOWN_FLAGS: c_int = libc::SA_NOCLDSTOP
    | libc::SA_NOCLDWAIT
    | libc::SA_SIGINFO
    | libc::SA_ONSTACK
    | libc::SA_RESTART
    | libc::SA_NODEFER
    | libc::SA_RESETHAND
    | SA_RESTORER;

/// The handler of this action runs with all signals blocked.
pub fn block_all(action: &mut Action) {
    set_first_word(&mut action.sa_mask, u64::MAX);
}

/// Installs the sampling handler.
pub fn install() -> bool {
    take_over(signal::current())
}

/// Puts our handler on a candidate.
pub fn take_over(candidate: usize) -> bool {
    // SAFETY: all-zero is a valid action.
    let mut old: Action = unsafe { core::mem::zeroed() };
    let action = installed_action(candidate);
    let done = call_real!(real::sigaction(signal::number(candidate), &action, &mut old) else -1) == 0;
    if done
        && let Some(wanted) = WANTED.get(candidate)
        && !wanted.ours.swap(true, Ordering::AcqRel)
    {
        remember(candidate, &as_wanted(&kept_out(), signal::number(candidate), old));
        wanted.restorer.store(restorer_of(&old), Ordering::Relaxed);
        let action = installed_action(candidate);
        call_real!(real::sigaction(signal::number(candidate), &action, core::ptr::null_mut()) else -1);
    }
    done
}

/// Whether an action is a function of the program.
pub fn is_handler(handler: usize) -> bool {
    handler != libc::SIG_DFL && handler != libc::SIG_IGN
}

/// Whether the program has a handler for a candidate.
pub fn is_handled(candidate: usize) -> bool {
    WANTED.get(candidate).is_some_and(|wanted| is_handler(wanted.handler.load(Ordering::Acquire)))
}

/// Says so if the kernel does not call our handler for the current signal any more. Runtimes that make their
/// system calls themselves put their own in its place.
pub fn note_if_replaced(record: &mut lane::Record) {
    let number = signal::number(signal::current());
    let ours = on_signal_first as *const () as usize;
    if raw::signal_action(number, None)
        .is_ok_and(|action| action.handler != ours && is_handler(action.handler))
    {
        record.note(NoteCode::HandlerReplaced, number as u64);
    }
}

fn restorer_of(action: &Action) -> usize {
    action.sa_restorer.map_or(0, |restorer| restorer as *const () as usize)
}

fn remember(candidate: usize, action: &Action) {
    let Some(wanted) = WANTED.get(candidate) else { return };
    wanted.flags.store(action.sa_flags as u64, Ordering::Relaxed);
    wanted.mask.store(first_word(&action.sa_mask) & !NEVER_BLOCKED, Ordering::Relaxed);
    wanted.handler.store(action.sa_sigaction, Ordering::Release);
}

/// The program's action for a candidate.
pub fn remembered(candidate: usize) -> Action {
    // SAFETY: all-zero is a valid action.
    let mut action: Action = unsafe { core::mem::zeroed() };
    if let Some(wanted) = WANTED.get(candidate) {
        action.sa_sigaction = wanted.handler.load(Ordering::Acquire);
        action.sa_flags = wanted.flags.load(Ordering::Relaxed) as c_int;
        set_first_word(&mut action.sa_mask, wanted.mask.load(Ordering::Relaxed));
        let restorer = wanted.restorer.load(Ordering::Relaxed);
        // SAFETY: null, or the C library's restorer as the kernel reported it.
        action.sa_restorer = unsafe { core::mem::transmute::<usize, Option<extern "C" fn()>>(restorer) };
    }
    action
}

/// The action to be installed on a candidate: our handler, as the program wants its own to be called.
///
/// Samples are taken on the thread's alternate stack: the stack that they interrupt may be a fiber's of a few
/// KB. Where the program has a handler, that one decides on which stack it runs, but on the fallback, which
/// it shares with samples for good.
fn installed_action(candidate: usize) -> Action {
    let mut action = remembered(candidate);
    if is_handler(action.sa_sigaction) {
        action.sa_flags = action.sa_flags & !libc::SA_RESETHAND | libc::SA_SIGINFO;
        if candidate == FALLBACK {
            action.sa_flags |= libc::SA_ONSTACK;
        }
        let mask = signal_masks::kernel(first_word(&action.sa_mask));
        set_first_word(&mut action.sa_mask, mask);
    } else {
        action.sa_flags =
            action.sa_flags & !KNOWN_FLAGS | libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        // While the handler runs no handler of the program may.
        set_first_word(&mut action.sa_mask, u64::MAX);
    }
    action.sa_sigaction = on_signal_first as *const () as usize;
    action
}

/// An action of the program as the kernel is to have it, where none of ours is in front of it.
///
/// A handler that blocks everything does not keep samples of its own code out. One on an alternate stack
/// does: that may be too small for a sample on top of it.
fn as_kernel(number: c_int, mut action: Action) -> Action {
    let given = first_word(&action.sa_mask);
    let mut mask = signal_masks::kernel(given);
    let on_stack = action.sa_flags & libc::SA_ONSTACK != 0 && is_handler(action.sa_sigaction);
    for (candidate, kept_out) in KEPT_OUT.iter().enumerate() {
        let bit = signal::bit(candidate);
        if on_stack && given & bit == 0 {
            kept_out.fetch_or(bit_of(number), Ordering::Relaxed);
        } else {
            kept_out.fetch_and(!bit_of(number), Ordering::Relaxed);
        }
        mask |= if on_stack { bit } else { 0 };
    }
    set_first_word(&mut action.sa_mask, mask);
    action
}

/// An action of the kernel's as the program set it, where these signals kept each candidate out.
fn as_wanted(kept_out: &[u64], number: c_int, mut action: Action) -> Action {
    let mut mask = signal_masks::wanted(first_word(&action.sa_mask));
    if action.sa_flags & libc::SA_ONSTACK != 0 {
        for (candidate, kept_out) in kept_out.iter().enumerate() {
            if kept_out & bit_of(number) != 0 {
                mask &= !signal::bit(candidate);
            }
        }
    }
    set_first_word(&mut action.sa_mask, mask);
    action
}

/// A signal's bit in a mask; 0 if there is no such signal.
fn bit_of(number: c_int) -> u64 {
    1_u64.checked_shl((number as u32).wrapping_sub(1)).unwrap_or(0)
}

/// By candidate, which signals keep it out.
fn kept_out() -> [u64; CANDIDATES.len()] {
    KEPT_OUT.each_ref().map(|kept_out| kept_out.load(Ordering::Relaxed))
}

/// Gives a signal that is not from our timers to the program, as the kernel would have.
///
/// # Safety
/// The arguments are those the kernel gave to the sampling handler.
pub unsafe fn pass_on(number: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    logfile::count(
        |header| {
            // SAFETY: `count` passes the mapped header.
            unsafe { &raw mut (*header).foreign_signals }
        },
        1,
    );
    let Some(candidate) = signal::candidate(number) else { return };
    // SAFETY: the kernel passes a valid context.
    let blocked = first_word(unsafe { &(*context.cast::<libc::ucontext_t>()).uc_sigmask });
    if signal_masks::wanted(blocked) & !blocked & signal::bit(candidate) != 0 {
        // SAFETY: the caller's promise.
        unsafe { signal_moves::hand_back(number, info, &mut *context.cast()) };
        return;
    }
    let action = remembered(candidate);
    if !is_handler(action.sa_sigaction) {
        // Without our handler the kernel would not have delivered it.
        let tid = raw::gettid();
        let lane = lane::current().filter(|lane| lane.owner.load(Ordering::Relaxed) == tid);
        // SAFETY: the kernel passes a valid context.
        resume::continue_call(lane, unsafe { &mut *context.cast() }, false);
        return;
    }
    if action.sa_flags & libc::SA_RESETHAND != 0
        && let Some(wanted) = WANTED.get(candidate)
    {
        wanted.handler.store(libc::SIG_DFL, Ordering::Release);
    }
    // SAFETY: the program registered this function for this signal with these flags.
    unsafe {
        if action.sa_flags & libc::SA_SIGINFO != 0 {
            let handler: extern "C-unwind" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                core::mem::transmute(action.sa_sigaction);
            handler(number, info, context);
        } else {
            let handler: extern "C-unwind" fn(c_int) = core::mem::transmute(action.sa_sigaction);
            handler(number);
        }
    }
}

/// Says that the program uses a signal that Proust samples with.
pub fn note_shared(candidate: usize) {
    if let Some(lane) = lane::current() {
        lane.with_record(|record| record.note(NoteCode::SignalShared, signal::number(candidate) as u64));
    }
}

/// Whether our handler stands in front of the program's for this signal.
pub fn in_front_of(number: c_int) -> Option<usize> {
    let candidate = signal::candidate(number)?;
    WANTED.get(candidate)?.ours.load(Ordering::Acquire).then_some(candidate)
}

/// Sets what the program wants on a candidate that has our handler.
fn set_wanted(candidate: usize, given: &Action) {
    let mut given = *given;
    given.sa_flags |= SA_RESTORER;
    remember(candidate, &given);
    if is_handler(given.sa_sigaction) {
        note_shared(candidate);
        if candidate == signal::current() {
            signal_moves::give_way();
        }
    }
    let action = installed_action(candidate);
    let number = signal::number(candidate);
    call_real!(real::sigaction(number, &action, core::ptr::null_mut()) else -1);
    if let (Some(wanted), Ok(action)) = (WANTED.get(candidate), raw::signal_action(number, None)) {
        wanted.restorer.store(action.restorer, Ordering::Relaxed);
        wanted.flags.fetch_and(action.flags | KNOWN_FLAGS as u64, Ordering::Relaxed);
    }
}

/// A vforked child has actions of its own, though it sees its parent's memory: an action that it sets goes to
/// the kernel unchanged, and one that it has not set is its parent's.
fn of_borrower(candidate: usize, new: *const Action, old: *mut Action) -> c_int {
    let result = call_real!(real::sigaction(signal::number(candidate), new, old) else -1);
    if result == 0
        // SAFETY: the program's place for an action, or null.
        && let Some(old) = unsafe { old.as_mut() }
        && old.sa_sigaction == on_signal_first as *const () as usize
    {
        *old = remembered(candidate);
    }
    result
}

/// The fields of an action that the C library reads: not where its handler returns to.
///
/// # Safety
/// There is a valid action at `place`; where there is none, this faults as the C library would.
unsafe fn given_action(place: *const Action) -> Action {
    // SAFETY: all-zero is a valid action; and the caller's promise.
    unsafe {
        let mut action: Action = core::mem::zeroed();
        action.sa_sigaction = (&raw const (*place).sa_sigaction).read_unaligned();
        action.sa_mask = (&raw const (*place).sa_mask).read_unaligned();
        action.sa_flags = (&raw const (*place).sa_flags).read_unaligned();
        action
    }
}

/// `sigaction`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigaction(number: c_int, new: *const Action, old: *mut Action) -> c_int {
    let is_followed = in_front_of(number).is_some() || signal_requests::is_one(number);
    let life = if is_followed { life::in_hook() } else { life::in_passing() };
    if life.is_none() && !life::has_begun() {
        return call_real!(real::sigaction(number, new, old) else -1);
    }
    // SAFETY: the program passes null or a valid action.
    let given = (!new.is_null()).then(|| unsafe { given_action(new) });
    // Where the old action cannot be written there is a fault, and the new one is in force by then.
    // SAFETY: the program passes null or a place, perhaps the same as what is given.
    let report = |before: &Action| unsafe { old.as_mut() }.map_or((), |place| *place = *before);
    if life.is_some_and(life::is_borrowed) && signal_requests::is_one(number) {
        // SAFETY: the arguments that the program gave.
        return unsafe { signal_requests::of_borrower(number, new, old) };
    }
    let default = signal_requests::before_action(number, given.map(|given| given.sa_sigaction));
    if let Some(default) = &default
        && given.is_none_or(|given| !signal_requests::is_use(given.sa_sigaction))
    {
        report(default);
        return 0;
    }
    // Sampling may move away from a signal of the mask, and to the very signal that this is about.
    if let Some(given) = given
        && in_front_of(number).is_none()
    {
        signal_moves::before_mask(first_word(&given.sa_mask));
    }
    if let Some(candidate) = in_front_of(number) {
        if life.is_some_and(life::is_borrowed) {
            return of_borrower(candidate, new, old);
        }
        let before = remembered(candidate);
        if let Some(given) = given {
            set_wanted(candidate, &given);
        }
        report(&before);
        return 0;
    }
    // The old action is reported according to the signals that were kept out of it.
    let before = kept_out();
    let changed = given.map(|given| as_kernel(number, given));
    let new = changed.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: all-zero is a valid action.
    let mut returned: Action = unsafe { core::mem::zeroed() };
    let result = call_real!(real::sigaction(number, new, &mut returned) else -1);
    if result == 0 {
        report(&default.unwrap_or_else(|| as_wanted(&before, number, returned)));
    }
    result
}

interpose! {
    sigaction(
        number: c_int as number(signal), new: *const Action as input(sigaction),
        old: *mut Action as output(sigaction),
    ) -> c_int, or -1;
}
