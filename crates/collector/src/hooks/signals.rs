//! The program and the sampling signal: it may use the same number, and reads back what it set.
//!
//! A number that the program wants for itself is left to it: sampling moves to another one. Timers of threads that have
//! not moved yet still send the old number: our handler stays in front of the program's, and tells by the timers'
//! cookie whom a signal is for.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use libc::sigaction as Action;
use proust_log::records::NoteCode;

use super::signal_masks::{UNSEEN, first_word, set_first_word};
use super::signal_moves::{self, give_way};
use crate::interpose::declare;
use crate::life::Life;
use crate::real::call_real;
use crate::sample::handler::on_signal;
use crate::sample::signal::{self, CANDIDATES};
use crate::{lane, life, logfile, raw};

/// What the program wants to happen on a candidate.
struct Wanted {
    handler: AtomicUsize,
    flags: AtomicU64,
    mask: AtomicU64,
    /// Whether our handler is installed.
    ours: AtomicBool,
    /// Whether the program waits for it without a handler (sigwait, signalfd).
    awaited: AtomicBool,
}

static WANTED: [Wanted; CANDIDATES.len()] = [const {
    Wanted {
        handler: AtomicUsize::new(libc::SIG_DFL),
        flags: AtomicU64::new(0),
        mask: AtomicU64::new(0),
        ours: AtomicBool::new(false),
        awaited: AtomicBool::new(false),
    }
}; CANDIDATES.len()];

/// By signal: the mask that the program wants while its handler runs, with [`MASK_KNOWN`].
static HANDLER_MASKS: [AtomicU64; 65] = [const { AtomicU64::new(0) }; 65];
/// Bit of SIGKILL, which no mask can hold.
const MASK_KNOWN: u64 = 1 << (libc::SIGKILL - 1);
/// What the kernel takes out of every mask.
const NEVER_BLOCKED: u64 = MASK_KNOWN | 1 << (libc::SIGSTOP - 1);

/// Whether a mask of a program's handler that runs on top of the mask `outer` makes up `mask`, and would hold the signal
/// whose bit is `ours`, which was left out of it.
#[inline(never)]
pub fn is_blocked_by_handler(mask: u64, outer: u64, ours: u64) -> bool {
    ours != 0
        && HANDLER_MASKS.iter().enumerate().any(|(number, known)| {
            let known = known.load(Ordering::Relaxed);
            let of_handler = (outer | known & !ours) & !UNSEEN;
            let own = 1_u64.checked_shl((number as u32).wrapping_sub(1)).unwrap_or(0);
            known & ours != 0 && (mask & !UNSEEN == of_handler || mask & !UNSEEN == of_handler | own)
        })
}

/// The sampling signal is another one now, or none: handlers' masks hold the one before, and lack the new one.
pub fn mend_handler_masks() {
    for candidate in 0..CANDIDATES.len() {
        if ours(signal::number(candidate)).is_some() {
            let action = installed_action(candidate);
            call_real!(SIGACTION(signal::number(candidate), &action, core::ptr::null_mut()) else -1);
        }
    }
    let candidates = (0..CANDIDATES.len()).fold(0, |bits, candidate| bits | signal::bit(candidate));
    for (number, known) in HANDLER_MASKS.iter().enumerate() {
        let wanted = known.load(Ordering::Relaxed);
        if wanted & MASK_KNOWN == 0 || wanted & candidates == 0 {
            continue;
        }
        let number = number as c_int;
        if let Ok(mut action) = raw::signal_action(number, None)
            && is_handler(action.handler)
        {
            let mask = kernel_mask(wanted & !MASK_KNOWN, action.flags as c_int);
            if action.mask & candidates != mask & candidates {
                action.mask = mask;
                let _ = raw::signal_action(number, Some(&action));
            }
        }
    }
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
    let done = call_real!(SIGACTION(signal::number(candidate), &action, &mut old) else -1) == 0;
    if done
        && let Some(wanted) = WANTED.get(candidate)
        && !wanted.ours.swap(true, Ordering::AcqRel)
    {
        remember(candidate, &old);
    }
    done
}

/// Whether an action is a function of the program.
pub fn is_handler(handler: usize) -> bool {
    handler != libc::SIG_DFL && handler != libc::SIG_IGN
}

/// The program waits for a candidate without a handler; whether that is new.
pub fn begin_awaiting(candidate: usize) -> bool {
    WANTED.get(candidate).is_some_and(|wanted| !wanted.awaited.swap(true, Ordering::Relaxed))
}

