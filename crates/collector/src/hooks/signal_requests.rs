//! Signals by which a user asks a process for a sample, or to pause and to resume.
//!
//! Our handler is in force as long as the program has no use for the signal: an action that the program sets
//! replaces it for good, and a note says so. Until then the program reads back the default action, which it
//! would find without Proust.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use libc::sigaction as Action;
use proust_log::records::NoteCode;

use super::signals;
use crate::control::{self, requested};
use crate::interpose::call_real;
use crate::operation::KeptErrno;
use crate::options::{self, Options};
use crate::sample::{contain, resume};
use crate::{clock, lane, life, raw};

/// A signal, and what it asks for.
struct Request {
    /// The signal; 0 = there is none.
    number: AtomicU32,
    /// Whether our handler is in force.
    is_ours: AtomicBool,
    /// Whether the log says that the program uses it.
    is_noted: AtomicBool,
    add: fn(),
}

impl Request {
    const fn new(add: fn()) -> Request {
        let (is_ours, is_noted) = (AtomicBool::new(false), AtomicBool::new(false));
        Request { number: AtomicU32::new(0), is_ours, is_noted, add }
    }

    /// Says that the program uses it.
    fn note_used(&self) {
        if let Some(lane) = lane::current()
            && !self.is_noted.swap(true, Ordering::Relaxed)
        {
            let number = self.number.load(Ordering::Relaxed);
            lane.with_record(|record| record.note(NoteCode::RequestSignalUsed, u64::from(number)));
        }
    }
}

/// In the order of [`Options::request_signals`].
static REQUESTS: [Request; 2] = [Request::new(requested::add_sample), Request::new(requested::add_switch)];

fn of(number: c_int) -> Option<&'static Request> {
    let is_it = |request: &&Request| request.number.load(Ordering::Relaxed) == number as u32;
    if number == 0 { None } else { REQUESTS.iter().find(is_it) }
}

/// Whether it is such a signal, and our handler is in force.
pub fn is_one(number: c_int) -> bool {
    of(number).is_some_and(|request| request.is_ours.load(Ordering::Acquire))
}

/// Whether a program that sets this action uses the signal: the default is what it finds.
pub fn is_use(handler: usize) -> bool {
    handler != libc::SIG_DFL
}

fn default_action() -> Action {
    // SAFETY: all-zero is a valid action: the default.
    unsafe { core::mem::zeroed() }
}

/// Signals that are blocked until a new image has our handlers: without one they would end it.
#[derive(Default)]
#[must_use = "they stay blocked if the exec fails"]
pub struct Blocked {
    mask: u64,
}

/// A process is about to load an image into which the collector is loaded, too.
pub fn block_until_ready() -> Blocked {
    let is_ours = |request: &&Request| request.is_ours.load(Ordering::Acquire);
    if !REQUESTS.iter().any(|request| is_ours(&request)) {
        return Blocked::default();
    }
    let blocked = raw::signal_mask(libc::SIG_BLOCK, 0);
    let (mut which, mut mask) = (0, 0);
    for (bit, request) in (0..).zip(&REQUESTS) {
        let number = request.number.load(Ordering::Relaxed);
        let its = 1_u64 << number.saturating_sub(1);
        if is_ours(&request) && number != 0 && blocked & its == 0 {
            (which, mask) = (which | 1 << bit, mask | its);
        }
    }
    if which == 0 || !options::note_blocked(raw::getpid(), which) {
        return Blocked::default();
    }
    raw::signal_mask(libc::SIG_BLOCK, mask);
    Blocked { mask }
}

impl Blocked {
    /// The exec failed.
    pub fn release(self) {
        if self.mask != 0 {
            options::take_blocked(raw::getpid());
            raw::signal_mask(libc::SIG_UNBLOCK, self.mask);
        }
    }
}

/// Unblocks what was blocked until now.
fn release() {
    let which = options::take_blocked(raw::getpid());
    let mask = (0..).zip(&REQUESTS).filter(|(bit, _)| which & 1 << bit != 0).fold(0, |mask, (_, request)| {
        mask | 1_u64 << request.number.load(Ordering::Relaxed).saturating_sub(1)
    });
    if mask != 0 {
        raw::signal_mask(libc::SIG_UNBLOCK, mask);
    }
}

/// Installs our handler for the signals of the run, and delivers those that were blocked since before
/// this image began.
pub fn install(options: &Options) {
    install_handlers(options);
    release();
}

fn install_handlers(options: &Options) {
    for (request, &number) in REQUESTS.iter().zip(&options.request_signals) {
        if number == 0 {
            continue;
        }
        request.number.store(number, Ordering::Relaxed);
        let number = number as c_int;
        if raw::signal_action(number, None).is_ok_and(|action| action.handler != libc::SIG_DFL) {
            // A constructor that ran before ours has set it, or who has started the program ignores it.
            request.note_used();
            continue;
        }
        let mut action = default_action();
        action.sa_sigaction = on_request as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        signals::block_all(&mut action);
        request.is_ours.store(true, Ordering::Release);
        if call_real!(signals::real::sigaction(number, &action, core::ptr::null_mut()) else -1) != 0 {
            request.is_ours.store(false, Ordering::Release);
        }
    }
}

/// The program is about to set this handler for a signal, or to read the action. What it finds, where our
/// handler is in force until now.
pub fn before_action(number: c_int, handler: Option<usize>) -> Option<Action> {
    let request = of(number).filter(|request| request.is_ours.load(Ordering::Acquire))?;
    if handler.is_some_and(is_use) {
        request.is_ours.store(false, Ordering::Release);
        request.note_used();
    }
    Some(default_action())
}

/// A vforked child has actions of its own, though it sees its parent's memory: what it sets goes to the
/// kernel unchanged.
///
/// # Safety
/// The arguments are those that the program gave to `sigaction`.
pub unsafe fn of_borrower(number: c_int, new: *const Action, old: *mut Action) -> c_int {
    let result = call_real!(signals::real::sigaction(number, new, old) else -1);
    if result == 0
        // SAFETY: the program's place for an action, or null; the caller's promise.
        && let Some(old) = unsafe { old.as_mut() }
        && old.sa_sigaction == on_request as *const () as usize
    {
        *old = default_action();
    }
    result
}

/// The program is about to wait for these signals without a handler.
pub fn before_wait(awaited: u64) {
    for request in &REQUESTS {
        let number = request.number.load(Ordering::Relaxed);
        if number != 0 && awaited & 1 << (number - 1) != 0 {
            request.note_used();
        }
    }
}

/// The handler, with all signals blocked.
///
/// # Safety
/// For the kernel, which passes a valid context.
unsafe extern "C-unwind" fn on_request(number: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    let errno = KeptErrno::keep();
    if let Some(life) = life::recording().filter(|life| !life::is_borrowed(life)) {
        if let Some(request) = of(number) {
            (request.add)();
        }
        let tid = raw::gettid();
        if let Some(lane) = lane::current().filter(|lane| lane.owner.load(Ordering::Relaxed) == tid) {
            let carry_out = || {
                control::look(life, lane);
                if !life::is_paused() && lane.samples.pace.ends_rest() {
                    lane.begin_again(clock::thread_cpu_ns(), life.options.mean_distance_ns);
                }
            };
            // SAFETY: the owner's handler, with all signals blocked; the kernel passes a valid context.
            unsafe {
                lane.with_room_at_once(|| contain::run(&lane.samples.entry, carry_out));
                resume::continue_call(Some(lane), &mut *context.cast(), false);
            }
        }
    }
    errno.restore();
}
