//! A loaded program or library, as its own tables in memory describe it: what it defines, what it refers to, what it needs.
//!
//! Only what the ELF format fixes is read, never a structure of the dynamic linker. So nothing here takes the lock that
//! `dlopen` holds while constructors run. [`hold`] keeps what is loaded in place; whatever is kept longer belongs to a library
//! that something else keeps loaded.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ops::Range;

use crate::path::elf::ProgramHeader;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PF_X: u32 = 1;

/// A loaded program or library.
#[derive(Clone, Debug)]
pub struct Object {
    /// AVMA − SVMA.
    pub base: u64,
    /// From its first segment to the end of its last one.
    pub range: Range<u64>,
    /// Its first executable segment.
    pub text: Range<u64>,
    /// Its dynamic section.
    pub dynamic: u64,
    name: *const c_char,
}

/// A name to look up.
#[derive(Debug)]
pub struct Name {
    /// The name.
    pub text: &'static CStr,
    /// The version in which libraries usually define it.
    pub version: &'static CStr,
    hash: u32,
}

impl Name {
    /// A name, and the version in which libraries usually define it.
    pub const fn new(text: &'static CStr, version: &'static CStr) -> Name {
        let bytes = text.to_bytes();
        let (mut hash, mut at) = (5381_u32, 0);
        while at < bytes.len() {
            hash = hash.wrapping_mul(33).wrapping_add(bytes[at] as u32);
            at += 1;
        }
        Name { text, version, hash }
    }
}

/// What an object defines under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its address.
    pub address: u64,
    /// Whether it has no version although its library knows versions: `dlvsym` refuses such a definition, a reference does not.
    pub without_version: bool,
}

/// A name that an object has the dynamic linker look up: what it defines itself is among it, since others may come first.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// The name: the object's own string.
    pub name: &'static CStr,
    /// The version that it asks for, as above.
    pub version: Option<&'static CStr>,
    /// What it is bound to; None until the dynamic linker has filled it in.
    pub bound: Option<u64>,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    bytes: u64,
}

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
const GNU_IFUNC: u8 = 10;

/// Where an object's tables are; zero = it has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tables {
    base: u64,
    strings: u64,
    symbols: u64,
    versions: u64,
    definitions: u64,
    needs: u64,
    gnu_hash: u64,
    hash: u64,
    jumps: (u64, u64),
    relocations: (u64, u64),
    dynamic: u64,
    own_name: Option<u64>,
}

/// Reads a value of a loaded object.
///
/// # Safety
/// `address` is that of such a value in a segment of an object that stays loaded meanwhile.
unsafe fn read<T: Copy>(address: u64) -> T {
    // SAFETY: the caller's promise.
    unsafe { (address as *const T).read_unaligned() }
}

impl Object {
    fn of(info: &libc::dl_phdr_info) -> Object {
        // SAFETY: the dynamic linker describes program headers that are mapped; libc's type has the same layout as ours.
        let headers = unsafe {
            core::slice::from_raw_parts(info.dlpi_phdr.cast::<ProgramHeader>(), info.dlpi_phnum.into())
        };
        let base = info.dlpi_addr;
        let mut object = Object { base, range: 0..0, text: 0..0, dynamic: 0, name: info.dlpi_name };
        for header in headers {
            let start = base.wrapping_add(header.address);
            let end = start.wrapping_add(header.memory_bytes);
            match header.kind {
                PT_LOAD => {
                    let first = if object.range.end == 0 { start } else { object.range.start.min(start) };
                    object.range = first..object.range.end.max(end);
                    if header.flags & PF_X != 0 && object.text.end == 0 {
                        object.text = start..end;
                    }
                }
                PT_DYNAMIC => object.dynamic = start,
                _ => {}
            }
        }
        object
    }

    /// The path that it was loaded from; empty for the program.
    pub fn path(&self) -> &CStr {
        // SAFETY: the dynamic linker's string, which lives as long as the object is loaded.
        if self.name.is_null() { c"" } else { unsafe { CStr::from_ptr(self.name) } }
    }

    /// Whether it holds this address.
    pub fn contains(&self, address: u64) -> bool {
        self.range.contains(&address)
    }

    /// Whether both are the same load of the same file.
    pub fn is(&self, other: &Object) -> bool {
        (self.base, self.dynamic, &self.range) == (other.base, other.dynamic, &other.range)
    }

    /// A byte in its code that is the instruction `ret`, wherever in an instruction it stands.
    pub fn returns_at(&self) -> Option<u64> {
        // SAFETY: its executable segment, which compilers' and linkers' layouts leave readable.
        self.text.clone().take(1 << 20).find(|&address| unsafe { read::<u8>(address) } == 0xc3)
    }

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
                14 => tables.own_name = Some(value),
                _ => {}
            }
        }
        (tables.strings != 0 && tables.symbols != 0).then_some(tables)
    }
}

