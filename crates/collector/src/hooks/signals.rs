//! The program and the sampling signal: it may use the same number, block it, and read back what it set.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use libc::{sigaction as Action, sigset_t};
use proust_log::records::NoteCode;

use crate::real::call_real;
use crate::sample::handler::on_signal;
use crate::sample::timer::{SIGNAL, SIGNAL_BIT};
use crate::{lane, life, logfile, raw};

/// What the program wants to happen on the sampling signal.
static WANTED_HANDLER: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);
static WANTED_FLAGS: AtomicU64 = AtomicU64::new(0);
static WANTED_MASK: AtomicU64 = AtomicU64::new(0);

/// By signal: whether the program wants the sampling signal blocked while its handler runs.
static BLOCKED_IN_HANDLER: [AtomicBool; 65] = [const { AtomicBool::new(false) }; 65];

/// Installs the sampling handler.
pub fn install() -> bool {
    // SAFETY: all-zero is a valid action.
    let (mut action, mut old): (Action, Action) = unsafe { core::mem::zeroed() };
    action.sa_sigaction = on_signal as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    // While the handler runs no handler of the program may.
    // SAFETY: fills a local signal set.
    unsafe { libc::sigfillset(&mut action.sa_mask) };
    let result = call_real!(SIGACTION(SIGNAL, &action, &mut old) else -1);
    if result == 0 {
        remember(&old);
    }
    result == 0
}

fn remember(action: &Action) {
    WANTED_FLAGS.store(action.sa_flags as u64, Ordering::Relaxed);
    WANTED_MASK.store(first_word(&action.sa_mask), Ordering::Relaxed);
    WANTED_HANDLER.store(action.sa_sigaction, Ordering::Release);
}

fn remembered() -> Action {
    // SAFETY: all-zero is a valid action.
    let mut action: Action = unsafe { core::mem::zeroed() };
    action.sa_sigaction = WANTED_HANDLER.load(Ordering::Acquire);
    action.sa_flags = WANTED_FLAGS.load(Ordering::Relaxed) as c_int;
    set_first_word(&mut action.sa_mask, WANTED_MASK.load(Ordering::Relaxed));
    action
}

/// The kernel's 64 signals are the first word of the C library's larger set.
fn first_word(set: &sigset_t) -> u64 {
    // SAFETY: the set is 128 bytes of plain numbers.
    unsafe { core::ptr::from_ref(set).cast::<u64>().read() }
}

fn set_first_word(set: &mut sigset_t, word: u64) {
    // SAFETY: as above.
    unsafe { core::ptr::from_mut(set).cast::<u64>().write(word) };
}

fn without_ours(set: &sigset_t) -> sigset_t {
    let mut copy = *set;
    let word = first_word(&copy) & !SIGNAL_BIT;
    set_first_word(&mut copy, word);
    copy
}

/// Gives a signal that is not from our timers to the program's handler, as the kernel would have.
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
    if let Some(lane) = lane::current()
        && lane.blocked.load(Ordering::Relaxed)
    {
        lane.held.store(true, Ordering::Relaxed);
        return;
    }
    let action = remembered();
    if action.sa_sigaction == libc::SIG_DFL || action.sa_sigaction == libc::SIG_IGN {
        return;
    }
    if action.sa_flags & libc::SA_RESETHAND != 0 {
        WANTED_HANDLER.store(libc::SIG_DFL, Ordering::Release);
    }
    // SAFETY: the kernel's context starts with the interrupted thread's registers and holds its mask.
    let interrupted = first_word(unsafe { &(*context.cast::<libc::ucontext_t>()).uc_sigmask });
    let own = if action.sa_flags & libc::SA_NODEFER == 0 { SIGNAL_BIT } else { 0 };
    raw::signal_mask(libc::SIG_SETMASK, interrupted | first_word(&action.sa_mask) | own);
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
        lane.with_record(|record| record.note(NoteCode::SignalShared, SIGNAL as u64));
    }
}

