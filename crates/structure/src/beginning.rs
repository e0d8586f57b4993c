//! What a program's entry point says of its functions: where `_start` is, by definition, and where `main` is,
//! which `_start` passes to the C library. Stripped programs have no other names for them.

use object::elf::{EM_X86_64, PF_X};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Object, ObjectSegment};

use crate::image::Elf;

/// The functions by which an x86-64 program begins.
pub(crate) struct Beginning {
    start: u64,
    main: Option<u64>,
}

const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// As the ABI has a C library's `_start` begin: no caller (`xor %ebp,%ebp`), the function for the exit and
/// the arguments (`mov %rdx,%r9`, `pop %rsi`, `mov %rsp,%rdx`), an aligned stack (`and $-16,%rsp`).
const START: [u8; 13] = [0x31, 0xed, 0x49, 0x89, 0xd1, 0x5e, 0x48, 0x89, 0xe2, 0x48, 0x83, 0xe4, 0xf0];

/// `_start` is shorter than that.
const START_BYTES: u64 = 64;

/// `lea main(%rip),%rdi`, in code that works at any address.
const LEA_RDI: [u8; 3] = [0x48, 0x8d, 0x3d];
/// `mov $main,%rdi`.
const MOV_RDI: [u8; 3] = [0x48, 0xc7, 0xc7];

impl Beginning {
    /// None of a library, of a program that begins otherwise, and on other processors.
    pub(crate) fn of(module: &Elf<'_>) -> Option<Beginning> {
        if module.elf_header().e_machine(module.endian()) != EM_X86_64 {
            return None;
        }
        let start = module.entry();
        let code = module.segments().find_map(|segment| {
            // A segment may end behind it.
            let end = segment.address().checked_add(segment.size())?;
            let bytes = end.checked_sub(start)?.min(START_BYTES);
            segment.data_range(start, bytes).ok().flatten()
        })?;
        let body = code.strip_prefix(&ENDBR64).unwrap_or(code);
        let body = body.strip_prefix(&START)?;
        let body_at = start + (code.len() - body.len()) as u64;
        let main = body.windows(7).enumerate().find_map(|(at, window)| {
            let operand = i64::from(i32::from_le_bytes(window.get(3..)?.try_into().ok()?));
            let next = body_at + at as u64 + window.len() as u64;
            match window.get(..3)? {
                instruction if instruction == LEA_RDI => Some(next.wrapping_add_signed(operand)),
                instruction if instruction == MOV_RDI => u64::try_from(operand).ok(),
                _ => None,
            }
        });
        Some(Beginning { start, main: main.filter(|&main| is_code(module, main)) })
    }

    /// The name of the function that begins at `address`, if it is one of them.
    pub(crate) fn name(&self, address: u64) -> Option<&'static str> {
        match address {
            _ if address == self.start => Some("_start"),
            _ if Some(address) == self.main => Some("main"),
            _ => None,
        }
    }
}

fn is_code(module: &Elf<'_>, address: u64) -> bool {
    let endian = module.endian();
    module.elf_program_headers().iter().any(|header| {
        let offset = address.checked_sub(header.p_vaddr(endian));
        header.p_flags(endian).contains(PF_X) && offset.is_some_and(|offset| offset < header.p_memsz(endian))
    })
}
