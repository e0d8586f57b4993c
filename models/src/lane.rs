//! Who uses a lane's record, and what its header says while its thread is docked.

use loom::sync::atomic::{AtomicU32, AtomicU64};

#[path = "../../crates/collector/src/lane/docked.rs"]
pub mod docked;
#[path = "../../crates/collector/src/lane/left.rs"]
mod left;
#[path = "../../crates/collector/src/lane/record_lock.rs"]
pub mod record_lock;

/// The words of a lane's header that concern docking.
#[derive(Debug, Default)]
pub struct LaneHeader {
    pub wait_operation: AtomicU32,
    pub wait_object: AtomicU64,
    pub wait_since_ns: AtomicU64,
    pub wait_node: AtomicU32,
    pub wait_target: AtomicU32,
    pub region: AtomicU32,
    pub wait_released_ns: AtomicU64,
    pub wait_latency_ns: AtomicU64,
}
