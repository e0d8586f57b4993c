//! Symbol tables: which symbol covers an address, and which starts at one.

use object::elf::{
    SHF_EXECINSTR, STB_GLOBAL, STB_LOCAL, STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE, SymbolBind, SymbolType,
};
use object::read::elf::{SectionHeader, Sym, SymbolTable};
use object::{Endianness, elf::FileHeader64};

use crate::image::Elf;

type Header = FileHeader64<Endianness>;

/// All symbols of executable code, of one or more files of the same build.
#[derive(Default)]
pub(crate) struct Symbols<'a> {
    entries: Vec<Entry<'a>>,
    /// For each entry the highest end of a sized symbol up to it, to know when to stop looking backwards.
    reach: Vec<u64>,
    /// Sorted ends of the executable sections: where an unsized symbol ends at the latest.
    section_ends: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry<'a> {
    address: u64,
    size_bytes: u64,
    name: &'a [u8],
    kind: SymbolType,
    bind: SymbolBind,
}

/// The symbol that covers an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Covering {
    pub(crate) name: String,
    pub(crate) address: u64,
    /// Up to the next symbol or the end of the section where the symbol itself has no size.
    pub(crate) size_bytes: u64,
    pub(crate) sized: bool,
}

/// A label that is declared neither as a function nor with a size names code up to here behind it: a few
/// pages of one assembler routine. What is further away has most likely lost its own labels.
const LONGEST_LABELLED_BYTES: u64 = 4096;

impl<'a> Symbols<'a> {
    /// The symbols of `files`; the first file is the module itself, whose sections count.
    pub(crate) fn read(files: &[&Elf<'a>]) -> Self {
        let mut symbols = Self::default();
        for file in files {
            symbols.add(file, file.elf_symbol_table());
            symbols.add(file, file.elf_dynamic_symbol_table());
        }
        if let Some(module) = files.first() {
            symbols.section_ends = executable_section_ends(module);
        }
        symbols.entries.sort_unstable_by(|a, b| {
            (a.address, a.name).cmp(&(b.address, b.name)).then(b.size_bytes.cmp(&a.size_bytes))
        });
        symbols.entries.dedup_by(|a, b| a.address == b.address && a.name == b.name);
        let mut furthest = 0;
        symbols.reach = symbols
            .entries
            .iter()
            .map(|entry| {
                furthest = furthest.max(entry.address.saturating_add(entry.size_bytes));
                furthest
            })
            .collect();
        symbols
    }

    fn add(&mut self, file: &Elf<'a>, table: &SymbolTable<'a, Header>) {
        let endian = file.endian();
        let sections = file.elf_section_table();
        let strings = table.strings();
        for (index, symbol) in table.enumerate() {
            let kind = symbol.st_type();
            if !matches!(kind, STT_FUNC | STT_GNU_IFUNC | STT_NOTYPE) {
                continue;
            }
            let Ok(Some(section)) = table.symbol_section(endian, symbol, index) else { continue };
            let executable = sections
                .section(section)
                .is_ok_and(|section| section.sh_flags(endian).contains(SHF_EXECINSTR));
            if !executable {
                continue;
            }
            let Ok(name) = symbol.name(endian, strings) else { continue };
            let name = without_version(name);
            if name.is_empty() || (kind == STT_NOTYPE && is_assembler_label(name)) {
                continue;
            }
            self.entries.push(Entry {
                address: symbol.st_value(endian),
                size_bytes: symbol.st_size(endian),
                name,
                kind,
                bind: symbol.st_bind(),
            });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The innermost sized symbol around `address`, else the unsized symbol directly before it, if that is a
    /// function or a label nearby.
    pub(crate) fn covering(&self, address: u64) -> Option<Covering> {
        let after = self.entries.partition_point(|entry| entry.address <= address);
        let mut best: Option<&Entry<'a>> = None;
        for (entry, &reach) in self.entries[..after].iter().zip(&self.reach[..after]).rev() {
            if reach <= address || best.is_some_and(|best| best.address != entry.address) {
                break;
            }
            let covers = address - entry.address < entry.size_bytes;
            if covers && best.is_none_or(|best| preference(entry) < preference(best)) {
                best = Some(entry);
            }
        }
        if let Some(entry) = best {
            return Some(covering(entry, entry.size_bytes, true));
        }
        let nearest = self.entries[..after].last()?.address;
        let first = self.entries.partition_point(|entry| entry.address < nearest);
        let group = &self.entries[first..after];
        if group.iter().any(|entry| entry.size_bytes > 0) {
            return None;
        }
        let entry = group.iter().min_by_key(|entry| preference(entry))?;
        if entry.kind == STT_NOTYPE && address - nearest >= LONGEST_LABELLED_BYTES {
            return None;
        }
        let section_end =
            self.section_ends[self.section_ends.partition_point(|&end| end <= nearest)..].first();
        let next = self.entries.get(after).map(|entry| entry.address);
        let end = section_end.copied().into_iter().chain(next).min()?;
        let size_bytes = match entry.kind {
            STT_NOTYPE => (end - nearest).min(LONGEST_LABELLED_BYTES),
            _ => end - nearest,
        };
        (address < end).then(|| covering(entry, size_bytes, false))
    }

    /// All names of the symbols that start at `address`, the preferred one first.
    pub(crate) fn starting_at(&self, address: u64) -> Vec<String> {
        let first = self.entries.partition_point(|entry| entry.address < address);
        let mut group: Vec<_> =
            self.entries[first..].iter().take_while(|entry| entry.address == address).collect();
        group.sort_by_key(|entry| preference(entry));
        group.into_iter().map(|entry| String::from_utf8_lossy(entry.name).into_owned()).collect()
    }
}

fn covering(entry: &Entry<'_>, size_bytes: u64, sized: bool) -> Covering {
    Covering {
        name: String::from_utf8_lossy(entry.name).into_owned(),
        address: entry.address,
        size_bytes,
        sized,
    }
}

/// Order among aliases of one address, smallest first: real functions, names without reserved underscores
/// (`write` before `__write`), exported ones, short ones.
fn preference<'e>(entry: &Entry<'e>) -> (bool, usize, u8, usize, &'e [u8]) {
    let underscores = entry.name.iter().take_while(|&&b| b == b'_').count();
    let bind = match entry.bind {
        STB_GLOBAL => 0,
        STB_LOCAL => 2,
        _ => 1,
    };
    (entry.kind == STT_NOTYPE, underscores, bind, entry.name.len(), entry.name)
}

/// `memcpy` for `memcpy@@GLIBC_2.14`.
fn without_version(name: &[u8]) -> &[u8] {
    name.iter().position(|&b| b == b'@').map_or(name, |at| &name[..at])
}

/// Local labels, and the marks that distinguish code from data on some architectures (`$x`, `$d`).
fn is_assembler_label(name: &[u8]) -> bool {
    name.starts_with(b".L") || name.starts_with(b"$")
}

fn executable_section_ends(file: &Elf<'_>) -> Vec<u64> {
    let endian = file.endian();
    let mut ends: Vec<u64> = file
        .elf_section_table()
        .iter()
        .filter(|section| section.sh_flags(endian).contains(SHF_EXECINSTR))
        .map(|section| section.sh_addr(endian).saturating_add(section.sh_size(endian)))
        .collect();
    ends.sort_unstable();
    ends
}
