//! Parallel regions, summed up: how often, by how many threads, what was worked, and what was lost to what,
//! for each region, site and thread. A pure function of a profile's segments and of the rows of its ledger.
//!
//! - `sums`: regions, sites and threads
//! - `cost`: what measuring took of their time
//! - `efficiency`: what the whole run lost to parallelism, as factors and as parts

mod cost;
mod efficiency;
mod sums;
#[cfg(test)]
mod tests;

pub use cost::{Cost, Costs, Counting};
pub use efficiency::Efficiencies;
pub use sums::{Came, Lost, RegionSum, RegionSums, SiteSum, ThreadSum};
