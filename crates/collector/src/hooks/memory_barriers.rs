//! The system call `membarrier`: the collector's own registrations with the kernel are hidden from the
//! program.
//!
//! A process that wants to order the memory of its threads has to register first. The collector has, for
//! itself; the program is answered as if it had not.

use core::ffi::{c_int, c_long};
use core::sync::atomic::{AtomicBool, Ordering};

use crate::operation;

/// Barriers of this process's threads; being ready for them; and what the process is ready for.
const BARRIER: c_int = libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED;
const REGISTER: c_int = libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
const REGISTRATIONS: c_int = 1 << 9;

/// Whether the program has asked for it.
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// The call with that command and these flags, which `call` makes.
pub fn bracket(command: usize, flags: usize, call: impl FnOnce() -> c_long) -> c_long {
    let (command, is_plain) = (command as c_int, flags as u32 == 0);
    let registered = REGISTERED.load(Ordering::Relaxed);
    // The kernel looks at the flags first.
    if command == BARRIER && is_plain && !registered {
        operation::set_errno(libc::EPERM as u32);
        return -1;
    }
    let result = call();
    if command == REGISTER && result == 0 {
        REGISTERED.store(true, Ordering::Relaxed);
    }
    if command == REGISTRATIONS && result > 0 && !registered {
        result & !c_long::from(REGISTER)
    } else {
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_has_to_ask_for_itself() {
        let call = |command: c_int| bracket(command as usize, 0, || 0);
        assert_eq!((call(BARRIER), operation::errno()), (-1, libc::EPERM as u32));
        assert_eq!(bracket(BARRIER as usize, 1, || -7), -7, "what is wrong is the kernel's to say");
        assert_eq!(bracket(REGISTRATIONS as usize, 0, || c_long::from(REGISTER) | 1), 1);
        assert_eq!((call(REGISTER), call(BARRIER)), (0, 0));
        assert_eq!(
            bracket(REGISTRATIONS as usize, 0, || c_long::from(REGISTER) | 1),
            c_long::from(REGISTER) | 1
        );
    }
}
