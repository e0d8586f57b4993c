//! The program that `proust demo` records. It is a crate of its own so that the installed command has lines
//! of this code and of no other: those of all crates are four fifths of the file.

mod workload;

pub use workload::workload;