/// Whether the program uses a candidate itself.
pub fn is_claimed(candidate: usize) -> bool {
    WANTED.get(candidate).is_some_and(|wanted| {
        wanted.awaited.load(Ordering::Relaxed) || is_handler(wanted.handler.load(Ordering::Acquire))
    })
}

fn remember(candidate: usize, action: &Action) {
    let Some(wanted) = WANTED.get(candidate) else { return };
    wanted.flags.store(action.sa_flags as u64, Ordering::Relaxed);
    wanted.mask.store(first_word(&action.sa_mask) & !NEVER_BLOCKED, Ordering::Relaxed);
    wanted.handler.store(action.sa_sigaction, Ordering::Release);
}

/// What the program wants to happen on a candidate.
pub fn remembered(candidate: usize) -> Action {
    // SAFETY: all-zero is a valid action.
    let mut action: Action = unsafe { core::mem::zeroed() };
    if let Some(wanted) = WANTED.get(candidate) {
        action.sa_sigaction = wanted.handler.load(Ordering::Acquire);
        action.sa_flags = wanted.flags.load(Ordering::Relaxed) as c_int;
        set_first_word(&mut action.sa_mask, wanted.mask.load(Ordering::Relaxed));
    }
    action
}

/// The action to be installed on a candidate: our handler, as the program wants its own to be called.
fn installed_action(candidate: usize) -> Action {
    let mut action = remembered(candidate);
    if is_handler(action.sa_sigaction) {
        action.sa_flags = action.sa_flags & !libc::SA_RESETHAND | libc::SA_SIGINFO;
        let mask = kernel_mask(first_word(&action.sa_mask), action.sa_flags);
        set_first_word(&mut action.sa_mask, mask);
    } else {
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        // While the handler runs no handler of the program may.
        set_first_word(&mut action.sa_mask, u64::MAX);
    }
    action.sa_sigaction = on_signal as *const () as usize;
    action
}

/// The mask that a handler of the program really gets: one that blocks everything must not block the samples of its
/// own code, but one on an alternate stack, which may be tiny, is not interrupted at all.
fn kernel_mask(wanted: u64, flags: c_int) -> u64 {
    let ours = signal::bit(signal::current());
    if flags & libc::SA_ONSTACK != 0 { wanted | ours } else { wanted & !ours }
}

/// Gives a signal that is not from our timers to the program, as the kernel would have.
///
/// # Safety
/// The arguments are those the kernel gave to the sampling handler.
pub unsafe fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    logfile::count(
        |header| {
            // SAFETY: `count` passes the mapped header.
            unsafe { &raw mut (*header).foreign_signals }
        },
        1,
    );
    let Some(candidate) = signal::candidate(signal) else { return };
    if let Some(lane) = lane::current()
        && lane.signal.load(Ordering::Relaxed) == candidate
    {
        // SAFETY: the kernel passes a valid context, and its siginfo of 128 bytes.
        unsafe {
            let context = &mut *context.cast::<libc::ucontext_t>();
            if lane.is_blocked_under(first_word(&context.uc_sigmask)) {
                signal_moves::hand_back(lane, signal, info, context);
                return;
            }
        }
    }
    let action = remembered(candidate);
    if !is_handler(action.sa_sigaction) {
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
            handler(signal, info, context);
        } else {
            let handler: extern "C-unwind" fn(c_int) = core::mem::transmute(action.sa_sigaction);
            handler(signal);
        }
    }
}

/// Says that the program uses the current signal itself.
pub fn note_shared() {
    if let Some(lane) = lane::current() {
        lane.with_record(|record| {
            record.note(NoteCode::SignalShared, signal::number(signal::current()) as u64)
        });
    }
}

/// Whether our handler stands in front of the program's for this signal.
pub fn ours(signal: c_int) -> Option<usize> {
    let candidate = signal::candidate(signal)?;
    WANTED.get(candidate)?.ours.load(Ordering::Acquire).then_some(candidate)
}

/// Sets what the program wants on a candidate that has our handler.
fn set_wanted(candidate: usize, given: &Action) {
    remember(candidate, given);
    if is_handler(given.sa_sigaction) {
        note_shared();
        if candidate == signal::current()
            && give_way(0)
            && let Some(lane) = lane::current()
        {
            lane.follow_signal(None);
        }
    }
    let action = installed_action(candidate);
    call_real!(SIGACTION(signal::number(candidate), &action, core::ptr::null_mut()) else -1);
}

