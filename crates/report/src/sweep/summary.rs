//! The page `summary` of a sweep: its counts beside each other, and degraded places.
//!
//! JSON: `{"schema":1,"sweep":{…},"curve":[…],"degraded":[…],"notes":[…]}`; a row of the curve has
//! `"count","runs","oversubscribed",
//! "wall_s","wall_low_s","wall_high_s","cpu_s","processor_s","speedup","speedup_interval":[low,high]|null,
//! "efficiency","efficiency_interval","computation_scaling","accounts":[{"id","class","seconds"}]`.

use proust_account::ledger::Class;
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::head::{CurveRow, LOST, SweepBlock, count_text, lost_s, notes, serial_text, with_interval};
use super::{Page, SweepQuestion, SweepView, wording};
use crate::number::{Scale, duration, exact, percent};
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Table};
use crate::wording::Notes;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SummaryPage {
    schema: u32,
    sweep: SweepBlock,
    curve: Vec<CurveRow>,
    serial_s: Option<f64>,
    degraded: Vec<DegradedRow>,
    #[serde(flatten)]
    notes: Notes,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DegradedRow {
    name: String,
    minimal_rank: Option<u32>,
    loss_s: f64,
    count: u32,
    advice: Option<String>,
}

impl SummaryPage {
    pub fn build(view: &SweepView<'_>, question: &SweepQuestion) -> SummaryPage {
        let assessment = view.assessment(question);
        let degraded = assessment.findings.iter().map(|finding| {
            let end = finding.path[finding.path.len() - 1];
            DegradedRow {
                name: wording::name(view.ensemble, end),
                minimal_rank: assessment.places[end as usize].minimal().map(|(rank, _)| rank),
                loss_s: finding.loss.as_seconds(),
                count: view.ensemble.counts()[finding.count],
                advice: finding.advice.map(|advice| wording::advice(&advice)),
            }
        });
        SummaryPage {
            schema: SCHEMA,
            sweep: SweepBlock::new(view, question),
            curve: CurveRow::all(view.ensemble, question.kind),
            serial_s: view.serial_s.iter().copied().reduce(f64::min),
            degraded: degraded.collect(),
            notes: notes(view),
        }
    }
}

/// The curve as a table.
pub(super) fn curve_text(curve: &[CurveRow], style: &Style) -> String {
    let scale = Scale::seconds(curve.iter().map(|row| row.wall_s.max(row.processor_s)));
    let is_lost = |class: &Class| curve.iter().any(|row| row.lost_s(*class) >= 0.01 * row.processor_s);
    let classes: Vec<Class> = LOST.into_iter().filter(is_lost).collect();
    let mut titles = vec![
        ("count".to_owned(), Align::Right),
        ("runs".into(), Align::Right),
        (scale.title("wall"), Align::Right),
        ("CPU".into(), Align::Right),
        ("speedup (range)".into(), Align::Left),
        ("efficiency".into(), Align::Right),
        ("lost %".into(), Align::Right),
    ];
    titles.extend(classes.iter().map(|class| (class.id().to_owned(), Align::Right)));
    titles.push((String::new(), Align::Left));
    let mut table = Table::new(titles);
    for row in curve {
        let mut cells = vec![
            count_text(row.count, row.oversubscribed).into(),
            row.runs.to_string().into(),
            scale.show(row.wall_s).into(),
            scale.show(row.cpu_s).into(),
            with_interval(row.speedup, row.speedup_interval).into(),
            row.efficiency.map_or("-".into(), |e| percent(e, 1.0) + " %").into(),
            percent(lost_s(row), row.processor_s).into(),
        ];
        cells.extend(classes.iter().map(|&class| percent(row.lost_s(class), row.processor_s).into()));
        table.row(cells);
    }
    table.render(style)
}

impl Page for SummaryPage {
    fn text(&self, style: &Style) -> String {
        let mut text = self.sweep.text(style, "Sweep");
        text.push('\n');
        text.push_str(&curve_text(&self.curve, style));
        let line = " wall: the median, of fewer than five runs the least; range: of eight runs or fewer \
         all, of more 95 %; lost: of processor time.";
        text.push_str(&(style.paint(Paint::Faint, line) + "\n"));
        text.push_str(&serial_text(self.serial_s, &self.curve));
        text.push_str(&self.sweep.failures_text());
        text.push('\n');
        match self.degraded.len() {
            0 if self.curve.len() > 1 => {
                text.push_str(" Nothing is slower with more threads, beyond doubt.\n")
            }
            0 => {}
            n => text.push_str(&format!(" {} slower with more threads:\n", counted(n, "place"))),
        }
        for row in &self.degraded {
            text.push_str(&format!("   {}: loses {} at {}\n", row.name, duration(row.loss_s), row.count));
        }
        text.push_str(&self.notes.lines(style));
        if self.curve.len() > 1 {
            let dir = &self.sweep.dir;
            text.push_str(&format!(
                "\n proust report {dir} scaling       which places lose how much\n proust report {dir} \
                 degradation   what is slower with more, and why\n"
            ));
        }
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let heads = [
            "count",
            "runs",
            "oversubscribed",
            "wall_s",
            "wall_low_s",
            "wall_high_s",
            "cpu_s",
            "processor_s",
            "speedup",
            "efficiency",
            "computation_scaling",
        ];
        let mut heads: Vec<String> = heads.map(str::to_owned).into();
        if let Some(row) = self.curve.first() {
            heads.extend(row.accounts.iter().map(|account| account.id.to_owned()));
        }
        let mut rows = vec![heads];
        for row in &self.curve {
            let option = |number: Option<f64>| number.map(exact).unwrap_or_default();
            let mut cells = vec![row.count.to_string(), row.runs.to_string(), row.oversubscribed.to_string()];
            cells
                .extend([row.wall_s, row.wall_low_s, row.wall_high_s, row.cpu_s, row.processor_s].map(exact));
            cells.extend([row.speedup, row.efficiency, row.computation_scaling].map(option));
            cells.extend(row.accounts.iter().map(|account| exact(account.seconds)));
            rows.push(cells);
        }
        rows
    }
}
