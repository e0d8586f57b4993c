//! System calls that a signal of ours interrupts continue as if it had not been delivered.
//!
//! On x86 the kernel sends a CPU timer's signal on the way back to the program (since Linux 5.10), and a
//! sample interrupts only one call: `io_uring_enter`, which does what is due on that way before it waits.
//! Elsewhere it may interrupt any: calls that wait with a timeout, and some others, then fail with EINTR
//! whatever the handler's flags say. So the handler looks at what it interrupted. If that is a system call
//! that has just failed with EINTR, and no other signal is about to be delivered, the program finds itself
//! before that call again, with what is left of its time.
//!
//! The number of the call is no longer in a register; it is in the instruction that loaded it, which stands
//! close before the call. Some calls have their remaining time written back by the kernel. For the others it
//! is known where the call was made through a hook, since when it lasts; where it is not, EINTR stays, as it
//! does for calls whose repetition differs from their continuation (`connect`). A write that was cut short
//! stays short: from outside it looks like one that a full pipe cut short.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use libc::{c_long, timespec, ucontext_t};
use proust_log::control::RESUME_CALLS;

use crate::arch::{context, system};
use crate::hooks::{signal_requests, signals};
use crate::lane::Lane;
use crate::{clock, options, raw};

/// A thread's data for a call that is continued.
#[derive(Debug, Default)]
pub struct Resumed {
    /// When the operation began that the call belongs to.
    of_ns: AtomicU64,
    /// When it was last continued.
    at_ns: AtomicU64,
    left: Left,
}

/// The time that is left, where the kernel reads it from.
#[derive(Debug)]
struct Left(UnsafeCell<timespec>);

// SAFETY: written by the owner's handler alone, and read by the kernel in the call that it returns to.
unsafe impl Sync for Left {}

impl Default for Left {
    fn default() -> Left {
        Left(UnsafeCell::new(timespec { tv_sec: 0, tv_nsec: 0 }))
    }
}

/// How a call treats its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Time {
    /// It has none, it is a moment, or the kernel writes back what is left.
    Kept,
    /// So many milliseconds are in this argument, counted from 0.
    Milliseconds(usize),
    /// This argument leads to a length of time; null = for ever.
    Length(usize),
    /// As `Length`, and the kernel may have written what is left to where the second argument leads.
    Sleep(usize, usize),
}

/// The first kernel on which a CPU timer's signal is sent on the way back to the program.
///
/// From it on nothing must be done but at rings of io_uring, and nothing is: one coincidence cannot be
/// distinguished from a sample's interruption. The program's own signal interrupts a call, its handler
/// returns, and while the kernel is on the way back from that (`rt_sigreturn`) the timer expires. The handler
/// then finds the registers as they are after a call that failed with EINTR, no signal is pending, and the
/// frame of the program's handler lay where this one's is now. Only a collector in front of all handlers of
/// the program could know. The call is continued then, until its time is over or the next signal comes.
const FIRST_WITHOUT: (u32, u32) = (5, 10);

fn time_of(number: c_long, context: &ucontext_t) -> Option<Time> {
    let second = context::argument(context, 1);
    let is_absolute = second & i64::from(libc::TIMER_ABSTIME) != 0;
    Some(match number {
        _ if Some(number) == system::PAUSE || Some(number) == system::SELECT => Time::Kept,
        _ if Some(number) == system::POLL => Time::Milliseconds(2),
        _ if Some(number) == system::EPOLL_WAIT => Time::Milliseconds(3),
        libc::SYS_rt_sigsuspend
        | libc::SYS_pselect6
        | libc::SYS_ppoll
        | libc::SYS_semop
        | libc::SYS_msgsnd
        | libc::SYS_msgrcv
        | libc::SYS_read
        | libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_accept
        | libc::SYS_accept4 => Time::Kept,
        libc::SYS_epoll_pwait => Time::Milliseconds(3),
        libc::SYS_epoll_pwait2 | libc::SYS_semtimedop => Time::Length(3),
        libc::SYS_rt_sigtimedwait => Time::Length(2),
        libc::SYS_nanosleep => Time::Sleep(0, 1),
        libc::SYS_clock_nanosleep if is_absolute => Time::Kept,
        libc::SYS_clock_nanosleep => Time::Sleep(2, 3),
        // A wait until a moment has a bit in its operation; another one is for a length of time.
        libc::SYS_futex if matches!(second & 127, 6 | 9 | 11 | 13) => Time::Kept,
        libc::SYS_futex if second & 127 == 0 => Time::Length(3),
        // It fails so only where it has submitted nothing: all that is left of it is the wait, which begins
        // again.
        libc::SYS_io_uring_enter => Time::Kept,
        _ => return None,
    })
}

/// The number of the system call that ends before `pc`.
fn call_before(pc: u64) -> Option<c_long> {
    let mut code = [0_u8; system::BYTES_BEFORE];
    let got = raw::read_memory(raw::getpid(), pc.wrapping_sub(code.len() as u64), &mut code);
    if got == code.len() as isize { system::number_in(&code) } else { None }
}

/// Whether a signal waits that will be delivered when this handler returns, and may end the call for the
/// program: a handler of its own, or a default action that does something. Signals that are ignored wait,
/// too, since this handler blocks them, such as that of a child's end; and so do those of our timers.
fn another_is_pending(context: &ucontext_t) -> bool {
    let pending = raw::pending_signals() & !crate::hooks::signal_masks::first_word(&context.uc_sigmask);
    (1..=64).filter(|number| pending & 1 << (number - 1) != 0).any(is_noticed)
}

