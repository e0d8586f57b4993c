//! Tests of the pure function: programs whose accounts are known, rules one by one, and laws that hold for
//! all.

mod build;
pub(crate) mod laws;
mod naive;
mod programs;
mod rules;
mod speed;
