//! Pages that show two sides of a comparison: A, B, the difference and its verdict.
//!
//! As with the pages of one run, a page is built once as a structure that is the JSON, and text and CSV are
//! written from the same. Every page begins with the block `sides` (the runs of each), `cautions` (reasons to
//! doubt the comparison) and `exceeded` (the limits of `--fail-if` that B exceeds).

mod change;
mod flat;
mod head;
mod ledger;
mod neighbours;
mod outline;
mod several;
mod summary;
mod sweeps;
mod threads;
mod tree;
mod verdicts;

use proust_compare::Diff;
use proust_compare::diff::Exceeded;
use proust_profile::Metric;
use proust_query::{Measure, Metrics, Quantity};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::error::ReportError;
use crate::page::{Argument, PageHead, Takes};
use crate::question::Format;
use crate::style::Style;
use crate::{csv, json};

use head::Head;
use several::Section;
pub use sweeps::{SweepDiffQuestion, render_sweep_diff, sweep_diff_picture};
pub use verdicts::limit_text;

/// A page of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DiffPage {
    /// The account, the findings, and the largest changes.
    #[default]
    Summary,
    /// All totals and accounts.
    Ledger,
    /// Contexts from the top down.
    Tree,
    /// Functions.
    Flat,
    /// One function, its callers and callees.
    Callers,
    /// Threads.
    Threads,
}

impl DiffPage {
    /// All pages, in the order in which they are listed.
    pub const ALL: [DiffPage; 6] = [
        DiffPage::Summary,
        DiffPage::Ledger,
        DiffPage::Tree,
        DiffPage::Flat,
        DiffPage::Callers,
        DiffPage::Threads,
    ];

    /// Its word on the command line, and what it shows.
    pub fn head(self) -> PageHead {
        let nothing = |id, about| PageHead { id, takes: Takes::Nothing, about };
        match self {
            DiffPage::Summary => {
                nothing("summary", "the ledger, the findings, the functions that changed most")
            }
            DiffPage::Ledger => nothing("ledger", "all totals and accounts"),
            DiffPage::Tree => nothing("tree", "contexts from the top down"),
            DiffPage::Flat => nothing("flat", "functions"),
            DiffPage::Callers => PageHead {
                id: "callers",
                takes: Takes::One(Argument::Function),
                about: "one function, its callers and what it calls",
            },
            DiffPage::Threads => nothing("threads", "threads, matched by name"),
        }
    }

    /// Its word on the command line.
    pub fn id(self) -> &'static str {
        self.head().id
    }

    /// The page with this word.
    pub fn from_id(id: &str) -> Option<DiffPage> {
        DiffPage::ALL.into_iter().find(|page| page.id() == id)
    }
}

/// A question to a comparison.
#[derive(Clone, Debug, Default)]
pub struct DiffQuestion {
    /// How the sides were named, for headings.
    pub names: Vec<String>,
    /// The filter that was applied to each run, as it was written.
    pub filter: Option<String>,
    /// Which page.
    pub page: DiffPage,
    /// What follows the page: a function.
    pub arguments: Vec<String>,
    /// What the user derives of the measures.
    pub metrics: Metrics,
    /// What is compared; empty = the page's own choice, and what the user derives.
    pub quantities: Vec<Quantity>,
    /// How many rows at most; None = the page's own choice in text, all in JSON and CSV.
    pub limit: Option<usize>,
    /// How it is written.
    pub format: Format,
    /// The limits that B exceeds, and each further side.
    pub exceeded: Vec<Vec<Exceeded>>,
}

impl DiffQuestion {
    /// The measures by context that a comparison needs to answer it; with the usual ones.
    pub fn measures(&self) -> Vec<Measure> {
        let mut measures = usual().to_vec();
        let derived = self.metrics.derived().iter().flat_map(|derived| derived.bases());
        for measure in self.quantities.iter().filter_map(Quantity::measure).chain(derived) {
            if !measures.contains(&measure) {
                measures.push(measure);
            }
        }
        measures
    }

    fn no_arguments(&self) -> Result<(), ReportError> {
        match self.arguments.first() {
            None => Ok(()),
            Some(argument) => Err(ReportError::Usage(format!(
                "the page `{}` of a comparison takes no argument, but `{argument}` was given",
                self.page.id()
            ))),
        }
    }
}

/// The default measure of a comparison; the first leads, where it is not zero.
fn usual() -> [Measure; 4] {
    [Measure::Active, Measure::Metric(Metric::Cpu), Measure::Lost, Measure::Caused(None)]
}

/// A page of a comparison that has been computed: its fields are the JSON contract's.
trait Page: serde::Serialize + JsonSchema {
    fn text(&self, style: &Style) -> String;
    /// The page's main table, headings first.
    fn rows(&self) -> Vec<Vec<String>>;
}

