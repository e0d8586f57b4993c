//! Names of functions for people, from names for the linker.

mod clones;
mod cpp;
mod defaults;
mod rust;
mod source;

pub use clones::without_clone_suffix;
pub(crate) use source::Arguments;

/// A demangled name in two lengths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// Qualified, without parameters and the standard library's default arguments (C++), without hashes and
    /// generic arguments (Rust).
    pub short: String,
    /// Everything the linker's name says.
    pub full: String,
}

impl Names {
    pub(crate) fn same(name: impl Into<String>) -> Self {
        let name = name.into();
        Self { short: name.clone(), full: name }
    }

    /// Names for a linker symbol in whatever language; a symbol that no mangling explains keeps its own name
    /// but for the suffix of a compiler clone.
    pub(crate) fn of_symbol(linkage_name: &str) -> Self {
        demangle(linkage_name).unwrap_or_else(|| Self::same(without_clone_suffix(linkage_name)))
    }
}

/// Demangles a linker symbol of Rust (both schemes), C++ (Itanium) or a gfortran module procedure
/// (`__mod_MOD_sub`). Suffixes of compiler clones are not part of the result, other suffixes are kept
/// (`_Z3foov._omp_fn.0` is `foo._omp_fn.0`). `None` when the name is not mangled, or not soundly.
pub fn demangle(linkage_name: &str) -> Option<Names> {
    let name = without_clone_suffix(linkage_name);
    if name.starts_with("_R") || is_legacy_rust(name) {
        return rust::demangle(name);
    }
    if name.starts_with("_Z") {
        let (mangled, suffix) = name.split_at(name.find('.').unwrap_or(name.len()));
        let mut names = cpp::demangle(mangled)?;
        names.short.push_str(suffix);
        names.full.push_str(suffix);
        return Some(names);
    }
    fortran_module_procedure(name).map(Names::same)
}

/// Rust's first mangling is C++'s with a hash as the last part; nothing else distinguishes them.
fn is_legacy_rust(name: &str) -> bool {
    const HASH_DIGITS: usize = 16;
    name.starts_with("_ZN")
        && name.strip_suffix('E').and_then(|rest| rest.rsplit_once("17h")).is_some_and(|(_, hash)| {
            hash.len() == HASH_DIGITS && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        })
}

fn fortran_module_procedure(name: &str) -> Option<String> {
    let (module, procedure) = name.strip_prefix("__")?.split_once("_MOD_")?;
    let lower_case = |s: &str| !s.is_empty() && !s.bytes().any(|b| b.is_ascii_uppercase());
    (lower_case(module) && lower_case(procedure)).then(|| format!("{module}::{procedure}"))
}

#[cfg(test)]
mod tests;
