//! Reasons to doubt a comparison.

use proust_compare::diff::{Caution, Sides};
use proust_profile::facts::ending;
use proust_words::{count, counted, verb};

use super::Worded;
use crate::number::percent;

impl Worded for Caution {
    fn text(&self) -> String {
        caution_text(self, 'B')
    }
}

/// A caution in words, where the side that is compared with A has another letter than B.
pub(crate) fn caution_text(caution: &Caution, other: char) -> String {
    match caution {
        Caution::SameRun { dir } => {
            format!("{dir} is on more than one side: a run does not differ from itself; name another run")
        }
        Caution::OtherProgram { a, b } => format!(
            "these are different programs: {a} in A, {b} in {other}; only functions and lines that both have \
             can be compared"
        ),
        Caution::OtherArguments { a, b } => format!(
            "the arguments differ: `{}` in A, `{}` in {other}; if the input is another one, differences need \
             not come from the program",
            a.join(" "),
            b.join(" ")
        ),
        Caution::OtherCounts { place, a, b, places } => format!(
            "{place} was executed {} times in A and {} times in {other}{}: the input is another one, or the \
             program does its work in other steps",
            count(*a),
            count(*b),
            match places.saturating_sub(1) {
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
            "A ran on {} of {} available, {other} on {} of {}: compare seconds with that in mind",
            counted(a.used, "processor"),
            a.available,
            counted(b.used, "processor"),
            b.available
        ),
        Caution::Failed { dir, outcome } => {
            format!("{dir} {}; it may not have done all of its work", ending(outcome))
        }
        Caution::NoLines { side } => format!(
            "{} has no debug information: functions are compared, lines and inlined calls cannot be; \
         compile with -g",
            letters(*side, other)
        ),
        Caution::Disturbed { runs } => {
            let runs: Vec<String> =
                runs.iter().map(|run| format!("{} ({} %)", run.dir, percent(run.share, 1.0))).collect();
            format!(
                "other programs had the processors for much of the time in which these runs had work to \
                 do: {}; with fewer than three runs on a side, differences that may come from that are \
                 called undecided: measure again on a quiet machine",
                runs.join(", ")
            )
        }
        Caution::Single { side } => format!(
            "{} {} one run{}: how much this program's runs differ is not known, so that only \
             differences beyond the errors of samples and 10 % count; give repetitions (A1,A2 \
             {other}1,{other}2) for more certainty",
            letters(*side, other),
            if *side == Sides::Both { "have only" } else { "has only" },
            if *side == Sides::Both { " each" } else { "" },
        ),
    }
}

fn letters(sides: Sides, other: char) -> String {
    match sides {
        Sides::A => "A".into(),
        Sides::B => other.into(),
        Sides::Both => format!("A and {other}"),
    }
}
