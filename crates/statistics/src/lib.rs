//! Which differences are more than chance: one set of rules for every page that compares runs.
//!
//! An amount of one run is an [`Observation`]. The observations of one side's repetitions are summed up by an
//! [`Estimate`]; two sides make a [`Change`], whose [`Verdict`] is one of three answers: changed
//! ([`Verdict::More`], [`Verdict::Less`]), [`Verdict::Same`] within a margin, or [`Verdict::Undecided`], with
//! the number of further runs that would probably decide it.
//!
//! How that is decided depends on the number of repetitions of the smaller side ([`Method`]):
//!
//! | runs | rule |
//! |---|---|
//! | 1 and 1 | bounds: sampling errors, 10 % for unknown variation, and the possible effect of a busy machine |
//! | 1 and more | the single run is compared with what one more run of the other side would do (Student) |
//! | 2 | Student's or Welch's test of the means; bounded by the busy machine as well |
//! | 3 and more | [`robust`]: difference of the medians by the pooled residuals; a busy machine is a caution |
//!
//! Measured run times have a heavy tail: one run in ten is slowed by something. A test of means then loses
//! its power and does not regain it with more runs; bootstraps and ranges are too narrow for so few runs, and
//! rank tests cannot decide with three. Figures for all of these: [`robust`].
//!
//! Where many places are compared at once, [`family`] corrects for their number. A limit that a user writes
//! is tested by itself, by the end of the interval that speaks for it ([`gate`]). Whether a cost depends on a
//! count is asked of the slope of a line ([`mod@line`]).
//!
//! This module is pure: no files, no clocks, no state but tables computed once from fixed seeds.

pub mod change;
pub mod family;
pub mod gate;
pub mod line;
pub mod observation;
mod quantiles;
pub mod robust;
#[cfg(test)]
mod tests;

pub use change::{Change, Matters, Method, Verdict, Why};
pub use gate::Outcome;
pub use observation::{Estimate, Observation};
