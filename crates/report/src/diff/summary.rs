//! The page `summary` of a comparison: the account, the findings, and the largest changes.

use proust_compare::Diff;
use proust_compare::diff::FindingChange;
use proust_findings::{Finding, Place};
use proust_profile::Unit;
use schemars::JsonSchema;
use serde::Serialize;

use super::change::{ChangeRow, cells, scale, titles};
use super::flat::{FunctionRow, MetricHead, cut, functions, side_rows, table};
use super::head::Head;
use super::ledger::LedgerBlock;
use super::several::{Order, Section, SideRow};
use super::{DiffQuestion, Page, Sided, quantities};
use crate::error::ReportError;
use crate::pages::{finding_name, finding_who, heading, place};
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

/// Functions of text when nothing else is asked for.
const ROWS: usize = 8;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Summary {
    schema: u32,
    #[serde(flatten)]
    head: Head,
    ledger: LedgerBlock,
    findings: Vec<FindingRow>,
    metrics: Vec<MetricHead>,
    total: ChangeRow,
    functions: Vec<FunctionRow>,
    /// Functions that a limit left out.
    cut: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FindingRow {
    /// `gone`, `new`, `more`, `less`, `same` or `undecided`.
    change: &'static str,
    kind: &'static str,
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    /// Handle and run in A; null where A has not found it.
    a: Option<FoundIn>,
    /// The same of B.
    b: Option<FoundIn>,
    /// The time that could be saved.
    seconds: ChangeRow,
    lost_s: ChangeRow,
    #[serde(skip)]
    name: &'static str,
    #[serde(skip)]
    who: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FoundIn {
    handle: String,
    dir: String,
}

impl FindingRow {
    fn new(change: FindingChange, diff: &Diff<'_>) -> FindingRow {
        let found = |found: &Option<(Finding, usize, usize)>, runs: &[proust_compare::ComparedRun]| {
            found.as_ref().map(|(_, run, rank)| FoundIn {
                handle: format!("L{}", rank + 1),
                dir: runs[*run].facts.dir.clone(),
            })
        };
        let (a, b) = (found(&change.a, diff.a()), found(&change.b, diff.b()));
        let cause = change.b.as_ref().or(change.a.as_ref()).map(|(finding, ..)| finding.cause.clone());
        let cause = cause.unwrap_or_default();
        let who = finding_who(&cause);
        let Place { function, file, line, .. } = cause;
        let (seconds, lost_s) = (ChangeRow::from(change.recoverable), ChangeRow::from(change.lost));
        // A loss may have nothing that can be saved: more threads than processors.
        let decisive = if seconds.is_significant() { &seconds } else { &lost_s };
        let word = match (a.is_some(), b.is_some()) {
            _ if !decisive.is_significant() => decisive.verdict,
            (true, false) => "gone",
            (false, true) => "new",
            _ => decisive.verdict,
        };
        FindingRow {
            change: word,
            kind: change.kind.id(),
            function,
            file,
            line,
            a,
            b,
            seconds,
            lost_s,
            name: finding_name(change.kind),
            who,
        }
    }
}

impl Summary {
    pub fn build(diff: &Diff<'_>, question: &DiffQuestion) -> Result<Summary, ReportError> {
        question.no_arguments()?;
        let quantities = quantities(diff, question);
        let (functions, cut) = cut(functions(diff, &quantities), question, &quantities, ROWS);
        Ok(Summary {
            schema: SCHEMA,
            head: Head::new(diff, question),
            ledger: LedgerBlock::new(diff),
            findings: diff.findings().into_iter().map(|change| FindingRow::new(change, diff)).collect(),
            total: diff.total_of(quantities[0].clone()).into(),
            metrics: MetricHead::all(&quantities),
            functions,
            cut,
        })
    }

    fn findings_text(&self, style: &Style) -> String {
        let mut text = heading(style, "Findings", "what could be won, before and after");
        if self.findings.is_empty() {
            return text + " none on either side\n\n";
        }
        let scale = scale(Unit::SECONDS, self.findings.iter().map(|row| &row.seconds));
        let heads = [("".to_owned(), Align::Left), ("A".into(), Align::Left), ("B".into(), Align::Left)];
        let [a, b, delta, ratio, _] = titles(&scale);
        let mut table =
            Table::new(heads.into_iter().chain([a, b, delta, ratio, ("finding".into(), Align::Left)]));
        for row in &self.findings {
            let paint = match row.change {
                "gone" | "less" => Paint::Good,
                "new" | "more" => Paint::Bad,
                _ => Paint::Faint,
            };
            let handle = |found: &Option<FoundIn>| {
                Cell::painted(Paint::Faint, found.as_ref().map_or("-", |found| found.handle.as_str()))
            };
            let [a, b, delta, ratio, _] = cells(&row.seconds, &scale);
            let at = place(row.file.as_deref(), row.line).map(|at| format!(" ({at})")).unwrap_or_default();
            let name = Cell::from(format!("{}{at}: {}", row.who, row.name));
            table.row(vec![
                Cell::painted(paint, row.change),
                handle(&row.a),
                handle(&row.b),
                a,
                b,
                delta,
                ratio,
                name,
            ]);
        }
        text.push_str(&table.render(style));
        text.push('\n');
        text
    }

    fn explanation(&self) -> String {
        let lead = &self.metrics[0];
        let changed = |row: &&FunctionRow| {
            row.metrics.get(&lead.id).is_some_and(|both| both.exclusive.is_significant())
        };
        let changed = match self.functions.iter().filter(changed).count() {
            0 => "none of them".to_owned(),
            n => format!("{n} of them"),
        };
        format!("{} without what is called; {changed} significantly", lead.name())
    }
}

impl Sided for Summary {
    fn head(&self) -> &Head {
        &self.head
    }

    fn sections(&self) -> Vec<Section<'_>> {
        let finding = |row: &FindingRow| {
            let at = place(row.file.as_deref(), row.line).map(|at| format!(" ({at})")).unwrap_or_default();
            let name = format!("{}{at}: {}", row.who, row.name);
            let function = row.function.clone().unwrap_or_default();
            (format!("{} {function} {}", row.kind, row.file.as_deref().unwrap_or_default()), name)
        };
        let findings = (self.findings.iter())
            .map(|row| {
                let (key, name) = finding(row);
                let presence = (row.a.is_some(), row.b.is_some());
                SideRow { key, presence, ..SideRow::new(&name, Some(&row.seconds)) }
            })
            .collect();
        let lead = &self.metrics[0];
        let functions = side_rows(&self.functions, lead);
        let explanation = format!("{} without what is called", lead.name());
        vec![
            self.ledger.section(false),
            Section::new("Findings", "what could be won", Unit::SECONDS, findings),
            Section {
                order: Order::Difference,
                limit: ROWS,
                ..Section::new("Functions that changed most", explanation, lead.unit, functions)
            },
        ]
    }
}

impl Page for Summary {
    fn text(&self, style: &Style) -> String {
        let mut text = self.head.text(style);
        text.push_str(&heading(style, "Where the processors' time went", "A, B, and the difference"));
        text.push_str(&self.ledger.text(false, style));
        text.push('\n');
        text.push_str(&self.findings_text(style));
        text.push_str(&heading(style, "Functions that changed most", &self.explanation()));
        text.push_str(&table(&self.functions, self.cut, &self.metrics[..1], &self.total, style));
        text.push('\n');
        text + &self.head.notes(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let heads = ["what".to_owned()].into_iter().chain(ChangeRow::heads("seconds"));
        let mut rows: Vec<Vec<String>> = vec![heads.collect()];
        let ledger = &self.ledger;
        for (name, row) in [
            ("wall", &ledger.wall_s),
            ("cpu", &ledger.cpu_s),
            ("total", &ledger.total_s),
            ("productive", &ledger.productive_s),
            ("lost", &ledger.lost_s),
            ("efficiency", &ledger.efficiency),
        ] {
            rows.push([name.to_owned()].into_iter().chain(row.fields()).collect());
        }
        for row in &ledger.accounts {
            rows.push([row.id.to_owned()].into_iter().chain(row.seconds.fields()).collect());
        }
        rows
    }
}
