//! Nodes of the tree that several runs have in common.

use super::names::TextId;
use super::outline::Key;

/// Position of a node in a [`Joint`](super::Joint) tree.
pub type JointId = u32;

/// Position of a function in [`Joint::functions`](super::Joint::functions).
pub type JointFunctionId = u32;

/// A node of the joint tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointNode {
    pub parent: Option<JointId>,
    pub key: Key,
    /// Of its function's declaration, or of the line, in the last run that knows it.
    pub file: TextId,
}
