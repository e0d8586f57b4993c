//! A loaded program or library, as its own tables in memory describe it: its definitions, references and
//! dependencies.
//!
//! Only what the ELF format fixes is read, never a structure of the dynamic linker. So nothing here takes the
//! lock that `dlopen` holds while constructors run. [`without_unloads`] keeps objects loaded; any that is
//! used longer belongs to a library that something else keeps loaded.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ops::Range;

use crate::arch::linker::find_return;
use crate::path::elf::{self, ProgramHeader};

mod definitions;
mod notes;
mod references;
mod tables;

pub use definitions::{Definition, Name, gnu_hash};
pub use references::{Reference, Versions, has_bound};
pub use tables::Tables;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_GNU_RELRO: u32 = 0x6474_e552;
const PF_X: u32 = 1;
const PF_W: u32 = 2;
const PF_R: u32 = 4;

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
    headers: &'static [ProgramHeader],
}

impl Object {
    fn of(info: &libc::dl_phdr_info) -> Object {
        // SAFETY: the dynamic linker describes program headers that are mapped as long as the object is
        // loaded; libc's type has the same layout as ours.
        let headers = unsafe {
            core::slice::from_raw_parts(info.dlpi_phdr.cast::<ProgramHeader>(), info.dlpi_phnum.into())
        };
        let base = info.dlpi_addr;
        let mut object = Object { base, range: 0..0, text: 0..0, dynamic: 0, name: info.dlpi_name, headers };
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

    /// Whether this address lies in it.
    pub fn contains(&self, address: u64) -> bool {
        self.range.contains(&address)
    }

    /// Whether the word at this address may be written at any time: not so where the dynamic linker makes
    /// memory read-only once it has filled it in.
    pub fn stays_writable(&self, address: u64) -> bool {
        let is_in = |kind: u32, flags: u32| {
            self.headers.iter().any(|header| {
                let start = self.base.wrapping_add(header.address);
                header.kind == kind
                    && header.flags & flags == flags
                    && (start..start.wrapping_add(header.memory_bytes)).contains(&address)
            })
        };
        is_in(PT_LOAD, PF_W) && !is_in(PT_GNU_RELRO, 0)
    }

    /// Whether all from `start` to `end` lies in one of its segments, and may be read.
    fn is_readable(&self, start: u64, end: u64) -> bool {
        self.headers.iter().any(|header| {
            let from = self.base.wrapping_add(header.address);
            header.kind == PT_LOAD
                && header.flags & PF_R != 0
                && from <= start
                && end <= from.saturating_add(header.file_bytes)
        })
    }

    /// Whether both are the same load of the same file.
    pub fn is(&self, other: &Object) -> bool {
        (self.base, self.dynamic, &self.range) == (other.base, other.dynamic, &other.range)
    }

    /// Where in its code it returns to the address on the stack.
    pub fn returns_at(&self) -> Option<u64> {
        const MOST_BYTES: u64 = 1 << 20;
        let bytes = (self.text.end - self.text.start).min(MOST_BYTES) as usize;
        // SAFETY: its executable segment, which compilers' and linkers' layouts leave readable.
        find_return(unsafe { elf::memory(self.text.start..self.text.start + bytes as u64) }, self.text.start)
    }
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

/// How many objects have been loaded, and how many unloaded, since the process began. Other than before =
/// something is loaded that was not, or the reverse.
pub fn changes() -> (u64, u64) {
    unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
        // SAFETY: the dynamic linker passes a valid description; `data` is the pair below.
        unsafe { *data.cast::<(u64, u64)>() = ((*info).dlpi_adds, (*info).dlpi_subs) };
        1
    }
    let mut changes = (0, 0);
    // SAFETY: the callback matches, and its data pointer is what it expects.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut changes).cast()) };
    changes
}

/// Runs `work`, during which nothing is unloaded. It must not call what takes another lock of the dynamic
/// linker.
pub fn without_unloads<R>(work: impl FnOnce() -> R) -> Option<R> {
    let mut work = Some(work);
    let mut result = None;
    each(&mut |_| {
        result = work.take().map(|work| work());
        true
    });
    result
}

/// The object that is loaded at this address.
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

    #[test]
    fn an_object_returns_where_its_code_has_that_byte() {
        let place = at(each as *const () as u64).and_then(|object| object.returns_at()).expect("code");
        // SAFETY: code of this program.
        let code = unsafe { elf::memory(place..place + 8) };
        assert_eq!(find_return(code, place), Some(place));
        assert!(without_unloads(|| at(place).is_some()).unwrap_or(false));
    }
}
