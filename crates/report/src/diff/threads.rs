//! The page `threads` of a comparison.

use proust_profile::{LocationId, Unit};
use std::collections::BTreeMap;

use proust_compare::Diff;
use proust_compare::diff::ThreadChange;
use proust_query::Handle;
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::change::{ChangeRow, cells, scale, signed, titles};
use super::flat::missing;
use super::head::{Head, unchanged_text};
use super::several::{Order, Section, SideRow};
use super::{DiffQuestion, Page, Sided};
use crate::error::ReportError;
use crate::pages::heading;
use crate::question::Format;
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

/// Rows of text when nothing else is asked for.
const ROWS: usize = 40;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Threads {
    schema: u32,
    #[serde(flatten)]
    head: Head,
    threads: Vec<ThreadRow>,
    /// Rows that a limit left out.
    cut: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ThreadRow {
    process: String,
    rank: Option<u32>,
    name: String,
    /// Which of several of that name.
    number: usize,
    /// Handle in the last run of A; null where A has no such thread.
    a: Option<String>,
    /// Handle in the last run of B.
    b: Option<String>,
    wall_s: ChangeRow,
    cpu_s: ChangeRow,
    lost_s: ChangeRow,
    passive_s: ChangeRow,
    accounts: BTreeMap<&'static str, ChangeRow>,
}

impl ThreadRow {
    fn new(change: ThreadChange) -> ThreadRow {
        let handle = |id: Option<LocationId>| id.map(|id| Handle::Location(id).to_string());
        ThreadRow {
            process: change.process,
            rank: change.rank,
            name: change.name,
            number: change.number,
            a: handle(change.a),
            b: handle(change.b),
            wall_s: change.wall.into(),
            cpu_s: change.cpu.into(),
            lost_s: change.lost.into(),
            passive_s: change.passive.into(),
            accounts: change
                .accounts
                .into_iter()
                .map(|(account, change)| (account.id(), change.into()))
                .collect(),
        }
    }

    fn cell(&self) -> Cell {
        let rank = self.rank.map(|rank| format!("rank {rank}, ")).unwrap_or_default();
        let number = if self.number > 0 { format!(" #{}", self.number + 1) } else { String::new() };
        let missing = missing(self.a.is_some(), self.b.is_some());
        let tail = missing.map(|word| format!("[{word}] ")).unwrap_or_default();
        Cell::from(format!("{}{number}", self.name)).with_tail(format!("{tail}{rank}{}", self.process))
    }
}

impl Threads {
    pub fn build(diff: &Diff<'_>, question: &DiffQuestion) -> Result<Threads, ReportError> {
        question.no_arguments()?;
        let mut threads: Vec<ThreadRow> = diff.threads().into_iter().map(ThreadRow::new).collect();
        threads.sort_by(|x, y| {
            let most = |row: &ThreadRow| row.wall_s.a.max(row.wall_s.b);
            y.cpu_s.delta.abs().total_cmp(&x.cpu_s.delta.abs()).then(most(y).total_cmp(&most(x)))
        });
        let limit =
            question.limit.or((question.format == Format::Text).then_some(ROWS)).unwrap_or(usize::MAX);
        let cut = threads.len().saturating_sub(limit);
        threads.truncate(limit);
        Ok(Threads { schema: SCHEMA, head: Head::new(diff, question), threads, cut })
    }
}

impl Sided for Threads {
    fn head(&self) -> &Head {
        &self.head
    }

    fn sections(&self) -> Vec<Section<'_>> {
        let rows = self.threads.iter().map(|row| {
            let number = if row.number > 0 { format!(" #{}", row.number + 1) } else { String::new() };
            let rank = row.rank.map(|rank| format!("rank {rank}, ")).unwrap_or_default();
            let name = format!("{}{number}", row.name);
            SideRow {
                key: format!("{rank}{}\n{name}", row.process),
                tail: format!("{rank}{}", row.process),
                presence: (row.a.is_some(), row.b.is_some()),
                ..SideRow::new(&name, Some(&row.cpu_s))
            }
        });
        let section = Section::new(
            "Threads",
            "CPU time; matched by name and order of begin",
            Unit::SECONDS,
            rows.collect(),
        );
        vec![Section { order: Order::Difference, limit: ROWS, ..section }]
    }
}

impl Page for Threads {
    fn text(&self, style: &Style) -> String {
        let explanation =
            "CPU time, and how lost, passive and wall time differ; matched by name and order of begin";
        let mut text = self.head.text(style) + &heading(style, "Threads", explanation);
        let all = |row: &'_ ThreadRow| [row.cpu_s, row.lost_s, row.passive_s, row.wall_s];
        let changes: Vec<ChangeRow> = self.threads.iter().flat_map(all).collect();
        let scale = scale(Unit::SECONDS, &changes);
        let others = ["lost B−A", "passive B−A", "wall B−A"].map(|name| (name.to_owned(), Align::Right));
        let mut table =
            Table::new(titles(&scale).into_iter().chain(others).chain([("thread".into(), Align::Left)]));
        for row in &self.threads {
            let mut line = cells(&row.cpu_s, &scale).to_vec();
            line.extend(
                [&row.lost_s, &row.passive_s, &row.wall_s].map(|row| signed(&scale, row.delta).into()),
            );
            line.push(row.cell());
            table.row(line);
        }
        text.push_str(&table.render(style));
        if self.cut > 0 {
            let line =
                format!(" {} (--limit {})", counted(self.cut, "more thread"), self.threads.len() + self.cut);
            text.push_str(&(style.paint(Paint::Faint, &line) + "\n"));
        }
        text.push_str(&unchanged_text(self.threads.iter().map(|row| &row.cpu_s), style));
        text + &self.head.notes(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let first = ["process", "rank", "name", "number", "a", "b"];
        let mut heads: Vec<String> = first.iter().map(|&head| head.to_owned()).collect();
        for head in ["wall_s", "cpu_s", "lost_s", "passive_s"] {
            heads.extend(ChangeRow::heads(head));
        }
        let row = |row: &ThreadRow| {
            let rank = row.rank.map(|rank| rank.to_string()).unwrap_or_default();
            let mut fields = vec![row.process.clone(), rank, row.name.clone(), row.number.to_string()];
            fields.extend([&row.a, &row.b].map(|handle| handle.clone().unwrap_or_default()));
            for change in [&row.wall_s, &row.cpu_s, &row.lost_s, &row.passive_s] {
                fields.extend(change.fields());
            }
            fields
        };
        [heads].into_iter().chain(self.threads.iter().map(row)).collect()
    }
}
