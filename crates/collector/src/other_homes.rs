//! Functions that the library needs and that not every root has: containers, old trees of packages.
//!
//! `imports.txt` lists what is imported, `build.rs` sees to it that nothing else is. The rest is defined
//! here, hidden:
//!
//! - [`unwinder`]: functions that Rust's standard library needs of an unwinder, and of newer C libraries
//! - [`moved`]: functions that lie in other libraries before version 2.34 of the GNU C library

pub mod moved;
mod unwinder;
