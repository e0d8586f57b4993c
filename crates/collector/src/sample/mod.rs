//! Sampling: each thread's CPU timer, and the handler of its signal.

pub mod allowance;
pub mod contain;
pub mod handler;
pub mod resume;
pub mod signal;
pub mod timer;
