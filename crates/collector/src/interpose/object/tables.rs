//! Where the tables of a loaded object are, and how they are read.

use core::ffi::{CStr, c_char};

use super::Object;

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Symbol {
    pub(super) name: u32,
    pub(super) info: u8,
    pub(super) other: u8,
    pub(super) section: u16,
    pub(super) value: u64,
    pub(super) bytes: u64,
}

/// Where an object's tables are; zero = it has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tables {
    pub(super) base: u64,
    pub(super) strings: u64,
    pub(super) symbols: u64,
    pub(super) versions: u64,
    pub(super) definitions: u64,
    pub(super) needs: u64,
    pub(super) gnu_hash: u64,
    pub(super) hash: u64,
    pub(super) jumps: (u64, u64),
    pub(super) relocations: (u64, u64),
    /// So many precede the others and refer to no name.
    pub(super) relative: u64,
    pub(super) dynamic: u64,
    pub(super) own_name: Option<u64>,
}

/// Reads a value of a loaded object.
///
/// # Safety
/// `address` is that of such a value in a segment of an object that stays loaded meanwhile.
pub(super) unsafe fn read<T: Copy>(address: u64) -> T {
    // SAFETY: the caller's promise.
    unsafe { (address as *const T).read_unaligned() }
}

impl Object {
    /// Its tables; None if it has no names.
    pub fn tables(&self) -> Option<Tables> {
        if self.dynamic == 0 {
            return None;
        }
        let mut tables = Tables { base: self.base, dynamic: self.dynamic, ..Tables::default() };
        // The dynamic linker has made addresses of most values, but not in sections that it may not write to.
        let address = |value: u64| if value < self.base { value.wrapping_add(self.base) } else { value };
        for (tag, value) in tables.entries() {
            match tag {
                5 => tables.strings = address(value),
                6 => tables.symbols = address(value),
                4 => tables.hash = address(value),
                0x6fff_fef5 => tables.gnu_hash = address(value),
                0x6fff_fff0 => tables.versions = address(value),
                0x6fff_fffc => tables.definitions = address(value),
                0x6fff_fffe => tables.needs = address(value),
                23 => tables.jumps.0 = address(value),
                2 => tables.jumps.1 = value,
                7 => tables.relocations.0 = address(value),
                8 => tables.relocations.1 = value,
                0x6fff_fff9 => tables.relative = value,
                14 => tables.own_name = Some(value),
                _ => {}
            }
        }
        (tables.strings != 0 && tables.symbols != 0).then_some(tables)
    }
}

impl Tables {
    pub(super) fn entries(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let at = self.dynamic;
        // SAFETY: a dynamic section is a list of pairs that ends with a zero tag.
        (0_u64..)
            .map(move |entry| unsafe { read::<(u64, u64)>(at + entry * 16) })
            .take_while(|entry| entry.0 != 0)
    }

    pub(super) fn string(&self, offset: u64) -> &'static CStr {
        // SAFETY: offsets in an object's tables lead to strings of its string table.
        unsafe { CStr::from_ptr((self.strings + offset) as *const c_char) }
    }

    pub(super) fn symbol(&self, index: u64) -> Symbol {
        // SAFETY: indices are read from the object's own tables.
        unsafe { read(self.symbols + index * size_of::<Symbol>() as u64) }
    }

    /// The libraries that it says it needs, by name.
    pub fn needed(&self) -> impl Iterator<Item = &'static CStr> + use<> {
        let tables = *self;
        self.entries().filter(|entry| entry.0 == 1).map(move |entry| tables.string(entry.1))
    }

    /// The name by which others need it.
    pub fn own_name(&self) -> Option<&'static CStr> {
        self.own_name.map(|offset| self.string(offset))
    }

    /// The name of a version that this object defines; None for what has none.
    pub(super) fn defined_version(&self, number: u16) -> Option<&'static CStr> {
        let mut at = self.definitions;
        if number < 2 || at == 0 {
            return None;
        }
        loop {
            // SAFETY: a list of version definitions, each with at least one name.
            unsafe {
                let (own, names, next): (u16, u32, u32) = (read(at + 4), read(at + 12), read(at + 16));
                if own & 0x7fff == number {
                    return Some(self.string(read::<u32>(at + u64::from(names)).into()));
                }
                if next == 0 {
                    return None;
                }
                at += u64::from(next);
            }
        }
    }

    /// The name of a version that this object asks others for.
    pub(super) fn needed_version(&self, number: u16) -> Option<&'static CStr> {
        if number < 2 {
            return None;
        }
        let mut found = None;
        self.each_needed_version(&mut |own, _, version| {
            if own == number {
                found = Some(self.string(version));
            }
            found.is_some()
        });
        found
    }

    /// Calls `visit` with each version that this object asks others for, until it says that it has seen
    /// enough: its number, and where the names of the library and of the version are.
    pub(super) fn each_needed_version(&self, visit: &mut dyn FnMut(u16, u64, u64) -> bool) {
        let mut at = self.needs;
        if at == 0 {
            return;
        }
        loop {
            // SAFETY: a list of libraries, each with a list of versions.
            unsafe {
                let (count, file, first, next): (u16, u32, u32, u32) =
                    (read(at + 2), read(at + 4), read(at + 8), read(at + 12));
                let mut version = at + u64::from(first);
                for _ in 0..count {
                    let number = read::<u16>(version + 6) & 0x7fff;
                    if visit(number, file.into(), read::<u32>(version + 8).into()) {
                        return;
                    }
                    version += u64::from(read::<u32>(version + 12));
                }
                if next == 0 {
                    return;
                }
                at += u64::from(next);
            }
        }
    }
}
