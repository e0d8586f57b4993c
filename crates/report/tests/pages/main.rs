//! The pages, on a small run whose numbers can be checked by hand.

mod contract;
mod depth;
mod derived;
mod diff;
mod distribution;
mod documents;
mod dvm;
mod dvm_mpi;
mod example;
mod findings;
mod flat_groups;
mod golden;
mod intervals;
mod messaging;
mod questions;
mod schema;
mod summaries;
