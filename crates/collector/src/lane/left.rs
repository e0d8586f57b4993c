//! Whether a thread has left a frame without a return: by a jump, an exception, or for another context.

use core::ops::Range;

use crate::path::stack::OwnStack;

/// Whether the frame at `frame` is not among those that have still to return when the thread's stack pointer
/// is `sp`.
///
/// On one stack, what lies further in than the stack pointer is gone. A thread moves from one stack to
/// another, its frames still there, only in a handler that runs on the thread's `alternate` stack; otherwise
/// it has switched to another context, and is no longer in that frame, though it may return. Two stacks that
/// are not the thread's own look like one: then only what lies further in is known to be left.
pub fn is_left(frame: u64, sp: u64, own: OwnStack, alternate: impl FnOnce() -> Range<u64>) -> bool {
    let may_be_inside = own.contains(frame) == own.contains(sp) && frame >= sp;
    !may_be_inside && !alternate().contains(&sp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_left_further_out_and_for_other_stacks() {
        let own = OwnStack { low: 0x10_000, top: 0x20_000 };
        let none = || 0..0;
        assert!(is_left(0x11_000, 0x12_000, own, none));
        assert!(!is_left(0x12_000, 0x11_000, own, none));
        // A coroutine's stack, and back.
        assert!(is_left(0x12_000, 0x50_000, own, none));
        assert!(is_left(0x50_000, 0x12_000, own, none));
        assert!(is_left(0x50_000, 0x60_000, own, none));
        assert!(!is_left(0x60_000, 0x50_000, own, none));
        // A handler on its own stack has interrupted what was there.
        assert!(!is_left(0x12_000, 0x50_000, own, || 0x4f_000..0x51_000));
        assert!(is_left(0x50_000, 0x12_000, own, || 0x4f_000..0x51_000));
    }
}
