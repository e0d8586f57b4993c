//! The version of the JSON contract.

/// The schema of the JSON contract.
pub const SCHEMA: u32 = 1;