/// A page that several comparisons with the same A can make together.
trait Sided: Page {
    /// What is compared.
    fn head(&self) -> &Head;
    /// Its tables as rows that other comparisons with the same A have, too.
    fn sections(&self) -> Vec<Section<'_>>;
}

/// Builds a page of a comparison and writes it.
///
/// # Errors
/// [`ReportError`] when the question cannot be answered.
pub fn render_diff(diff: &Diff<'_>, question: &DiffQuestion, style: &Style) -> Result<String, ReportError> {
    Ok(match question.page {
        DiffPage::Summary => write(&summary::Summary::build(diff, question)?, question, style),
        DiffPage::Ledger => write(&ledger::LedgerPage::build(diff, question)?, question, style),
        DiffPage::Tree => write(&tree::Tree::build(diff, question)?, question, style),
        DiffPage::Flat => write(&flat::Flat::build(diff, question)?, question, style),
        DiffPage::Callers => write(&neighbours::Callers::build(diff, question)?, question, style),
        DiffPage::Threads => write(&threads::Threads::build(diff, question)?, question, style),
    })
}

/// Builds a page of several sides, each compared with A, and writes it: [`Diff::of_sides`].
///
/// # Errors
/// [`ReportError`] when the question cannot be answered.
pub fn render_diffs(
    diffs: &[Diff<'_>],
    question: &DiffQuestion,
    style: &Style,
) -> Result<String, ReportError> {
    if let [diff] = diffs {
        return render_diff(diff, question, style);
    }
    // The rows that a limit leaves are chosen by all sides together.
    let all = &DiffQuestion { limit: Some(usize::MAX), ..question.clone() };
    fn built<P>(
        diffs: &[Diff<'_>],
        build: impl Fn(&Diff<'_>) -> Result<P, ReportError>,
    ) -> Result<Vec<P>, ReportError> {
        diffs.iter().map(build).collect()
    }
    Ok(match question.page {
        DiffPage::Summary => {
            several::write(&built(diffs, |diff| summary::Summary::build(diff, all))?, question, style)
        }
        DiffPage::Ledger => {
            several::write(&built(diffs, |diff| ledger::LedgerPage::build(diff, all))?, question, style)
        }
        DiffPage::Tree => {
            several::write(&built(diffs, |diff| tree::Tree::build(diff, all))?, question, style)
        }
        DiffPage::Flat => {
            several::write(&built(diffs, |diff| flat::Flat::build(diff, all))?, question, style)
        }
        DiffPage::Callers => {
            several::write(&built(diffs, |diff| neighbours::Callers::build(diff, all))?, question, style)
        }
        DiffPage::Threads => {
            several::write(&built(diffs, |diff| threads::Threads::build(diff, all))?, question, style)
        }
    })
}

/// The forms of a page as JSON: of two sides, of several, and of the summary that of two sweeps.
pub(crate) fn schemas(page: DiffPage, generator: &mut SchemaGenerator) -> Vec<Schema> {
    fn of<P: Sided>(generator: &mut SchemaGenerator) -> Vec<Schema> {
        vec![generator.subschema_for::<P>(), several::schema::<P>(generator)]
    }
    match page {
        DiffPage::Summary => {
            let mut schemas = of::<summary::Summary>(generator);
            schemas.push(sweeps::schema(generator));
            schemas
        }
        DiffPage::Ledger => of::<ledger::LedgerPage>(generator),
        DiffPage::Tree => of::<tree::Tree>(generator),
        DiffPage::Flat => of::<flat::Flat>(generator),
        DiffPage::Callers => of::<neighbours::Callers>(generator),
        DiffPage::Threads => of::<threads::Threads>(generator),
    }
}

fn write(page: &impl Page, question: &DiffQuestion, style: &Style) -> String {
    match question.format {
        Format::Text => style.plain(page.text(style)),
        Format::Json => json::write(page),
        Format::Csv => csv::write(page.rows()),
    }
}

/// What a page compares: what is asked for, or the usual measures of which there is anything, and what the
/// user derives.
fn quantities(diff: &Diff<'_>, question: &DiffQuestion) -> Vec<Quantity> {
    if !question.quantities.is_empty() {
        return question.quantities.clone();
    }
    let runs = || diff.a().iter().chain(diff.b());
    let is_any = |measure: &Measure| runs().any(|run| run.outline.total(*measure) != 0.0);
    let mut found: Vec<Measure> = usual().into_iter().filter(is_any).collect();
    // On a busy machine most of the active time may be that in which others had the processors.
    if runs().any(|run| run.disturbance.is_noticed()) {
        found.sort_by_key(|measure| *measure != Measure::Metric(Metric::Cpu));
    }
    if found.is_empty() {
        found.push(Measure::Metric(Metric::Cpu));
    }
    let derived = question.metrics.derived().iter().cloned().map(Quantity::Derived);
    found.into_iter().map(Quantity::Measure).chain(derived).collect()
}
