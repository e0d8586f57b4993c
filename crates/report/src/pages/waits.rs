//! The page `waits`: the intercepted operations that are no I/O, by the account of their time, and the places
//! that waited in them.
//!
//! JSON: as that of `io`; `target` is the target of the descriptor, where there is one. Time that a thread
//! did not spend waiting in an operation is not here: the run queue, page faults, I/O.

use proust_account::ledger::State;
use proust_profile::OperationId;
use proust_query::OperationKey;

use super::operations::{About, Calls, FIELDS, OperationsPage, Tables, count};
use crate::number::{Scale, duration};
use crate::style::Paint;
use crate::table::{Align, Cell, Table};

pub(super) type Waits = OperationsPage<OfWaits>;

#[derive(Debug)]
pub(super) struct OfWaits;

impl About for OfWaits {
    const IS_IO: bool = false;
    const TITLE: &'static str = "Waits";
    const NOTHING: &'static str = " no waits were recorded here";
    const LEGEND: &'static str = "time: until the call returns, with time queued for a processor, which \
         the ledger, page locks and findings count apart; objects: distinct locks, conditions, threads; \
         short: only sums of short calls are known.";
    const LEAST: &'static [&'static str] = &["mean", "objects", "longest"];
    type Line = (OperationId, State);

    fn line(&(operation, _, state): &OperationKey) -> Self::Line {
        (operation, state)
    }

    fn table(tables: &Tables) -> Table {
        let totals = &tables.totals;
        let (rows, more) = tables.shown();
        let all: Vec<&Calls> = rows.iter().map(|row| &row.calls).chain(&more).collect();
        let scale = Scale::seconds([totals.seconds]);
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
                None => cells.extend([Cell::painted(Paint::Faint, "others"), tables.more(n).into()]),
            }
            table.row(cells);
        }
        let strong = |text: String| Cell::painted(Paint::Strong, text);
        let mut cells = vec![strong(scale.show(totals.seconds))];
        cells.extend([count(totals.calls), duration(totals.mean_s), totals.longest()].map(strong));
        cells.extend([Cell::default(), "".into(), "sum".into()]);
        table.row(cells);
        table
    }

    fn rows(tables: &Tables) -> Vec<Vec<String>> {
        let heads = ["operation", "account", "passive", "objects"].into_iter().chain(FIELDS);
        let mut rows = vec![heads.map(str::to_owned).collect::<Vec<_>>()];
        for row in &tables.operations {
            let text = |id: Option<&str>| id.unwrap_or_default().to_owned();
            let first =
                vec![row.operation.clone(), text(row.account), text(row.passive), row.objects.to_string()];
            rows.push(first.into_iter().chain(row.calls.fields()).collect());
        }
        rows
    }
}
