//! The head of every page of a comparison: the runs, and reasons not to compare them.

use proust_compare::{ComparedRun, Diff};
use proust_statistics::{Outcome, Verdict, Why};
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::DiffQuestion;
use super::change::ChangeRow;
use super::verdicts::{limit_text, why_unchanged};
use crate::style::{Paint, Style};
use crate::wording::{NoteRow, caution_text};
use crate::wrap::legend;

/// The letter of a side: A is the reference.
pub fn side_letter(side: usize) -> char {
    char::from(b'A' + u8::try_from(side).unwrap_or(25).min(25))
}

/// The blocks `sides`, `cautions` and `exceeded`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Head {
    sides: Sides,
    /// The filter of both sides.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    filter: Option<String>,
    cautions: Vec<NoteRow>,
    exceeded: Vec<ExceededRow>,
    #[serde(skip)]
    names: [String; 2],
    /// The letter of the side that is compared with A.
    #[serde(skip)]
    pub letter: char,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Sides {
    a: Side,
    b: Side,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Side {
    command: Vec<String>,
    runs: Vec<RunRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RunRow {
    dir: String,
    start_unix_s: f64,
    host: String,
    outcome: String,
    wall_s: f64,
    cpu_s: f64,
    processors: u32,
    available_processors: u32,
    /// The part of the threads' runnable time in which other processes had the processor.
    disturbed: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ExceededRow {
    limit: String,
    /// Whether that is certain; else it may be chance, and is not counted.
    significant: bool,
    text: String,
}

impl Side {
    fn new(runs: &[ComparedRun]) -> Side {
        let row = |run: &ComparedRun| RunRow {
            dir: run.facts.dir.clone(),
            start_unix_s: run.facts.start_unix_s,
            host: run.facts.host.clone(),
            outcome: run.facts.outcome.clone(),
            wall_s: run.facts.wall.as_seconds(),
            cpu_s: run.cpu.as_seconds(),
            processors: run.ledger.processors,
            available_processors: run.facts.available_processors,
            disturbed: run.disturbance.share,
        };
        let command = runs.first().map(|run| run.facts.command.clone()).unwrap_or_default();
        Side { command, runs: runs.iter().map(row).collect() }
    }

    fn text(&self, letter: char, name: &str) -> String {
        let count = if self.runs.len() > 1 {
            format!(" ({})", counted(self.runs.len(), "run"))
        } else {
            String::new()
        };
        format!(" {letter}  {name}{count}: {}\n", self.command.join(" "))
    }
}

impl Head {
    pub fn new(diff: &Diff<'_>, question: &DiffQuestion) -> Head {
        let letter = side_letter(diff.side());
        Head {
            sides: Sides { a: Side::new(diff.a()), b: Side::new(diff.b()) },
            filter: question.filter.clone(),
            cautions: (diff.cautions().iter())
                .map(|caution| NoteRow::new(caution).with_text(caution_text(caution, letter)))
                .collect(),
            exceeded: (question.exceeded.get(diff.side() - 1).into_iter().flatten())
                .map(|exceeded| ExceededRow {
                    limit: exceeded.limit.clone(),
                    significant: exceeded.outcome == Outcome::Exceeded,
                    text: limit_text(exceeded),
                })
                .collect(),
            names: [0, diff.side()].map(|side| question.names.get(side).cloned().unwrap_or_default()),
            letter,
        }
    }

    /// Which runs are compared.
    pub fn text(&self, style: &Style) -> String {
        Head::text_of(&[self], style)
    }

    /// The same of several comparisons with the same A.
    pub fn text_of(heads: &[&Head], style: &Style) -> String {
        let mut text = style.paint(Paint::Strong, "Comparison") + "\n";
        let Some(first) = heads.first() else { return text };
        text.push_str(&crate::table::printable_lines(&first.sides.a.text('A', &first.names[0])));
        for head in heads {
            let side = head.sides.b.text(head.letter, &head.names[1]);
            text.push_str(&crate::table::printable_lines(&side));
        }
        if let Some(filter) = &first.filter {
            text.push_str(&crate::table::printable_lines(&format!(" only where {filter}\n")));
        }
        text.push('\n');
        text
    }

    /// Reasons to doubt it.
    pub fn notes(&self, style: &Style) -> String {
        Head::notes_of(&[self], style)
    }

    /// The same of several comparisons: what is about A is said once.
    pub fn notes_of(heads: &[&Head], style: &Style) -> String {
        let mut lines: Vec<String> = Vec::new();
        for caution in heads.iter().flat_map(|head| &head.cautions) {
            let line = caution.line(style);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.concat()
    }

    /// How the side that is compared with A is called.
    pub fn name(&self) -> &str {
        &self.names[1]
    }
}

/// Why rows of a table are not called changed, and how many more runs would probably decide.
pub(super) fn unchanged_text<'c>(rows: impl IntoIterator<Item = &'c ChangeRow>, style: &Style) -> String {
    let mut counts: Vec<(Why, usize)> = Vec::new();
    let (mut undecided, mut fewest, mut most) = (0, u32::MAX, Some(0_u32));
    for row in rows {
        let why = row.change.why;
        if row.change.verdict == Verdict::Undecided {
            undecided += 1;
            fewest = fewest.min(row.more_runs.unwrap_or(u32::MAX));
            most = most.zip(row.more_runs).map(|(most, runs)| most.max(runs));
        }
        match counts.iter_mut().find(|(known, _)| *known == why) {
            Some((_, count)) => *count += 1,
            None => counts.push((why, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let reasons: Vec<String> = (counts.iter())
        .filter_map(|(why, count)| Some(format!("{} {}", counted(*count, "row"), why_unchanged(*why)?)))
        .collect();
    if reasons.is_empty() {
        return String::new();
    }
    let runs = match (undecided, fewest, most) {
        (0, ..) | (_, u32::MAX, _) => String::new(),
        (_, fewest, Some(most)) if fewest == most => {
            format!(" {} of each side would probably decide.", counted(most as usize, "more run"))
        }
        (_, fewest, Some(most)) => {
            format!(" {fewest} to {most} more runs of each side would probably decide.")
        }
        (_, fewest, None) => format!(" {fewest} more runs of each side, or many, would decide."),
    };
    legend(&format!("Not changed: {}.{runs}", reasons.join("; ")), style)
}
