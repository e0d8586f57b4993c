//! AArch64.
//!
//! The tests of other machines compile what is plain data.

#![cfg_attr(not(target_arch = "aarch64"), allow(dead_code, reason = "used on its own machine"))]

#[cfg(target_arch = "aarch64")]
pub mod cache;
pub mod context;
#[cfg(target_arch = "aarch64")]
pub mod counter;
pub mod elf;
pub mod linker;
#[cfg(target_arch = "aarch64")]
pub mod registers;
#[cfg(target_arch = "aarch64")]
pub mod routes;
#[cfg(target_arch = "aarch64")]
pub mod stacks;
#[cfg(all(target_arch = "aarch64", not(test)))]
pub mod stubs;
pub mod system;
#[cfg(target_arch = "aarch64")]
pub mod thunks;
pub mod unwinding;
