//! Tests of the pure function: programs whose accounts are known, rules one by one, and laws that hold for
//! all.

mod build;
mod inside;
pub(crate) mod laws;
mod naive;
mod programs;
mod rules;
mod speed;
