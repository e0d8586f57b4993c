//! The page `ledger` of a comparison: totals and accounts of both sides.

use proust_account::ledger::{Account, IoAs};
use proust_compare::Diff;
use proust_compare::diff::Total;
use proust_profile::Unit;
use schemars::JsonSchema;
use serde::Serialize;

use super::change::{ChangeRow, cells, scale, titles};
use super::head::{Head, unchanged_text};
use super::several::{Section, SideRow};
use super::{DiffQuestion, Page, Sided};
use crate::error::ReportError;
use crate::number::Scale;
use crate::pages::heading;
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LedgerPage {
    schema: u32,
    #[serde(flatten)]
    head: Head,
    ledger: LedgerBlock,
}

/// The block `ledger`: all accounts, and what they sum up to.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LedgerBlock {
    pub wall_s: ChangeRow,
    pub cpu_s: ChangeRow,
    pub total_s: ChangeRow,
    pub productive_s: ChangeRow,
    pub lost_s: ChangeRow,
    pub efficiency: ChangeRow,
    pub accounts: Vec<AccountRow>,
    #[serde(skip)]
    io: IoAs,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AccountRow {
    pub id: &'static str,
    pub class: &'static str,
    pub seconds: ChangeRow,
    #[serde(skip)]
    account: Account,
}

impl LedgerBlock {
    pub fn new(diff: &Diff<'_>) -> LedgerBlock {
        let total = |total| diff.total(total).into();
        LedgerBlock {
            wall_s: total(Total::Wall),
            cpu_s: total(Total::Cpu),
            total_s: total(Total::Processor),
            productive_s: total(Total::Productive),
            lost_s: total(Total::Lost),
            efficiency: total(Total::Efficiency),
            accounts: (diff.accounts().into_iter())
                .map(|(account, change)| AccountRow {
                    id: account.id(),
                    class: account.class().id(),
                    seconds: change.into(),
                    account,
                })
                .collect(),
            io: diff.io(),
        }
    }

    /// Totals, and the accounts of which there is anything to see.
    pub fn text(&self, all: bool, style: &Style) -> String {
        let shown = |row: &&AccountRow| {
            let smallest = if all { 0.0 } else { 0.0005 * self.total_s.a.max(self.total_s.b) };
            row.seconds.a.max(row.seconds.b) > smallest
        };
        let accounts: Vec<&AccountRow> = self.accounts.iter().filter(shown).collect();
        let scale = scale(Unit::SECONDS, [&self.total_s]);
        let mut table = Table::new(
            [("account".to_owned(), Align::Left), ("class".into(), Align::Left)]
                .into_iter()
                .chain(titles(&scale)),
        );
        for row in &accounts {
            let paint = match row.account {
                account if account.productive(self.io) => Paint::Good,
                account if account.lost(self.io) => Paint::Bad,
                _ => Paint::Plain,
            };
            let mut line: Vec<Cell> =
                vec![Cell::painted(paint, row.id), Cell::painted(Paint::Faint, row.class)];
            line.extend(cells(&row.seconds, &scale));
            table.row(line);
        }
        for (name, row) in self.totals() {
            let mut line: Vec<Cell> = vec![Cell::painted(Paint::Strong, name), "".into()];
            line.extend(cells(row, &scale));
            table.row(line);
        }
        let mut line: Vec<Cell> = vec![Cell::painted(Paint::Strong, "efficiency"), "".into()];
        line.extend(cells(&self.efficiency, &Scale::seconds([1.0])));
        table.row(line);
        let rows = accounts.iter().map(|row| &row.seconds);
        table.render(style) + &unchanged_text(rows, style)
    }
}

impl LedgerBlock {
    /// What stands below the accounts.
    fn totals(&self) -> [(&'static str, &ChangeRow); 5] {
        [
            ("sum", &self.total_s),
            ("of it productive", &self.productive_s),
            ("of it lost", &self.lost_s),
            ("wall", &self.wall_s),
            ("CPU", &self.cpu_s),
        ]
    }

    /// The same as rows of several sides.
    pub fn section(&self, all: bool) -> Section<'_> {
        let smallest = if all { 0.0 } else { 0.0005 * self.total_s.a.max(self.total_s.b) };
        let shown = |row: &&AccountRow| row.seconds.a.max(row.seconds.b) > smallest;
        let accounts = self.accounts.iter().filter(shown);
        let mut rows: Vec<SideRow<'_>> = accounts
            .map(|row| SideRow { tail: row.class.into(), ..SideRow::new(row.id, Some(&row.seconds)) })
            .collect();
        for (name, row) in self.totals() {
            rows.push(SideRow::new(name, Some(row)));
        }
        rows.push(SideRow { is_part: true, ..SideRow::new("efficiency", Some(&self.efficiency)) });
        Section::new("Where the processors' time went", "A, and each side beside it", Unit::SECONDS, rows)
    }
}

impl LedgerPage {
    pub fn build(diff: &Diff<'_>, question: &DiffQuestion) -> Result<LedgerPage, ReportError> {
        question.no_arguments()?;
        Ok(LedgerPage { schema: SCHEMA, head: Head::new(diff, question), ledger: LedgerBlock::new(diff) })
    }
}

impl Sided for LedgerPage {
    fn head(&self) -> &Head {
        &self.head
    }

    fn sections(&self) -> Vec<Section<'_>> {
        vec![self.ledger.section(true)]
    }
}

impl Page for LedgerPage {
    fn text(&self, style: &Style) -> String {
        let heading = heading(style, "Where the processors' time went", "A, B, and the difference");
        self.head.text(style) + &heading + &self.ledger.text(true, style) + &self.head.notes(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let heads = ["account".to_owned(), "class".into()].into_iter().chain(ChangeRow::heads("seconds"));
        let mut rows: Vec<Vec<String>> = vec![heads.collect()];
        for row in &self.ledger.accounts {
            let first = [row.id.to_owned(), row.class.to_owned()];
            rows.push(first.into_iter().chain(row.seconds.fields()).collect());
        }
        rows
    }
}
