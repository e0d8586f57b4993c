//! The numeric columns of a table of text, and which of them have room.

use proust_profile::{Metric, Unit};
use proust_query::{Measure, Quantity};
use unicode_width::UnicodeWidthStr;

use crate::choice::Chosen;
use crate::column::{Amount, ColumnHead, Over};
use crate::number::{Scale, sum};
use crate::row_amounts::RowAmounts;
use crate::style::Style;
use crate::table::Align;
use crate::wrap::legend;

/// A column of numbers as they are shown.
#[derive(Clone)]
pub(super) struct NumberColumn {
    /// What `--metrics` calls it.
    pub id: String,
    pub title: String,
    pub numbers: Vec<String>,
    /// In which the numbers are shown; None = they are no amounts.
    pub scale: Option<Scale>,
    /// Whether the user defined it: it is shown whatever room there is.
    pub defined: bool,
}

/// Which number of a column.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Which {
    Inclusive,
    Exclusive,
}

impl Which {
    pub fn of(inclusive: bool) -> Which {
        if inclusive { Which::Inclusive } else { Which::Exclusive }
    }

    fn pick(self, amount: &Amount) -> f64 {
        match self {
            Which::Inclusive => amount.inclusive,
            Which::Exclusive => amount.exclusive,
        }
    }
}

impl NumberColumn {
    pub fn amounts(head: &ColumnHead, name: &str, rows: &[&RowAmounts], which: Which) -> NumberColumn {
        let pick = |row: &&RowAmounts| row.get(&head.id).map_or(0.0, |amount| which.pick(amount));
        let numbers: Vec<f64> = rows.iter().map(pick).collect();
        let scale = Scale::of(head.unit, numbers.iter().copied());
        NumberColumn {
            id: head.id.clone(),
            title: scale.title(name),
            numbers: numbers.into_iter().map(|number| scale.show(number)).collect(),
            scale: Some(scale),
            defined: is_defined(head),
        }
    }

    /// Own amounts, and below them those of rows that were cut, if `cut`, and the sum of all. A derived
    /// metric has no sum: below it is the value of all together.
    pub fn adding_up(
        head: &ColumnHead,
        name: &str,
        rows: &[&RowAmounts],
        total: f64,
        cut: bool,
    ) -> NumberColumn {
        let mut own: Vec<f64> =
            rows.iter().map(|row| row.get(&head.id).map_or(0.0, |amount| amount.exclusive)).collect();
        let hidden = total - sum(own.iter().copied());
        let defined = is_defined(head);
        own.extend(cut.then_some(if defined { f64::NAN } else { hidden }));
        let scale = Scale::of(head.unit, own.iter().copied().chain([total]));
        let mut numbers = match defined {
            true => own.iter().map(|&number| scale.show(number)).collect(),
            false => scale.show_parts(&own, total),
        };
        numbers.push(scale.show(total));
        NumberColumn { id: head.id.clone(), title: scale.title(name), numbers, scale: Some(scale), defined }
    }

    /// The standard errors of these amounts, in their scale: the head shows no unit.
    pub fn errors(&self, rows: &[&RowAmounts], which: Which) -> NumberColumn {
        let of = |row: &&RowAmounts| {
            let amount = row.get(&self.id)?;
            match which {
                Which::Inclusive => amount.inclusive_error,
                Which::Exclusive => amount.exclusive_error,
            }
        };
        // The error of a total is rounding only.
        let is_nothing = |text: &String| text.bytes().all(|byte| matches!(byte, b'0' | b'.' | b'-'));
        let show = |row: &&RowAmounts| Some(self.scale?.show(of(row)?)).filter(|text| !is_nothing(text));
        NumberColumn {
            id: String::new(),
            title: "±".into(),
            numbers: rows.iter().map(|row| show(row).unwrap_or_default()).collect(),
            scale: self.scale,
            defined: false,
        }
    }

    pub fn locations(head: &ColumnHead, rows: &[&RowAmounts]) -> NumberColumn {
        let show = |row: &&RowAmounts| {
            row.get(&head.id).and_then(|amount| amount.location.clone()).unwrap_or_default()
        };
        let numbers = rows.iter().map(show).collect();
        NumberColumn::remarks("at", numbers)
    }

    pub fn percents(numbers: Vec<String>) -> NumberColumn {
        NumberColumn::remarks("%", numbers)
    }

    /// Texts beside numbers.
    fn remarks(title: &str, numbers: Vec<String>) -> NumberColumn {
        NumberColumn { id: String::new(), title: title.into(), numbers, scale: None, defined: false }
    }

    pub fn head(&self) -> (String, Align) {
        (self.title.clone(), Align::Right)
    }

    /// The number of a row; nothing where the column has no such row.
    pub fn cell(&self, row: usize) -> String {
        self.numbers.get(row).cloned().unwrap_or_default()
    }

    fn width(&self) -> usize {
        let numbers = self.numbers.iter().map(|number| number.width());
        numbers.chain([self.title.width()]).max().unwrap_or(0) + 2
    }

    fn is_empty(&self) -> bool {
        self.numbers.iter().all(String::is_empty)
    }
}

