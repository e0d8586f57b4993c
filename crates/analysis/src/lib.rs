//! Logs to profile, and the questions that a profile can answer.
//!
//! From the bottom up; no module uses one below it in this list:
//!
//! - [`ingest`]: logs to profile; alone in reading logs and binaries
//! - [`ledger`]: accounts of timelines of states, a pure function
//! - [`classes`]: what waits count as, by call path
//! - [`timelines`]: a profile's rows as timelines of states
//! - [`blame`]: what caused each loss; [`accounted`]: all of these in one step
//! - [`query`]: amounts, callers, statistics of a part of a run; [`openmp`]: the same of parallel regions
//! - [`findings`]: the losses of a run, in a form that a user can act on
//! - [`compare`]: runs laid over each other
//! - [`store`]: what is kept of a run
//! - [`scaling`], [`degradation`], [`sweeps`]: runs with several counts of threads or ranks
//!
//! [`operations`], [`statistics`], [`durations`], [`nearest`] and [`words`] know none of them.

pub mod accounted;
mod bindings;
pub mod blame;
pub mod classes;
pub mod compare;
pub mod degradation;
pub mod durations;
pub mod findings;
mod hash;
pub mod ingest;
pub mod ledger;
pub mod nearest;
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
