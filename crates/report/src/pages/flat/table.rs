//! The table of the page `flat`: own amounts that add up, with inclusive ones beside them.

use proust_profile::Metric;
use proust_query::Quantity;

use crate::choice::{Chosen, Order};
use crate::column::ColumnHead;
use crate::number::{percents, sum};
use crate::pages::numbers::{Fitted, NumberColumn, Which, head_of, title_of};
use crate::row_amounts::RowAmounts;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, NAMES, Table};

/// Rows, and what their columns must add up to.
pub(super) struct FlatTable<'t> {
    pub heads: &'t [ColumnHead],
    /// Of everything in scope.
    pub totals: &'t RowAmounts,
    pub chosen: &'t Chosen,
    pub order: &'t Order,
    /// Handles and names of the rows.
    pub names: Vec<(String, Cell)>,
    pub amounts: Vec<&'t RowAmounts>,
    /// What a row is.
    pub what: &'static str,
    /// What is in the totals and in no row, if anything is.
    pub others: Option<String>,
}

impl FlatTable<'_> {
    pub fn text(&self, style: &Style) -> String {
        if self.chosen.given { self.with_chosen(style) } else { self.usual(style) }
    }

    /// The ordering measure, CPU time, and the measures that matter beside it, when no metrics are chosen.
    fn usual(&self, style: &Style) -> String {
        let rows = &self.amounts[..];
        let total = |head: &ColumnHead| self.totals.get(&head.id).map_or(0.0, |total| total.exclusive);
        let own = |quantity: &Quantity, name: &str| {
            let head = head_of(self.heads, quantity)?;
            Some(NumberColumn::adding_up(head, name, rows, total(head), self.others.is_some()))
        };
        let cpu = Quantity::from(Metric::Cpu);
        let lead = self.heads.iter().find(|head| head.id == self.order.column).unwrap_or(&self.heads[0]);
        let by_cpu = lead.quantity == cpu;
        let mut shares: Vec<f64> =
            rows.iter().map(|row| row.get(&lead.id).map_or(0.0, |amount| amount.exclusive)).collect();
        let hidden = total(lead) - sum(shares.iter().copied());
        shares.extend(self.others.is_some().then_some(hidden));
        let mut shares = percents(&shares, total(lead));
        shares.push(if total(lead) > 0.0 { "100.0" } else { "-" }.into());
        let name = if by_cpu { "self".into() } else { title_of(lead) };
        let mut always: Vec<NumberColumn> = own(&lead.quantity, &name).into_iter().collect();
        let incl = NumberColumn::amounts(lead, "incl", rows, Which::Inclusive);
        let errors = |of: Option<&NumberColumn>| Some(of?.errors(rows, Which::Exclusive));
        if by_cpu {
            let errors = errors(always.first());
            always.extend(errors);
            always.extend([NumberColumn::percents(shares), incl.clone()]);
        } else {
            always.push(NumberColumn::percents(shares));
            let cpu = own(&cpu, "CPU");
            let errors = errors(cpu.as_ref());
            always.extend(cpu.into_iter().chain(errors));
        }
        let mut others: Vec<NumberColumn> = self
            .chosen
            .noticed
            .iter()
            .filter(|quantity| **quantity != lead.quantity)
            .filter_map(|quantity| {
                let head = head_of(self.heads, quantity)?;
                own(quantity, &title_of(head))
            })
            .collect();
        // It is the same measure: `--metrics` could not show more.
        others.extend((!by_cpu).then_some(NumberColumn { id: String::new(), ..incl }));
        // An empty column is of no use in text.
        for metric in [Metric::User, Metric::System] {
            let quantity = metric.into();
            let used = head_of(self.heads, &quantity).filter(|head| total(head) != 0.0);
            others.extend(used.and_then(|head| own(&quantity, &format!("{} self", title_of(head)))));
        }
        let fitted = Fitted::new(always, others, NAMES, style);
        let titles = fitted.columns.iter().map(NumberColumn::head);
        let mut table = Table::new(titles.chain([("".into(), Align::Left), (self.what.into(), Align::Left)]));
        let n = self.names.len();
        let mut line = |row: usize, handle: &str, name: Cell| {
            let mut cells: Vec<Cell> = fitted.columns.iter().map(|column| column.cell(row).into()).collect();
            cells.extend([Cell::painted(Paint::Faint, handle), name]);
            table.row(cells);
        };
        for (row, (handle, name)) in self.names.iter().enumerate() {
            line(row, handle, name.clone());
        }
        if let Some(others) = &self.others {
            line(n, "", Cell::painted(Paint::Faint, others.as_str()));
        }
        line(n + usize::from(self.others.is_some()), "", Cell::painted(Paint::Faint, "sum"));
        table.render(style) + &fitted.footer(&self.chosen.others, style)
    }

    /// The columns of `--metrics`.
    fn with_chosen(&self, style: &Style) -> String {
        let rows = &self.amounts[..];
        let mut numbers = Vec::new();
        let lead = self.heads.iter().find(|head| head.id == self.order.column).unwrap_or(&self.heads[0]);
        let shown = self.heads.iter().filter(|head| head.asked || head.id == lead.id);
        for head in shown {
            let name = title_of(head);
            numbers.push(NumberColumn::amounts(head, &format!("{name} self"), rows, Which::Exclusive));
            numbers.push(NumberColumn::amounts(head, "incl", rows, Which::Inclusive));
            if rows.iter().any(|row| row.get(&head.id).is_some_and(|amount| amount.location.is_some())) {
                numbers.push(NumberColumn::locations(head, rows));
            }
        }
        let titles = numbers.iter().map(NumberColumn::head);
        let titles = titles.chain([("".into(), Align::Left), (self.what.into(), Align::Left)]);
        let mut table = Table::new(titles);
        for (n, (handle, name)) in self.names.iter().enumerate() {
            let mut cells: Vec<Cell> =
                numbers.iter().map(|column| column.numbers[n].clone().into()).collect();
            cells.extend([Cell::painted(Paint::Faint, handle.as_str()), name.clone()]);
            table.row(cells);
        }
        let mut text = table.render(style);
        if let Some(others) = &self.others {
            text.push_str(&style.paint(Paint::Faint, &format!(" {others}")));
            text.push('\n');
        }
        text
    }
}
