//! Degradation: places that become slower, not faster, with more threads.
//!
//! The definitions are those of Li, Shu, Chen and Wang, "Performance degradation diagnosis and processing for
//! OpenMP programs", Mini-Micro Systems 26(9), 2005, numbered as there, and a robust form of them that knows
//! noise:
//!
//! Times exclude the cost of measuring ([`proust_query::openmp::Costs`]), as far as that is known.
//!
//! 1. speedup of a region with m threads = T(1) ÷ T(m), where T(m) is the time of the thread that takes
//!    longest in it;
//! 2. efficiency = speedup ÷ m;
//! 3. a region is *degraded at m* if with some fewer threads it is faster: T(m) > T(m') for an m' < m;
//! 4. the m for which that holds are its *ranks*; 5. the least of them is its *minimal rank*: 2 is the worst;
//! 6. its *strength* at m is T(m) if m is a rank, else 0.
//!
//! - [`mod@ranks`]: at which counts it is degraded, and by how much
//! - [`mod@advice`]: what that suggests to do
//! - [`descent`]: from a degraded region down to the code that causes it
//!
//! - [`assessment`]: all of that for the runs of a sweep
//!
//! All but the last are pure functions of numbers: of [`crate::scaling::Timing`] and
//! [`crate::scaling::Causes`]. Its numbers are those of [`crate::scaling::Ensemble`].

pub mod advice;
pub mod assessment;
pub mod descent;
pub mod ranks;
#[cfg(test)]
mod tests;

pub use advice::{Advice, advice};
pub use assessment::{Assessment, Finding};
pub use ranks::{Definition, Degradation, Limits, Rank, Verdict, Why, ranks};
