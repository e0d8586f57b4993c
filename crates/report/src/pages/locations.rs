//! The table of locations with their accounts and passive time, which several pages have: every row adds up
//! to the location's wall time, every column to its sum.

use std::collections::BTreeMap;

use proust_account::ledger::{Account, Accounts, PassiveReason, PassiveTimes};
use unicode_width::UnicodeWidthStr;

use super::facts::{seconds, seconds_of};
use super::heading;
use crate::number::{Scale, sum};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, NAMES, Table};
use crate::wrap::legend;

/// Seconds by identifier of an account or reason, those that are zero left out.
pub(super) type Seconds = BTreeMap<&'static str, f64>;

/// Accounts as seconds.
pub(super) fn accounts_of(accounts: &Accounts) -> Seconds {
    seconds_of(accounts).into_iter().collect()
}

/// Passive time as seconds.
pub(super) fn passive_of(passive: &PassiveTimes) -> Seconds {
    let passive = passive.iter().filter(|(_, ns)| *ns > 0);
    passive.map(|(reason, ns)| (reason.id(), seconds(ns))).collect()
}

/// The remark after the name of a location that is not charged; empty for one that is.
pub(super) fn not_charged(charged: bool, service: bool) -> &'static str {
    match (charged, service) {
        (true, _) => "",
        (false, true) => "(service: not charged)",
        (false, false) => "(not charged)",
    }
}

/// The note about passive time of unknown reason, where there is much of it.
pub(super) fn unexplained<'r>(rows: impl Iterator<Item = (f64, &'r Seconds)>, style: &Style) -> String {
    let (mut wall_s, mut unknown_s) = (0.0, 0.0);
    for (wall, passive) in rows {
        wall_s += wall;
        unknown_s += passive.get(PassiveReason::Unknown.id()).copied().unwrap_or(0.0);
    }
    if unknown_s < 0.01 * wall_s || unknown_s == 0.0 {
        return String::new();
    }
    let unknown = crate::duration(unknown_s);
    legend(
        &format!("Of the passive time {unknown} are of unknown reason: no recorded operation explains them."),
        style,
    )
}

/// A location as the table shows it.
pub(super) struct Row<'r> {
    pub handle: &'r str,
    pub name: &'r str,
    pub tail: String,
    /// What identifies it beside its name, in the columns of [`LocationTable::ids`].
    pub ids: Vec<String>,
    /// Whether it counts for the sums.
    pub charged: bool,
    pub accounts: &'r Seconds,
    pub passive: &'r Seconds,
}

/// Rows, and what their columns must add up to.
pub(super) struct LocationTable<'r> {
    pub rows: Vec<Row<'r>>,
    /// Titles of the columns of [`Row::ids`].
    pub ids: Vec<&'static str>,
    pub scale: Scale,
    /// Seconds of all charged locations on each account, in the order of [`Account::ALL`], in units of the
    /// last digit shown; None where not all of them are in the table.
    pub totals: Option<Vec<i64>>,
}

/// A column of numbers, in units of the last digit shown.
struct Column {
    title: String,
    digits: Vec<i64>,
}

impl Column {
    fn is_any(&self) -> bool {
        self.digits.iter().any(|&digits| digits != 0)
    }

    fn width(&self, scale: &Scale) -> usize {
        let sum: i64 = self.digits.iter().sum();
        let numbers = self.digits.iter().chain([&sum]).map(|&digits| scale.write(digits).width());
        numbers.chain([self.title.width()]).max().unwrap_or(0) + 2
    }
}

/// As many columns belong to names of threads even where these are shorter.
const LEAST_NAMES: usize = 16;

