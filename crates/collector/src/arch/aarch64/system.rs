//! System calls: which of them only some machines have, and what they look like in the program's code.

use libc::c_long;

/// `pause`, where the machine has it.
pub const PAUSE: Option<c_long> = None;
/// `select`, where the machine has it.
pub const SELECT: Option<c_long> = None;
/// `poll`, where the machine has it.
pub const POLL: Option<c_long> = None;
/// `epoll_wait`, where the machine has it.
pub const EPOLL_WAIT: Option<c_long> = None;
/// `vfork`, where the machine has it: here the C library makes it of `clone`.
pub const VFORK: Option<c_long> = None;

/// Bytes before a system call in which the instruction is looked for that loads its number.
pub const BYTES_BEFORE: usize = 32;
/// `svc #0`
const CALL: u32 = 0xd400_0001;

/// The number of the system call with which this code ends, by the instruction that loads it.
pub fn number_in(code: &[u8; BYTES_BEFORE]) -> Option<c_long> {
    let instruction = |at: usize| code.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
    if instruction(BYTES_BEFORE - 4)? != CALL {
        return None;
    }
    (0..BYTES_BEFORE - 4).step_by(4).rev().find_map(|at| number_loaded_by(instruction(at)?))
}

/// The number that `mov x8, #NUMBER`, or the same with `w8`, loads.
fn number_loaded_by(instruction: u32) -> Option<c_long> {
    // All but the immediate number and the width.
    let is_load = instruction & 0x7fe0_001f == 0x5280_0008;
    is_load.then(|| c_long::from((instruction >> 5) as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_call_is_in_the_code_before_it() {
        // mov x8, #139 ; mov w8, #98 ; mov w0, #98
        assert_eq!(number_loaded_by(0xd280_1168), Some(139));
        assert_eq!(number_loaded_by(0x5280_0c48), Some(98));
        assert_eq!(number_loaded_by(0x5280_0c40), None);
        let mut code = [0; BYTES_BEFORE];
        code[8..12].copy_from_slice(&0x5280_0c48_u32.to_le_bytes());
        assert_eq!(number_in(&code), None, "no call at the end");
        code[BYTES_BEFORE - 4..].copy_from_slice(&CALL.to_le_bytes());
        assert_eq!(number_in(&code), Some(98));
    }
}
