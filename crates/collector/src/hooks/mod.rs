//! The functions that the program calls instead of the C library's.
//!
//! Every hook is a few lines: it asks [`crate::life::in_hook`] whether this process records, does its part,
//! and calls the real function. Symbols are exported without a version, so that they serve every version a
//! program may ask for. Hooks are `C-unwind` and keep nothing with a destructor across the real call:
//! cancellation and exceptions pass through them.

#![allow(
    clippy::missing_safety_doc,
    reason = "a hook's contract is that of the C function whose name it bears"
)]

pub mod borrowers;
pub mod conditions;
pub mod confinement;
pub mod deadlines;
pub mod dl;
pub mod environment;
pub mod exec;
pub mod exit;
pub mod family;
pub mod file_locks;
pub mod futex;
pub mod io;
pub mod joins;
mod loadable;
pub mod locks;
pub mod lookups;
mod memory_barriers;
pub mod names;
pub mod once;
pub mod polls;
pub mod processes;
pub mod queues;
pub mod readable;
mod sanitizers;
pub mod semaphores;
pub mod signal_dialects;
pub mod signal_inheritance;
pub mod signal_masks;
pub mod signal_moves;
pub mod signal_requests;
pub mod signal_stacks;
pub mod signal_waits;
pub mod signals;
pub mod sleeps;
pub mod threads;
mod tracing;
pub mod wakes;
