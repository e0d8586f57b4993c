//! Frames: where the return address lies, and what framehop is given.
//!
//! A call leaves the return address in a register. A function that calls others stores it, as a rule in one
//! piece with the frame pointer: first that one, behind it the return address. So one number says where both
//! are. Where they are stored apart, framehop steps each time.

use framehop::MustNotAllocateDuringUnwind;
use framehop::aarch64::{CacheAarch64, PtrAuthMask, UnwindRegsAarch64, UnwinderAarch64};

use crate::path::rules::Rule;

/// framehop's working memory; never allocates while unwinding.
pub type StepCache = CacheAarch64<MustNotAllocateDuringUnwind>;
/// framehop, with these tables.
pub type Tables<D> = UnwinderAarch64<D, MustNotAllocateDuringUnwind>;
/// Its registers.
pub type Registers = UnwindRegsAarch64;

/// The register that holds where a function returns to, until the function stores it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link(u64);

impl Link {
    /// A register with this address in it.
    pub const fn of(address: u64) -> Link {
        Link(address)
    }

    /// The address in it, stripped.
    pub fn address(self) -> u64 {
        strip(self.0)
    }
}

/// Bytes below the stack pointer that belong to the interrupted function.
pub const RED_ZONE_BYTES: u64 = 0;

/// The rule of code without unwind tables, on the chance that it keeps frame pointers.
pub const FRAME_POINTER: Rule = Rule::FromFramePointer { cfa: 2, saved: 2 };

/// Where a frame keeps the address that it returns to, with this CFA and the frame pointer so many words
/// below that: None if it does not lie in memory.
#[inline(always)]
pub fn return_place(cfa: u64, saved: u16) -> Option<u64> {
    (saved != 0).then(|| cfa.wrapping_sub(8 * u64::from(saved)).wrapping_add(8))
}

/// Whether the return address is still in its register by this rule.
#[inline(always)]
pub fn uses_link(rule: Rule) -> bool {
    matches!(rule, Rule::FromStackPointer { saved: 0, .. })
}

/// Whether a path ends at a saved frame pointer that is null: the code that begins a thread clears it, and
/// framehop stops there, too.
pub const ENDS_AT_NULL: bool = true;

/// Whether what lies on the stack may differ from the address that it leads to.
pub const IS_PROTECTED: bool = true;

/// Bits of an address of code. Above them lies, where a function protects where it returns to (PAC), a
/// signature that shows that it is unchanged. The kernel gives a program higher addresses only if it asks for
/// them.
const ADDRESS_BITS: u32 = 48;
const ADDRESS: u64 = (1 << ADDRESS_BITS) - 1;

/// A return address, without what protects it.
#[inline(always)]
pub fn strip(address: u64) -> u64 {
    address & ADDRESS
}

/// Whether the caller's frame may lie below: GCC splits no stacks on this machine.
#[inline]
pub fn leads_to_another_stack(_: Rule) -> bool {
    false
}

fn registers_of(link: Link, sp: u64, bp: u64) -> Registers {
    UnwindRegsAarch64::new_with_ptr_auth_mask(PtrAuthMask(ADDRESS), link.0, sp, bp)
}

#[cfg(target_arch = "aarch64")]
mod of_this_machine {
    use super::*;
    use crate::path::memo::State;

    /// Registers as framehop wants them.
    #[inline]
    pub fn registers(state: &State) -> Registers {
        registers_of(state.link, state.sp, state.bp)
    }

    /// The frame at `pc` to which framehop has stepped.
    #[inline]
    pub fn stepped(pc: u64, registers: &Registers) -> State {
        State { pc, sp: registers.sp(), bp: registers.fp(), ..State::default() }
    }
}
#[cfg(target_arch = "aarch64")]
pub use of_this_machine::*;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protected_return_address_leads_to_code() {
        let code = 0x0000_ffff_8123_4568;
        assert_eq!(strip(code), code);
        assert_eq!(strip(code | 0x00b5_0000_0000_0000), code);
        assert_eq!(Link::of(code | 0xff7f_0000_0000_0000).address(), code);
        assert_eq!(registers_of(Link::of(code | 0x1234 << 48), 16, 32).lr(), code);
    }

    #[test]
    fn the_return_address_lies_behind_the_frame_pointer() {
        // stp x29, x30, [sp, #-48]!: the frame pointer at the CFA - 48, the return address at the CFA - 40.
        assert_eq!(return_place(1048, 6), Some(1008));
        // The frame record itself, from which code without tables is unwound: x29 leads to {x29, x30}.
        let Rule::FromFramePointer { cfa, saved } = FRAME_POINTER else { panic!() };
        let record = 2000;
        assert_eq!(return_place(record + 8 * u64::from(cfa), saved), Some(record + 8));
        assert_eq!(return_place(1048, 0), None);
        assert!(uses_link(Rule::FromStackPointer { cfa: 0, saved: 0 }));
        assert!(!uses_link(Rule::FromStackPointer { cfa: 6, saved: 6 }));
    }
}
