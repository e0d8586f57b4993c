//! The page `flat`: functions, or what else `--by` makes of them.
//!
//! JSON: `{"schema":1,"by":…,"metrics":[…],"totals":{…},"functions":[…],"cut":{…},"notes":[…]}`. Where rows are
//! no functions they are in `groups` instead: `{"name","handle","file","line","module","metrics"}`.

use proust_profile::{Metric, Profile};
use proust_query::{Group, Grouping, Groups, Handle, Measure, Selection};
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::numbers::{Fitted, NumberColumn, Which, head_of, title_of};
use super::{
    Cut, FunctionRow, Page, csv_amounts, csv_heads, function_rows, heading, no_arguments, scope,
    sort_functions,
};
use crate::choice::{Chosen, Order};
use crate::column::{ColumnHead, Over, RowAmounts};
use crate::columns::Columns;
use crate::error::ReportError;
use crate::number::{percents, sum};
use crate::question::{Format, Question};
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};
use crate::wording::Notes;

/// Rows of text when nothing else is asked for.
const ROWS: usize = 20;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Flat {
    schema: u32,
    metrics: Vec<ColumnHead>,
    /// Sums over everything in scope, in the rows' columns.
    totals: RowAmounts,
    /// What a row is.
    by: &'static str,
    #[serde(flatten)]
    shown: Shown,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
    #[serde(skip)]
    chosen: Chosen,
    #[serde(skip)]
    order: Order,
    #[serde(skip)]
    functions: Vec<FunctionRow>,
    #[serde(skip)]
    grouping: Grouping,
}

/// The rows under the name of what they are.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Shown {
    Functions(Vec<FunctionRow>),
    Groups(Vec<GroupRow>),
}

/// A row that is no function.
#[derive(Debug, Serialize, JsonSchema)]
struct GroupRow {
    /// Its name; empty for what has none.
    name: String,
    /// What filters call it, where it has such a name.
    handle: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    module: Option<String>,
    metrics: RowAmounts,
}

/// Names have at least this much room, before columns have.
const NAMES: usize = 30;

impl Flat {
    pub fn build(selection: &Selection<'_>, question: &Question) -> Result<Flat, ReportError> {
        no_arguments(question)?;
        let chosen = Chosen::new(selection, question);
        let by = question.by;
        refuse_statistics(by, &chosen)?;
        let order = Order::new(question, &chosen, false);
        let (numbers, mut functions) = if by == Grouping::default() {
            let numbers = Columns::by_function(selection, &chosen);
            let rows = function_rows(selection.profile(), &numbers);
            (numbers, rows)
        } else {
            let groups = Groups::of(selection, by);
            let numbers = Columns::by_group(selection, &groups, &chosen);
            let rows = group_rows(selection.profile(), &groups, &numbers);
            (numbers, rows)
        };
        sort_functions(&mut functions, &order);
        let limit = question.limit.or((question.format == Format::Text).then_some(ROWS));
        let cut = cut(&mut functions, limit, &order);
        let mut totals = RowAmounts::new();
        for column in chosen.columns.iter().filter(|column| column.over == Over::Sum) {
            let total = selection.total(column.measure);
            let amount = crate::column::Amount { inclusive: total, exclusive: total, ..Default::default() };
            totals.insert(column.id(), amount);
        }
        Ok(Flat {
            schema: SCHEMA,
            metrics: numbers.heads(),
            totals,
            by: by.id(),
            shown: Shown::new(by, &functions),
            functions,
            grouping: by,
            cut,
            notes: Notes::of(selection.notes()),
            scope: scope(selection, question),
            chosen,
            order,
        })
    }

