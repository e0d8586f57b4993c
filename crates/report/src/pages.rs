//! One file for each page. What they share: how a page becomes text, JSON or CSV, and the rows of functions.

mod account;
mod callers;
mod facts;
mod flat;
mod ledger;
mod one_function;
mod quality;
mod summary;
mod threads;
mod timeline;
mod tree;

use account::Drawn;
use proust_analysis::ledger::Ledger;
use proust_analysis::query::{Handle, Selection};
use proust_analysis::words::counted;
use proust_profile::{FunctionId, Metric, Profile};
use serde::Serialize;

use crate::column::{Column, ColumnHead, Columns, Over, RowAmounts};
use crate::number::{Scale, duration, exact};
use crate::page::PageName;
use crate::question::{Format, Question, ReportError, Sort};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell};
use crate::{Rendered, csv, json};

/// A page that has been computed: its fields are the JSON contract's.
trait Page: Serialize {
    fn text(&self, style: &Style) -> String;
    /// The page's main table, headings first.
    fn rows(&self) -> Vec<Vec<String>>;
}

pub(crate) fn render(
    profile: &Profile,
    kept: Option<&Ledger>,
    question: &Question,
    style: &Style,
) -> Result<Rendered, ReportError> {
    let selection = Selection::new(profile, &question.filter);
    let drawn = || Drawn::new(&selection, question, kept);
    let notes = selection.notes().to_vec();
    let page = match question.page {
        PageName::Summary => {
            write(&summary::Summary::build(&selection, question, &drawn()?)?, question, style)
        }
        PageName::Ledger => {
            write(&ledger::LedgerPage::build(&selection, question, &drawn()?)?, question, style)
        }
        PageName::Tree => write(&tree::Tree::build(selection, question)?, question, style),
        PageName::Callers if question.arguments.is_empty() => {
            write(&callers::Callers::build(&selection, question)?, question, style)
        }
        PageName::Callers => write(&one_function::OneFunction::build(&selection, question)?, question, style),
        PageName::Flat => write(&flat::Flat::build(&selection, question)?, question, style),
        PageName::Threads => {
            write(&threads::Threads::build(&selection, question, &drawn()?)?, question, style)
        }
        PageName::Timeline => write(&timeline::Timeline::build(&selection, question)?, question, style),
        PageName::Quality => {
            write(&quality::QualityPage::build(&selection, question, &drawn()?)?, question, style)
        }
    };
    Ok(Rendered { page, notes })
}

fn write(page: &impl Page, question: &Question, style: &Style) -> String {
    match question.format {
        Format::Text => style.plain(page.text(style)),
        Format::Json => json::write(page),
        Format::Csv => csv::write(page.rows()),
    }
}

/// What a page may be given after its name.
fn no_arguments(question: &Question) -> Result<(), ReportError> {
    match question.arguments.first() {
        None => Ok(()),
        Some(argument) => Err(ReportError::Usage(format!(
            "the page `{}` takes no argument, but `{argument}` was given; `tree` takes a context such as c12, \
             `callers` a function, and --where restricts every page",
            question.page.id()
        ))),
    }
}

/// Metrics that every page with columns has when no others are chosen, even where there is nothing of them: who
/// reads the JSON can rely on them.
const USUAL: [Metric; 4] = [Metric::Cpu, Metric::User, Metric::System, Metric::Samples];

/// The columns asked for, or the usual metrics and those of which there is anything.
fn columns(selection: &Selection<'_>, question: &Question) -> Vec<Column> {
    let mut columns = question.columns.clone();
    if columns.is_empty() {
        let any = |metric: &Metric| USUAL.contains(metric) || selection.total(*metric) != 0.0;
        columns = Metric::ALL.into_iter().filter(any).map(Column::sum).collect();
    }
    if let Some(Sort::Metric(metric) | Sort::Inclusive(metric) | Sort::Exclusive(metric)) = question.sort
        && !columns.iter().any(|column| column.metric == metric)
    {
        columns.push(Column::sum(metric));
    }
    columns
}

