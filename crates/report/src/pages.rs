//! One file for each page. Their common parts: how a page becomes text, JSON or CSV, and the rows of
//! functions.

mod account;
mod by_location;
mod callers;
mod distribution;
mod effort;
mod facts;
mod findings;
mod flat;
mod intervals;
mod io;
mod ledger;
mod lines;
mod locations;
mod locks;
mod mpi;
mod numbers;
mod one_function;
mod openmp;
mod operations;
mod processes;
mod quality;
mod samples;
mod site;
mod summary;
mod threads;
mod timeline;
mod tree;
mod waits;

use account::Drawn;
pub(crate) use findings::{
    about as finding_about, kind_text, name as finding_name, thresholds_text, who as finding_who,
};
use std::sync::Arc;
pub(crate) use tree::name as context_name;

use proust_account::ledger::Ledger;
use proust_account::stored::StoredTimelines;
use proust_findings::Finding;
use proust_profile::{FunctionId, Metric, Profile, Unit};
use proust_query::{Handle, Selection, with_times};
use proust_words::counted;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::choice::Order;
use crate::column::ColumnHead;
use crate::columns::Columns;
use crate::error::ReportError;
use crate::groups::RowsOf;
use crate::kept::{Kept, Rendered, Written};
use crate::number::{Scale, duration, exact};
use crate::page::{Need, PageName};
use crate::question::{Classic, Format, Question};
use crate::row_amounts::RowAmounts;
use crate::shell::shell_word;
use crate::style::{Paint, Style};
use crate::table::Cell;
use crate::wording::Worded;
use crate::wrap::legend;
use crate::{csv, json};

/// A page that has been computed: its fields are the JSON contract's.
trait Page: Serialize + JsonSchema {
    fn text(&self, style: &Style) -> String;
    /// The page's main table, headings first.
    fn rows(&self) -> Vec<Vec<String>>;
    /// Gives each row of that table to `take`: a page overrides it whose rows are too many for memory.
    fn each_row(&self, take: &mut dyn FnMut(Vec<String>) -> std::io::Result<()>) -> std::io::Result<()> {
        self.rows().into_iter().try_for_each(take)
    }
    /// The page in the layouts of the analyzers of characteristics: only intervals have any.
    fn classic(&self, _classic: &Classic) -> String {
        String::new()
    }
}

/// Builds a page and writes it in the format asked for.
///
/// The profile needs its samples and operations.
///
/// # Errors
/// [`ReportError`] when the question cannot be answered by this page or by this run.
pub fn render(profile: &Profile, question: &Question, style: &Style) -> Result<Rendered, ReportError> {
    let mut rendered = None;
    written(profile, None, question, style, &mut |page| rendered = Some(page.rendered()))?;
    Ok(rendered.expect("a page that is no error is shown"))
}

/// As [`render`], with what is known of the whole run. The profile needs its samples and operations only
/// where [`Question::needs_samples`] says so.
///
/// # Errors
/// As [`render`].
pub fn render_with(
    profile: &Profile,
    kept: &Kept<'_>,
    question: &Question,
    style: &Style,
) -> Result<Rendered, ReportError> {
    let mut rendered = None;
    written(profile, Some(kept), question, style, &mut |page| rendered = Some(page.rendered()))?;
    Ok(rendered.expect("a page that is no error is shown"))
}

