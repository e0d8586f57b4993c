//! Frames: where the return address lies, and what framehop is given.

use framehop::MustNotAllocateDuringUnwind;
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};

use crate::path::memo::State;
use crate::path::rules::Rule;

/// framehop's working memory; never allocates while unwinding.
pub type StepCache = CacheX86_64<MustNotAllocateDuringUnwind>;
/// framehop, with these tables.
pub type Tables<D> = UnwinderX86_64<D, MustNotAllocateDuringUnwind>;
/// Its registers.
pub type Registers = UnwindRegsX86_64;

/// The register that holds where a function returns to, until the function stores it: here a call stores it
/// itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link;

impl Link {
    /// A register with this address in it.
    pub const fn of(_: u64) -> Link {
        Link
    }

    /// The address in it, stripped.
    pub fn address(self) -> u64 {
        0
    }
}

/// Bytes below the stack pointer that belong to the interrupted function.
pub const RED_ZONE_BYTES: u64 = 128;

/// The rule of code without unwind tables, on the chance that it keeps frame pointers.
pub const FRAME_POINTER: Rule = Rule::FromFramePointer { cfa: 2, saved: 2 };

/// Where a frame keeps the address that it returns to, with this CFA and the frame pointer so many words
/// below that: None if it does not lie in memory.
#[inline(always)]
pub fn return_place(cfa: u64, _: u16) -> Option<u64> {
    Some(cfa.wrapping_sub(8))
}

/// Whether the return address is still in its register by this rule.
#[inline(always)]
pub fn uses_link(_: Rule) -> bool {
    false
}

/// Whether a path ends where a frame pointer that was saved is null.
pub const ENDS_AT_NULL: bool = false;

/// Whether what lies on the stack may differ from the address that it leads to.
pub const IS_PROTECTED: bool = false;

/// A return address, without what protects it.
#[inline(always)]
pub fn strip(address: u64) -> u64 {
    address
}

/// Whether the caller's frame may lie below: on the piece of a split stack that was used up.
///
/// The function that continues in another piece of stack (`__morestack` of GCC's library) was called by a
/// function's first instructions. Its unwind table skips that return address, as no other function's does,
/// and leads to the function's caller.
#[inline]
pub fn leads_to_another_stack(rule: Rule) -> bool {
    rule == Rule::FromFramePointer { cfa: 3, saved: 3 }
}

/// Registers as framehop wants them.
#[inline]
pub fn registers(state: &State) -> Registers {
    UnwindRegsX86_64::new(state.pc, state.sp, state.bp)
}

/// The frame at `pc` to which framehop has stepped.
#[inline]
pub fn stepped(pc: u64, registers: &Registers) -> State {
    State { pc, sp: registers.sp(), bp: registers.bp(), ..State::default() }
}
