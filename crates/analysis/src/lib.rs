//! Logs to profile, and the questions that a profile can answer.

pub mod ledger;
pub mod query;
