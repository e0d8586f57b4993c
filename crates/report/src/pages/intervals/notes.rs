//! What a reader must know about the intervals of a page.

use proust_profile::Profile;
use proust_profile::notes::RunNote;
use proust_query::characteristics::Characterised;

use super::Row;
use crate::wording::PageNote;

/// What was wrong with the run's marks: unmatched, crossing, open, missed, too deep, too many.
pub(super) fn notes_of_marks(profile: &Profile) -> Vec<RunNote> {
    let is_of_marks = |note: &&RunNote| {
        matches!(
            note,
            RunNote::MarksMissed { .. }
                | RunNote::MarksUnmatched { .. }
                | RunNote::IntervalsTooDeep { .. }
                | RunNote::IntervalsTooMany { .. }
                | RunNote::IntervalsCrossed { .. }
                | RunNote::IntervalsOpen { .. }
        )
    };
    profile.quality.notes.iter().filter(is_of_marks).cloned().collect()
}

/// What a reader must know of these, in words.
pub(super) fn notes_about(intervals: &[Row]) -> Vec<PageNote> {
    let mut notes = Vec::new();
    let some: Vec<String> =
        intervals.iter().filter(|row| row.recorded < row.executions).map(|row| row.label.clone()).collect();
    if !some.is_empty() {
        notes.push(PageNote::ExecutionsDrawn { intervals: some });
    }
    if intervals.iter().any(|row| row.alone) {
        notes.push(PageNote::IntervalsAlone {});
    }
    let those = |is: &dyn Fn(&Row, &Characterised) -> bool| -> Vec<String> {
        let is = |row: &&Row| row.characterised.as_ref().is_some_and(|of| is(row, of));
        intervals.iter().filter(is).map(|row| row.label.clone()).collect()
    };
    for (intervals, note) in [
        (those(&|_, of| of.missing > 0), PageNote::partial as fn(Vec<String>) -> PageNote),
        (those(&|_, of| !of.is_even), PageNote::uneven),
        (those(&|row, _| row.unmarked > 0), PageNote::open),
        (those(&|_, of| of.interval.may_contain_replicated()), PageNote::replicated),
    ] {
        if !intervals.is_empty() {
            notes.push(note(intervals));
        }
    }
    notes
}