/// As [`render_with`], or [`render`] without what is kept, for pages of any length: `show` gets the page once
/// it can be written, and what is read while it is written has been read once before, so that damage is
/// known.
///
/// # Errors
/// As [`render`].
pub fn written(
    profile: &Profile,
    kept: Option<&Kept<'_>>,
    question: &Question,
    style: &Style,
    show: &mut dyn FnMut(&Written<'_>),
) -> Result<(), ReportError> {
    question.order()?;
    if question.classic.is_some() && question.page != PageName::Intervals {
        return Err(ReportError::Usage(format!(
            "--format dvm and dvm-mpi are for the page `intervals`, and not for `{}`",
            question.page.id()
        )));
    }
    let mut selection = Selection::new(profile, &question.filter);
    // From here on what is between samples of processes is a range of time like others.
    let question = &Question { filter: with_times(profile, &question.filter), ..question.clone() };
    let stored = kept.and_then(|kept| kept.timelines).filter(|_| question.takes_timelines());
    let summaries = kept.and_then(|kept| kept.summaries).filter(|_| question.takes_summaries());
    let ledger = kept.map(|kept| kept.ledger);
    // Rows are for what summaries do not answer.
    let ledger =
        ledger.filter(|kept| summaries.is_some() || !(question.needs_rows() && kept.is_without_rows()));
    let drawn = Drawn::new(&selection, question, ledger, stored);
    if let Some(summaries) = summaries {
        selection = selection.with_summaries(summaries);
    }
    // A page with columns by account still has its other columns where no account can be made.
    if let Ok(drawn) = &drawn
        && (question.page.needs(Need::ColumnsByAccount) || question.page.needs(Need::AccountRows))
    {
        selection = selection.with_rows(drawn.ledger());
    }
    let notes: Vec<String> = selection.notes().iter().map(Worded::text).collect();
    let mut to = Shown { notes: &notes, question, style, show };
    let operations = || kept.and_then(|kept| kept.operations).filter(|_| question.takes_operations());
    let blame = || kept.and_then(|kept| kept.blame).filter(|_| question.takes_blame());
    let drawn = || drawn.as_ref().map_err(Clone::clone);
    match question.page {
        PageName::Summary => {
            let found = kept.map(|kept| kept.findings);
            to.show(&summary::Summary::build(&selection, question, drawn()?, found)?)
        }
        PageName::Findings => {
            let found = kept.map(|kept| kept.findings);
            to.show(&findings::FindingsPage::build(&selection, question, drawn()?, found)?)
        }
        PageName::Ledger => to.show(&ledger::LedgerPage::build(&selection, question, drawn()?)?),
        PageName::Effort => to.show(&effort::EffortPage::build(selection, question)?),
        PageName::Tree if let Some(over) = question.over => {
            to.show(&distribution::Distribution::build(selection, question, over)?)
        }
        PageName::Tree => to.show(&tree::Tree::build(selection, question)?),
        PageName::Callers if question.arguments.is_empty() => {
            to.show(&callers::Callers::build(&selection, question)?)
        }
        PageName::Callers => to.show(&one_function::OneFunction::build(&selection, question)?),
        PageName::Flat if matches!(question.rows_of, RowsOf::Lines | RowsOf::Modules) => {
            to.show(&flat::FlatGroups::build(&selection, question)?)
        }
        PageName::Flat => to.show(&flat::Flat::build(selection, question)?),
        PageName::Lines => to.show(&lines::Lines::build(&selection, question)?),
        PageName::Threads => to.show(&threads::Threads::build(&selection, question, drawn()?)?),
        PageName::Processes => to.show(&processes::Processes::build(&selection, question, drawn()?)?),
        PageName::Timeline => {
            let stored = match stored {
                Some(stored) => stored,
                None => &StoredTimelines::of(profile),
            };
            to.show(&timeline::Timeline::build(&selection, question, stored, style)?)
        }
        PageName::Io => to.show(&io::Io::build(&selection, question, operations())?),
        PageName::Locks => to.show(&locks::Locks::build(&selection, question, blame())?),
        PageName::Waits => to.show(&waits::Waits::build(&selection, question, operations())?),
        PageName::Openmp => to.show(&openmp::OpenmpPage::build(&selection, question, drawn()?)?),
        PageName::Mpi => to.show(&mpi::MpiPage::build(&selection, question, blame())?),
        PageName::Intervals => {
            to.show(&intervals::IntervalsPage::build(&selection, question, drawn()?, blame())?)
        }
        PageName::Samples => to.show(&samples::Samples::build(&selection, question)?),
        PageName::Quality => to.show(&quality::QualityPage::build(&selection, question, drawn()?)?),
    }
    Ok(())
}

/// The forms of a page as JSON: some have another one with arguments.
pub(crate) fn schemas(page: PageName, generator: &mut SchemaGenerator) -> Vec<Schema> {
    fn of<P: Page>(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<P>()
    }
    match page {
        PageName::Summary => vec![of::<summary::Summary>(generator)],
        PageName::Findings => vec![of::<findings::FindingsPage>(generator)],
        PageName::Ledger => vec![of::<ledger::LedgerPage>(generator)],
        PageName::Effort => vec![of::<effort::EffortPage>(generator)],
        PageName::Tree => vec![of::<tree::Tree>(generator), of::<distribution::Distribution>(generator)],
        PageName::Callers => {
            vec![of::<callers::Callers>(generator), of::<one_function::OneFunction>(generator)]
        }
        PageName::Flat => vec![of::<flat::Flat>(generator), of::<flat::FlatGroups>(generator)],
        PageName::Lines => vec![of::<lines::Lines>(generator)],
        PageName::Threads => vec![of::<threads::Threads>(generator)],
        PageName::Processes => vec![of::<processes::Processes>(generator)],
        PageName::Timeline => vec![of::<timeline::Timeline<'_>>(generator)],
        PageName::Io => vec![of::<io::Io>(generator)],
        PageName::Locks => vec![of::<locks::Locks>(generator)],
        PageName::Waits => vec![of::<waits::Waits>(generator)],
        PageName::Openmp => vec![of::<openmp::OpenmpPage>(generator)],
        PageName::Mpi => vec![of::<mpi::MpiPage>(generator)],
        PageName::Intervals => vec![of::<intervals::IntervalsPage>(generator)],
        PageName::Samples => vec![of::<samples::Samples>(generator)],
        PageName::Quality => vec![of::<quality::QualityPage>(generator)],
    }
}

/// A finding with its derivation.
pub(crate) fn derivation(
    ledger: &Ledger,
    found: &[Finding],
    number: u32,
    dir: &str,
    style: &Style,
) -> Option<String> {
    let total_s = facts::seconds(ledger.total_ns);
    findings::derivation(found, number, total_s, &shell_word(dir), style).map(|text| style.plain(text))
}

/// Where a page goes once it is built.
struct Shown<'s> {
    notes: &'s [String],
    question: &'s Question,
    style: &'s Style,
    show: &'s mut dyn FnMut(&Written<'_>),
}

