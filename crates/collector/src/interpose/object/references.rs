//! What a loaded object has had looked up, and what the dynamic linker found for it.

use core::ffi::CStr;
use core::ops::Range;

use super::tables::{Tables, read};

#[repr(C)]
#[derive(Clone, Copy)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

const R_64: u64 = 1;
const R_GLOB_DAT: u64 = 6;
const R_JUMP_SLOT: u64 = 7;
/// A name that an object has the dynamic linker look up: what it defines itself is among it, since others may
/// come first.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// The name: the object's own string.
    pub name: &'static CStr,
    /// The version that it asks for, as above.
    pub version: Option<&'static CStr>,
    /// What it is bound to; None until the dynamic linker has filled it in.
    pub bound: Option<u64>,
}

impl Tables {
    /// Everything that it has looked up.
    pub fn each_reference(&self, own: &Range<u64>, visit: &mut dyn FnMut(Reference)) {
        for (table, bytes) in [self.jumps, self.relocations] {
            if table == 0 {
                continue;
            }
            for entry in 0..bytes / size_of::<Relocation>() as u64 {
                // SAFETY: the table has that many entries.
                let relocation: Relocation = unsafe { read(table + entry * size_of::<Relocation>() as u64) };
                let kind = relocation.info & 0xffff_ffff;
                if !matches!(kind, R_64 | R_GLOB_DAT | R_JUMP_SLOT) {
                    continue;
                }
                let index = relocation.info >> 32;
                let symbol = self.symbol(index);
                if index == 0 {
                    continue;
                }
                let number: u16 = if self.versions == 0 {
                    0
                } else {
                    // SAFETY: there is a word for each symbol.
                    unsafe { read(self.versions + index * 2) }
                };
                // SAFETY: a place of this object that relocation fills in.
                let place: u64 = unsafe { read(self.base.wrapping_add(relocation.offset)) };
                // Until a function is called first, its place leads back into the object's own code.
                let is_bound = kind != R_JUMP_SLOT || !own.contains(&place);
                let bound = is_bound.then(|| place.wrapping_sub(relocation.addend as u64));
                let name = self.string(symbol.name.into());
                let number = number & 0x7fff;
                let version = if symbol.section == 0 {
                    self.needed_version(number)
                } else {
                    self.defined_version(number)
                };
                visit(Reference { name, version, bound });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpose::object::at;

    #[test]
    fn what_is_referred_to_has_the_version_that_was_asked_for() {
        let here = at(at as *const () as u64).expect("this program");
        let mut versions = Vec::new();
        here.tables().expect("it has names").each_reference(&here.range, &mut |reference| {
            if reference.name == c"dl_iterate_phdr" {
                versions.push((reference.version.map(CStr::to_owned), reference.bound.is_some()));
            }
        });
        assert!(!versions.is_empty());
        assert!(
            versions.iter().all(|version| *version == (Some(c"GLIBC_2.2.5".to_owned()), true)),
            "{versions:?}"
        );
    }
}
