//! Several runs beside each other: which places are the same in all of them, their amounts in each, and which
//! differences are more than chance.
//!
//! A comparison goes in three steps, each of which serves two runs as well as many:
//!
//! 1. [`Outline`]: a run's tree of contexts by their names in the source, with their amounts. Nothing in it
//!    depends on addresses, so that the outlines of two builds can be laid over each other.
//! 2. [`Joint`]: N outlines as one tree. Each of its nodes knows which node of which run it is, and gives the
//!    amounts of each run by node and by function.
//! 3. [`statistics`](proust_statistics): amounts of repetitions become estimates, two of them a
//!    [`Change`](proust_statistics::Change) that is more, less, the same, or undecided.
//!
//! What the differences mean is built on top: two runs side by side in [`diff`].
//! This module reads no files and words nothing.

pub mod degradation;
pub mod diff;
pub mod disturbance;
pub mod joint;
mod matching;
mod names;
pub mod node;
pub mod outline;
pub mod run;
pub mod sampling;
pub mod scaling;
pub mod sweeps;
#[cfg(test)]
mod tests;

pub use diff::Diff;
pub use disturbance::Disturbance;
pub use joint::{Joint, Label};
pub use node::JointId;
pub use outline::{NodeId, Outline};
pub use run::{ComparedRun, ComparedThread};
