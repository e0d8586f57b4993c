//! The page `io`: reads and writes, by operation and kind of target, and the places that called them.
//!
//! JSON: `{"schema":1,"totals":{…},"threads":n,"operations":[…],"call_sites":[…],"cut":{…},"notes":[…]}`. An
//! operation is
//! `{"operation","target","account":id|null,"passive":reason|null,"objects","calls","errors","bytes",
//! "seconds",
//! "off_processor_s","mean_s","longest_s":…|null}`; `account` or `passive` is how its time counts while the
//! thread has no processor. A call site is
//! `{"operation","context","handle","function","function_handle","file","line", "threads",…}` with the same
//! numbers. Operations sum to `totals`, call sites too, unless `--limit` left some out.

use proust_profile::{OperationId, Target};
use proust_query::OperationKey;

use super::operations::{About, Calls, FIELDS, OperationsPage, Tables, count, shown_bytes};
use crate::number::{Scale, duration};
use crate::style::Paint;
use crate::table::{Align, Cell, Table};

pub(super) type Io = OperationsPage<OfIo>;

#[derive(Debug)]
pub(super) struct OfIo;

impl About for OfIo {
    const IS_IO: bool = true;
    const TITLE: &'static str = "I/O";
    const NOTHING: &'static str = " no I/O was recorded here";
    const LEGEND: &'static str = "off CPU: blocked, or queued for a processor, which the ledger and \
         findings count apart, as far as it is known; short: only sums of short calls are known.";
    const LEAST: &'static [&'static str] = &["mean", "off CPU", "longest"];
    type Line = (OperationId, Target);

    // The target of a descriptor decides how waiting for it counts, so that the state adds no information.
    fn line(&(operation, target, _): &OperationKey) -> Self::Line {
        (operation, target)
    }

    fn table(tables: &Tables) -> Table {
        let totals = &tables.totals;
        let (rows, more) = tables.shown();
        let all: Vec<&Calls> = rows.iter().map(|row| &row.calls).chain(&more).collect();
        let scale = Scale::seconds([totals.seconds]);
        let parts = |of: &dyn Fn(&Calls) -> f64, total: f64| {
            scale.show_parts(&all.iter().map(|calls| of(calls)).collect::<Vec<_>>(), total)
        };
        let times = parts(&|calls| calls.seconds, totals.seconds);
        let off = parts(&|calls| calls.off_processor_s, totals.off_processor_s);
        let has_errors = totals.errors > 0;
        let mut titles = vec![(scale.title("time"), Align::Right), ("off CPU".into(), Align::Right)];
        titles.push(("calls".into(), Align::Right));
        titles.extend(has_errors.then(|| ("errors".into(), Align::Right)));
        titles.extend(["bytes", "mean", "longest"].map(|title| (title.to_owned(), Align::Right)));
        titles.extend(["operation", "on"].map(|title| (title.to_owned(), Align::Left)));
        let mut table = Table::new(titles);
        for (n, calls) in all.iter().enumerate() {
            let mut cells: Vec<Cell> =
                vec![times[n].clone().into(), off[n].clone().into(), count(calls.calls).into()];
            cells.extend(has_errors.then(|| Cell::from(count(calls.errors))));
            cells.extend([shown_bytes(calls.bytes), duration(calls.mean_s), calls.longest()].map(Cell::from));
            match rows.get(n) {
                Some(row) => cells.extend([row.operation.clone().into(), Cell::from(row.target)]),
                None => cells.extend([Cell::painted(Paint::Faint, "others"), tables.more(n).into()]),
            }
            table.row(cells);
        }
        let strong = |text: String| Cell::painted(Paint::Strong, text);
        let mut cells = vec![strong(scale.show(totals.seconds)), strong(scale.show(totals.off_processor_s))];
        cells.push(strong(count(totals.calls)));
        cells.extend(has_errors.then(|| strong(count(totals.errors))));
        cells.extend([shown_bytes(totals.bytes), duration(totals.mean_s), totals.longest()].map(strong));
        cells.push("sum".into());
        table.row(cells);
        table
    }

    fn rows(tables: &Tables) -> Vec<Vec<String>> {
        let heads = ["operation", "target", "objects"].into_iter().chain(FIELDS);
        let mut rows = vec![heads.map(str::to_owned).collect::<Vec<_>>()];
        for row in &tables.operations {
            let first = vec![row.operation.clone(), row.target.to_owned(), row.objects.to_string()];
            rows.push(first.into_iter().chain(row.calls.fields()).collect());
        }
        rows
    }
}
