//! The pages, on a small run whose numbers can be checked by hand.

mod contract;
mod example;
mod golden;
mod questions;
