//! Which function a call instruction names, read from the machine code.
//!
//! A function that ends in a jump to another one (a tail call) leaves no frame on the stack: its caller seems
//! to have called the other one. The call instruction still names it.

use object::elf::EM_X86_64;
use object::read::elf::FileHeader;
use object::{Object, ObjectSection};

use crate::image::Elf;

/// Bytes of `call rel32`.
const CALL_BYTES: u64 = 5;
const CALL: u8 = 0xe8;

/// Beginnings of the names of what compilers put in place of an indirect call: it is called directly, and
/// jumps to where the register leads.
const THUNKS: [&str; 2] = ["__x86_indirect_thunk", "__llvm_retpoline"];

/// Whether a function is no more than an indirect call.
pub(crate) fn is_thunk(name: &str) -> bool {
    THUNKS.iter().any(|thunk| name.starts_with(thunk))
}

/// Where the call goes that ends with the byte at `address`; `None` where none does, or an indirect one.
pub(crate) fn target(module: &Elf<'_>, address: u64) -> Option<u64> {
    if module.elf_header().e_machine(module.endian()) != EM_X86_64 {
        return None;
    }
    let end = address.checked_add(1)?;
    let start = end.checked_sub(CALL_BYTES)?;
    let holds = |address: u64, bytes: u64| address <= start && end <= address.saturating_add(bytes);
    let section = module.sections().find(|section| holds(section.address(), section.size()))?;
    let [CALL, distance @ ..] = *section.data_range(start, CALL_BYTES).ok()??.first_chunk::<5>()? else {
        return None;
    };
    Some(end.wrapping_add_signed(i64::from(i32::from_le_bytes(distance))))
}
