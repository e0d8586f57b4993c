//! Streams against their naive twin: vectors of records, filtered and reversed.

mod files;
mod levels;
mod merges;
mod naive;