/// By which number the rows of a page are ordered, and cut.
#[derive(Clone, Debug, PartialEq)]
struct Order {
    by_name: bool,
    column: String,
    inclusive: bool,
    unit: &'static str,
}

impl Order {
    fn new(question: &Question, columns: &[Column], inclusive: bool) -> Order {
        let (metric, inclusive) = match question.sort {
            Some(Sort::Metric(metric)) => (Some(metric), inclusive),
            Some(Sort::Inclusive(metric)) => (Some(metric), true),
            Some(Sort::Exclusive(metric)) => (Some(metric), false),
            Some(Sort::Name) | None => (None, inclusive),
        };
        let column = columns.iter().find(|column| metric.is_none_or(|metric| metric == column.metric));
        let column = column.copied().unwrap_or(Column::sum(Metric::Cpu));
        Order {
            by_name: question.sort == Some(Sort::Name),
            column: column.id(),
            inclusive,
            unit: column.metric.unit(),
        }
    }

    /// What is in a row's column with everything below, whatever the order.
    fn inclusive_of(&self, amounts: &RowAmounts) -> f64 {
        amounts.get(&self.column).map_or(0.0, |amount| amount.inclusive)
    }

    fn of(&self, amounts: &RowAmounts) -> f64 {
        let amount = amounts.get(&self.column);
        amount.map_or(0.0, |amount| if self.inclusive { amount.inclusive } else { amount.exclusive })
    }
}

/// What a limit left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Cut {
    rows: usize,
    /// In the column that the rows are ordered by; exclusive amounts, which add up.
    amount: f64,
}

/// A function and its numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct FunctionRow {
    function: String,
    full_name: String,
    handle: String,
    file: Option<String>,
    line: Option<u32>,
    module: Option<String>,
    metrics: RowAmounts,
}

impl FunctionRow {
    fn new(profile: &Profile, id: FunctionId, metrics: RowAmounts) -> FunctionRow {
        let function = &profile.functions[id as usize];
        FunctionRow {
            function: function.name.clone(),
            full_name: if function.full_name.is_empty() {
                function.name.clone()
            } else {
                function.full_name.clone()
            },
            handle: Handle::Function(id).to_string(),
            file: function.file.clone(),
            line: function.line,
            module: function.module.map(|module| profile.modules[module as usize].path.clone()),
            metrics,
        }
    }

    fn cell(&self) -> Cell {
        let mut tail = place(self.file.as_deref(), self.line).unwrap_or_default();
        if tail.is_empty() {
            tail =
                self.module.as_deref().map(|module| format!("[{}]", base_name(module))).unwrap_or_default();
        }
        Cell::from(self.function.clone()).with_tail(tail)
    }