/// A vforked child has actions of its own, though it sees its parent's memory.
fn of_borrower(life: &Life, signal: c_int, given: Option<&Action>, place: Option<&mut Action>) -> c_int {
    let candidate = ours(signal).zip(lane::current());
    let parents = candidate.filter(|(candidate, lane)| !lane.has_borrower_set(life, *candidate));
    let new = given.map_or(core::ptr::null(), core::ptr::from_ref);
    let (wants_old, old) = match place {
        Some(place) => (true, core::ptr::from_mut(place)),
        None => (false, core::ptr::null_mut()),
    };
    let result = call_real!(SIGACTION(signal, new, old) else -1);
    if result == 0 {
        if let Some((candidate, _)) = parents.filter(|_| wants_old) {
            // SAFETY: the program's place for an action.
            unsafe { *old = remembered(candidate) };
        }
        if let Some((candidate, lane)) = candidate.filter(|_| given.is_some()) {
            lane.borrower_has_set(life, candidate);
        }
    }
    result
}

/// `sigaction`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int {
    let Some(life) = life::in_hook() else {
        return call_real!(SIGACTION(signal, new, old) else -1);
    };
    // SAFETY: the program passes null or valid actions, the place perhaps the same as what is given.
    let (given, place) = unsafe { (new.as_ref().copied(), old.as_mut()) };
    if life::is_borrowed(life) {
        return of_borrower(life, signal, given.as_ref(), place);
    }
    if let Some(candidate) = ours(signal) {
        if let Some(place) = place {
            *place = remembered(candidate);
        }
        if let Some(given) = given {
            set_wanted(candidate, &given);
        }
        return 0;
    }
    let known = usize::try_from(signal).ok().and_then(|at| HANDLER_MASKS.get(at));
    let wanted = given.map(|given| first_word(&given.sa_mask));
    let mut changed = given;
    if let Some(changed) = &mut changed {
        let mask = kernel_mask(first_word(&changed.sa_mask), changed.sa_flags);
        set_first_word(&mut changed.sa_mask, mask);
    }
    let new = changed.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    let result = call_real!(SIGACTION(signal, new, old) else -1);
    if result != 0 {
        return result;
    }
    if let Some(known) = known {
        let before = match wanted {
            Some(wanted) => known.swap(wanted | MASK_KNOWN, Ordering::Relaxed),
            None => known.load(Ordering::Relaxed),
        };
        if let Some(place) = place
            && before & MASK_KNOWN != 0
        {
            set_first_word(&mut place.sa_mask, before & !NEVER_BLOCKED);
        }
    }
    if let (Some(candidate), Some(given)) = (signal::candidate(signal), given) {
        remember(candidate, &given);
    }
    result
}

/// `signal`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn signal(signal: c_int, handler: usize) -> usize {
    // SAFETY: all-zero is a valid action.
    let mut action: Action = unsafe { core::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART;
    match life::in_hook() {
        Some(life) if ours(signal).is_some() && life::is_borrowed(life) => {
            // SAFETY: all-zero is a valid action.
            let mut old: Action = unsafe { core::mem::zeroed() };
            let result = of_borrower(life, signal, Some(&action), Some(&mut old));
            if result == 0 { old.sa_sigaction } else { libc::SIG_ERR }
        }
        Some(_) if let Some(candidate) = ours(signal) => {
            let old = remembered(candidate).sa_sigaction;
            set_first_word(&mut action.sa_mask, 1 << (signal - 1));
            set_wanted(candidate, &action);
            old
        }
        _ => {
            let old = call_real!(SIGNAL(signal, handler) else libc::SIG_ERR);
            if old != libc::SIG_ERR {
                if let Some(known) = usize::try_from(signal).ok().and_then(|at| HANDLER_MASKS.get(at)) {
                    known.store(0, Ordering::Relaxed);
                }
                if let Some(wanted) = signal::candidate(signal).and_then(|candidate| WANTED.get(candidate)) {
                    wanted.handler.store(handler, Ordering::Release);
                }
            }
            old
        }
    }
}

declare! {
    sigaction(
        signal: c_int as number(signal), new: *const Action as input(sigaction), old: *mut Action as output(sigaction),
    ) -> c_int, or -1;
    signal(signal: c_int as number(signal), handler: usize as number(handler)) -> usize, or libc::SIG_ERR;
}
