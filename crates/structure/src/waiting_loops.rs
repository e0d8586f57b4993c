//! Loops that only wait, read from the machine code.
//!
//! A loop that stores nothing, calls nothing, and carries no register from one iteration to the next does the
//! same again as long as memory stays the same. So it ends only when something else writes there: another
//! thread, as a rule. No loop that computes is like that; a sum has an accumulator, a search an index.
//!
//! The other kind has PAUSE, the instruction by which a program says that it waits. Such a loop may count how
//! often it has looked, and may try to take a lock by an atomic exchange.
//!
//! A loop that reads the same place twice is neither: it tries again only if what it read has changed
//! meanwhile (a sequence lock's reader), which it rarely does.
//!
//! A call of a function that only orders accesses to memory ([`FENCES`]) is none.
//!
//! Loops are looked for in x86-64 code only, and only short ones: waiting takes few instructions.

use std::collections::BTreeMap;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register,
};
use object::elf::EM_X86_64;
use object::read::elf::FileHeader;
use object::{Object, ObjectSection};

use crate::image::Elf;

/// Bytes of machine code of the longest loop that is looked at.
const LONGEST_BYTES: u64 = 256;

/// Functions that only order accesses to memory: what LLVM makes of `flush`.
pub(crate) const FENCES: [&str; 1] = ["__kmpc_flush"];

/// Whether the instruction at `address` belongs to a loop that only waits. `is_fence` says whether the
/// function that a call leads to is one of [`FENCES`].
pub(crate) fn is_in_one(module: &Elf<'_>, address: u64, is_fence: impl Fn(u64) -> bool) -> bool {
    if module.elf_header().e_machine(module.endian()) != EM_X86_64 {
        return false;
    }
    let holds = |section: &object::read::elf::ElfSection64<'_, '_>| {
        address.checked_sub(section.address()).is_some_and(|offset| offset < section.size())
    };
    let Some(section) = module.sections().find(holds) else { return false };
    let begin = section.address().max(address.saturating_sub(LONGEST_BYTES));
    let end = section.address().saturating_add(section.size()).min(address.saturating_add(LONGEST_BYTES));
    match section.data_range(begin, end - begin) {
        Ok(Some(code)) => waits(code, begin, address, &is_fence),
        _ => false,
    }
}

/// As [`is_in_one`], in `code` that begins at the address `begin`.
fn waits(code: &[u8], begin: u64, address: u64, is_fence: &dyn Fn(u64) -> bool) -> bool {
    let instructions = |from: u64| {
        let at = from.checked_sub(begin).map_or(code.len(), |at| at as usize);
        let mut decoder =
            Decoder::with_ip(64, code.get(at..).unwrap_or_default(), from, DecoderOptions::NONE);
        std::iter::from_fn(move || decoder.can_decode().then(|| decoder.decode()))
            .take_while(|instruction| !instruction.is_invalid())
    };
    let mut is_innermost = true;
    for instruction in instructions(address) {
        match instruction.flow_control() {
            FlowControl::Next | FlowControl::Return => {}
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                let (first, end) = (instruction.near_branch_target(), instruction.next_ip());
                if !(begin..=address).contains(&first) || end.wrapping_sub(first) > LONGEST_BYTES {
                    continue;
                }
                let range: Vec<Instruction> = instructions(first).take_while(|one| one.ip() < end).collect();
                // Elsewhere the bytes are read in another way, or end in between.
                if range.last().is_none_or(|last| last.next_ip() != end) {
                    continue;
                }
                let body = those_that_go_round(&range);
                if !body.iter().any(|one| one.ip() == address) {
                    continue;
                }
                if Loop::new(&body, is_fence).is_some_and(|found| found.waits(is_innermost)) {
                    return true;
                }
                is_innermost = false;
            }
            FlowControl::Call if is_fence(instruction.near_branch_target()) => {}
            // Beyond it there is no loop without a call.
            _ => return false,
        }
    }
    false
}

/// Of the instructions up to a branch back to the first of them those from which it can be reached: the
/// others are executed when the loop is over.
fn those_that_go_round(range: &[Instruction]) -> Vec<Instruction> {
    let at = |ip: u64| range.binary_search_by_key(&ip, Instruction::ip).ok();
    let mut goes_round = vec![false; range.len()];
    if let Some(last) = goes_round.last_mut() {
        *last = true;
    }
    loop {
        let before = goes_round.clone();
        for (number, instruction) in range.iter().enumerate().rev().skip(1) {
            let target = match instruction.flow_control() {
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                    at(instruction.near_branch_target())
                }
                _ => None,
            };
            let continues =
                !matches!(instruction.flow_control(), FlowControl::UnconditionalBranch | FlowControl::Return);
            goes_round[number] |=
                continues && goes_round[number + 1] || target.is_some_and(|target| goes_round[target]);
        }
        if goes_round == before {
            break;
        }
    }
    range.iter().zip(goes_round).filter(|(_, goes_round)| *goes_round).map(|(one, _)| *one).collect()
}

/// What the instructions of a loop do, all together.
#[derive(Debug, Default)]
struct Loop {
    reads: bool,
    /// It reads one place twice.
    reads_twice: bool,
    pauses: bool,
    /// Something is stored in the function's own frame, as by code that was not optimised.
    keeps: bool,
    /// Something is changed atomically in a way that may fail.
    exchanges: bool,
    /// A register has its value of the iteration before.
    carries: bool,
}

