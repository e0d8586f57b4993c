//! Sampling: when each thread's samples are due, its timers, and the handler of their signal.

pub mod alarm;
pub mod allowance;
pub mod contain;
pub mod entered;
pub mod gamma;
pub mod handler;
pub mod pace;
pub mod process;
pub mod resume;
pub mod signal;
pub mod timer;