/// `sigaction`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int {
    if life::in_hook().is_none() {
        return call_real!(SIGACTION(signal, new, old) else -1);
    }
    // SAFETY: the program passes null or valid actions.
    let (given, place) = unsafe { (new.as_ref(), old.as_mut()) };
    if signal != SIGNAL {
        // A handler of the program that blocks everything must not block the samples of its own code.
        let changed = given.map(|given| Action { sa_mask: without_ours(&given.sa_mask), ..*given });
        let blocks = given.is_some_and(|given| first_word(&given.sa_mask) & SIGNAL_BIT != 0);
        let new = changed.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
        let result = call_real!(SIGACTION(signal, new, old) else -1);
        if result == 0
            && let Some(wanted) = usize::try_from(signal).ok().and_then(|at| BLOCKED_IN_HANDLER.get(at))
        {
            let did_block = if given.is_some() {
                wanted.swap(blocks, Ordering::Relaxed)
            } else {
                wanted.load(Ordering::Relaxed)
            };
            if let Some(place) = place
                && did_block
            {
                let word = first_word(&place.sa_mask) | SIGNAL_BIT;
                set_first_word(&mut place.sa_mask, word);
            }
        }
        return result;
    }
    if let Some(place) = place {
        *place = remembered();
    }
    if let Some(given) = given {
        remember(given);
        note_shared();
    }
    0
}

/// `signal`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn signal(signal: c_int, handler: usize) -> usize {
    if signal != SIGNAL || life::in_hook().is_none() {
        return call_real!(SIGNAL(signal, handler) else libc::SIG_ERR);
    }
    let old = remembered().sa_sigaction;
    // SAFETY: all-zero is a valid action.
    let mut action: Action = unsafe { core::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART;
    remember(&action);
    note_shared();
    old
}

/// Keeps our bit out of the thread's mask, while the program reads back what it set.
fn mask(
    how: c_int,
    new: *const sigset_t,
    old: *mut sigset_t,
    call: impl FnOnce(*const sigset_t, *mut sigset_t) -> c_int,
) -> c_int {
    let Some(lane) = life::in_hook().and_then(|_| lane::current()) else { return call(new, old) };
    // SAFETY: the program passes null or a valid set.
    let given = unsafe { new.as_ref() }.copied();
    let changed = given.as_ref().map(without_ours);
    let result = call(changed.as_ref().map_or(core::ptr::null(), core::ptr::from_ref), old);
    if result != 0 {
        return result;
    }
    let was_blocked = lane.blocked.load(Ordering::Relaxed);
    // SAFETY: the program passes null or a place for a set.
    if let Some(place) = unsafe { old.as_mut() }
        && was_blocked
    {
        let word = first_word(place) | SIGNAL_BIT;
        set_first_word(place, word);
    }
    let Some(given) = given else { return result };
    let named = first_word(&given) & SIGNAL_BIT != 0;
    let blocked = match how {
        libc::SIG_BLOCK => was_blocked || named,
        libc::SIG_UNBLOCK => was_blocked && !named,
        _ => named,
    };
    lane.blocked.store(blocked, Ordering::Relaxed);
    if !blocked && lane.held.swap(false, Ordering::Relaxed) {
        let (process, thread) = (raw::getpid(), raw::gettid());
        // SAFETY: sends a signal to the calling thread.
        unsafe {
            raw::call(libc::SYS_tgkill, [process as usize, thread as usize, SIGNAL as usize, 0, 0, 0]);
        }
    }
    result
}

/// `sigprocmask`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigprocmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int {
    mask(how, new, old, |new, old| call_real!(SIGPROCMASK(how, new, old) else -1))
}

/// `pthread_sigmask`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_sigmask(
    how: c_int,
    new: *const sigset_t,
    old: *mut sigset_t,
) -> c_int {
    mask(how, new, old, |new, old| call_real!(PTHREAD_SIGMASK(how, new, old) else libc::ENOSYS))
}