    /// What a row is, in text.
    fn noun(&self) -> &'static str {
        match self.grouping {
            Grouping::Inlined | Grouping::Function => "function",
            by => by.id(),
        }
    }

    /// The ordering measure, CPU time, and the measures that matter beside it, when no metrics are chosen.
    fn usual(&self, style: &Style) -> String {
        let rows: Vec<&RowAmounts> = self.functions.iter().map(|row| &row.metrics).collect();
        let total = |head: &ColumnHead| self.totals.get(&head.id).map_or(0.0, |total| total.exclusive);
        let own = |measure: Measure, name: &str| {
            let head = head_of(&self.metrics, measure)?;
            Some(NumberColumn::adding_up(head, name, &rows, total(head), self.cut.is_some()))
        };
        let cpu = Measure::Metric(Metric::Cpu);
        let lead = self.metrics.iter().find(|head| head.id == self.order.column).unwrap_or(&self.metrics[0]);
        let by_cpu = lead.measure == cpu;
        let mut shares: Vec<f64> =
            rows.iter().map(|row| row.get(&lead.id).map_or(0.0, |amount| amount.exclusive)).collect();
        let hidden = total(lead) - sum(shares.iter().copied());
        shares.extend(self.cut.is_some().then_some(hidden));
        let mut shares = percents(&shares, total(lead));
        shares.push(if total(lead) > 0.0 { "100.0" } else { "-" }.into());
        let errors =
            head_of(&self.metrics, cpu).map(|cpu| NumberColumn::errors(cpu, &rows, Which::Exclusive));
        let name = if by_cpu { "self".into() } else { title_of(lead) };
        let mut always: Vec<NumberColumn> = own(lead.measure, &name).into_iter().collect();
        let incl = NumberColumn::amounts(lead, "incl", &rows, Which::Inclusive);
        if by_cpu {
            always.extend(errors);
            always.extend([NumberColumn::percents(shares), incl.clone()]);
        } else {
            always.push(NumberColumn::percents(shares));
            always.extend(own(cpu, "CPU"));
            always.extend(errors);
        }
        let mut others: Vec<NumberColumn> = self
            .chosen
            .noticed
            .iter()
            .filter(|measure| **measure != lead.measure)
            .filter_map(|measure| {
                let head = head_of(&self.metrics, *measure)?;
                own(*measure, &title_of(head))
            })
            .collect();
        // It is the same measure: `--metrics` could not show more.
        others.extend((!by_cpu).then_some(NumberColumn { id: String::new(), ..incl }));
        // An empty column is of no use in text.
        for metric in [Metric::User, Metric::System] {
            let used = head_of(&self.metrics, metric.into()).filter(|head| total(head) != 0.0);
            others.extend(used.and_then(|head| own(metric.into(), &format!("{} self", title_of(head)))));
        }
        let fitted = Fitted::new(always, others, NAMES, style);
        let titles = fitted.columns.iter().map(NumberColumn::head);
        let mut table =
            Table::new(titles.chain([("".into(), Align::Left), (self.noun().into(), Align::Left)]));
        let n = self.functions.len();
        let mut line = |row: usize, handle: &str, name: Cell| {
            let mut cells: Vec<Cell> = fitted.columns.iter().map(|column| column.cell(row).into()).collect();
            cells.extend([Cell::painted(Paint::Faint, handle), name]);
            table.row(cells);
        };
        for (row, function) in self.functions.iter().enumerate() {
            line(row, &function.handle, function.cell());
        }
        if let Some(cut) = &self.cut {
            let text =
                format!("{} (--limit {})", counted(cut.rows, &format!("more {}", self.noun())), n + cut.rows);
            line(n, "", Cell::painted(Paint::Faint, text));
        }
        line(n + usize::from(self.cut.is_some()), "", Cell::painted(Paint::Faint, "sum"));
        table.render(style) + &fitted.footer(&self.chosen.others, style)
    }

    /// The columns of `--metrics`.
    fn with_chosen(&self, style: &Style) -> String {
        let rows: Vec<&RowAmounts> = self.functions.iter().map(|row| &row.metrics).collect();
        let mut numbers = Vec::new();
        for head in &self.metrics {
            let name = title_of(head);
            numbers.push(NumberColumn::amounts(head, &format!("{name} self"), &rows, Which::Exclusive));
            numbers.push(NumberColumn::amounts(head, "incl", &rows, Which::Inclusive));
            if rows.iter().any(|row| row.get(&head.id).is_some_and(|amount| amount.location.is_some())) {
                numbers.push(NumberColumn::locations(head, &rows));
            }
        }
        let titles = numbers.iter().map(NumberColumn::head);
        let titles = titles.chain([("".into(), Align::Left), (self.noun().into(), Align::Left)]);
        let mut table = Table::new(titles);
        for (n, row) in self.functions.iter().enumerate() {
            let mut cells: Vec<Cell> =
                numbers.iter().map(|column| column.numbers[n].clone().into()).collect();
            cells.extend([Cell::painted(Paint::Faint, row.handle.clone()), row.cell()]);
            table.row(cells);
        }
        let mut text = table.render(style);
        if let Some(cut) = &self.cut {
            let line = format!(
                " {} (--limit {})",
                counted(cut.rows, &format!("more {}", self.noun())),
                self.functions.len() + cut.rows
            );
            text.push_str(&style.paint(Paint::Faint, &line));
            text.push('\n');
        }
        text
    }
}

