//! Who uses a lane's record.

#[path = "../../crates/collector/src/lane/hold.rs"]
pub mod hold;
#[path = "../../crates/collector/src/lane/left.rs"]
mod left;
