//! What is asked of the report.

use std::num::NonZeroUsize;

use proust_account::ledger::IoAs;
use proust_query::{Filter, Key, Metrics, Quantity};
use schemars::JsonSchema;
use serde::Serialize;

use crate::column::{Column, Over};
use crate::error::ReportError;
use crate::groups::{Grouping, RowsOf};
use crate::page::{Need, Orders, PAGES, PageName};
use crate::references::References;

/// How a page is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// By the contract, schema 1.
    Json,
    /// The page's main table.
    Csv,
}

/// A layout of the characteristics of intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// That of the analyzer of the DVM system: processors are counted from 1.
    #[default]
    Dvm,
    /// That of the analyzer of MPI traces: ranks, from 0.
    DvmMpi,
}

/// A part of the classic layout of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// The main characteristics.
    Main,
    /// Least, most and mean over the processors.
    Comparative,
    /// Each processor.
    Processors,
    /// The table of operations.
    Operations,
}

/// What counts as an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntervalsOf {
    /// What the program marks.
    #[default]
    Marks,
    /// Parallel regions.
    Regions,
    /// Operations: calls that are intercepted.
    Operations,
    /// Functions.
    Functions,
    /// All of these.
    All,
}

impl IntervalsOf {
    /// Whether these are asked for.
    pub fn has(self, other: IntervalsOf) -> bool {
        self == IntervalsOf::All || self == other
    }
}

/// A classic layout, and which parts of it are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classic {
    /// Which layout.
    pub layout: Layout,
    /// Which blocks.
    pub blocks: Vec<Block>,
    /// Which processors, as ranges of the numbers that are printed; None = all.
    pub ranks: Option<Vec<(u32, u32)>>,
    /// Lines of zeros, and rows of operations that have no source, as well.
    pub zeros: bool,
}

impl Default for Classic {
    fn default() -> Classic {
        let blocks = vec![Block::Main, Block::Comparative, Block::Operations];
        Classic { layout: Layout::Dvm, blocks, ranks: None, zeros: false }
    }
}

impl Classic {
    /// Reads `1,3-5`.
    ///
    /// # Errors
    /// When it is something else.
    pub fn parse_ranks(text: &str) -> Result<Vec<(u32, u32)>, ReportError> {
        let range = |word: &str| {
            let (from, to) = word.split_once('-').unwrap_or((word, word));
            let range = (from.trim().parse().ok()?, to.trim().parse().ok()?);
            (range.0 <= range.1).then_some(range)
        };
        text.split(',')
            .map(range)
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| ReportError::Usage(format!("`{text}` are no processors: write them like 1,3-5")))
    }

    /// Whether the processor of this number is asked for.
    pub fn has(&self, number: u32) -> bool {
        let is_in = |&(from, to): &(u32, u32)| (from..=to).contains(&number);
        self.ranks.as_ref().is_none_or(|ranks| ranks.iter().any(is_in))
    }
}

/// By what the rows are ordered.
#[derive(Clone, Debug, PartialEq)]
pub enum Sort {
    /// By name, ascending.
    Name,
    /// By a metric, largest first; the page decides between inclusive and exclusive.
    Amount(Quantity),
    /// By the inclusive amount of a metric, largest first.
    Inclusive(Quantity),
    /// By the exclusive amount of a metric, largest first.
    Exclusive(Quantity),
}

impl Sort {
    /// What is counted, if it is not by name.
    pub(crate) fn quantity(&self) -> Option<&Quantity> {
        match self {
            Sort::Name => None,
            Sort::Amount(quantity) | Sort::Inclusive(quantity) | Sort::Exclusive(quantity) => Some(quantity),
        }
    }

    /// Reads `name`, `METRIC`, `METRIC:inclusive` or `METRIC:exclusive`.
    pub fn parse(text: &str, metrics: &Metrics) -> Result<Sort, ReportError> {
        if text == "name" {
            return Ok(Sort::Name);
        }
        let (metric, which) =
            text.split_once(':').map_or((text, None), |(metric, which)| (metric, Some(which)));
        let quantity = Column::quantity(metric, metrics)?;
        match which {
            None => Ok(Sort::Amount(quantity)),
            Some("inclusive") => Ok(Sort::Inclusive(quantity)),
            Some("exclusive" | "self") => Ok(Sort::Exclusive(quantity)),
            Some(other) => Err(ReportError::Usage(format!(
                "cannot sort by `{text}`: `{other}` is neither `inclusive` nor `exclusive`"
            ))),
        }
    }
}

/// Over what amounts are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Across {
    /// Threads.
    Locations,
    /// Processes, by rank where they have one: sums over their threads.
    Processes,
    /// Hosts: sums over their processes.
    Hosts,
}

