//! Going to another stack, and back out of a handler; how much of one the kernel's frame takes.

use core::arch::naked_asm;
use core::arch::x86_64::__cpuid_count;
use core::ffi::c_void;
use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::raw;
use crate::sample::handler::{LEAST_ROOM_BYTES, TimerInfo, on_signal};
use crate::sample::timer::COOKIE;

/// Calls `run(call)` on the stack below `top`, or on the present one if that is null. Debuggers and unwinders
/// find the caller's frame through `rbp`.
///
/// # Safety
/// Below `top`, which is aligned to 16 bytes, lies memory that nothing else uses meanwhile, enough for `run`,
/// which takes `call`.
#[unsafe(naked)]
pub unsafe extern "C" fn call_on(call: *mut c_void, run: extern "C" fn(*mut c_void), top: *mut u8) {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "test rdx, rdx",
        "cmovnz rsp, rdx",
        "call rsi",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}

/// Stores the stack pointer at `place` and calls `call(work)`. Returns true, or false where [`back`] returned
/// to here.
///
/// # Safety
/// `call` takes `work`, and `place` is the caller's.
#[unsafe(naked)]
pub unsafe extern "C" fn enter(
    work: *mut c_void,
    call: extern "C" fn(*mut c_void),
    place: *mut usize,
) -> bool {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        "push rbx",
        ".cfi_adjust_cfa_offset 8",
        "push r12",
        ".cfi_adjust_cfa_offset 8",
        "push r13",
        ".cfi_adjust_cfa_offset 8",
        "push r14",
        ".cfi_adjust_cfa_offset 8",
        "push r15",
        ".cfi_adjust_cfa_offset 8",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "mov [rdx], rsp",
        "call rsi",
        "mov eax, 1",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "pop r15",
        ".cfi_adjust_cfa_offset -8",
        "pop r14",
        ".cfi_adjust_cfa_offset -8",
        "pop r13",
        ".cfi_adjust_cfa_offset -8",
        "pop r12",
        ".cfi_adjust_cfa_offset -8",
        "pop rbx",
        ".cfi_adjust_cfa_offset -8",
        "pop rbp",
        ".cfi_adjust_cfa_offset -8",
        "ret",
        ".cfi_endproc",
    )
}

