//! Reasons to doubt a comparison, why rows are not called changed, and limits, in words.

use proust_compare::diff::{Caution, Exceeded};
use proust_profile::facts::ending;
use proust_statistics::{Outcome, Why};
use proust_words::{count, counted, verb};

use super::change::signed;
use crate::number::{Scale, duration, fixed, percent};

/// Its identifier in JSON.
pub(super) fn id(caution: &Caution) -> &'static str {
    match caution {
        Caution::SameRun { .. } => "same-run",
        Caution::OtherProgram { .. } => "other-program",
        Caution::OtherArguments { .. } => "other-arguments",
        Caution::OtherCounts { .. } => "other-counts",
        Caution::OtherHost { .. } => "other-host",
        Caution::OtherProcessors { .. } => "other-processors",
        Caution::Failed { .. } => "failed",
        Caution::NoLines { .. } => "no-lines",
        Caution::Disturbed { .. } => "disturbed",
        Caution::Single { .. } => "single",
        _ => "other",
    }
}

/// A sentence without its end.
pub(super) fn text(caution: &Caution) -> String {
    match caution {
        Caution::SameRun { dir } => {
            format!("{dir} is on both sides: a run does not differ from itself; name another run")
        }
        Caution::OtherProgram { a, b } => format!(
            "these are different programs: {a} in A, {b} in B; only functions and lines that both have can \
             be compared"
        ),
        Caution::OtherArguments { a, b } => format!(
            "the arguments differ: `{}` in A, `{}` in B; if the input is another one, differences need not \
             come from the program",
            a.join(" "),
            b.join(" ")
        ),
        Caution::OtherCounts { place, a, b, places } => format!(
            "{place} was executed {} times in A and {} times in B{}: the input is another one, or the \
             program does its work in other steps",
            count(*a),
            count(*b),
            match places - 1 {
                0 => String::new(),
                others => {
                    let differs = verb(others, "differs", "differ");
                    format!(" ({} {differs} too)", counted(others, "other place"))
                }
            }
        ),
        Caution::OtherHost { a, b } => {
            format!("the runs are of different hosts, {a} and {b}: differences may be those of the machines")
        }
        Caution::OtherProcessors { a, b } => format!(
            "A ran on {} of {} available, B on {} of {}: compare seconds with that in mind",
            counted(a.0, "processor"),
            a.1,
            counted(b.0, "processor"),
            b.1
        ),
        Caution::Failed { dir, outcome } => {
            format!("{dir} {}; it may not have done all of its work", ending(outcome))
        }
        Caution::NoLines { side } => format!(
            "{side} has no debug information: functions are compared, lines and inlined calls cannot be; \
             compile with -g"
        ),
        Caution::Disturbed { runs } => {
            let runs: Vec<String> =
                runs.iter().map(|(dir, share)| format!("{dir} ({} %)", percent(*share, 1.0))).collect();
            format!(
                "others had the processors for much of the time in which the runs could have gone on: {}; \
                 with fewer than three runs of a side, what may come from that is called undecided: measure \
                 again on a quiet machine",
                runs.join(", ")
            )
        }
        Caution::Single { side } => format!(
            "{side} {} one run{}: how much this program's runs differ is not known, so that only \
             differences beyond the errors of samples and 10 % count; give repetitions (A1,A2 B1,B2) for \
             more certainty",
            if side.contains("and") { "have only" } else { "has only" },
            if side.contains("and") { " each" } else { "" },
        ),
        _ => "something speaks against this comparison that this version has no words for".into(),
    }
}

/// Why a difference is not called a change, in words; None if it is one, or there is none.
pub(super) fn why_unchanged(why: Why) -> Option<&'static str> {
    Some(match why {
        Why::Small => "too little to matter",
        Why::Samples => "undecided: too few samples",
        Why::Spread => "undecided: runs of one side differ as much",
        Why::Single => "undecided: single runs may differ as much (10 %)",
        Why::Disturbed => "undecided: a busy machine may cause as much",
        Why::Places => "undecided: one of as many rows may differ so much by chance",
        Why::Significant | Why::Equal => return None,
    })
}

/// A limit that is exceeded, in words.
pub fn limit_text(exceeded: &Exceeded) -> String {
    let change = &exceeded.change;
    let is_ratio = exceeded.limit.trim_start().starts_with("efficiency");
    let show = |amount: f64| if is_ratio { fixed(amount, 3) } else { duration(amount) };
    let found = if exceeded.is_share {
        let sign = if exceeded.found > 0.0 && exceeded.limit.contains('+') { "+" } else { "" };
        if exceeded.found.is_infinite() {
            "from nothing".into()
        } else {
            format!("{sign}{} %", fixed(exceeded.found * 100.0, 1))
        }
    } else if exceeded.limit.contains(['+', '-']) && !is_ratio {
        let scale = Scale::of("s", [change.delta]);
        format!("{} {}", signed(&scale, change.delta), scale.unit)
    } else {
        show(exceeded.found)
    };
    let half = change.half_of_limits;
    let noise = match (exceeded.outcome, change.more_runs) {
        (Outcome::Exceeded, _) => String::new(),
        (_, Some(runs)) => format!(
            "; undecided, ± {}: {} of each side would probably tell",
            show(half),
            counted(runs as usize, "more run")
        ),
        (_, None) => format!("; undecided, ± {}", show(half)),
    };
    format!("{}: {found}, from {} to {}{noise}", exceeded.limit, show(change.a.mean), show(change.b.mean))
}
