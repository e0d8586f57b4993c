//! The processor, as far as a path depends on it.

pub const PAGE_BYTES: usize = 4096;

pub mod context {
    /// Where a signal frame has its registers: nowhere, since no stack here has one.
    pub const PLACES: [u64; 3] = [0, 8, 16];
    pub const LINK_PLACE: Option<u64> = None;
    pub const CONTEXT_AT_RETURN: u64 = 0;
}

#[path = "../../../crates/collector/src/arch/x86_64/unwinding.rs"]
pub mod unwinding;
