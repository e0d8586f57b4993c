//! Signals: actions, masks, what is pending, and sending them.

use super::{call, failed, getpid, gettid, sys};

/// The calling thread's alternate signal stack; empty if it has none.
pub fn alternate_stack() -> core::ops::Range<u64> {
    let mut stack = [0_u64; 3];
    let outcome = sys!(SYS_sigaltstack, 0, stack.as_mut_ptr());
    let is_off = failed(outcome) || stack[1] as u32 & libc::SS_DISABLE as u32 != 0;
    if is_off { 0..0 } else { stack[0]..stack[0].saturating_add(stack[2]) }
}

/// Gives the calling thread an alternate signal stack; false if the kernel refuses.
pub fn set_alternate_stack(start: *mut u8, bytes: usize) -> bool {
    let stack = libc::stack_t { ss_sp: start.cast(), ss_flags: 0, ss_size: bytes };
    !failed(sys!(SYS_sigaltstack, &raw const stack, 0))
}

/// Sends a signal to thread `tid` of this process.
pub fn signal_thread(tid: u32, signal: i32) {
    sys!(SYS_tgkill, getpid(), tid, signal);
}

/// Sends a signal again, unchanged, with all that is known of it: to the calling thread if it was meant for
/// that one, otherwise to the process.
///
/// # Safety
/// `info` is what the kernel gave to a handler of `signal`.
pub unsafe fn queue_signal(signal: i32, info: *const libc::siginfo_t) {
    // SAFETY: the caller's promise.
    let mut copy = unsafe { *info };
    if copy.si_code == libc::SI_TKILL {
        sys!(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal, info);
    } else if failed(sys!(SYS_rt_sigqueueinfo, getpid(), signal, info)) {
        // Only the first thread may repeat what the kernel or another process said.
        copy.si_code = libc::SI_QUEUE;
        sys!(SYS_rt_sigqueueinfo, getpid(), signal, &raw const copy);
    }
}

/// Sends the calling thread a signal whose data name timer number `timer`, and this value.
pub fn signal_self(signal: i32, timer: i32, value: usize) {
    // The kernel's structure: signal, errno, code, a gap, the timer's number, its overruns, the value.
    let mut info = [0_u32; 32];
    (info[0], info[2], info[4]) = (signal as u32, libc::SI_TIMER as u32, timer as u32);
    (info[6], info[7]) = (value as u32, (value >> 32) as u32);
    sys!(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal, info.as_ptr());
}

/// Takes pending signals of these numbers away, as long as they are `ours`; one that is not is sent again.
pub fn drop_pending(mask: u64, ours: impl Fn(*const libc::siginfo_t) -> bool) {
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    loop {
        let mut info = core::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        let number =
            sys!(SYS_rt_sigtimedwait, &raw const mask, info.as_mut_ptr(), &raw const now, size_of::<u64>());
        if failed(number) {
            return;
        }
        if !ours(info.as_ptr()) {
            // SAFETY: the kernel's data of it.
            unsafe { queue_signal(number as i32, info.as_ptr()) };
            return;
        }
    }
}

/// Signals that wait to be delivered to the calling thread.
pub fn pending_signals() -> u64 {
    let mut pending = 0_u64;
    sys!(SYS_rt_sigpending, &raw mut pending, size_of::<u64>());
    pending
}

/// Blocks or unblocks signals of the calling thread; returns the old mask.
pub fn signal_mask(how: i32, mask: u64) -> u64 {
    let mut old = 0_u64;
    sys!(SYS_rt_sigprocmask, how, &raw const mask, &raw mut old, size_of::<u64>());
    old
}

/// The kernel's own `sigaction`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelAction {
    /// Handler, or 0 for default, 1 for ignore.
    pub handler: usize,
    /// SA_ flags.
    pub flags: u64,
    /// Where the handler returns to.
    pub restorer: usize,
    /// Signals blocked in the handler.
    pub mask: u64,
}

/// Sets a signal's action; returns the old one.
pub fn signal_action(signal: i32, new: Option<&KernelAction>) -> Result<KernelAction, i32> {
    let mut old = KernelAction::default();
    let new = new.map_or(core::ptr::null(), |new| new as *const KernelAction);
    let outcome = sys!(SYS_rt_sigaction, signal, new, &raw mut old, size_of::<u64>());
    if failed(outcome) { Err(-outcome as i32) } else { Ok(old) }
}
