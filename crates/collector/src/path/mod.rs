//! From a signal's registers to a context node.
//!
//! [`memo`] verifies what is unchanged since the thread's last path and steps through the rest by
//! [`rules`], which framehop derives from the unwind tables that [`modules`] knows; [`tree`] stores each
//! path once. [`mod@reference`] unwinds without all that, to check it.

pub mod coroutine;
pub mod elf;
pub mod jitdump;
pub mod maps;
pub mod memo;
pub mod module;
pub mod modules;
mod needed;
pub mod python;
pub mod reference;
pub mod rule;
pub mod rules;
pub mod stack;
mod tables;
pub mod tree;

#[cfg(test)]
mod tests;

use module::Module;
use tree::{Frame, NodeId};

/// Receives what paths are made of, once for each, before it is first used.
pub trait Announce {
    /// A module was found.
    fn module(&mut self, module: &Module);
    /// The text of a code object was read ([`proust_log::code`]), which has this number in the lane.
    fn code(&mut self, _number: u32, _text: &[u8]) {}
    /// A node was made.
    fn node(&mut self, id: NodeId, frame: &Frame);
}
