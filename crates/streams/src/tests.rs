//! Streams against their naive twin: vectors of records, filtered and reversed.

mod files;
mod naive;
