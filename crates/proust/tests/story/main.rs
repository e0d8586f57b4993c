//! What a user does with Proust, from the command line to the numbers, on programs that know the truth about
//! themselves (`programs/` in the repository).
//!
//! The harness: [`programs`] builds them, [`command`] runs a command with a deadline, [`recording`] records one
//! and asks for its pages, [`pages`] holds the JSON contract, [`chance`] says how far samples may be from the truth.
//! The other modules are the stories. Shares and ratios are compared, never absolute times: the machine may be loaded.

mod chance;
mod command;
mod pages;
mod programs;
mod recording;

mod binaries;
mod budget;
mod callers;
mod endings;
mod everyday;
mod exceptions;
mod fortran;
mod interruptions;
mod kernel_time;
mod launchers;
mod memo;
mod plugins;
mod processes;
mod queries;
mod rayon_pool;
mod recursion;
mod refusals;
mod semantics;
mod shares;
mod signals;
mod streams;
mod threads;
