//! The pages, on a small run whose numbers can be checked by hand.

mod contract;
mod example;
mod findings;
mod golden;
mod questions;
