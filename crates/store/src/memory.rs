//! How much memory the analyses of this process use.

use std::sync::OnceLock;

use proust_account::timelines::AtOnce;
use proust_profile::Budget;

use super::allocator::keep_little_free;

/// Set once, by [`limit_memory`] or the first analysis.
static MEMORY: OnceLock<Memory> = OnceLock::new();

struct Memory {
    for_rows: Budget,
    for_locations: AtOnce,
}

/// Lets all analyses of this process together use about so many bytes of memory. A quarter is for rows
/// (samples, operations, releases, stays): what is more lies in a file without a name in the run's folder.
/// Another quarter is for what explains the timelines of locations: as many are made at once as have room in
/// it. Half is for what grows with a program's functions, and not with its time. Without a call there are no
/// limits; one that comes after the first analysis has begun does nothing.
pub fn limit_memory(bytes: u64) {
    let (for_rows, for_locations) = (Budget::new(bytes / 4), AtOnce(bytes / 4));
    keep_little_free();
    // Of two calls the first one counts: memory that is in use cannot be taken back.
    let _ = MEMORY.set(Memory { for_rows, for_locations });
}

fn memory() -> &'static Memory {
    MEMORY.get_or_init(|| Memory { for_rows: Budget::new(u64::MAX), for_locations: AtOnce::default() })
}

/// What is left for rows.
pub(crate) fn for_rows() -> Budget {
    memory().for_rows.clone()
}

/// What the timelines of locations may take.
pub(crate) fn for_locations() -> AtOnce {
    memory().for_locations
}
