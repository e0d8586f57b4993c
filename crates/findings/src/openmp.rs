//! Parallel regions of OpenMP: constructs that cost more than they give.
//!
//! - `constructs`: what the regions of a run are made of, by place in the source
//! - `depth`: work-sharing too deep in a nest of loops, tasks that are too small
//! - `loops`: static schedules over uneven work, chunks that are too small
//! - `critical`: sections for one thread at a time, in hot loops
//! - `serial_tasks`: tasks that are executed one after the other
//! - `teams`: teams inside teams that are more than the processors, teams of one
//! - `policy`: waits that keep a processor which others need, and waits that sleep for a moment
//!
//! What is measured at sites is wall time. Time that a busy machine adds to it must not become a finding:
//! work is taken by processor time, and a cost that is compared is the smallest that was seen.

mod constructs;
mod critical;
mod depth;
mod loops;
mod policy;
mod serial_tasks;
mod teams;

use super::facts::Facts;
use super::finding::Finding;

use constructs::Constructs;
pub(super) use constructs::{idle_spinning_share, spinning_share};
pub(super) use loops::NEAR;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let constructs = Constructs::of(facts);
    let mut found = Vec::new();
    if !constructs.is_empty() {
        found.extend(serial_tasks::find(facts, &constructs));
        found.extend(depth::find(facts, &constructs));
        found.extend(loops::find(facts, &constructs));
        found.extend(critical::find(facts, &constructs));
        found.extend(teams::find(facts, &constructs));
        found.extend(policy::find(facts, &constructs));
    }
    found
}
