//! Instructions that change memory atomically, read from the machine code.
//!
//! Such an instruction waits until its processor has the memory for itself. Where several threads change the
//! same memory, each takes it from the others every time, and the program's time passes at these
//! instructions. A sample then finds the thread at the instruction, or at the one behind it, which is the
//! next to be executed.
//!
//! They are looked for in x86-64 code only.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};
use object::elf::EM_X86_64;
use object::read::elf::FileHeader;
use object::{Object, ObjectSection};

use crate::image::Elf;
use crate::waiting_loops::is_locked_nothing;

/// Bytes of the longest function that is read up to the address.
const LONGEST_BYTES: u64 = 64 * 1024;
/// Bytes of the longest instruction.
const INSTRUCTION_BYTES: usize = 15;
/// The prefix that makes an instruction atomic, and the first bytes of exchanges, which always are.
const MARKS: [u8; 3] = [0xf0, 0x86, 0x87];

/// Where an atomic change of memory is, seen from an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomic {
    /// It begins there.
    Begins,
    /// It ends there: the time passed before.
    Ends,
}

/// The atomic change of memory that begins or ends at `address`, in the function that begins at `begin`.
pub(crate) fn at(module: &Elf<'_>, begin: u64, address: u64) -> Option<Atomic> {
    if module.elf_header().e_machine(module.endian()) != EM_X86_64 {
        return None;
    }
    let before = address.checked_sub(begin).filter(|&bytes| bytes <= LONGEST_BYTES)?;
    let holds = |section: &object::read::elf::ElfSection64<'_, '_>| {
        let end = section.address().saturating_add(section.size());
        section.address() <= begin && address < end
    };
    let section = module.sections().find(holds)?;
    let end = section.address().saturating_add(section.size());
    let bytes = (before + INSTRUCTION_BYTES as u64).min(end - begin);
    match section.data_range(begin, bytes) {
        Ok(Some(code)) => changes(code, before as usize),
        _ => None,
    }
}

/// As [`at`], in the `code` of a function; `at` is the place in it.
fn changes(code: &[u8], at: usize) -> Option<Atomic> {
    let near = code.get(at.saturating_sub(INSTRUCTION_BYTES)..).unwrap_or_default();
    if !near.iter().any(|byte| MARKS.contains(byte)) {
        return None;
    }
    let mut ended = None;
    let decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    for instruction in decoder {
        if instruction.is_invalid() || instruction.ip() > at as u64 {
            break;
        }
        if instruction.next_ip() == at as u64 && is_atomic_change(&instruction) {
            ended = Some(Atomic::Ends);
        }
        if instruction.ip() == at as u64 && is_atomic_change(&instruction) {
            return Some(Atomic::Begins);
        }
    }
    ended
}

fn is_atomic_change(instruction: &Instruction) -> bool {
    let has_memory = instruction.op0_kind() == OpKind::Memory || instruction.op1_kind() == OpKind::Memory;
    has_memory
        && (instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg)
        && !is_locked_nothing(instruction)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `mov eax, 1`, `lock xadd [rdi], eax`, `cmp eax, 1`, `lock or dword [rsp], 0`, `xchg [rdi], eax`,
    /// `mov ecx, 0xf0f0f0f0`, `ret`.
    const CODE: [u8; 27] = [
        0xb8, 1, 0, 0, 0, 0xf0, 0x0f, 0xc1, 0x07, 0x83, 0xf8, 1, 0xf0, 0x83, 0x0c, 0x24, 0, 0x87, 0x07, 0xb9,
        0xf0, 0xf0, 0xf0, 0xf0, 0xc3, 0x90, 0x90,
    ];

    #[test]
    fn it_is_where_an_atomic_change_begins_or_ends() {
        let found: Vec<_> =
            (0..CODE.len()).filter_map(|at| changes(&CODE, at).map(|found| (at, found))).collect();
        // The fence changes nothing, and the bytes of a constant are no instruction.
        let (begins, ends) = (Atomic::Begins, Atomic::Ends);
        assert_eq!(found, [(5, begins), (9, ends), (17, begins), (19, ends)]);
    }

    #[test]
    fn any_bytes_are_read() {
        for at in 0..CODE.len() {
            for length in 0..CODE.len() {
                let _ = changes(&CODE[CODE.len() - length..], at);
            }
        }
    }
}
