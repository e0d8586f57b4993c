//! Programs whose stacks are lists of pieces (`-fsplit-stack`).
//!
//! A piece has 1 KiB left for what does not ask, and the kernel stores up to 3.6 KiB where a signal arrives:
//! behind the piece, which ends the program. A sample may arrive at any instruction, so a thread of such a
//! program gets an alternate stack for them if it has none, of which the program does not get to know.
//!
//! These programs are recognised by the first instruction of their functions. Only the begin of the program's
//! code is looked at: the compiler's own start-up code is short, and the program follows it.

use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::arch::stacks::splits;
use crate::interpose::object;
use crate::lane::Lane;
use crate::path::elf;
use crate::{arena, raw};

/// So much of the program's code is looked at.
const LOOKED_AT_BYTES: u64 = 64 << 10;

/// Bytes of a stack: a sample's need of an alternate stack, several times.
const BYTES: usize = 64 << 10;

/// In the lowest word of a stack, together with its address.
const MARK: u64 = 0x7072_6f75_7374_5353;

static IN_USE: AtomicBool = AtomicBool::new(false);

/// Finds out whether the program is one of them; before it runs.
pub fn find() {
    object::each(&mut |program| {
        let end = program.text.end.min(program.text.start + LOOKED_AT_BYTES);
        // SAFETY: the begin of the program's executable segment, which stays mapped.
        let code = unsafe { elf::memory(program.text.start..end) };
        IN_USE.store(splits(code), Ordering::Relaxed);
        true
    });
}

/// A thread's alternate stack of ours; null = it has none.
#[derive(Debug, Default)]
pub struct Stack(AtomicPtr<u64>);

impl Stack {
    fn get_or_make(&self) -> *mut u64 {
        let known = self.0.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        let made = arena::pages(BYTES).cast::<u64>();
        if !made.is_null() {
            // SAFETY: fresh memory of that size.
            unsafe { made.write(made as u64 ^ MARK) };
            self.0.store(made, Ordering::Relaxed);
        }
        made
    }
}

/// Gives the lane's owner, the caller, an alternate stack if it needs one and has none.
pub fn provide(lane: &Lane) {
    if !IN_USE.load(Ordering::Relaxed) || !raw::alternate_stack().is_empty() {
        return;
    }
    let stack = lane.samples.stack.get_or_make();
    if !stack.is_null() {
        raw::set_alternate_stack(stack.cast(), BYTES);
    }
}

/// Whether an alternate stack that begins there is ours, of this process or of one that it was forked off.
pub fn is_ours(start: u64) -> bool {
    let mut word = [0_u8; 8];
    IN_USE.load(Ordering::Relaxed)
        && raw::read_memory(raw::getpid(), start, &mut word) == 8
        && u64::from_ne_bytes(word) == start ^ MARK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_of_ours_is_known_by_its_lowest_word() {
        let (stack, other) = (Stack::default(), vec![0_u64; 16]);
        let start = stack.get_or_make() as u64;
        assert_eq!(stack.get_or_make() as u64, start);
        IN_USE.store(true, Ordering::Relaxed);
        assert!(is_ours(start));
        assert!(!is_ours(start + 8) && !is_ours(other.as_ptr() as u64) && !is_ours(8));
        IN_USE.store(false, Ordering::Relaxed);
    }
}