/// Keeps the first rows, and returns the amounts of the others.
pub(super) fn cut(rows: &mut Vec<FunctionRow>, limit: Option<usize>, order: &Order) -> Option<Cut> {
    let limit = limit.filter(|&limit| limit < rows.len())?;
    let own = Order { inclusive: false, ..order.clone() };
    let amount = sum(rows[limit..].iter().map(|row| own.of(&row.metrics)));
    let cut = Cut { rows: rows.len() - limit, amount };
    rows.truncate(limit);
    Some(cut)
}

impl Shown {
    fn new(by: Grouping, rows: &[FunctionRow]) -> Shown {
        if matches!(by, Grouping::Inlined | Grouping::Function) {
            return Shown::Functions(rows.to_vec());
        }
        let row = |row: &FunctionRow| GroupRow {
            name: row.function.clone(),
            handle: Some(row.handle.clone()).filter(|handle| !handle.is_empty()),
            file: row.file.clone(),
            line: row.line,
            module: row.module.clone(),
            metrics: row.metrics.clone(),
        };
        Shown::Groups(rows.iter().map(row).collect())
    }
}

/// Rows of all groups that have any number in these columns.
fn group_rows(profile: &Profile, groups: &Groups, columns: &Columns) -> Vec<FunctionRow> {
    let row = |(id, group): (usize, &Group)| {
        let metrics = columns.row(id);
        match (group.function, group.line) {
            (Some(function), _) if group.handle == Some(Handle::Function(function)) => {
                FunctionRow::new(profile, function, metrics)
            }
            _ => FunctionRow {
                function: group.name.clone(),
                full_name: group.name.clone(),
                handle: group.handle.map_or_else(String::new, |handle| handle.to_string()),
                file: group.file.clone(),
                line: group.line,
                module: group.module.clone(),
                metrics,
            },
        }
    };
    groups.rows.iter().enumerate().filter(|(id, _)| columns.any(*id)).map(row).collect()
}

/// Statistics are over the threads: where rows are threads, or all threads of a process, there is but a sum.
fn refuse_statistics(by: Grouping, chosen: &Chosen) -> Result<(), ReportError> {
    match chosen.columns.iter().find(|column| column.over != Over::Sum) {
        Some(column) if by.is_of_locations() => Err(ReportError::Usage(format!(
            "`{}` is a statistic over threads, and rows by {} are threads: ask for `{}`, or group by another",
            column.id(),
            by.id(),
            column.measure.id()
        ))),
        _ => Ok(()),
    }
}

impl Page for Flat {
    fn text(&self, style: &Style) -> String {
        let by_active =
            self.metrics.iter().any(|head| head.id == self.order.column && head.measure == Measure::Active);
        let by = if by_active { "; active time without what is called" } else { "" };
        let title = match self.grouping {
            Grouping::Inlined => "Functions",
            Grouping::Function => "Functions of the machine code",
            Grouping::Line => "Lines",
            Grouping::Module => "Modules",
            Grouping::File => "Files",
            Grouping::Process => "Processes",
            Grouping::Thread => "Threads",
        };
        let mut text = heading(style, title, &format!("{}{by}", self.scope));
        if self.functions.is_empty() {
            text.push_str(" nothing here\n");
            return text;
        }
        text.push_str(&if self.chosen.given { self.with_chosen(style) } else { self.usual(style) });
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        // The last three columns are called so already.
        let name = match self.noun() {
            "file" | "line" | "module" => "name",
            noun => noun,
        };
        let first = ["handle", name, "file", "line", "module"];
        let mut rows = vec![csv_heads(&first, &self.metrics)];
        for row in &self.functions {
            let mut fields = row.fields();
            fields.extend(csv_amounts(&self.metrics, &row.metrics));
            rows.push(fields);
        }
        rows
    }
}