impl Tables {
    fn entries(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let at = self.dynamic;
        // SAFETY: a dynamic section is a list of pairs that ends with a zero tag.
        (0_u64..)
            .map(move |entry| unsafe { read::<(u64, u64)>(at + entry * 16) })
            .take_while(|entry| entry.0 != 0)
    }

    fn string(&self, offset: u64) -> &'static CStr {
        // SAFETY: offsets in an object's tables lead to strings of its string table.
        unsafe { CStr::from_ptr((self.strings + offset) as *const c_char) }
    }

    fn symbol(&self, index: u64) -> Symbol {
        // SAFETY: indices come from the object's own tables.
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

    /// What a reference to `name` in `version` finds here.
    pub fn definition(&self, name: &Name, version: Option<&CStr>) -> Option<Definition> {
        let mut only = None;
        let mut count = 0;
        let mut found = None;
        self.each_of_hash(name, &mut |index| {
            let symbol = self.symbol(index);
            let (kind, binding) = (symbol.info & 15, symbol.info >> 4);
            if symbol.section == 0
                || !matches!(kind, 0 | 1 | 2 | GNU_IFUNC)
                || !matches!(binding, 1 | 2 | 10)
                || self.string(symbol.name.into()) != name.text
            {
                return false;
            }
            let mut definition =
                Definition { address: self.base.wrapping_add(symbol.value), without_version: false };
            if kind == GNU_IFUNC {
                definition.address = resolved(definition.address);
            }
            if self.versions == 0 {
                found = Some(definition);
                return true;
            }
            // SAFETY: there is a word for each symbol.
            let word: u16 = unsafe { read(self.versions + index * 2) };
            let (number, is_hidden) = (word & 0x7fff, word & 0x8000 != 0);
            let own = self.defined_version(number);
            definition.without_version = own.is_none();
            let fits = match version {
                Some(version) => own.map_or(!is_hidden, |own| own == version),
                // A reference without a version means what there was before there were others.
                None => number < 3,
            };
            if fits {
                found = Some(definition);
            } else if version.is_none() && !is_hidden {
                count += 1;
                only = Some(definition);
            }
            fits
        });
        found.or(only.filter(|_| count == 1))
    }

    /// Calls `visit` with symbols among which are all of this name, until it says so.
    fn each_of_hash(&self, name: &Name, visit: &mut dyn FnMut(u64) -> bool) {
        if self.gnu_hash != 0 {
            self.each_of_gnu_hash(name.hash, visit);
        } else if self.hash != 0 {
            // SAFETY: as the format lays it out: two counts, buckets, chains.
            unsafe {
                let (buckets, symbols) = (read::<u32>(self.hash), read::<u32>(self.hash + 4));
                let bucket = sysv_hash(name.text) % buckets.max(1);
                let mut index = read::<u32>(self.hash + 8 + 4 * u64::from(bucket));
                while index != 0 && index < symbols && !visit(index.into()) {
                    index = read(self.hash + 8 + 4 * (u64::from(buckets) + u64::from(index)));
                }
            }
        }
    }

    fn each_of_gnu_hash(&self, hash: u32, visit: &mut dyn FnMut(u64) -> bool) {
        let at = self.gnu_hash;
        // SAFETY: as the format lays it out: four counts, a filter, buckets, chains whose last word is odd.
        unsafe {
            let [buckets, first, words, shift]: [u32; 4] = read(at);
            if buckets == 0 || words == 0 {
                return;
            }
            let filter: u64 = read(at + 16 + 8 * u64::from((hash / 64) % words));
            if filter >> (hash % 64) & filter >> ((hash >> shift) % 64) & 1 == 0 {
                return;
            }
            let bucket_at = at + 16 + 8 * u64::from(words);
            let mut index: u32 = read(bucket_at + 4 * u64::from(hash % buckets));
            if index < first {
                return;
            }
            let chain_at = bucket_at + 4 * u64::from(buckets);
            loop {
                let word: u32 = read(chain_at + 4 * u64::from(index - first));
                if word | 1 == hash | 1 && visit(index.into()) || word & 1 != 0 {
                    return;
                }
                index += 1;
            }
        }
    }

    /// The name of a version that this object defines; None for what has none.
    fn defined_version(&self, number: u16) -> Option<&'static CStr> {
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
    fn needed_version(&self, number: u16) -> Option<&'static CStr> {
        let mut at = self.needs;
        if number < 2 || at == 0 {
            return None;
        }
        loop {
            // SAFETY: a list of libraries, each with a list of versions.
            unsafe {
                let (count, first, next): (u16, u32, u32) = (read(at + 2), read(at + 8), read(at + 12));
                let mut version = at + u64::from(first);
                for _ in 0..count {
                    if read::<u16>(version + 6) & 0x7fff == number {
                        return Some(self.string(read::<u32>(version + 8).into()));
                    }
                    version += u64::from(read::<u32>(version + 12));
                }
                if next == 0 {
                    return None;
                }
                at += u64::from(next);
            }
        }
    }

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

