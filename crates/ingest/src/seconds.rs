//! Times as the profile has them.

/// Nanoseconds as seconds.
pub(super) fn seconds(ns: u64) -> f64 {
    // Not a multiplication by 1e-9, which is no binary fraction: 0.03 s should read so.
    ns as f64 / 1e9
}
