//! Notes about marks and the intervals between them.

use proust_profile::notes::{MarkPlace, RunNote};
use proust_words::{count, counted, verb};

use super::process::who;

/// Places that are named one by one.
const MOST_NAMED: usize = 8;

/// The words of a note about marks; None if it is about something else.
pub(super) fn text(note: &RunNote) -> Option<String> {
    let text = match note {
        RunNote::MarksMissed { process, marks } => format!(
            "{}: {} {} not recorded: a signal handler executed a mark while the thread was in one, or there \
             was no memory; their intervals are missing",
            who(process),
            counted(*marks, "mark"),
            verb(*marks, "was", "were")
        ),
        RunNote::MarksUnmatched { process, places, others } => {
            let sum = sum(places) + others;
            format!(
                "{}: {} {} no interval that is open, and {} ignored: {}",
                who(process),
                counted(sum, "mark"),
                verb(sum, "ends", "end"),
                verb(sum, "was", "were"),
                listed(places, *others)
            )
        }
        RunNote::IntervalsTooDeep { process, executions, most } => format!(
            "{}: {} of intervals inside {most} others {} not recorded: the time counts in the intervals \
             around them",
            who(process),
            counted(*executions, "execution"),
            verb(*executions, "was", "were")
        ),
        RunNote::IntervalsTooMany { process, executions, most } => format!(
            "{}: {} of intervals {} not recorded, since their thread had executed {} others that differ in \
             name, number, line or call path: give marks the same name and number each time, or a coarser \
             number",
            who(process),
            counted(*executions, "execution"),
            verb(*executions, "was", "were"),
            count(*most)
        ),
        RunNote::IntervalsCrossed { process, places } => {
            let sum = sum(places);
            format!(
                "{}: {} had no end of {} own when the interval around {} ended, and {} closed there: {}",
                who(process),
                counted(sum, "execution"),
                verb(sum, "its", "their"),
                verb(sum, "it", "them"),
                verb(sum, "was", "were"),
                listed(places, 0)
            )
        }
        RunNote::IntervalsOpen { process, places } => {
            let sum = sum(places);
            let what = verb(sum, "execution of an interval was", "executions of intervals were");
            format!(
                "{}: {} {what} still open when {} thread or process ended, and {} closed there: {}",
                who(process),
                count(sum),
                verb(sum, "its", "their"),
                verb(sum, "was", "were"),
                listed(places, 0)
            )
        }
        _ => return None,
    };
    Some(text)
}

fn sum(places: &[MarkPlace]) -> u64 {
    places.iter().map(|place| place.count).sum()
}

/// A file as a mark names it; of a path from the root its last part.
fn shown(file: &str) -> &str {
    if file.starts_with('/') { file.rsplit('/').next().unwrap_or(file) } else { file }
}

/// `3 × name[number] (file:line)`, for the first of them; `others` are at places that are not known.
fn listed(places: &[MarkPlace], others: u64) -> String {
    let one = |place: &MarkPlace| {
        let number = place.number.map(|number| format!("[{number}]")).unwrap_or_default();
        let at = match (&place.file, place.line) {
            (Some(file), 0) => format!(" ({})", shown(file)),
            (Some(file), line) => format!(" ({}:{line})", shown(file)),
            (None, _) => String::new(),
        };
        format!("{} × `{}{number}`{at}", count(place.count), place.name)
    };
    let named = &places[..places.len().min(MOST_NAMED)];
    let mut text: Vec<String> = named.iter().map(one).collect();
    let more = sum(&places[named.len()..]) + others;
    if more > 0 {
        text.push(format!("and {} × others", count(more)));
    }
    text.join(", ")
}
