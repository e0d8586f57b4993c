//! Parallel regions, summed up: how often, by how many threads, the work, and the losses by cause, for each
//! region, site and thread. A pure function of a profile's segments and of the rows of its ledger.
//!
//! - `sums`: regions, sites and threads
//! - `cost`: the cost of measuring in their time
//! - `efficiency`: the whole run's losses to parallelism, as factors and as parts

mod cost;
mod efficiency;
mod queued;
mod sums;
#[cfg(test)]
mod tests;

pub use cost::{Cost, Costs, Counting};
pub use efficiency::Efficiencies;
pub use sums::{Came, Lost, RegionSum, RegionSums, SiteSum, ThreadSum};