/// Goes back to the [`enter`] that stored this stack pointer.
///
/// # Safety
/// That one has not returned.
#[unsafe(naked)]
pub unsafe extern "C" fn back(sp: usize) -> ! {
    naked_asm!(
        "mov rsp, rdi",
        "xor eax, eax",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// `cmp rsp, fs:[0x70]`: where functions that are compiled with `-fsplit-stack` begin, unless they need more
/// than what is always free.
const COMPARES_LIMIT: [u8; 9] = [0x64, 0x48, 0x3b, 0x24, 0x25, 0x70, 0, 0, 0];

/// Whether functions of this code look before they begin whether their stack has to be continued elsewhere.
pub fn splits(code: &[u8]) -> bool {
    code.windows(COMPARES_LIMIT.len()).any(|window| window == COMPARES_LIMIT)
}

/// `arch_prctl`: the processor's state that the kernel supports, and that which this process may use.
const ARCH_GET_XCOMP_SUPP: usize = 0x1021;
const ARCH_GET_XCOMP_PERM: usize = 0x1022;
/// CPUID's leaf of the processor's extended state.
const EXTENDED_STATE: u32 = 0xd;

/// Bytes at the end of the kernel's largest frame for state that a process has to ask for (AMX's tiles, of
/// 8 KiB); [`NOT_READ`] = not known yet. The instruction that says so leaves a virtual machine.
static ON_REQUEST_BYTES: AtomicU32 = AtomicU32::new(NOT_READ);
const NOT_READ: u32 = u32::MAX;

fn extended_states(which: usize) -> Option<u64> {
    let mut states = 0_u64;
    // SAFETY: the kernel writes one word to a live place.
    let outcome = unsafe {
        raw::call(libc::SYS_arch_prctl, [which, (&raw mut states).expose_provenance(), 0, 0, 0, 0])
    };
    (!raw::failed(outcome)).then_some(states)
}

/// The state that a process has to ask for, as a bit, if there is one: by what the kernel supports and
/// grants.
fn state_on_request(supported: u64, permitted: u64) -> Option<u32> {
    let missing = supported & !permitted;
    (missing != 0 && missing.is_power_of_two()).then(|| missing.trailing_zeros())
}

/// The size of a state, where it lies at the end of all that the processor stores.
fn size_at_the_end(state: u32) -> u32 {
    let all = __cpuid_count(EXTENDED_STATE, 0).ebx;
    let one = __cpuid_count(EXTENDED_STATE, state);
    if one.ebx.checked_add(one.eax) == Some(all) { one.eax } else { 0 }
}

/// The kernel's frame at most, of which `most_bytes` is the largest that there may be on this machine: a
/// process that has not asked for the processor's largest registers has none of their state in it.
pub fn frame_bytes(most_bytes: usize) -> usize {
    let states = extended_states(ARCH_GET_XCOMP_SUPP).zip(extended_states(ARCH_GET_XCOMP_PERM));
    let Some(state) = states.and_then(|(supported, permitted)| state_on_request(supported, permitted)) else {
        return most_bytes;
    };
    let mut bytes = ON_REQUEST_BYTES.load(Ordering::Relaxed);
    if bytes == NOT_READ {
        bytes = size_at_the_end(state);
        ON_REQUEST_BYTES.store(bytes, Ordering::Relaxed);
    }
    most_bytes.saturating_sub(bytes as usize)
}

const STACK_START: usize = offset_of!(libc::ucontext_t, uc_stack) + offset_of!(libc::stack_t, ss_sp);
const STACK_BYTES: usize = offset_of!(libc::ucontext_t, uc_stack) + offset_of!(libc::stack_t, ss_size);

/// The handler's first instructions: a signal of ours that arrives on an alternate stack without room for the
/// handler is dropped. A process may ask for larger registers at any time, and from then on the kernel's
/// frame fills a stack that had room before. Nothing is stored here: the frame may end where the stack
/// does.
///
/// # Safety
/// For the kernel, as [`on_signal`].
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn on_signal_first(
    signal: i32,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    naked_asm!(
        ".cfi_startproc",
        "mov rax, rsp",
        "sub rax, [rdx + {start}]",
        "cmp rax, [rdx + {bytes}]",
        "jae {on_signal}",
        "cmp rax, {least}",
        "jae {on_signal}",
        "cmp dword ptr [rsi + {code}], {timer}",
        "jne {on_signal}",
        "mov rax, {cookie}",
        "cmp rax, [rsi + {value}]",
        "jne {on_signal}",
        "lock inc dword ptr [rip + {dropped}]",
        "ret",
        ".cfi_endproc",
        start = const STACK_START,
        bytes = const STACK_BYTES,
        least = const LEAST_ROOM_BYTES,
        code = const offset_of!(TimerInfo, code),
        timer = const libc::SI_TIMER,
        value = const offset_of!(TimerInfo, value),
        cookie = const COOKIE,
        dropped = sym DROPPED,
        on_signal = sym on_signal,
    )
}

/// Samples that were dropped for want of room.
static DROPPED: AtomicU32 = AtomicU32::new(0);

/// How many samples [`on_signal_first`] has dropped.
pub fn dropped_samples() -> u32 {
    DROPPED.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_state_that_was_not_granted_is_left_out() {
        let tiles = 1 << 18;
        assert_eq!(state_on_request(0x602e7 | tiles, 0x202e7), Some(18));
        assert_eq!(state_on_request(0x602e7, 0x602e7), None);
        assert_eq!(state_on_request(0x7, 0x7), None);
        // Two of them: their places in the frame are not known.
        assert_eq!(state_on_request(0xc02e7, 0x002e7), None);
    }

    #[test]
    fn a_frame_is_never_larger_than_the_largest() {
        for most in [0, 2048, 11_952] {
            let bytes = frame_bytes(most);
            assert!(bytes <= most && (most < 9000 || bytes > 2000), "{bytes} of {most}");
        }
    }
}
