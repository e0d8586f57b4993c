//! The account of a run: what each location did at each instant, what that is on the accounts, and what
//! caused each loss. Pure functions of a profile.
//!
//! From the bottom up; no module uses one below it in this list:
//!
//! - `search`: searching in sorted rows
//! - [`ledger`]: accounts of timelines of states
//! - [`classes`]: what waits count as, by call path
//! - [`timelines`]: a profile's rows as timelines of states
//! - [`stored`]: timelines on disk, read by range
//! - [`blame`]: what caused each loss
//! - [`accounted`]: all of these in one step

pub mod accounted;
pub mod blame;
pub mod classes;
pub mod ledger;
pub mod stored;
pub mod timelines;
