//! Names of the linker's stubs for calls into other modules.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use object::elf::EM_X86_64;
use object::read::elf::FileHeader;
use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationTarget};

use crate::image::Elf;
use crate::symbols::Symbols;

/// The procedure linkage tables of an x86-64 module.
pub(crate) struct Stubs<'f, 'a> {
    module: &'f Elf<'a>,
    tables: Vec<Table<'a>>,
    /// Symbol that fills each slot of the global offset table.
    slots: OnceCell<HashMap<u64, SlotContent<'a>>>,
}

struct Table<'a> {
    addresses: Range<u64>,
    code: &'a [u8],
    entry_bytes: u64,
}

enum SlotContent<'a> {
    Symbol(&'a str),
    /// Chosen at start-up by the resolver at this address.
    Resolver(u64),
}

/// A stub and the function it calls.
pub(crate) struct Stub {
    /// `name@plt`.
    pub(crate) name: String,
    pub(crate) address: u64,
    pub(crate) size_bytes: u64,
}

impl<'f, 'a> Stubs<'f, 'a> {
    /// The tables of `module`; none on other architectures than x86-64.
    pub(crate) fn find(module: &'f Elf<'a>) -> Self {
        let mut tables = Vec::new();
        if module.elf_header().e_machine(module.endian()) == EM_X86_64 {
            for section in module.sections() {
                let Ok(name) = section.name() else { continue };
                if name != ".plt" && !name.starts_with(".plt.") {
                    continue;
                }
                let Ok(code) = section.data() else { continue };
                let first = section.address();
                tables.push(Table {
                    addresses: first..first.saturating_add(code.len() as u64),
                    code,
                    // `.plt.got` without indirect-branch tracking is the one with short entries, and linkers
                    // do not agree on whether to write an entry size.
                    entry_bytes: if name == ".plt.got" && !code.starts_with(&ENDBR64) { 8 } else { 16 },
                });
            }
        }
        Self { module, tables, slots: OnceCell::new() }
    }

    /// The stub at `address`.
    pub(crate) fn at(&self, address: u64, symbols: &Symbols<'_>) -> Option<Stub> {
        let table = self.tables.iter().find(|table| table.addresses.contains(&address))?;
        let offset = (address - table.addresses.start) / table.entry_bytes * table.entry_bytes;
        let entry = table.code.get(offset as usize..)?;
        let entry = &entry[..entry.len().min(table.entry_bytes as usize)];
        let stub = table.addresses.start + offset;
        let slot = jump_slot(entry, stub)?;
        let target = match self.slots.get_or_init(|| self.read_slots()).get(&slot)? {
            SlotContent::Symbol(name) => (*name).to_owned(),
            SlotContent::Resolver(function) => symbols.starting_at(*function).into_iter().next()?,
        };
        Some(Stub { name: format!("{target}@plt"), address: stub, size_bytes: table.entry_bytes })
    }

    fn read_slots(&self) -> HashMap<u64, SlotContent<'a>> {
        let mut slots = HashMap::new();
        let Some(relocations) = self.module.dynamic_relocations() else { return slots };
        let Some(symbols) = self.module.dynamic_symbol_table() else { return slots };
        for (slot, relocation) in relocations {
            let content = match relocation.target() {
                RelocationTarget::Symbol(index) => {
                    let name = symbols.symbol_by_index(index).ok().and_then(|symbol| symbol.name().ok());
                    name.filter(|name| !name.is_empty()).map(SlotContent::Symbol)
                }
                _ => Some(SlotContent::Resolver(relocation.addend() as u64)),
            };
            if let Some(content) = content {
                slots.insert(slot, content);
            }
        }
        slots
    }
}

const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// The slot of `[endbr64] [bnd] jmp *disp(%rip)`, the form of every stub that names its target.
fn jump_slot(entry: &[u8], address: u64) -> Option<u64> {
    let after_landing_pad = entry.strip_prefix(&ENDBR64).unwrap_or(entry);
    let jump = after_landing_pad.strip_prefix(&[0xf2]).unwrap_or(after_landing_pad);
    let displacement = jump.strip_prefix(&[0xff, 0x25])?.first_chunk::<4>()?;
    let jump_end = address + (entry.len() - jump.len()) as u64 + 6;
    Some(jump_end.wrapping_add_signed(i64::from(i32::from_le_bytes(*displacement))))
}
