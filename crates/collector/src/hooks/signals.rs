//! The program and the sampling signal: it may use the same number, and reads back what it set.
//!
//! A number that the program wants for itself is left to it: sampling moves to another one. Timers of threads that have
//! not moved yet still send the old number: our handler stays in front of the program's, and tells by the timers'
//! cookie whom a signal is for.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use libc::{sigaction as Action, sigset_t};
use proust_log::records::NoteCode;

use super::signal_masks::{first_word, set_first_word};
use crate::lane::Lane;
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

/// Installs the sampling handler.
pub fn install() -> bool {
    take_over(signal::current())
}

/// Puts our handler on a candidate.
fn take_over(candidate: usize) -> bool {
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

fn is_handler(handler: usize) -> bool {
    handler != libc::SIG_DFL && handler != libc::SIG_IGN
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

fn remembered(candidate: usize) -> Action {
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

/// Sampling goes over to a candidate that the program does not use, if there is one; `taken` are signals that it is
/// about to use.
fn give_way(taken: u64) -> bool {
    let free = (0..CANDIDATES.len()).find(|&candidate| {
        if is_claimed(candidate) || signal::bit(candidate) & taken != 0 {
            return false;
        }
        let installed = raw::signal_action(signal::number(candidate), None);
        installed.is_ok_and(|action| !is_handler(action.handler))
    });
    match free {
        Some(candidate) if take_over(candidate) => {
            signal::set_current(candidate);
            true
        }
        _ => false,
    }
}

/// The program is about to wait for these signals: it shall get all of them. What cannot be given to it comes back
/// taken out.
pub fn await_signals(set: &sigset_t) -> sigset_t {
    let mut set = *set;
    let wanted = first_word(&set);
    let current = signal::current();
    if wanted & signal::bit(current) == 0 {
        return set;
    }
    if let Some(wanted) = WANTED.get(current) {
        wanted.awaited.store(true, Ordering::Relaxed);
    }
    note_shared();
    if give_way(wanted) {
        if let Some(lane) = lane::current() {
            lane.follow_signal(None);
        }
    } else {
        set_first_word(&mut set, wanted & !signal::bit(current));
    }
    set
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
        && lane.blocked.load(Ordering::Relaxed)
        && lane.signal.load(Ordering::Relaxed) == candidate
    {
        if candidate == signal::current() {
            lane.held.store(true, Ordering::Relaxed);
        } else {
            // SAFETY: the kernel's context, and its siginfo of 128 bytes.
            unsafe {
                lane.follow_signal(Some(&mut *context.cast::<libc::ucontext_t>()));
                raw::queue_signal(signal, info);
            }
        }
        return;
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

fn note_shared() {
    if let Some(lane) = lane::current() {
        lane.with_record(|record| {
            record.note(NoteCode::SignalShared, signal::number(signal::current()) as u64)
        });
    }
}

/// Whether our handler stands in front of the program's for this signal.
fn ours(signal: c_int) -> Option<usize> {
    let candidate = signal::candidate(signal)?;
    WANTED.get(candidate)?.ours.load(Ordering::Acquire).then_some(candidate)
}

/// Sets what the program wants on a candidate that has our handler.
fn set_wanted(candidate: usize, given: &Action) {
    remember(candidate, given);
    if is_handler(given.sa_sigaction) {
        note_shared();
        if candidate == signal::current() {
            give_way(0);
        }
    }
    let action = installed_action(candidate);
    call_real!(SIGACTION(signal::number(candidate), &action, core::ptr::null_mut()) else -1);
}

/// `sigaction`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int {
    if life::in_hook().is_none() {
        return call_real!(SIGACTION(signal, new, old) else -1);
    }
    // SAFETY: the program passes null or valid actions.
    let (given, place) = unsafe { (new.as_ref(), old.as_mut()) };
    if let Some(candidate) = ours(signal) {
        // The place may be the same as what is given.
        let given = given.copied();
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
    let mut changed = given.copied();
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
    if let (Some(candidate), Some(given)) = (signal::candidate(signal), changed) {
        remember(candidate, &given);
    }
    result
}

/// `signal`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn signal(signal: c_int, handler: usize) -> usize {
    let Some(candidate) = ours(signal).filter(|_| life::in_hook().is_some()) else {
        let old = call_real!(SIGNAL(signal, handler) else libc::SIG_ERR);
        if let (Some(candidate), true) = (signal::candidate(signal), old != libc::SIG_ERR)
            && let Some(wanted) = WANTED.get(candidate)
        {
            wanted.handler.store(handler, Ordering::Release);
        }
        return old;
    };
    let old = remembered(candidate).sa_sigaction;
    // SAFETY: all-zero is a valid action.
    let mut action: Action = unsafe { core::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART;
    set_first_word(&mut action.sa_mask, 1 << (signal - 1));
    set_wanted(candidate, &action);
    old
}

/// What a new image of the program inherits, set as the program believes it to be.
pub struct HandedOver {
    ignored: [bool; CANDIDATES.len()],
    blocked: u64,
}

/// Before an exec: the new image shall find the sampling signals ignored or blocked if the program has them so.
pub fn hand_over() -> HandedOver {
    let ignored = core::array::from_fn(|candidate| {
        ours(signal::number(candidate)) == Some(candidate)
            && remembered(candidate).sa_sigaction == libc::SIG_IGN
            && call_real!(SIGACTION(signal::number(candidate), &remembered(candidate), core::ptr::null_mut()) else -1)
                == 0
    });
    let blocked = lane::current().filter(|lane| lane.blocked.load(Ordering::Relaxed));
    let blocked = blocked.map_or(0, |lane| signal::bit(lane.signal.load(Ordering::Relaxed)));
    let before = if blocked == 0 { 0 } else { raw::signal_mask(libc::SIG_BLOCK, blocked) };
    HandedOver { ignored, blocked: blocked & !before }
}

impl HandedOver {
    /// The exec did not happen.
    pub fn take_back(self) {
        for candidate in (0..CANDIDATES.len()).filter(|&candidate| self.ignored.get(candidate) == Some(&true))
        {
            take_over(candidate);
        }
        if self.blocked != 0 {
            raw::signal_mask(libc::SIG_UNBLOCK, self.blocked);
        }
    }
}

impl Lane {
    /// The calling thread, the lane's owner, goes over to the current signal: its timer, and its mask, which is in
    /// `context` where this is its signal handler.
    pub fn follow_signal(&self, context: Option<&mut libc::ucontext_t>) {
        let (old, new) = (self.signal.load(Ordering::Relaxed), signal::current());
        let Some(life) = life::recording().filter(|_| old != new) else { return };
        let tid = self.owner.load(Ordering::Relaxed);
        let Ok(timer) = crate::sample::timer::start(tid, life.options.period_ns, signal::number(new)) else {
            return;
        };
        if let Some(before) = self.replace_timer(Some(timer)) {
            crate::sample::timer::stop(before);
        }
        self.signal.store(new, Ordering::Relaxed);
        let blocked_old = if self.blocked.load(Ordering::Relaxed) { signal::bit(old) } else { 0 };
        let change = |mask: u64| (mask | blocked_old) & !signal::bit(new);
        let before = match context {
            Some(context) => {
                let before = first_word(&context.uc_sigmask);
                set_first_word(&mut context.uc_sigmask, change(before));
                before
            }
            None => {
                let before = raw::signal_mask(libc::SIG_BLOCK, blocked_old);
                raw::signal_mask(libc::SIG_UNBLOCK, signal::bit(new));
                before
            }
        };
        self.blocked.store(before & signal::bit(new) != 0, Ordering::Relaxed);
        if self.held.swap(false, Ordering::Relaxed) {
            raw::signal_thread(tid, signal::number(old));
        }
    }
}
