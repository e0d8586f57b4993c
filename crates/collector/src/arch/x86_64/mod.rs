//! x86-64.

pub mod cache;
pub mod context;
pub mod counter;
pub mod elf;
pub mod linker;
pub mod registers;
pub mod routes;
pub mod stacks;
#[cfg(not(test))]
pub mod stubs;
pub mod system;
pub mod thunks;
pub mod unwinding;