impl Shown<'_> {
    fn show(&mut self, page: &impl Page) {
        let Shown { question, style, .. } = *self;
        let write = |to: &mut dyn std::io::Write| {
            if let Some(classic) = &question.classic {
                return to.write_all(style.plain(page.classic(classic)).as_bytes());
            }
            match question.format {
                Format::Text => to.write_all(style.plain(page.text(style)).as_bytes()),
                Format::Json => json::write_to(page, to),
                Format::Csv => page.each_row(&mut |row| csv::write_row(&row, to)),
            }
        };
        (self.show)(&Written { notes: self.notes, write: &write });
    }
}

/// What a page may be given after its name.
fn no_arguments(question: &Question) -> Result<(), ReportError> {
    match question.arguments.first() {
        None => Ok(()),
        Some(argument) => Err(ReportError::Usage(format!(
            "the page `{}` takes no argument, but `{argument}` was given; `tree` takes a context such as \
             c12, `callers` a function, and --where restricts every page",
            question.page.id()
        ))),
    }
}

/// The rows that a limit left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
struct Cut {
    rows: usize,
    /// In the column that the rows are ordered by, or where that is a derived metric, in one that it is
    /// computed of; exclusive amounts, which add up. Null where nothing adds up.
    #[schemars(with = "Option<f64>")]
    amount: f64,
}

/// A function and its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct FunctionRow {
    /// Shared by all rows of the function.
    #[serde(flatten)]
    head: Arc<FunctionHead>,
    metrics: RowAmounts,
}

/// What a row says of its function.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct FunctionHead {
    function: String,
    full_name: String,
    handle: String,
    file: Option<String>,
    line: Option<u32>,
    module: Option<String>,
}