    fn fields(&self) -> Vec<String> {
        let line = self.line.map(|line| line.to_string()).unwrap_or_default();
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        vec![self.handle.clone(), self.function.clone(), text(&self.file), line, text(&self.module)]
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `file.c:12`, the file without its folder.
fn place(file: Option<&str>, line: Option<u32>) -> Option<String> {
    let file = base_name(file?);
    Some(line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}")))
}

/// A heading, with a fainter explanation after it.
fn heading(style: &Style, title: &str, explanation: &str) -> String {
    let pieces = [style.paint(Paint::Strong, title), style.paint(Paint::Faint, explanation)];
    pieces.join("  ").trim_end().to_owned() + "\n"
}

/// What part of the run a page is about.
fn scope(selection: &Selection<'_>, question: &Question) -> String {
    let seconds = duration(selection.total(Metric::Cpu));
    let of = format!("{seconds} of CPU time in {}", counted(selection.locations().len(), "thread"));
    if question.filter.is_empty() { of } else { format!("{of}, where {}", question.filter) }
}

/// The numeric columns of a table of text, chosen from what a page holds.
struct NumberColumn {
    title: String,
    numbers: Vec<String>,
}

/// Which number of a column.
#[derive(Clone, Copy, PartialEq)]
enum Which {
    Inclusive,
    Exclusive,
}

impl NumberColumn {
    fn amounts(head: &ColumnHead, name: &str, rows: &[&RowAmounts], which: Which) -> NumberColumn {
        let numbers: Vec<f64> = rows
            .iter()
            .map(|row| {
                row.get(&head.id).map_or(0.0, |amount| match which {
                    Which::Inclusive => amount.inclusive,
                    Which::Exclusive => amount.exclusive,
                })
            })
            .collect();
        let scale = Scale::of(head.unit, numbers.iter().copied());
        NumberColumn {
            title: scale.title(name),
            numbers: numbers.into_iter().map(|number| scale.show(number)).collect(),
        }
    }

    /// Standard errors, in the scale of the amounts they belong to.
    fn errors(head: &ColumnHead, rows: &[&RowAmounts], which: Which) -> NumberColumn {
        let of = |row: &&RowAmounts| {
            row.get(&head.id).map_or((0.0, 0.0), |amount| match which {
                Which::Inclusive => (amount.inclusive, amount.inclusive_error.unwrap_or(0.0)),
                Which::Exclusive => (amount.exclusive, amount.exclusive_error.unwrap_or(0.0)),
            })
        };
        let scale = Scale::of(head.unit, rows.iter().map(|row| of(row).0));
        // The error of a total is rounding only.
        let is_nothing = |text: &String| text.bytes().all(|byte| matches!(byte, b'0' | b'.' | b'-'));
        let show = |row: &&RowAmounts| Some(scale.show(of(row).1)).filter(|text| !is_nothing(text));
        NumberColumn {
            title: "±".into(),
            numbers: rows.iter().map(|row| show(row).unwrap_or_default()).collect(),
        }
    }

    fn locations(head: &ColumnHead, rows: &[&RowAmounts]) -> NumberColumn {
        let show = |row: &&RowAmounts| {
            row.get(&head.id).and_then(|amount| amount.location.clone()).unwrap_or_default()
        };
        NumberColumn { title: "at".into(), numbers: rows.iter().map(show).collect() }
    }

    fn head(&self) -> (String, Align) {
        (self.title.clone(), Align::Right)
    }
}

/// The name of a column in text.
fn title_of(head: &ColumnHead) -> String {
    let name = match head.metric {
        "cpu_s" => "CPU",
        "user_s" => "user",
        "system_s" => "system",
        "measurement_s" => "measuring",
        "minor_faults" => "minor faults",
        "major_faults" => "major faults",
        "voluntary_switches" => "voluntary sw.",
        "involuntary_switches" => "involuntary sw.",
        other => other,
    };
    if head.over == Over::Sum { name.to_owned() } else { format!("{name} {}", head.over.id()) }
}

/// The fields of a row in CSV, and their headings.
fn csv_heads(first: &[&str], heads: &[ColumnHead]) -> Vec<String> {
    let numbers =
        heads.iter().flat_map(|head| [format!("{} inclusive", head.id), format!("{} exclusive", head.id)]);
    first.iter().map(|&name| name.to_owned()).chain(numbers).collect()
}

fn csv_amounts(heads: &[ColumnHead], amounts: &RowAmounts) -> Vec<String> {
    let amount = |head: &ColumnHead| amounts.get(&head.id).cloned().unwrap_or_default();
    heads.iter().map(amount).flat_map(|a| [exact(a.inclusive), exact(a.exclusive)]).collect()
}

/// Orders functions by their numbers.
fn sort_functions(rows: &mut [FunctionRow], order: &Order) {
    rows.sort_by(|a, b| {
        let by_name = || (&a.function, &a.handle).cmp(&(&b.function, &b.handle));
        if order.by_name {
            by_name()
        } else {
            order.of(&b.metrics).total_cmp(&order.of(&a.metrics)).then_with(by_name)
        }
    });
}

/// Rows of all functions that have any number in these columns.
fn function_rows(profile: &Profile, columns: &Columns) -> Vec<FunctionRow> {
    (0..profile.functions.len())
        .filter(|&id| columns.any(id))
        .map(|id| FunctionRow::new(profile, id as FunctionId, columns.row(id)))
        .collect()
}
