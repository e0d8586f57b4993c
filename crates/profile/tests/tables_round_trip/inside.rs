//! Operations inside others of a random profile.

use proust_profile::{ContextId, InsideRow, OperationId, ReleaseRow};

/// As many as there are releases.
pub fn inside(releases: &[ReleaseRow], contexts: u32) -> Vec<InsideRow> {
    let of = |(release, n): (&ReleaseRow, u32)| {
        let end_ns = release.time_ns.saturating_add(release.held_ns);
        let time_ns = (end_ns - release.time_ns) / 2;
        InsideRow {
            location: release.location,
            context: ContextId(n % contexts),
            outer: OperationId(0),
            operation: release.operation,
            begin_ns: release.time_ns,
            end_ns,
            time_ns,
            longest_ns: time_ns / 3,
            calls: n + 1,
            errors: n,
            bytes: release.object,
        }
    };
    releases.iter().zip(0..).map(of).collect()
}
