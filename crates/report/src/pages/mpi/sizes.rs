//! Messages by size on the page `mpi`.

use proust_query::Selection;
use proust_query::mpi::sizes::{SizeSum, sizes};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::facts::seconds;
use super::text::{right, section};
use crate::number::{Scale, bytes};
use crate::pages::operations::count;
use crate::style::Style;
use crate::table::{Align, Table};

/// The messages by size.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct SizeLines(Vec<SizeLine>);

/// The messages of a size.
#[derive(Debug, Serialize, JsonSchema)]
struct SizeLine {
    /// The least bytes of the class; null = calls without a message.
    from_bytes: Option<u64>,
    /// The least bytes of the next class.
    below_bytes: Option<u64>,
    sends: u64,
    receives: u64,
    sent_bytes: u64,
    received_bytes: u64,
    /// Time in the calls that started them.
    seconds: f64,
    /// Time that was waited for one.
    waited_s: f64,
}

impl SizeLine {
    fn name(&self) -> String {
        match self.from_bytes.zip(self.below_bytes) {
            None => "calls without a message, such as MPI_Wait".to_owned(),
            Some((0, _)) => "of no bytes".to_owned(),
            Some((from, below)) => format!("{} to below {}", bytes(from), bytes(below)),
        }
    }
}

impl SizeLines {
    pub(super) fn of(selection: &Selection<'_>) -> SizeLines {
        let line = |sum: SizeSum| SizeLine {
            from_bytes: sum.bytes.map(|(from, _)| from),
            below_bytes: sum.bytes.map(|(_, below)| below),
            sends: sum.sends,
            receives: sum.receives,
            sent_bytes: sum.sent_bytes,
            received_bytes: sum.received_bytes,
            seconds: sum.time_ns / 1e9,
            waited_s: seconds(sum.waited_ns),
        };
        SizeLines(sizes(selection).into_iter().map(line).collect())
    }

    pub(super) fn text(&self, style: &Style) -> String {
        let lines = &self.0;
        if lines.iter().all(|line| line.from_bytes.is_none()) {
            return String::new();
        }
        let text = section(style, "Message sizes", "at the calls that started them");
        let scale = Scale::seconds(lines.iter().flat_map(|line| [line.seconds, line.waited_s]));
        let mut titles = vec![(scale.title("time"), Align::Right)];
        titles.extend(right(&["waited for", "sends", "bytes", "receives", "bytes"]));
        titles.push(("messages".to_owned(), Align::Left));
        let mut table = Table::new(titles);
        let some = |of: u64, text: String| if of > 0 { text } else { "-".to_owned() };
        for line in lines {
            table.row(vec![
                scale.show(line.seconds).into(),
                scale.show(line.waited_s).into(),
                some(line.sends, count(line.sends)).into(),
                some(line.sent_bytes, bytes(line.sent_bytes)).into(),
                some(line.receives, count(line.receives)).into(),
                some(line.received_bytes, bytes(line.received_bytes)).into(),
                line.name().into(),
            ]);
        }
        text + &table.render(style)
    }
}
