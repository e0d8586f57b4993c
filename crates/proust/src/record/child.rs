//! The command as a process: whom signals are passed on to.

use std::sync::atomic::{AtomicI32, Ordering};

/// The command's process id, for the signal handler; 0 before it is started and after it has ended.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// The command runs as this process.
pub(super) fn began(pid: u32) {
    CHILD.store(pid as i32, Ordering::Relaxed);
}

/// The command is about to be reaped: its number may then be another process's.
pub(super) fn will_be_reaped() {
    CHILD.store(0, Ordering::Relaxed);
}

/// Sends a signal to the command, while there is one. May be called in a signal handler.
pub(super) fn signal_command(signal: libc::c_int) {
    let child = CHILD.load(Ordering::Relaxed);
    if child > 0 {
        // SAFETY: kill may be called in a signal handler; the child is not reaped before CHILD is cleared.
        unsafe { libc::kill(child, signal) };
    }
}
