//! From machine code to source: the functions, inlined calls and lines behind sampled addresses.
//!
//! [`Structurer::resolve`] takes one ELF module and the addresses that were sampled in it and answers, for
//! each of them, the physical function, the chain of calls inlined there, and the file and line of every link
//! of that chain. Only sampled addresses are looked up, and the results are kept in a cache by build-id.
//!
//! Addresses are SVMAs (stated virtual memory addresses: those written in the ELF file, before the loader's
//! bias). An address is looked up as given; the caller turns a return address into one inside the call
//! instruction, usually by subtracting one.
//!
//! Nothing here fails: what cannot be known is said in [`ModuleStructure::notes`], and an address without a
//! symbol is named `module+0xoffset`. Symbols are never taken from another binary than the one measured.
//!
//! This crate is not for unwinding, for variables and types, or for modules that are not 64-bit ELF.

mod atomics;
mod beginning;
mod cache;
mod debug_files;
mod debug_info;
mod declaration;
mod direct_calls;
mod folded;
mod image;
mod interpreted;
mod location;
mod made;
mod names;
mod note;
mod paths;
mod plt;
mod request;
mod resolver;
mod scopes;
mod split_dwarf;
mod structure;
mod structurer;
mod survive;
mod symbols;
mod unwind_ranges;
mod vdso;
mod waiting_loops;

pub use cache::default_cache_dir;
pub use interpreted::InterpretedCode;
pub use made::MadeCode;
pub use names::{Names, demangle, without_clone_suffix};
pub use note::{Difference, ModuleNote};
pub use request::{FileIdentity, ModuleRequest};
pub use structure::{Function, ModuleStructure, ResolvedAddress, SourceFrame};
pub use structurer::Structurer;