impl Loop {
    /// None of a loop that stores something or leaves for another function.
    fn new(body: &[Instruction], is_fence: &dyn Fn(u64) -> bool) -> Option<Loop> {
        let mut found = Loop::default();
        let mut registers = Registers::default();
        let mut read = Vec::new();
        let mut info = InstructionInfoFactory::new();
        let end = body.last()?.next_ip();
        // Up to here instructions may be skipped.
        let mut skipped_to = 0;
        for instruction in body {
            match instruction.flow_control() {
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                    // What leads out of the loop skips nothing in the iterations that follow.
                    skipped_to = Some(instruction.near_branch_target())
                        .filter(|&target| target < end)
                        .map_or(skipped_to, |target| target.max(skipped_to));
                }
                FlowControl::Next | FlowControl::Return => {}
                FlowControl::Call if is_fence(instruction.near_branch_target()) => continue,
                _ => return None,
            }
            found.pauses |= matches!(instruction.mnemonic(), Mnemonic::Pause | Mnemonic::Tpause);
            let used = info.info(instruction);
            if instruction.flow_control() != FlowControl::Return && !is_locked_nothing(instruction) {
                for memory in used.used_memory() {
                    match memory.access() {
                        OpAccess::Read | OpAccess::CondRead => {
                            let place =
                                (memory.base(), memory.index(), memory.scale(), memory.displacement());
                            found.reads_twice |= read.contains(&place) && !is_in_frame(memory.base());
                            found.reads = true;
                            read.push(place);
                        }
                        OpAccess::None | OpAccess::NoMemAccess => {}
                        // It stores the same each time, until another thread has cleared it.
                        _ if is_test_and_set(instruction) => found.reads = true,
                        _ if instruction.has_lock_prefix() => found.exchanges = true,
                        _ if is_in_frame(memory.base()) => found.keeps = true,
                        _ => return None,
                    }
                }
            }
            let is_sure = instruction.ip() >= skipped_to;
            let both = used.used_registers().iter();
            both.clone().for_each(|one| registers.reads(one.register(), one.access()));
            both.for_each(|one| registers.writes(one.register(), one.access(), is_sure));
        }
        found.carries = registers.are_carried();
        Some(found)
    }

    fn waits(&self, is_innermost: bool) -> bool {
        let by_its_word = self.pauses && is_innermost;
        let by_what_it_does =
            self.reads && !self.reads_twice && !self.keeps && !self.exchanges && !self.carries;
        by_its_word || by_what_it_does
    }
}

/// An atomic instruction on the top of the stack that changes nothing there: compilers' full fence.
pub(crate) fn is_locked_nothing(instruction: &Instruction) -> bool {
    instruction.has_lock_prefix()
        && matches!(instruction.mnemonic(), Mnemonic::Or | Mnemonic::Add)
        && instruction.memory_base() == Register::RSP
        && instruction.op_count() == 2
        && matches!(
            instruction.op1_kind(),
            OpKind::Immediate8 | OpKind::Immediate8to16 | OpKind::Immediate8to32 | OpKind::Immediate8to64
        )
        && instruction.immediate(1) == 0
}

/// What takes a lock, or finds it taken.
fn is_test_and_set(instruction: &Instruction) -> bool {
    match instruction.mnemonic() {
        Mnemonic::Xchg => true,
        Mnemonic::Bts => instruction.has_lock_prefix(),
        _ => false,
    }
}

fn is_in_frame(base: Register) -> bool {
    matches!(base, Register::RSP | Register::RBP)
}

/// Which registers an iteration reads before it has written them, and which it writes.
#[derive(Debug, Default)]
struct Registers {
    /// So many bytes of each were surely written.
    written: BTreeMap<u32, usize>,
    changed: Vec<u32>,
    read_first: Vec<u32>,
}

impl Registers {
    fn number(register: Register) -> Option<u32> {
        let full = register.full_register();
        let is_state = full.is_gpr() || full.is_vector_register() || full.is_k() || full.is_st();
        (is_state && full != Register::RSP).then_some(full as u32)
    }

    fn reads(&mut self, register: Register, access: OpAccess) {
        let is_read = matches!(
            access,
            OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
        );
        let Some(number) = Registers::number(register).filter(|_| is_read) else { return };
        if self.written.get(&number).is_none_or(|&bytes| bytes < register.size()) {
            self.read_first.push(number);
        }
    }

    fn writes(&mut self, register: Register, access: OpAccess, is_sure: bool) {
        let is_write = matches!(access, OpAccess::Write | OpAccess::ReadWrite);
        let may_write = is_write || matches!(access, OpAccess::CondWrite | OpAccess::ReadCondWrite);
        let Some(number) = Registers::number(register).filter(|_| may_write) else { return };
        self.changed.push(number);
        if is_write && is_sure {
            // To write the lower half of a register clears the other one.
            let bytes = if register.is_gpr32() { 8 } else { register.size() };
            let written = self.written.entry(number).or_default();
            *written = bytes.max(*written);
        }
    }

    fn are_carried(&self) -> bool {
        self.read_first.iter().any(|number| self.changed.contains(number))
    }
}

#[cfg(test)]
mod tests;
