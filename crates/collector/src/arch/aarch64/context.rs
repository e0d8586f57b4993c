//! The registers that a signal interrupted, and what the kernel puts on the stack for a handler.

#[cfg(target_arch = "aarch64")]
use libc::{c_long, ucontext_t};

/// The frame pointer's number among the general registers.
const FRAME_POINTER: usize = 29;
/// The number of the one that holds where a function returns to.
const LINK: usize = 30;

#[cfg(target_arch = "aarch64")]
mod of_this_machine {
    use super::super::unwinding::Link;
    use super::*;
    use crate::path::memo::State;

    /// Where the interrupted code was.
    #[inline]
    pub fn state(context: &ucontext_t) -> State {
        let registers = &context.uc_mcontext;
        State {
            pc: registers.pc,
            sp: registers.sp,
            bp: registers.regs[FRAME_POINTER],
            link: Link::of(registers.regs[LINK]),
            exact: true,
        }
    }

    /// Its stack pointer.
    #[inline]
    pub fn stack_pointer(context: &ucontext_t) -> u64 {
        context.uc_mcontext.sp
    }

    /// Its second and third argument, if it is at a function's first instruction.
    #[inline]
    pub fn handler_arguments(context: &ucontext_t) -> [u64; 2] {
        [context.uc_mcontext.regs[1], context.uc_mcontext.regs[2]]
    }

    /// The result of the system call right before this instruction, if there is one.
    pub fn result(context: &ucontext_t) -> i64 {
        context.uc_mcontext.regs[0] as i64
    }

    /// An argument of that call, from 0 on. The first one is lost: the result lies in its register.
    pub fn argument(context: &ucontext_t, number: usize) -> i64 {
        context.uc_mcontext.regs.get(number).map_or(0, |&register| register as i64)
    }

    /// Changes an argument of that call.
    pub fn set_argument(context: &mut ucontext_t, number: usize, value: i64) {
        if let Some(register) = context.uc_mcontext.regs.get_mut(number) {
            *register = value as u64;
        }
    }

    /// Makes it repeat the call of this number. Never used here ([`super::CAN_REPEAT_CALLS`]).
    pub fn repeat_call(_: &mut ucontext_t, _: c_long) {}

    /// Where a handler returns to that has not executed an instruction.
    pub fn handler_returns_to(_: &[u8; FRAME_BYTES], handler: &State) -> Option<u64> {
        Some(handler.link.address())
    }

    /// The context that the handler interrupted, and the values of its second and third argument registers.
    pub fn state_below(frame: &[u8; FRAME_BYTES]) -> Option<(State, [u64; 2])> {
        let [pc, sp, bp, link, first, second] = registers_in(frame)?;
        Some((State { pc, sp, bp, link: Link::of(link), exact: true }, [first, second]))
    }

    /// Where a function that `makecontext` prepared returns to: the register says it.
    ///
    /// # Safety
    /// `makecontext` made the context.
    pub unsafe fn coroutine_returns_to(context: &ucontext_t, _: core::ops::Range<u64>) -> Option<u64> {
        Some(context.uc_mcontext.regs[LINK])
    }
}
#[cfg(target_arch = "aarch64")]
pub use of_this_machine::*;

/// Whether a call that failed can be made again: its first argument is overwritten by the result, and the
/// kernel's copy of it cannot be read.
pub const CAN_REPEAT_CALLS: bool = false;

/// Where the siginfo begins on a handler's stack.
pub const INFO: u64 = 0;
/// Where the context begins: behind the siginfo.
pub const CONTEXT: u64 = 128;

/// Where the registers begin in the context: behind flags, link, stack, 128 bytes for the mask, a gap, and
/// the address of a fault.
const REGISTERS: u64 = 184;

const fn place_of(register: usize) -> u64 {
    REGISTERS + 8 * register as u64
}

const SP: u64 = place_of(31);
const PC: u64 = place_of(32);

/// So much of a handler's stack is looked at.
pub const FRAME_BYTES: usize = (CONTEXT + PC) as usize + 8;

/// Where a context keeps what unwinding needs: instruction, stack pointer, frame pointer.
pub const PLACES: [u64; 3] = [PC, SP, place_of(FRAME_POINTER)];
/// Where it keeps the register with a function's return address, if there is one.
pub const LINK_PLACE: Option<u64> = Some(place_of(LINK));

/// From the stack pointer at the instructions to which a handler returns to the context.
pub const CONTEXT_AT_RETURN: u64 = CONTEXT;

/// What a handler returns to, in the kernel's own pages: `mov x8, #SYS_rt_sigreturn; svc #0`.
pub const RETURN_CODE: [u8; 8] = [0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4];

/// Instruction, stack pointer, frame pointer, link, second and third argument.
fn registers_in(frame: &[u8; FRAME_BYTES]) -> Option<[u64; 6]> {
    let word = |place: u64| {
        let at = (CONTEXT + place) as usize;
        frame.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
    };
    let [pc, sp, bp] = PLACES;
    Some([word(pc)?, word(sp)?, word(bp)?, word(place_of(LINK))?, word(place_of(1))?, word(place_of(2))?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_found_in_the_frame_of_a_handler() {
        let mut frame = [0; FRAME_BYTES];
        // The kernel's structures: siginfo 128, then ucontext: 8 + 8 + 24 + 128 + 8 to the next multiple of
        // 16, then the fault's address and x0 to x30, sp, pc.
        let first = 128 + 176 + 8;
        for register in 0..33_u64 {
            let at = first + 8 * register as usize;
            frame[at..at + 8].copy_from_slice(&(1000 + register).to_le_bytes());
        }
        assert_eq!(registers_in(&frame), Some([1032, 1031, 1029, 1030, 1001, 1002]));
    }

    #[test]
    fn a_handler_returns_to_the_call_of_its_number() {
        let mut code = [0; super::super::system::BYTES_BEFORE];
        let at = code.len() - RETURN_CODE.len();
        code[at..].copy_from_slice(&RETURN_CODE);
        assert_eq!(super::super::system::number_in(&code), Some(139));
    }

    #[cfg(target_arch = "aarch64")]
    #[test]
    fn the_c_library_agrees_on_the_layout() {
        use core::mem::offset_of;
        let registers = offset_of!(ucontext_t, uc_mcontext) + offset_of!(libc::mcontext_t, regs);
        assert_eq!(registers as u64, REGISTERS);
        let pc = offset_of!(ucontext_t, uc_mcontext) + offset_of!(libc::mcontext_t, pc);
        assert_eq!(pc as u64, PC);
    }
}
