//! Names that this library defines and nobody else does.
//!
//! A program may refer to a function weakly, and do without it where there is none: to a runtime of OpenMP, or
//! to a function that only newer C libraries have. The dynamic linker has bound such references to our hooks,
//! behind which there is nothing. Before the program runs they get what they would have without us: nothing.

use core::ffi::CStr;

use super::lacking;
use super::object::{self, Name, Object, Reference};
use super::scope;
use crate::openmp::gomp::names::{self, NAMES};
use crate::raw;

/// Most names that a C library may lack.
const MOST: usize = 64;

/// The hooked functions that the running C library is too old for.
struct Lacking([Option<&'static CStr>; MOST]);

impl Lacking {
    fn find() -> Lacking {
        let mut names = [None; MOST];
        for (slot, name) in names.iter_mut().zip(lacking()) {
            *slot = Some(name);
        }
        Lacking(names)
    }

    fn name(&self, name: &CStr) -> Option<&'static CStr> {
        self.0.iter().map_while(|known| *known).find(|known| *known == name)
    }
}

/// Takes back what weak references of the loaded objects were bound to, where nobody else defines it.
/// While the process has one thread, and nothing has been called.
pub fn take_back() {
    let lacking = Lacking::find();
    object::each(&mut |object| {
        take_back_of(object, &lacking);
        false
    });
}

fn take_back_of(object: &Object, lacking: &Lacking) {
    let Some(tables) = object.tables() else { return };
    if !tables.refers_weakly(|name| names::place(name).is_some() || lacking.name(name).is_some()) {
        return;
    }
    tables.each_reference(&object.range, &mut |reference| {
        if reference.is_weak && reference.bound.is_some_and(scope::is_own) && !is_defined(&reference, lacking)
        {
            clear(reference.place);
        }
    });
}

/// Whether anything else that is loaded defines what is referred to.
fn is_defined(reference: &Reference, lacking: &Lacking) -> bool {
    let of_library;
    let name = if let Some(name) = lacking.name(reference.name) {
        of_library = Name::new(name, c"");
        &of_library
    } else if let Some(name) = names::place(reference.name).and_then(|place| NAMES.get(place)) {
        name
    } else {
        return true;
    };
    let defines = |object: &Object, version: Option<&CStr>| {
        let definition = object.tables().and_then(|tables| tables.definition(name, version));
        definition.is_some_and(|definition| !scope::is_own(definition.address))
    };
    let mut found = false;
    object::each(&mut |object| {
        found = defines(object, reference.version) || defines(object, None);
        found
    });
    found
}

/// Stores zero in a word that the dynamic linker may have made read-only by now.
fn clear(place: u64) {
    let memory = raw::open(c"/proc/self/mem", libc::O_WRONLY | libc::O_CLOEXEC, 0);
    if !raw::failed(memory) {
        raw::pwrite(memory as i32, &0_u64.to_ne_bytes(), place);
        raw::close(memory as i32);
    }
}