/// Columns that have room beside names, and the note about those that have not.
pub(super) struct Fitted {
    pub columns: Vec<NumberColumn>,
    left_out: Vec<String>,
}

impl Fitted {
    /// All of `always`, what the user defined, and as many of the others, in their order, as leave the names
    /// `room`.
    pub fn new(always: Vec<NumberColumn>, others: Vec<NumberColumn>, room: usize, style: &Style) -> Fitted {
        let (defined, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|column| column.defined);
        let columns = always.into_iter().chain(defined).collect();
        let mut fitted = Fitted { columns, left_out: Vec::new() };
        fitted.columns.retain(|column| !column.is_empty());
        let mut width = 1 + fitted.columns.iter().map(NumberColumn::width).sum::<usize>();
        for column in others.into_iter().filter(|column| !column.is_empty()) {
            if fitted.left_out.is_empty() && width + column.width() + room <= style.width {
                width += column.width();
                fitted.columns.push(column);
            } else if !column.id.is_empty() {
                fitted.left_out.push(column.id);
            }
        }
        fitted
    }

    /// All of them, whatever room they take: the user has chosen.
    pub fn all(columns: impl IntoIterator<Item = NumberColumn>) -> Fitted {
        let columns = columns.into_iter().filter(|column| !column.is_empty()).collect();
        Fitted { columns, left_out: Vec::new() }
    }

    /// How to see what is not shown.
    pub fn footer(&self, others: &[Measure], style: &Style) -> String {
        const SHOWN: usize = 5;
        let mut ids: Vec<String> = self.left_out.clone();
        ids.extend(others.iter().map(|measure| measure.id()));
        if ids.is_empty() {
            return String::new();
        }
        let more = if ids.len() > SHOWN { " …" } else { "" };
        ids.truncate(SHOWN);
        legend(&format!("--metrics shows more: {}{more}", ids.join(", ")), style)
    }
}

/// The default columns beside CPU time.
pub(super) fn noticed(
    chosen: &Chosen,
    heads: &[ColumnHead],
    rows: &[&RowAmounts],
    which: Which,
) -> Vec<NumberColumn> {
    let heads = chosen.noticed.iter().filter_map(|quantity| head_of(heads, quantity));
    heads.map(|head| NumberColumn::amounts(head, &title_of(head), rows, which)).collect()
}

/// CPU time, where it is not what rows are ordered by: work in a call that waits is no active time of its
/// own, but it is CPU time.
pub(super) fn cpu_beside(
    lead: &ColumnHead,
    heads: &[ColumnHead],
    rows: &[&RowAmounts],
    which: Which,
) -> Option<NumberColumn> {
    let cpu = head_of(heads, &Metric::Cpu.into()).filter(|cpu| cpu.id != lead.id)?;
    Some(NumberColumn::amounts(cpu, &title_of(cpu), rows, which))
}

/// The column of sums of a quantity.
pub(super) fn head_of<'h>(heads: &'h [ColumnHead], quantity: &Quantity) -> Option<&'h ColumnHead> {
    heads.iter().find(|head| head.quantity == *quantity && head.over == Over::Sum)
}

/// The columns that `--metrics` names, and the one that rows are ordered by, which comes first.
pub(super) fn given<'h>(heads: &'h [ColumnHead], lead: &ColumnHead) -> Vec<&'h ColumnHead> {
    let (first, others): (Vec<_>, Vec<_>) =
        heads.iter().filter(|head| head.asked || head.id == lead.id).partition(|head| head.id == lead.id);
    first.into_iter().chain(others).collect()
}

fn is_defined(head: &ColumnHead) -> bool {
    head.quantity.derived().is_some()
}

/// The name of a column in text.
pub(super) fn title_of(head: &ColumnHead) -> String {
    let name = match &*head.metric {
        "cpu_s" => "CPU",
        "measurement_s" => "measuring",
        "voluntary_switches" => "voluntary sw.",
        "involuntary_switches" => "involuntary sw.",
        "io_calls" => "I/O calls",
        "io_errors" => "I/O errors",
        "read_bytes" => "read",
        "written_bytes" => "written",
        other if head.unit == Unit::SECONDS => other.strip_suffix("_s").unwrap_or(other),
        other => other,
    };
    let name = name.replace('_', " ");
    if head.over == Over::Sum { name } else { format!("{name} {}", head.over.id()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Column;

    /// Rows of milliseconds whose sum is seconds: the column shows seconds, and so do the errors beside it.
    #[test]
    fn errors_are_in_the_unit_of_their_amounts() {
        let head = Column::sum(Metric::Cpu).head(true);
        let mut row = RowAmounts::new();
        let amount = Amount { exclusive: 0.054, exclusive_error: Some(0.017), ..Amount::default() };
        row.insert("cpu_s", amount);
        let rows = [&row];
        let column = NumberColumn::adding_up(&head, "self", &rows, 1.435, true);
        assert_eq!((column.title.as_str(), column.numbers[0].as_str()), ("self s", "0.054"));
        assert_eq!(column.errors(&rows, Which::Exclusive).numbers, ["0.017"]);
    }
}
