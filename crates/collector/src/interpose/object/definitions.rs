//! Definitions of a loaded object: a name is looked up in its hash table as the dynamic linker does it.

use core::ffi::CStr;

use super::tables::{Tables, read};

const GNU_IFUNC: u8 = 10;

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
        Name { text, version, hash: gnu_hash(text.to_bytes()) }
    }

    /// Its [`gnu_hash`].
    pub const fn hash(&self) -> u32 {
        self.hash
    }
}

/// The hash by which the GNU kind of table finds a name.
pub const fn gnu_hash(name: &[u8]) -> u32 {
    let (mut hash, mut at) = (5381_u32, 0);
    while at < name.len() {
        hash = hash.wrapping_mul(33).wrapping_add(name[at] as u32);
        at += 1;
    }
    hash
}

/// An object's definition of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its address.
    pub address: u64,
    /// Its length, as its library says.
    pub bytes: u64,
    /// Whether it has no version although its library knows versions: `dlvsym` refuses such a definition, a
    /// reference does not.
    pub without_version: bool,
}

impl Tables {
    /// The definition here that a reference to `name` in `version` finds.
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
            let mut definition = Definition {
                address: self.base.wrapping_add(symbol.value),
                bytes: symbol.bytes,
                without_version: false,
            };
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

    /// Calls `visit` with symbols among which are all of this name, until it returns true.
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
}

/// The choice of a function that chooses among implementations.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::elf::BASE_VERSION;
    use crate::interpose::object::{Object, each};

    static GETPID: Name = Name::new(c"getpid", BASE_VERSION);
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
        for (name, version) in [(&GETPID, BASE_VERSION), (&CREATE, c"GLIBC_2.3.2"), (&CREATE, BASE_VERSION)] {
            // SAFETY: C strings.
            let truth = unsafe { libc::dlvsym(libc::RTLD_DEFAULT, name.text.as_ptr(), version.as_ptr()) };
            assert_eq!(
                tables.definition(name, Some(version)).map(|found| found.address),
                (!truth.is_null()).then_some(truth as u64)
            );
        }
        assert_eq!(tables.definition(&GETPID, Some(c"GLIBC_9.9")), None);
        // A reference without a version gets the oldest one.
        // SAFETY: C strings.
        let oldest = unsafe { libc::dlvsym(libc::RTLD_DEFAULT, CREATE.text.as_ptr(), BASE_VERSION.as_ptr()) };
        assert_eq!(tables.definition(&CREATE, None).map(|found| found.address), Some(oldest as u64));
    }
}