/// What a function that chooses among implementations chooses.
fn resolved(chooser: u64) -> u64 {
    // SAFETY: the dynamic linker calls it in the same way, each time that it binds the name.
    unsafe { core::mem::transmute::<usize, extern "C" fn() -> u64>(chooser as usize)() }
}

fn sysv_hash(name: &CStr) -> u32 {
    name.to_bytes().iter().fold(0_u32, |hash, &byte| {
        let hash = (hash << 4).wrapping_add(byte.into());
        let high = hash & 0xf000_0000;
        (hash ^ high >> 24) & !high
    })
}

type Visitor<'a> = &'a mut dyn FnMut(&Object) -> bool;

/// Calls `visit` with all that is loaded, in the order of loading, until it says that it has seen enough.
pub fn each(visit: &mut dyn FnMut(&Object) -> bool) {
    unsafe extern "C" fn next(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
        // SAFETY: the dynamic linker passes a valid description; `data` is the visitor below.
        let (info, visit) = unsafe { (&*info, &mut *data.cast::<Visitor<'_>>()) };
        visit(&Object::of(info)).into()
    }
    let mut visit: Visitor<'_> = visit;
    // SAFETY: the callback matches, and its data pointer is what it expects.
    unsafe { libc::dl_iterate_phdr(Some(next), (&raw mut visit).cast()) };
}

/// Runs `work`, during which nothing is unloaded. It must not call what takes another lock of the dynamic linker.
pub fn hold<R>(work: impl FnOnce() -> R) -> Option<R> {
    let mut work = Some(work);
    let mut result = None;
    each(&mut |_| {
        result = work.take().map(|work| work());
        true
    });
    result
}

/// What is loaded at this address.
pub fn at(address: u64) -> Option<Object> {
    let mut found = None;
    each(&mut |object| {
        if object.contains(address) {
            found = Some(object.clone());
        }
        found.is_some()
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    static GETPID: Name = Name::new(c"getpid", c"GLIBC_2.2.5");
    static CREATE: Name = Name::new(c"pthread_cond_init", c"GLIBC_2.3.2");

    fn of_library(name: &str) -> Option<Object> {
        let mut found = None;
        each(&mut |object| {
            let path = object.path().to_str().unwrap_or("");
            if path.rsplit('/').next().is_some_and(|file| file.starts_with(name)) {
                found = Some(object.clone());
            }
            false
        });
        found
    }

    #[test]
    fn a_definition_is_what_the_dynamic_linker_finds() {
        let tables = of_library("libc.so").expect("loaded").tables().expect("it has names");
        for (name, version) in
            [(&GETPID, c"GLIBC_2.2.5"), (&CREATE, c"GLIBC_2.3.2"), (&CREATE, c"GLIBC_2.2.5")]
        {
            // SAFETY: C strings.
            let truth = unsafe { libc::dlvsym(libc::RTLD_DEFAULT, name.text.as_ptr(), version.as_ptr()) };
            assert_eq!(tables.definition(name, Some(version)).map(|found| found.address), Some(truth as u64));
        }
        assert_eq!(tables.definition(&GETPID, Some(c"GLIBC_9.9")), None);
        // A reference without a version gets the oldest one.
        // SAFETY: C strings.
        let oldest =
            unsafe { libc::dlvsym(libc::RTLD_DEFAULT, CREATE.text.as_ptr(), c"GLIBC_2.2.5".as_ptr()) };
        assert_eq!(tables.definition(&CREATE, None).map(|found| found.address), Some(oldest as u64));
    }

    #[test]
    fn what_is_referred_to_has_the_version_that_was_asked_for() {
        let here = at(of_library as *const () as u64).expect("this program");
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

    #[test]
    fn an_object_returns_where_its_code_has_that_byte() {
        let place = at(of_library as *const () as u64).and_then(|object| object.returns_at()).expect("code");
        // SAFETY: code of this program.
        assert_eq!(unsafe { read::<u8>(place) }, 0xc3);
        assert!(hold(|| at(place).is_some()).unwrap_or(false));
    }
}
