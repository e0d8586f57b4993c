//! How much memory the analyses of this process use.

use std::sync::OnceLock;

use proust_profile::Budget;

/// Set once, by [`limit_memory`] or the first analysis.
static FOR_ROWS: OnceLock<Budget> = OnceLock::new();

/// Lets all analyses of this process together use about so many bytes of memory. Half of them is for rows
/// (samples, operations, releases, stays): what is more lies in a file without a name in the run's folder.
/// The other half is for what grows with a program's functions, and not with its time. Without a call rows
/// may use all memory that there is; one that comes after the first analysis has begun does nothing.
pub fn limit_memory(bytes: u64) {
    // Of two calls the first one counts: memory that is in use cannot be taken back.
    let _ = FOR_ROWS.set(Budget::new(bytes / 2));
}

/// What is left for rows.
pub(crate) fn for_rows() -> Budget {
    FOR_ROWS.get_or_init(|| Budget::new(u64::MAX)).clone()
}
