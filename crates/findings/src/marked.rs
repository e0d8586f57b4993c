//! The marked intervals of a run, each with the account of the time inside.

use proust_account::ledger::Windows;
use proust_profile::{LocationId, Profile};
use proust_query::intervals::Question;

/// All locations of a profile that has marked intervals.
pub(super) fn locations(profile: &Profile) -> Option<Vec<LocationId>> {
    let all = (0..profile.locations.len()).map(LocationId::from_index);
    (!profile.intervals.is_empty()).then(|| all.collect())
}

/// All that is known of them, in the whole run.
pub(super) fn all(locations: &[LocationId]) -> Question<'_> {
    Question { locations, windows: Windows::all(), processors: None, wanted: None, in_scope: Vec::new() }
}