impl LocationTable<'_> {
    /// One table if it fits, else one of wall time, one by account, and one by reason.
    pub fn text(&self, title: &str, explanation: &str, style: &Style) -> String {
        let (accounts, active) = self.accounts();
        let passive = self.rows.iter().map(|row| sum(row.passive.values().copied()));
        let passive: Vec<i64> = passive.map(|seconds| self.scale.digits(seconds)).collect();
        // The shown amounts add up; the last digit of the wall time gives way.
        let wall = active.iter().zip(&passive).map(|(active, passive)| active + passive).collect();
        let reasons = self.reasons(&passive);
        let whole = |name: &str, digits| Column { title: self.scale.title(name), digits };
        let sums = [whole("wall", wall), whole("active", active), whole("passive", passive)];
        let [wall, active, passive] = &sums;
        let is_simple = reasons.iter().all(|column| column.title == PassiveReason::Unknown.id());
        let mut all: Vec<&Column> = vec![wall];
        all.extend(&accounts);
        all.extend((accounts.len() > 1).then_some(active));
        if is_simple && self.width(&all) + passive.width(&self.scale) <= style.width {
            all.push(passive);
            return heading(style, title, explanation) + &self.table(&all, true, style);
        }
        let mut text = heading(style, title, explanation);
        text.push_str(&self.table(&[wall, active, passive], true, style));
        text.push_str(&self.parts("Active time by account", &accounts, active, style));
        text.push_str(&self.parts("Passive time by reason", &reasons, passive, style));
        text
    }

    /// Columns of which there are many, in as many tables as the width takes; the last one ends with their
    /// sum.
    fn parts(&self, title: &str, columns: &[Column], sum: &Column, style: &Style) -> String {
        if columns.is_empty() {
            return String::new();
        }
        let mut text = "\n".to_owned() + &heading(style, title, "");
        let mut some: Vec<&Column> = Vec::new();
        for column in columns.iter().chain([sum]) {
            some.push(column);
            if some.len() > 1 && self.narrow_width(&some) > style.width {
                let last = some.pop();
                text.push_str(&self.table(&some, false, style));
                some = last.into_iter().collect();
            }
        }
        text + &self.table(&some, false, style)
    }

    fn table(&self, columns: &[&Column], with_ids: bool, style: &Style) -> String {
        let mut titles: Vec<(String, Align)> = vec![("".into(), Align::Left)];
        titles.extend(columns.iter().map(|column| (column.title.clone(), Align::Right)));
        let ids = if with_ids { &self.ids[..] } else { &[] };
        titles.extend(ids.iter().map(|&title| (title.to_owned(), Align::Right)));
        titles.push(("name".into(), Align::Left));
        let mut table = Table::new(titles);
        let mut left_out = 0;
        for (n, row) in self.rows.iter().enumerate() {
            if columns.iter().all(|column| column.digits[n] == 0) && !with_ids {
                left_out += 1;
                continue;
            }
            let mut cells = vec![Cell::painted(Paint::Faint, row.handle)];
            cells.extend(columns.iter().map(|column| Cell::from(self.scale.write(column.digits[n]))));
            cells.extend(ids.iter().zip(&row.ids).map(|(_, id)| Cell::from(id.clone())));
            cells.push(Cell::from(row.name).with_tail(row.tail.clone()));
            table.row(cells);
        }
        if self.totals.is_some() && self.rows.len() > 1 {
            let of = |column: &Column| {
                let charged = column.digits.iter().zip(&self.rows).filter(|(_, row)| row.charged);
                charged.map(|(digits, _)| digits).sum()
            };
            let sums =
                columns.iter().map(|column| Cell::painted(Paint::Strong, self.scale.write(of(column))));
            let blank = ids.iter().map(|_| Cell::default());
            table.row([Cell::default()].into_iter().chain(sums).chain(blank).chain(["sum".into()]).collect());
        }
        let mut text = table.render(style);
        if left_out > 0 {
            text.push_str(
                &style.paint(Paint::Faint, &format!(" {left_out} without such time are not shown\n")),
            );
        }
        text
    }

    fn narrow_width(&self, columns: &[&Column]) -> usize {
        let handles = self.rows.iter().map(|row| row.handle.len()).max().unwrap_or(0);
        let numbers: usize = columns.iter().map(|column| column.width(&self.scale)).sum();
        let names = self.rows.iter().map(|row| match row.tail.width() {
            0 => row.name.width(),
            tail => row.name.width() + 2 + tail,
        });
        1 + handles + 2 + numbers + names.max().unwrap_or(0).clamp(LEAST_NAMES, NAMES)
    }

    fn width(&self, columns: &[&Column]) -> usize {
        let ids = self.ids.iter().enumerate().map(|(n, title)| {
            let cells = self.rows.iter().map(|row| row.ids.get(n).map_or(0, |id| id.width()));
            cells.chain([title.len()]).max().unwrap_or(0) + 2
        });
        self.narrow_width(columns) + ids.sum::<usize>()
    }

    /// The accounts that anything is on, and the sums of each row.
    fn accounts(&self) -> (Vec<Column>, Vec<i64>) {
        let mut columns = Vec::new();
        let (charged, others): (Vec<usize>, Vec<usize>) =
            (0..self.rows.len()).partition(|&row| self.rows[row].charged);
        for (n, account) in Account::ALL.into_iter().enumerate() {
            let of = |row: usize| self.rows[row].accounts.get(account.id()).copied().unwrap_or(0.0);
            let parts: Vec<f64> = charged.iter().map(|&row| of(row)).collect();
            // Where the sum over all is known the column must add up to it.
            let total = match &self.totals {
                Some(totals) => totals[n],
                None => self.scale.digits(sum(parts.iter().copied())),
            };
            let mut digits = vec![0; self.rows.len()];
            for (&row, part) in charged.iter().zip(self.scale.split(parts, total)) {
                digits[row] = part;
            }
            for &row in &others {
                digits[row] = self.scale.digits(of(row));
            }
            columns.push(Column { title: account.id().to_owned(), digits });
        }
        let active = (0..self.rows.len()).map(|row| columns.iter().map(|column| column.digits[row]).sum());
        let active = active.collect();
        columns.retain(Column::is_any);
        (columns, active)
    }

    /// The reasons of passive time, such that each row adds up to `passive`.
    fn reasons(&self, passive: &[i64]) -> Vec<Column> {
        let reasons = PassiveReason::ALL.map(PassiveReason::id);
        let mut columns: Vec<Column> =
            reasons.iter().map(|&id| Column { title: id.to_owned(), digits: Vec::new() }).collect();
        for (row, &passive) in self.rows.iter().zip(passive) {
            let parts = reasons.iter().map(|id| row.passive.get(id).copied().unwrap_or(0.0));
            for (column, digits) in columns.iter_mut().zip(self.scale.split(parts, passive)) {
                column.digits.push(digits);
            }
        }
        columns.retain(Column::is_any);
        columns
    }
}
