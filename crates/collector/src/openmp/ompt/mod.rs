//! The reports of LLVM's and Intel's runtime, and others, to tools (OpenMP 5, chapter "OMPT Interface").
//!
//! The runtime asks for a tool by a name that we export, and calls the functions that we give it. Where there
//! is another tool that we are asked for before, both get the events. Where that one is found first, the
//! runtime is known by samples only.
//!
//! - [`start`]: how a runtime finds us
//! - [`callbacks`]: its reports
//! - [`control`]: the program's requests
//! - [`chain`], [`forward`], [`pairs`]: how another tool gets the events, too
//! - [`layout`]: types and numbers of the interface

#![allow(
    clippy::missing_safety_doc,
    reason = "the contract of what a runtime calls is that of the interface"
)]

pub mod callbacks;
pub mod chain;
pub mod control;
pub mod forward;
pub mod layout;
pub mod pairs;
pub mod start;
