//! The names in a program file, of its dynamic and of its full table.
//!
//! Names lie all over a table of strings, megabytes long in large programs. To look each of them up in the
//! file takes two system calls a name, a second for a program of a million names; so the table is read whole,
//! once.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use object::read::elf::{FileHeader, SectionHeader, Sym};
use object::{Endianness, ReadCache, ReadRef, elf};

/// One name, as the linker knows it, and its entry in the file.
#[derive(Clone, Copy, Debug)]
pub struct Name<'data> {
    /// From the name on, to the end of the table. Where it ends is not looked for: a damaged table may have
    /// no end of a name, and a name for each of its bytes.
    text: &'data [u8],
    /// Whether this file has it, and does not only ask for it.
    pub is_defined: bool,
    /// How it binds: `STB_GLOBAL`, `STB_WEAK`, `STB_LOCAL`, …
    pub binding: elf::SymbolBind,
}

impl Name<'_> {
    /// Whether it is this one.
    pub fn is(&self, name: &[u8]) -> bool {
        self.text.strip_prefix(name).is_some_and(|rest| rest.first() == Some(&0))
    }

    /// Whether it begins like this.
    pub fn starts_with(&self, beginning: &[u8]) -> bool {
        self.text.starts_with(beginning)
    }
}

/// Calls `take` for every name of the program file at `path`. None if there is no such file or it is not
/// whole; the names passed until then are right.
pub fn each_name(path: &Path, take: impl FnMut(Name)) -> Option<()> {
    walk(&ReadCache::new(BufReader::new(File::open(path).ok()?)), take)
}

fn walk<'data>(data: impl ReadRef<'data>, mut take: impl FnMut(Name)) -> Option<()> {
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
            let Some(text) = strings.get(symbol.st_name(endian) as usize..) else { continue };
            take(Name { text, is_defined: !symbol.is_undefined(endian), binding: symbol.st_bind() });
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    use object::{Object, ObjectSymbol};
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn the_names_are_those_that_the_file_has() {
        let path = std::env::current_exe().unwrap();
        let mut told = Vec::new();
        each_name(&path, |name| {
            let end = name.text.iter().position(|byte| *byte == 0).unwrap();
            let text = &name.text[..end];
            assert!(name.is(text) && name.starts_with(text));
            assert!(end == 0 || !name.is(&text[..end - 1]) && name.starts_with(&text[..end - 1]));
            told.push((text.to_vec(), name.is_defined));
        })
        .unwrap();
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

    fn c_library() -> String {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let path =
            maps.split_whitespace().find(|word| word.contains("/libc.so.") || word.contains("/libc-2."));
        path.expect("this program has a C library").into()
    }

    proptest! {
        /// Bytes of the header and of the table of sections, changed in any way: read or refused, and neither
        /// a panic nor a long wait.
        #[test]
        fn damaged_files_do_no_harm(changes in vec((any::<bool>(), 0_usize..2560, any::<u8>()), 1..6)) {
            // Each case copies it and walks it: the C library is a hundredth of this executable.
            static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| std::fs::read(c_library()).unwrap());
            let mut content = WHOLE.clone();
            let sections = u64::from_le_bytes(content[0x28..0x30].try_into().unwrap()) as usize;
            for (in_header, at, value) in changes {
                let at = if in_header { at % 64 } else { sections + at };
                if let Some(byte) = content.get_mut(at) {
                    *byte = value;
                }
            }
            let mut names = 0;
            walk(&*content, |name| names += usize::from(name.is(b"malloc")));
            prop_assert!(names <= content.len());
        }
    }
}
