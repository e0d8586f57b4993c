//! The names in a program file, of its dynamic and of its full table.
//!
//! Names lie all over a table of strings, megabytes long in large programs. To look each of them up in the file takes two
//! system calls a name, a second for a program of a million names; so the table is read whole, once.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use object::read::elf::{FileHeader, SectionHeader, Sym};
use object::{Endianness, ReadCache, ReadRef, elf};

/// One name and what the file says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'data> {
    /// As the linker knows it, mangled where the language does so.
    pub name: &'data [u8],
    /// Whether this file has it, and does not only ask for it.
    pub is_defined: bool,
    /// How it binds: `STB_GLOBAL`, `STB_WEAK`, `STB_LOCAL`, …
    pub binding: elf::SymbolBind,
}

/// Calls `tell` for every name of the program file at `path`. None if there is no such file or it is not whole; what was told
/// until then is true.
pub fn each_name(path: &Path, tell: impl FnMut(Name)) -> Option<()> {
    walk(&ReadCache::new(BufReader::new(File::open(path).ok()?)), tell)
}

fn walk<'data>(data: impl ReadRef<'data>, mut tell: impl FnMut(Name)) -> Option<()> {
    let header = elf::FileHeader64::<Endianness>::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, data).ok()?;
    for kind in [elf::SHT_DYNSYM, elf::SHT_SYMTAB] {
        let symbols = sections.symbols(endian, data, kind).ok()?;
        if symbols.is_empty() {
            continue;
        }
        let strings = sections.section(symbols.string_section()).ok()?.data(endian, data).ok()?;
        for symbol in symbols.iter() {
            let Some(from) = strings.get(symbol.st_name(endian) as usize..) else { continue };
            let Some(end) = from.iter().position(|byte| *byte == 0) else { continue };
            tell(Name {
                name: &from[..end],
                is_defined: !symbol.is_undefined(endian),
                binding: symbol.st_bind(),
            });
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::{Object, ObjectSymbol};

    #[test]
    fn the_names_are_those_that_the_file_has() {
        let path = std::env::current_exe().unwrap();
        let mut told = Vec::new();
        each_name(&path, |name| told.push((name.name.to_vec(), name.is_defined))).unwrap();
        let content = std::fs::read(&path).unwrap();
        let file = object::File::parse(&*content).unwrap();
        let mut there: Vec<_> = file
            .dynamic_symbols()
            .chain(file.symbols())
            .map(|symbol| (symbol.name_bytes().unwrap().to_vec(), !symbol.is_undefined()))
            .collect();
        // The first of each table is none, which only one of the two leaves out.
        told.retain(|(name, _)| !name.is_empty());
        there.retain(|(name, _)| !name.is_empty());
        assert!(told.iter().any(|(name, is_defined)| name == b"main" && *is_defined));
        assert_eq!(told, there);
    }

    #[test]
    fn what_is_cut_off_or_no_program_is_none() {
        let content = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(walk(&content[..content.len() / 2], |_| ()), None);
        assert_eq!(walk(&b"#!/bin/sh\n"[..], |_| ()), None);
        assert_eq!(each_name(Path::new("/no/such/file"), |_| ()), None);
    }
}