impl FunctionRow {
    fn new(profile: &Profile, id: FunctionId, metrics: RowAmounts) -> FunctionRow {
        FunctionRow { head: Arc::new(FunctionHead::new(profile, id)), metrics }
    }
}

impl FunctionHead {
    fn new(profile: &Profile, id: FunctionId) -> FunctionHead {
        let function = &profile.functions[id];
        FunctionHead {
            function: function.name.clone(),
            full_name: if function.full_name.is_empty() {
                function.name.clone()
            } else {
                function.full_name.clone()
            },
            handle: Handle::Function(id).to_string(),
            file: function.file.clone(),
            line: function.line,
            module: function.module.map(|module| profile.modules[module].path.clone()),
        }
    }

    fn cell(&self) -> Cell {
        self.cell_named(self.function.clone())
    }

    /// The function in a cell that writes its name in a way of its own.
    fn cell_named(&self, name: String) -> Cell {
        let tail = tail_of(&self.function, self.file.as_deref(), self.line, self.module.as_deref());
        Cell::from(name).with_tail(tail)
    }

    fn fields(&self) -> Vec<String> {
        let line = self.line.map(|line| line.to_string()).unwrap_or_default();
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        vec![self.handle.clone(), self.function.clone(), text(&self.file), line, text(&self.module)]
    }
}

/// What stands behind a function: where it is, or else its module; nothing that its name says already.
fn tail_of(function: &str, file: Option<&str>, line: Option<u32>, module: Option<&str>) -> String {
    if let Some(place) = place(file, line) {
        return if function.ends_with(&place) { String::new() } else { place };
    }
    let is_named = |module: &&str| {
        let offset = function.strip_prefix(base_name(module));
        !offset.is_some_and(|offset| offset.starts_with("+0x"))
    };
    module.filter(is_named).map(module_tail).unwrap_or_default()
}

/// A module behind the name of its function: `[libm.so.6]`.
fn module_tail(path: &str) -> String {
    // What is no file is written so already: `[vdso]`.
    if path.starts_with('[') { path.to_owned() } else { format!("[{}]", base_name(path)) }
}

pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `file.c:12`, the file without its folder.
pub(crate) fn place(file: Option<&str>, line: Option<u32>) -> Option<String> {
    let file = base_name(file?);
    Some(line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}")))
}

/// A heading, with a fainter explanation after it, and on lines below it where that is long.
pub(crate) fn heading(style: &Style, title: &str, explanation: &str) -> String {
    let fits = title.width() + 2 + explanation.width() <= style.width;
    let title = style.paint(Paint::Strong, title);
    if fits || explanation.is_empty() {
        let pieces = [title, style.paint(Paint::Faint, explanation)];
        return pieces.join("  ").trim_end().to_owned() + "\n";
    }
    title + "\n" + &legend(explanation, style)
}

/// What part of the run a page is about.
fn scope(selection: &Selection<'_>, question: &Question) -> String {
    let seconds = duration(selection.shown_total(Metric::Cpu));
    let of = format!("{seconds} of CPU time in {}", counted(selection.locations().len(), "thread"));
    if question.filter.is_empty() { of } else { format!("{of}, where {}", question.filter) }
}

/// An amount with its unit.
fn amount_of(unit: Unit, amount: f64) -> String {
    let scale = Scale::of(unit, [amount]);
    format!("{} {}", scale.show(amount), scale.unit).trim_end().to_owned()
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
        let by_name = || (&a.head.function, &a.head.handle).cmp(&(&b.head.function, &b.head.handle));
        if order.by_name { by_name() } else { order.compare(&a.metrics, &b.metrics).then_with(by_name) }
    });
}

/// Rows of all functions that have any number in these columns.
fn function_rows(profile: &Profile, columns: &Columns) -> Vec<FunctionRow> {
    (0..profile.functions.len())
        .filter(|&id| columns.any(id))
        .map(|id| FunctionRow::new(profile, FunctionId::from_index(id), columns.row(id)))
        .collect()
}