fn is_noticed(number: i32) -> bool {
    if signal_requests::is_one(number) {
        return false;
    }
    if let Some(candidate) = signals::in_front_of(number) {
        return signals::is_handled(candidate);
    }
    match raw::signal_action(number, None).map(|action| action.handler) {
        Ok(libc::SIG_IGN) => false,
        Ok(libc::SIG_DFL) => !matches!(number, libc::SIGCHLD | libc::SIGURG | libc::SIGWINCH | libc::SIGCONT),
        _ => true,
    }
}

static IS_NEEDED: AtomicBool = AtomicBool::new(false);

/// Finds out whether samples can interrupt calls on this kernel.
pub fn find() {
    IS_NEEDED.store(raw::kernel_version() < FIRST_WITHOUT, Ordering::Relaxed);
}

/// Continues the call that the signal of this handler interrupted, if it did.
pub fn interrupted_call(lane: Option<&Lane>, context: &mut ucontext_t) {
    // A timer on the wall's clock was armed outside of all hooks.
    let may_be_raw = lane.is_some_and(|lane| lane.samples.pace.take_has_interrupted());
    let any_may_be = may_be_raw || IS_NEEDED.load(Ordering::Relaxed) || options::live() & RESUME_CALLS != 0;
    if any_may_be || is_interrupted_at_a_ring(context) {
        continue_call(lane, context, may_be_raw);
    }
}

fn is_interrupted_at_a_ring(context: &ucontext_t) -> bool {
    context::result(context) == -i64::from(libc::EINTR)
        && call_before(context::state(context).pc) == Some(libc::SYS_io_uring_enter)
}

/// Continues the call that a signal of ours has interrupted, whatever the kernel. `may_be_raw`: the call may
/// be one that no hook saw.
pub fn continue_call(lane: Option<&Lane>, context: &mut ucontext_t, may_be_raw: bool) {
    if context::result(context) != -i64::from(libc::EINTR) {
        return;
    }
    if may_be_raw && let Some(lane) = lane {
        lane.samples.pace.suspect();
    }
    let Some(number) = call_before(context::state(context).pc) else { return };
    let Some(time) = time_of(number, context) else { return };
    if !context::CAN_REPEAT_CALLS || another_is_pending(context) {
        return;
    }
    // When a call began that no hook saw is not known, but that it was since the timer was armed, less than a
    // tick ago. It starts again and lasts so much longer, which a call that waits always may.
    if time == Time::Kept || shorten(lane, time, context).is_some() || may_be_raw {
        context::repeat_call(context, number);
    }
}

/// Puts what is left of a call's time into its registers; None if that is not known.
fn shorten(lane: Option<&Lane>, time: Time, context: &mut ucontext_t) -> Option<()> {
    match time {
        Time::Kept => {}
        Time::Milliseconds(at) if context::argument(context, at) as i32 <= 0 => {}
        Time::Milliseconds(at) => {
            let (resumed, now_ns, since_ns) = since(lane?)?;
            let left_ns = (context::argument(context, at) as u32 as u64 * 1_000_000)
                .saturating_sub(now_ns.saturating_sub(since_ns));
            context::set_argument(context, at, left_ns.div_ceil(1_000_000) as i64);
            resumed.at_ns.store(now_ns, Ordering::Relaxed);
        }
        Time::Length(at) if context::argument(context, at) == 0 => {}
        Time::Sleep(at, rest) if context::argument(context, rest) != 0 => {
            context::set_argument(context, at, context::argument(context, rest));
        }
        Time::Length(at) | Time::Sleep(at, _) => {
            let (resumed, now_ns, since_ns) = since(lane?)?;
            let asked_ns = length(context::argument(context, at) as u64)?;
            let left_ns = asked_ns.saturating_sub(now_ns.saturating_sub(since_ns));
            let place = resumed.left.0.get();
            // SAFETY: the owner's handler; the kernel reads it when the call continues.
            unsafe {
                place.write(timespec {
                    tv_sec: (left_ns / 1_000_000_000) as i64,
                    tv_nsec: (left_ns % 1_000_000_000) as i64,
                });
            }
            context::set_argument(context, at, place as i64);
            resumed.at_ns.store(now_ns, Ordering::Relaxed);
        }
    }
    Some(())
}

/// Since when the time counts that the call was given last: from its begin, or since it was last continued.
/// And what is kept for it.
fn since(lane: &Lane) -> Option<(&Resumed, u64, u64)> {
    if lane.operations.open.is_free() {
        return None;
    }
    let (begin_ns, resumed) = (lane.operations.open.begin_ns(), &lane.samples.resumed);
    let went_on = resumed.of_ns.swap(begin_ns, Ordering::Relaxed) == begin_ns;
    let since_ns = if went_on { resumed.at_ns.load(Ordering::Relaxed) } else { begin_ns };
    Some((resumed, clock::now_ns(), since_ns))
}

/// A length of time of the program's, ns.
fn length(address: u64) -> Option<u64> {
    let mut bytes = [0_u8; 16];
    if raw::read_memory(raw::getpid(), address, &mut bytes) != 16 {
        return None;
    }
    let word =
        |at: usize| bytes.get(at..at + 8).and_then(|word| word.try_into().ok()).map(u64::from_ne_bytes);
    Some(word(0)?.saturating_mul(1_000_000_000).saturating_add(word(8)?))
}
