//! Finds the MPI library, and leads what refers to its functions to the hooks.
//!
//! Part of the walk over loaded objects (`interpose::unexported`), which holds the dynamic linker's list
//! still. Of each object it is asked whether it defines `PMPI_Init`: one lookup in a hash table. Nothing more
//! happens until there is one; then its functions are found, and all words of all objects that are bound to
//! one of them get the hook. A word that is filled in at the first call gets it where only the library
//! defines the name, or where the name is the `PMPI_` one.
//!
//! A second MPI library in the same process is left alone: its calls are not recorded.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};

use crate::interpose::object::{self, Name, Object, Reference, Tables, gnu_hash};
use crate::interpose::{scope, words};
use crate::mpi::library;
use crate::mpi::table::{Function, all};

/// The library's functions of this name are the real ones.
const MARK: &CStr = c"PMPI_Init";

/// Places of [`PLACES`]: several for each function.
const PLACES: usize = 2048;

/// Where each function is known by the hash of its `PMPI_` name, or behind the next free place: 1 + its
/// number; 0 = free.
static TABLE: [AtomicU16; PLACES] = [const { AtomicU16::new(0) }; PLACES];

/// Whether an MPI library has been found, ever.
static IS_KNOWN: AtomicBool = AtomicBool::new(false);

/// An address in the library; 0 = none is loaded.
static AT: AtomicU64 = AtomicU64::new(0);

/// Whether an MPI library is loaded, or was.
#[inline]
pub fn is_known() -> bool {
    IS_KNOWN.load(Ordering::Relaxed)
}

fn lay_table() {
    for (number, function) in all().iter().enumerate() {
        let Ok(entry @ 1..) = u16::try_from(number + 1) else { return };
        let mut place = gnu_hash(function.name().to_bytes()) as usize;
        while TABLE[place % PLACES].load(Ordering::Relaxed) != 0 {
            place += 1;
        }
        TABLE[place % PLACES].store(entry, Ordering::Relaxed);
    }
}

/// The hooked function of either name, `MPI_X` or `PMPI_X`.
pub fn find(name: &CStr) -> Option<&'static Function> {
    let bytes = name.to_bytes();
    let base = bytes.strip_prefix(b"P").unwrap_or(bytes);
    if !base.starts_with(b"MPI_") {
        return None;
    }
    // The hash continues from byte to byte: that of `P` and the rest.
    let mut place =
        base.iter().fold(gnu_hash(b"P"), |hash, &byte| hash.wrapping_mul(33).wrapping_add(byte.into()));
    loop {
        let entry = TABLE[place as usize % PLACES].load(Ordering::Relaxed).checked_sub(1)?;
        let function = all().get(usize::from(entry))?;
        if &function.name().to_bytes()[1..] == base {
            return Some(function);
        }
        place = place.wrapping_add(1);
    }
}

/// Whether this is the address of the library's function, under either name.
pub fn is_real(function: &Function, address: u64) -> bool {
    let real = function.real();
    // The two names mostly lead to one address; where not, the library's other one is as good.
    real != 0 && (address == real || is_alias(function, address))
}

fn is_alias(function: &Function, address: u64) -> bool {
    let library = object::at(AT.load(Ordering::Relaxed));
    let is_inside = library.as_ref().is_some_and(|library| library.contains(address));
    is_inside && {
        // SAFETY: a name of ours, without its first letter: again a C string.
        let name = unsafe { CStr::from_ptr(function.name().as_ptr().add(1)) };
        let tables = library.and_then(|library| library.tables());
        let definition = tables.and_then(|tables| tables.definition(&Name::new(name, c""), None));
        definition.is_some_and(|definition| definition.address == address)
    }
}

/// Goes over what is loaded, the first `known` objects of which it has seen before; `are_all_left`: nothing
/// has been unloaded since. False if the dynamic linker has still to bind some words. Inside of
/// [`object::without_unloads`].
pub fn walk(known: usize, are_all_left: bool) -> bool {
    let is_gone = !are_all_left && forget_unloaded();
    let was_known = AT.load(Ordering::Relaxed) != 0;
    if !was_known && !look_for_library(if is_gone { 0 } else { known }) {
        return true;
    }
    let first = if was_known { known } else { 0 };
    let (mut number, mut is_finished) = (0, true);
    object::each(&mut |object| {
        number += 1;
        if number > first {
            is_finished &= lead_to_hooks(object);
        }
        false
    });
    is_finished
}

