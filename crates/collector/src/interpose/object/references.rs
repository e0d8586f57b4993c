//! References of a loaded object, and the definitions that the dynamic linker found for them.

use core::ffi::CStr;
use core::ops::Range;

use crate::arch::elf::{JUMP_SLOT, LOOKED_UP};

use super::tables::{Symbol, Tables, read};

#[repr(C)]
#[derive(Clone, Copy)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

const WEAK: u8 = 2;

/// A name that an object has the dynamic linker look up. Names that it defines itself are among them, since
/// other objects may precede it.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// The name: the object's own string.
    pub name: &'static CStr,
    /// The version that it asks for, as above.
    pub version: Option<&'static CStr>,
    /// The definition it is bound to; None until the dynamic linker has filled it in.
    pub bound: Option<u64>,
    /// The address of the word that the dynamic linker fills in.
    pub place: u64,
    /// Whether the object works without it where nothing defines it.
    pub is_weak: bool,
}

/// Those of the versions that an object asks for in which names that are looked for may be; names without a
/// version are always among them.
#[derive(Clone, Copy, Debug)]
pub struct Versions(u128);

impl Versions {
    /// All there are.
    pub const ALL: Versions = Versions(u128::MAX);

    fn contain(self, number: u16) -> bool {
        number < 2 || self.0 >> number.min(127) & 1 != 0
    }
}

impl Tables {
    /// Everything that it has looked up.
    pub fn each_reference(&self, own: &Range<u64>, visit: &mut dyn FnMut(Reference)) {
        self.each_reference_to(own, Versions::ALL, &|_| true, visit);
    }

    /// The versions that it asks for and for which `is_wanted` is true, by the names of library and version.
    pub fn versions(&self, is_wanted: impl Fn(&CStr, &CStr) -> bool) -> Versions {
        let mut versions = 0;
        self.each_needed_version(&mut |number, file, version| {
            if is_wanted(self.string(file), self.string(version)) {
                versions |= 1 << number.min(127);
            }
            false
        });
        Versions(versions)
    }

    /// As [`Tables::each_reference`], of these versions and names.
    pub fn each_reference_to(
        &self,
        own: &Range<u64>,
        versions: Versions,
        is_wanted: &dyn Fn(&CStr) -> bool,
        visit: &mut dyn FnMut(Reference),
    ) {
        for ((table, bytes), first) in [(self.jumps, 0), (self.relocations, self.relative)] {
            if table == 0 {
                continue;
            }
            for entry in first..bytes / size_of::<Relocation>() as u64 {
                // SAFETY: the table has that many entries.
                let relocation: Relocation = unsafe { read(table + entry * size_of::<Relocation>() as u64) };
                let kind = relocation.info & 0xffff_ffff;
                let index = relocation.info >> 32;
                if index == 0 || !LOOKED_UP.contains(&kind) {
                    continue;
                }
                let number = self.version_number(index);
                if !versions.contain(number) {
                    continue;
                }
                let symbol = self.symbol(index);
                let name = self.string(symbol.name.into());
                if !is_wanted(name) {
                    continue;
                }
                let place = self.base.wrapping_add(relocation.offset);
                // SAFETY: a place of this object that relocation fills in.
                let value: u64 = unsafe { read(place) };
                let is_bound = kind != JUMP_SLOT || leads_out(own, value);
                let bound = is_bound.then(|| value.wrapping_sub(relocation.addend as u64));
                let version = if symbol.section == 0 {
                    self.needed_version(number)
                } else {
                    self.defined_version(number)
                };
                visit(Reference { name, version, bound, place, is_weak: symbol.is_weak_reference() });
            }
        }
    }

    /// Whether it may refer to one of these names in one of these versions. Looks at names only, which are
    /// far fewer than places.
    pub fn may_refer_to(&self, versions: Versions, is_wanted: &dyn Fn(&CStr) -> bool) -> bool {
        let end = self.references_end();
        // An object that exports nothing does not say how many names it refers to.
        end <= 1
            || (1..end).any(|index| {
                versions.contain(self.version_number(index))
                    && is_wanted(self.string(self.symbol(index).name.into()))
            })
    }

    /// The number of a symbol's version; 0 where its object knows none.
    fn version_number(&self, index: u64) -> u16 {
        if self.versions == 0 {
            return 0;
        }
        // SAFETY: there is a word for each symbol.
        unsafe { read::<u16>(self.versions + index * 2) & 0x7fff }
    }

    /// After the last symbol that it does not define itself: those that it does define follow where there is
    /// a table to look them up.
    fn references_end(&self) -> u64 {
        // SAFETY: as the format lays both tables out.
        unsafe {
            match (self.gnu_hash, self.hash) {
                (0, 0) => 0,
                (0, hash) => read::<u32>(hash + 4).into(),
                (gnu_hash, _) => read::<u32>(gnu_hash + 4).into(),
            }
        }
    }
}

/// Until a function is called first, its place leads back into the object's own code.
fn leads_out(own: &Range<u64>, value: u64) -> bool {
    !own.contains(&value)
}

/// Whether the dynamic linker has filled in the word of a function that it binds when it is called first.
///
/// # Safety
/// `place` is that of such a reference ([`Reference::place`]) of an object that is loaded at `own`.
pub unsafe fn has_bound(own: &Range<u64>, place: u64) -> bool {
    // SAFETY: the caller's promise.
    leads_out(own, unsafe { read(place) })
}

impl Symbol {
    fn is_weak_reference(&self) -> bool {
        self.section == 0 && self.info >> 4 == WEAK
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::elf::BASE_VERSION;
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
            versions.iter().all(|version| *version == (Some(BASE_VERSION.to_owned()), true)),
            "{versions:?}"
        );
    }
}
