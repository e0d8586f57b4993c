//! System calls: which of them only some machines have, and what they look like in the program's code.

use libc::c_long;

/// `pause`, where the machine has it.
pub const PAUSE: Option<c_long> = Some(libc::SYS_pause);
/// `select`, where the machine has it.
pub const SELECT: Option<c_long> = Some(libc::SYS_select);
/// `poll`, where the machine has it.
pub const POLL: Option<c_long> = Some(libc::SYS_poll);
/// `epoll_wait`, where the machine has it.
pub const EPOLL_WAIT: Option<c_long> = Some(libc::SYS_epoll_wait);
/// `vfork`, where the machine has it.
pub const VFORK: Option<c_long> = Some(libc::SYS_vfork);

/// Bytes before a system call in which the instruction is looked for that loads its number.
pub const BYTES_BEFORE: usize = 24;
/// `syscall`
const CALL: [u8; 2] = [0x0f, 0x05];
/// `mov eax, NUMBER`
const LOAD_NUMBER: u8 = 0xb8;

/// The number of the system call with which this code ends, by the instruction that loads it.
pub fn number_in(code: &[u8; BYTES_BEFORE]) -> Option<c_long> {
    let before = code.strip_suffix(&CALL)?;
    before.windows(5).rev().find_map(|load| {
        (load[0] == LOAD_NUMBER && load[3..] == [0, 0])
            .then(|| c_long::from(u16::from_le_bytes([load[1], load[2]])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_call_is_in_the_code_before_it() {
        let mut code = [0x90; BYTES_BEFORE];
        code[10..15].copy_from_slice(&[LOAD_NUMBER, 0x17, 0x01, 0, 0]);
        assert_eq!(number_in(&code), None, "no call at the end");
        code[BYTES_BEFORE - 2..].copy_from_slice(&CALL);
        assert_eq!(number_in(&code), Some(0x117));
    }
}
