//! Logs to profile, and the questions that a profile can answer.

mod bindings;
pub mod blame;
pub mod classes;
pub mod compare;
pub mod degradation;
pub mod findings;
mod hash;
pub mod ingest;
pub mod ledger;
pub mod openmp;
pub mod operations;
pub mod query;
pub mod scaling;
mod search;
pub mod statistics;
pub mod store;
pub mod sweeps;
pub mod timelines;
pub mod words;
