//! The marked intervals of a run, each with the account of the time inside.

use proust_account::ledger::{Run, Spans, Windows};
use proust_profile::{LocationId, Profile};
use proust_query::intervals::{Intervals, Question, intervals_of};

/// Those of a run, if there are any.
pub(super) fn intervals(profile: &Profile, run: &Run<impl Spans>) -> Option<Intervals> {
    if profile.intervals.is_empty() {
        return None;
    }
    let locations: Vec<LocationId> = (0..profile.locations.len()).map(LocationId::from_index).collect();
    let question = Question {
        locations: &locations,
        windows: Windows::all(),
        processors: None,
        wanted: None,
        in_scope: Vec::new(),
    };
    intervals_of(profile, run, &question).ok()
}
