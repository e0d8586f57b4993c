//! What LLVM's and Intel's runtime, and others, tell tools of themselves (OpenMP 5, chapter "OMPT Interface").
//!
//! The runtime asks for a tool by a name that we export, and calls the functions that we give it. Where another tool is
//! there already, that one gets what it asks for, and the runtime is known by samples only.
//!
//! - [`start`]: how a runtime finds us
//! - [`callbacks`]: what it tells
//! - [`layout`]: types and numbers of the interface

#![allow(
    clippy::missing_safety_doc,
    reason = "the contract of what a runtime calls is that of the interface"
)]

pub mod callbacks;
pub mod layout;
pub mod start;
