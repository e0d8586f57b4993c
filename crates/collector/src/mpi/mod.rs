//! Calls of MPI, whatever library the program has: messages, collectives, and what else takes time.
//!
//! A process without MPI pays nothing: until an MPI library is loaded, none of this is touched. Nothing of it
//! is exported either, so that no name misleads a program that looks for functions which its library lacks.
//!
//! The functions of the library have two names, `MPI_X` and `PMPI_X`. Whichever of them an object of the
//! program refers to, its word gets our hook if it is bound to the library's own function ([`binding`]): so
//! Fortran's layers, which call the one or the other, need no hooks of their own, and a tool that defines
//! `MPI_X` itself is called as without us; its own calls of `PMPI_X` are recorded. Calls inside of a call are
//! part of that: the thread is in an operation already.
//!
//! - [`binding`]: finds the library, and leads what refers to its functions to the hooks
//! - [`table`]: which functions are hooked, as data
//! - [`library`]: the library that was found, its constants, and the functions that we call ourselves
//! - [`call`]: begin and end of a call; [`polls`]: calls that only look whether something has arrived
//! - [`handles`]: a table by handle, without locks; [`requests`], [`communicators`]: what lies behind
//!   a handle
//! - [`clocks`]: clocks of several hosts, compared; [`agreement`]: by which ranks
//! - [`marks`]: messages and calls that mark intervals; [`half`]: what a thread remembers of such a message
//! - [`state`]: each thread's
//! - [`hooks`]: the hooks, by what the functions do

pub mod agreement;
pub mod binding;
pub mod call;
pub mod clocks;
pub mod communicators;
pub mod half;
pub mod handles;
pub mod hooks;
pub mod kept;
pub mod library;
pub mod marks;
pub mod polls;
pub mod requests;
pub mod slots;
pub mod state;
pub mod table;

pub use state::{Calls, Shared};
