//! The page `waits`: the intercepted operations that are no I/O, by what they count as, and who waited in them.
//!
//! JSON: as that of `io`; `target` is what the descriptor leads to, where there is one. What time a thread did not
//! wait for by an operation is not here: the run queue, page faults, I/O.

use proust_analysis::query::{OperationSums, Selection};
use serde::Serialize;

use super::operations::{Calls, FIELDS, Tables, count};
use super::{Page, heading, no_arguments};
use crate::SCHEMA;
use crate::number::{Scale, duration};
use crate::question::{Question, ReportError};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

#[derive(Debug, Serialize)]
pub(super) struct Waits {
    schema: u32,
    #[serde(flatten)]
    tables: Tables,
    notes: Vec<String>,
    #[serde(skip)]
    scope: String,
}

impl Waits {
    pub fn build(
        selection: &Selection<'_>,
        question: &Question,
        kept: Option<&OperationSums>,
    ) -> Result<Waits, ReportError> {
        no_arguments(question)?;
        let tables =
            Tables::new(selection, question, kept, false, |&(operation, _, state)| (operation, state))?;
        let scope = tables.scope(question);
        Ok(Waits { schema: SCHEMA, tables, notes: selection.notes().to_vec(), scope })
    }
}

impl Page for Waits {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, "Waits", &self.scope);
        let totals = &self.tables.totals;
        if self.tables.operations.is_empty() {
            return text + " no waits were recorded here\n";
        }
        let (rows, more) = self.tables.shown();
        let all: Vec<&Calls> = rows.iter().map(|row| &row.calls).chain(&more).collect();
        let scale = Scale::of("s", [totals.seconds]);
        let parts: Vec<f64> = all.iter().map(|calls| calls.seconds).collect();
        let times = scale.show_parts(&parts, totals.seconds);
        let mut titles = vec![(scale.title("time"), Align::Right)];
        titles.extend(["calls", "mean", "longest", "objects"].map(|title| (title.to_owned(), Align::Right)));
        titles.extend(["counts as", "operation"].map(|title| (title.to_owned(), Align::Left)));
        let mut table = Table::new(titles);
        for (n, calls) in all.iter().enumerate() {
            let row = rows.get(n);
            let objects = row.map(|row| count(row.objects as u64)).unwrap_or_default();
            let mut cells: Vec<Cell> = vec![times[n].clone().into()];
            cells.extend(
                [count(calls.calls), duration(calls.mean_s), calls.longest(), objects].map(Cell::from),
            );
            match row {
                Some(row) => cells.extend([row.counts_as().into(), Cell::from(row.operation.clone())]),
                None => cells.extend([Cell::painted(Paint::Faint, "others"), self.tables.more(n).into()]),
            }
            table.row(cells);
        }
        let strong = |text: String| Cell::painted(Paint::Strong, text);
        let mut cells = vec![strong(scale.show(totals.seconds))];
        cells.extend([count(totals.calls), duration(totals.mean_s), totals.longest()].map(strong));
        cells.extend([Cell::default(), "".into(), "sum".into()]);
        table.row(cells);
        text.push_str(&table.render(style));
        let line =
            " objects: distinct locks, conditions, threads; short: only sums of short calls are known.";
        text.push_str(&(style.paint(Paint::Faint, line) + "\n"));
        text.push_str(&self.tables.sites_text(false, style));
        for note in &self.notes {
            text.push_str(&(style.paint(Paint::Faint, &format!(" Note: {note}.")) + "\n"));
        }
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let heads = ["operation", "account", "passive", "objects"].into_iter().chain(FIELDS);
        let mut rows = vec![heads.map(str::to_owned).collect::<Vec<_>>()];
        for row in &self.tables.operations {
            let text = |id: Option<&str>| id.unwrap_or_default().to_owned();
            let first =
                vec![row.operation.clone(), text(row.account), text(row.passive), row.objects.to_string()];
            rows.push(first.into_iter().chain(row.calls.fields()).collect());
        }
        rows
    }
}
