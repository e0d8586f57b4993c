//! Analyses of synthetic logs, whose content is known, and profiles that are kept of them.

mod clocks;
mod damage;
mod entrances;
mod fuzz_targets;
mod interpreted;
mod kept;
mod operations;
mod processes;
mod ranks;
#[path = "../synthetic/mod.rs"]
mod synthetic;
mod tail_calls;
mod threads;
mod waits;
