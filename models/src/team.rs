//! What a team's threads learn of its regions: from the word that they are given, and from its times.

#[path = "../../crates/collector/src/openmp/team/given.rs"]
pub mod given;
#[path = "../../crates/collector/src/openmp/team/times.rs"]
pub mod times;

use loom::cell::UnsafeCell;
use times::Times;

/// A team as far as its threads read it without having been given it.
#[derive(Debug, Default)]
pub struct Team {
    pub times: Times,
    /// What its opener wrote before the first region, as its other lines are.
    pub body: UnsafeCell<u32>,
}
