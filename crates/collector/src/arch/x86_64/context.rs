//! The registers that a signal interrupted, and what the kernel puts on the stack for a handler.

use libc::{c_long, ucontext_t};

use crate::path::memo::State;

/// Where the kernel keeps the registers of arguments of a system call.
const ARGUMENTS: [i32; 6] =
    [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9];

#[inline]
fn register(context: &ucontext_t, number: i32) -> u64 {
    context.uc_mcontext.gregs[number as usize] as u64
}

/// Where the interrupted code was.
#[inline]
pub fn state(context: &ucontext_t) -> State {
    State {
        pc: register(context, libc::REG_RIP),
        sp: stack_pointer(context),
        bp: register(context, libc::REG_RBP),
        exact: true,
        ..State::default()
    }
}

/// Its stack pointer.
#[inline]
pub fn stack_pointer(context: &ucontext_t) -> u64 {
    register(context, libc::REG_RSP)
}

/// Its second and third argument, if it is at a function's first instruction.
#[inline]
pub fn handler_arguments(context: &ucontext_t) -> [u64; 2] {
    [register(context, libc::REG_RSI), register(context, libc::REG_RDX)]
}

/// The result of the system call right before this instruction, if there is one.
pub fn result(context: &ucontext_t) -> i64 {
    context.uc_mcontext.gregs[libc::REG_RAX as usize]
}

/// An argument of that call, from 0 on.
pub fn argument(context: &ucontext_t, number: usize) -> i64 {
    ARGUMENTS.get(number).map_or(0, |&register| context.uc_mcontext.gregs[register as usize])
}

/// Changes an argument of that call.
pub fn set_argument(context: &mut ucontext_t, number: usize, value: i64) {
    if let Some(&register) = ARGUMENTS.get(number) {
        context.uc_mcontext.gregs[register as usize] = value;
    }
}

/// Whether a call that failed can be made again: all that it was given is still in registers.
pub const CAN_REPEAT_CALLS: bool = true;

/// Makes it repeat the call of this number.
pub fn repeat_call(context: &mut ucontext_t, number: c_long) {
    const INSTRUCTION_BYTES: i64 = 2;
    let registers = &mut context.uc_mcontext.gregs;
    registers[libc::REG_RAX as usize] = number;
    registers[libc::REG_RIP as usize] -= INSTRUCTION_BYTES;
}

/// Where the context begins on a handler's stack: behind the address that the handler returns to.
pub const CONTEXT: u64 = 8;
/// Where the siginfo begins.
pub const INFO: u64 = CONTEXT + CONTEXT_BYTES as u64;
/// The kernel's `struct ucontext`: flags, link, stack, registers, mask.
const CONTEXT_BYTES: usize = 304;
/// So much of a handler's stack is looked at.
pub const FRAME_BYTES: usize = CONTEXT as usize + CONTEXT_BYTES;

/// Where the registers begin in the context.
const REGISTERS: usize = 40;

const fn place_of(register: i32) -> u64 {
    (REGISTERS + 8 * register as usize) as u64
}

/// Where a context keeps what unwinding needs: instruction, stack pointer, frame pointer.
pub const PLACES: [u64; 3] = [place_of(libc::REG_RIP), place_of(libc::REG_RSP), place_of(libc::REG_RBP)];
/// Where it keeps the register with a function's return address, if there is one.
pub const LINK_PLACE: Option<u64> = None;

/// From the stack pointer at the instructions to which a handler returns to the context.
pub const CONTEXT_AT_RETURN: u64 = 0;

/// What a handler returns to: `mov rax, SYS_rt_sigreturn; syscall`.
pub const RETURN_CODE: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05];

/// Where a handler returns to that has not executed an instruction; its frame is at its stack pointer.
pub fn handler_returns_to(frame: &[u8; FRAME_BYTES], _: &State) -> Option<u64> {
    word(frame, 0)
}

/// The context that the handler interrupted, and the values of its second and third argument registers.
pub fn state_below(frame: &[u8; FRAME_BYTES]) -> Option<(State, [u64; 2])> {
    let register = |register: i32| word(frame, (CONTEXT + place_of(register)) as usize);
    let state = State {
        pc: register(libc::REG_RIP)?,
        sp: register(libc::REG_RSP)?,
        bp: register(libc::REG_RBP)?,
        exact: true,
        ..State::default()
    };
    Some((state, [register(libc::REG_RSI)?, register(libc::REG_RDX)?]))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_ne_bytes)
}

/// Where a function that `makecontext` prepared returns to: it finds the address on its stack.
///
/// # Safety
/// `makecontext` made the context, whose stack is `stack`.
pub unsafe fn coroutine_returns_to(context: &ucontext_t, stack: core::ops::Range<u64>) -> Option<u64> {
    let sp = stack_pointer(context);
    // SAFETY: a word of that stack.
    (stack.start..stack.end - 8).contains(&sp).then(|| unsafe { (sp as *const u64).read_unaligned() })
}
