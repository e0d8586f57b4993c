//! Which findings are shown, and in which order.

use super::facts::Facts;
use super::finding::{Finding, Kind};
use super::thresholds::LEAST_SHARE;

/// The most that are shown.
pub const MOST: usize = 10;

/// Largest recoverable amount first; of the same cause and account only the largest; nothing that hardly matters.
///
/// More threads than processors lose time that no change gives back: that is worth a word all the same.
pub(super) fn ranked(facts: &Facts<'_>, mut found: Vec<Finding>) -> Vec<Finding> {
    found.retain(|finding| {
        finding.kind == Kind::Oversubscription
            || facts.total_s > 0.0 && finding.recoverable_s / facts.total_s >= LEAST_SHARE.value
    });
    found.sort_by(|a, b| {
        b.recoverable_s
            .total_cmp(&a.recoverable_s)
            .then_with(|| b.lost_s.total_cmp(&a.lost_s))
            .then_with(|| (a.kind, a.cause.line).cmp(&(b.kind, b.cause.line)))
    });
    found.truncate(MOST);
    found
}