/// What is asked of the report.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The run's folder as the user named it, for the commands that are suggested.
    pub dir: String,
    /// Which page.
    pub page: PageName,
    /// What follows the page: a function, a handle.
    pub arguments: Vec<String>,
    /// Which part of the run.
    pub filter: Filter,
    /// What the user derives of the measures.
    pub metrics: Metrics,
    /// Which columns; empty = the page's own choice, and what the user derives.
    pub columns: Vec<Column>,
    /// By what the rows are ordered; None = the page's own choice.
    pub sort: Option<Sort>,
    /// How many rows at most; None = the page's own choice in text, all in JSON and CSV.
    pub limit: Option<usize>,
    /// How many rows a tree of text has when there is no limit; None = the page's own choice.
    pub rows: Option<usize>,
    /// Down to which level of a tree; None = all of it.
    pub level: Option<usize>,
    /// Of the page of intervals: which.
    pub intervals: IntervalsOf,
    /// Of a timeline: the depth of the call paths whose functions it shows, in place of states.
    pub depth: Option<NonZeroUsize>,
    /// Of a tree: show how the amounts of one context are spread over these, in place of what is below it.
    pub over: Option<Across>,
    /// Of the page `flat`: what a row is.
    pub rows_of: RowsOf,
    /// Of findings: by whose they are.
    pub by: Option<Grouping>,
    /// How it is written.
    pub format: Format,
    /// Of intervals: a classic layout in place of the format.
    pub classic: Option<Classic>,
    /// Of intervals: runs on one processor, beside the forecasts.
    pub references: References,
    /// Processors instead of those that the run used.
    pub processors: Option<u32>,
    /// Whether time in I/O counts as productive.
    pub io_as: IoAs,
}

impl Question {
    /// Whether the operations of the whole run, summed up, answer it.
    pub fn takes_operations(&self) -> bool {
        self.page.needs(Need::Operations) && self.filter.is_empty() && self.processors.is_none()
    }

    /// Whether the causes of the whole run's losses answer it.
    pub fn takes_blame(&self) -> bool {
        self.page.needs(Need::Causes) && !self.filter.needs_samples() && self.processors.is_none()
    }

    /// Whether the summaries of the whole run answer it: statistics over locations they have by context and
    /// measure.
    pub fn takes_summaries(&self) -> bool {
        let is_summed = |column: &Column| {
            column.over == Over::Sum || self.page == PageName::Tree && column.quantity.measure().is_some()
        };
        self.page.needs(Need::Summaries)
            && self.filter.is_empty()
            && self.processors.is_none()
            && self.over.is_none()
            && self.columns.iter().all(is_summed)
    }

    /// Whether it asks for statistics over locations.
    pub fn needs_statistics(&self) -> bool {
        self.columns.iter().any(|column| column.over != Over::Sum)
    }

    /// Whether the timelines of states answer it.
    pub fn takes_timelines(&self) -> bool {
        self.page.needs(Need::Timelines)
    }

    /// Whether only the samples and operations can answer it: it is about time, about processors, or about
    /// some threads' time.
    pub fn needs_samples(&self) -> bool {
        let needs = |need| self.page.needs(need);
        needs(Need::Samples)
            || needs(Need::Operations) && !self.takes_operations()
            || needs(Need::Causes) && !self.takes_blame()
            || needs(Need::SamplesOfAPart) && !self.filter.is_empty()
            || self.filter.needs_samples()
            // The account of the time in them is drawn up from samples and operations.
            || self.filter.mentions(&[Key::Interval])
            || self.processors.is_some()
    }

    /// The word by which the rows shall be sorted, if the page can do that.
    ///
    /// # Errors
    /// When the page has an order of its own, and cannot be sorted so.
    pub(crate) fn order(&self) -> Result<Option<String>, ReportError> {
        let Some(sort) = &self.sort else { return Ok(None) };
        let word = sort.quantity().map_or_else(|| "name".to_owned(), Quantity::id);
        let page = self.page.id();
        match self.page.spec().orders {
            Orders::Own => {
                let any = PAGES.iter().filter(|spec| spec.orders == Orders::All).map(|spec| spec.head.id);
                Err(ReportError::Usage(format!(
                    "the page `{page}` has an order of its own and cannot be sorted; {} can, by every \
                     metric",
                    listed_words(&any.collect::<Vec<_>>())
                )))
            }
            Orders::Some(known) if !known.contains(&word.as_str()) => Err(ReportError::Usage(format!(
                "the page `{page}` cannot be sorted by `{word}`; it can by {}",
                known.join(", ")
            ))),
            _ => Ok(Some(word)),
        }
    }

    /// Whether the ledger of the whole run needs its rows to answer it. Without them the samples and
    /// operations are needed.
    pub fn needs_rows(&self) -> bool {
        self.page.needs(Need::ColumnsByAccount) || self.page.needs(Need::AccountRows)
    }
}

/// `a, b and c`.
fn listed_words(words: &[&str]) -> String {
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}