/// The library may be among what has been unloaded: forgets it then, and returns whether it is.
fn forget_unloaded() -> bool {
    let address = AT.load(Ordering::Relaxed);
    if address == 0 {
        return false;
    }
    let first = all().iter().find(|function| function.real() != 0);
    let is_there = first.is_some_and(|function| {
        let tables = object::at(address).and_then(|object| object.tables());
        let definition = tables.and_then(|tables| tables.definition(&Name::new(function.name(), c""), None));
        definition.is_some_and(|definition| definition.address == function.real())
    });
    if !is_there {
        AT.store(0, Ordering::Relaxed);
    }
    !is_there
}

fn look_for_library(known: usize) -> bool {
    let mark = Name::new(MARK, c"");
    let (mut number, mut is_found) = (0, false);
    object::each(&mut |object| {
        number += 1;
        if number <= known {
            return false;
        }
        let Some(tables) = object.tables() else { return false };
        is_found = tables.definition(&mark, None).is_some_and(|it| object.contains(it.address));
        if is_found {
            take_library(object, &tables);
        }
        is_found
    });
    is_found
}

#[cold]
#[inline(never)]
fn take_library(object: &Object, tables: &Tables) {
    if !IS_KNOWN.load(Ordering::Relaxed) {
        lay_table();
    }
    for function in all() {
        let definition = tables.definition(&Name::new(function.name(), c""), None);
        function.set_real(definition.map_or(0, |definition| definition.address));
    }
    library::is_at(object.range.start);
    AT.store(object.range.start, Ordering::Relaxed);
    IS_KNOWN.store(true, Ordering::Release);
}

fn is_name_of_ours(name: &CStr) -> bool {
    find(name).is_some_and(|function| function.real() != 0)
}

fn lead_to_hooks(object: &Object) -> bool {
    let Some(tables) = object.tables() else { return true };
    // Calls inside of the library are parts of calls of the program.
    if object.contains(AT.load(Ordering::Relaxed)) || object.contains(walk as *const () as u64) {
        return true;
    }
    // Names of MPI have no versions.
    let versions = tables.versions(|_, _| false);
    if !tables.may_refer_to(versions, &is_name_of_ours) {
        return true;
    }
    let mut is_finished = true;
    tables.each_reference_to(&object.range, versions, &is_name_of_ours, &mut |reference| {
        if let Some(function) = find(reference.name) {
            is_finished &= lead_to_hook(object, function, &reference);
        }
    });
    is_finished
}

fn lead_to_hook(object: &Object, function: &Function, reference: &Reference) -> bool {
    match reference.bound {
        Some(bound) if is_real(function, bound) => {
            words::write(object, reference.place, function.hook());
        }
        // As it stands in the file.
        Some(bound) if bound == 0 || object.base != 0 && object.contains(object.base.wrapping_add(bound)) => {
            // A weak reference to what this library lacks stays null.
            return reference.is_weak || function.real() == 0;
        }
        None if !is_defined_by_others(reference.name) => {
            words::write(object, reference.place, function.hook());
        }
        _ => {}
    }
    true
}

/// Whether anything but the library defines this name: a tool that wraps the function, and is called by what
/// precedes it.
fn is_defined_by_others(name: &CStr) -> bool {
    let library = AT.load(Ordering::Relaxed);
    // SAFETY: a string of a loaded object, which the walk keeps loaded; `Name` is not kept.
    let name = Name::new(unsafe { CStr::from_ptr(name.as_ptr()) }, c"");
    let mut found = false;
    object::each(&mut |object| {
        let definition = object.tables().and_then(|tables| tables.definition(&name, None));
        found = definition.is_some_and(|definition| {
            !object.contains(library)
                && object.contains(definition.address)
                && !scope::is_own(definition.address)
        });
        found
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_known_by_both_of_its_names() {
        if TABLE.iter().all(|entry| entry.load(Ordering::Relaxed) == 0) {
            lay_table();
        }
        for function in all() {
            let name = function.name();
            // SAFETY: the same string without its first letter.
            let base = unsafe { CStr::from_ptr(name.as_ptr().add(1)) };
            for name in [name, base] {
                assert!(find(name).is_some_and(|found| core::ptr::eq(found, function)), "{name:?}");
            }
        }
        for name in [c"MPI_Comm_rank", c"MPI_", c"PMPI_", c"mpi_send_", c"P", c""] {
            assert!(find(name).is_none(), "{name:?}");
        }
    }

    #[test]
    fn a_process_without_mpi_has_none() {
        object::without_unloads(|| {
            assert!(walk(0, true));
        });
        assert!(!is_known() && AT.load(Ordering::Relaxed) == 0);
    }
}
