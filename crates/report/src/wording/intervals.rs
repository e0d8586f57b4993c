//! Notes about marks and the intervals between them.

use proust_profile::notes::{MarkPlace, RunNote};
use proust_words::{counted, verb};

use super::process::who;

/// Places that are named one by one.
const MOST_NAMED: usize = 8;

/// The words of a note about marks; None if it is about something else.
pub(super) fn text(note: &RunNote) -> Option<String> {
    let text = match note {
        RunNote::MarksMissed { process, marks } => format!(
            "{}: {} {} not recorded, since they came from signal handlers that had interrupted a mark, or \
             could not be stored; their intervals are missing",
            who(process),
            counted(*marks, "mark"),
            verb(*marks, "was", "were")
        ),
        RunNote::MarksUnmatched { process, places } => {
            let sum = sum(places);
            format!(
                "{}: {} {} no interval that is open, and {} ignored: {}",
                who(process),
                counted(sum, "mark"),
                verb(sum, "ends", "end"),
                verb(sum, "was", "were"),
                listed(places)
            )
        }
        RunNote::IntervalsCrossed { process, places } => {
            let sum = sum(places);
            format!(
                "{}: {} had no end of {} own when the interval around {} ended, and {} closed there: {}",
                who(process),
                counted(sum, "execution"),
                verb(sum, "its", "their"),
                verb(sum, "it", "them"),
                verb(sum, "was", "were"),
                listed(places)
            )
        }
        RunNote::IntervalsOpen { process, places } => {
            let sum = sum(places);
            let what = verb(sum, "execution of an interval was", "executions of intervals were");
            format!(
                "{}: {sum} {what} still open when {} thread or process ended, and {} closed there: {}",
                who(process),
                verb(sum, "its", "their"),
                verb(sum, "was", "were"),
                listed(places)
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

/// `3 × name[number] (file:line)`, for the first of them.
fn listed(places: &[MarkPlace]) -> String {
    let one = |place: &MarkPlace| {
        let number = place.number.map(|number| format!("[{number}]")).unwrap_or_default();
        let at = match (&place.file, place.line) {
            (Some(file), 0) => format!(" ({})", shown(file)),
            (Some(file), line) => format!(" ({}:{line})", shown(file)),
            (None, _) => String::new(),
        };
        format!("{} × `{}{number}`{at}", place.count, place.name)
    };
    let mut text: Vec<String> = places.iter().take(MOST_NAMED).map(one).collect();
    if places.len() > MOST_NAMED {
        text.push(format!("and {} more", places.len() - MOST_NAMED));
    }
    text.join(", ")
}
