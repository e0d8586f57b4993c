//! Names of OpenMP's runtimes that this library exports and that nothing else that is loaded defines.
//!
//! A program may refer to such a function weakly, or look it up by name, and do without it where there is
//! none. The dynamic linker gives it our hook, behind which there is nothing: such references get what they
//! would have without us.

use core::ffi::CStr;

use super::object::{self, Name, Object, Reference};
use super::{scope, words};

/// Sets a weak reference to `name` back to null if it is bound to this library and nothing else defines the
/// name.
pub fn take_back(object: &Object, name: &Name, reference: &Reference) {
    if reference.is_weak
        && reference.bound.is_some_and(scope::is_own)
        && !is_defined_elsewhere(name, reference.version)
    {
        words::write(object, reference.place, 0);
    }
}

/// Whether anything else that is loaded defines the name, in this version or without one.
pub fn is_defined_elsewhere(name: &Name, version: Option<&CStr>) -> bool {
    let defines = |object: &Object, version: Option<&CStr>| {
        let definition = object.tables().and_then(|tables| tables.definition(name, version));
        definition.is_some_and(|definition| !scope::is_own(definition.address))
    };
    let mut found = false;
    object::each(&mut |object| {
        found = defines(object, version) || defines(object, None);
        found
    });
    found
}
