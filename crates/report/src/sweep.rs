//! Pages about all runs of a sweep.
//!
//! As with the pages of one run, a page is built once as a structure that is the JSON, and text and CSV are
//! written from the same. Every page has the block `sweep` (command, counts, runs, failures) and `notes`
//! (remarks for the reader).

mod degradation;
mod head;
mod order;
mod picture;
mod scaling;
mod summary;
mod wording;

pub(crate) use head::point;
pub(crate) use picture::of_two as picture_of_two;
use proust_compare::degradation::{Assessment, Definition, Limits};
use proust_compare::scaling::{Ensemble, Kind};
use proust_profile::SweepFile;
use schemars::{Schema, SchemaGenerator};

use crate::error::ReportError;
use crate::kept::Rendered;
use crate::page::{PageHead, Takes};
use crate::question::Format;
use crate::style::Style;
use crate::wording::SweepNote;
use crate::{csv, json};

/// A page about a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SweepPage {
    /// The counts beside each other, and degraded places.
    #[default]
    Summary,
    /// Speedup, efficiency, and which places lose how much of them.
    Scaling,
    /// Places that become slower with more threads, and the causes.
    Degradation,
}

impl SweepPage {
    /// All pages, in the order in which they are listed.
    pub const ALL: [SweepPage; 3] = [SweepPage::Summary, SweepPage::Scaling, SweepPage::Degradation];

    /// Its word on the command line, and what it shows.
    pub fn head(self) -> PageHead {
        let head = |id, about| PageHead { id, takes: Takes::Nothing, about };
        match self {
            SweepPage::Summary => head("summary", "the counts beside each other, and what is degraded"),
            SweepPage::Scaling => {
                head("scaling", "speedup and efficiency, which places lose how much, costs as formulas")
            }
            SweepPage::Degradation => {
                head("degradation", "what is slower with more threads, and the code that causes it")
            }
        }
    }

    /// Its word on the command line.
    pub fn id(self) -> &'static str {
        self.head().id
    }

    /// The page of this word.
    pub fn from_id(word: &str) -> Option<SweepPage> {
        SweepPage::ALL.into_iter().find(|page| page.id() == word)
    }
}

/// A question about a sweep.
#[derive(Clone, Copy, Debug)]
pub struct SweepQuestion {
    /// Which page.
    pub page: SweepPage,
    /// Whether the problem stays the same or grows with the count.
    pub kind: Kind,
    /// Whether degradation is decided by the paper's definition to the letter.
    pub paper: bool,
    /// How many rows at most; None = the page's own choice in text, all in JSON and CSV.
    pub limit: Option<usize>,
    /// How it is written.
    pub format: Format,
}

/// A sweep whose runs have been read.
#[derive(Debug)]
pub struct SweepView<'s> {
    /// Its folder, as the user named it.
    pub dir: &'s str,
    /// What is noted of it.
    pub file: &'s SweepFile,
    /// The values on its other axes of the runs that are compared, in words; empty if it has none.
    pub selected: &'s str,
    /// The runs, laid over each other.
    pub ensemble: &'s Ensemble<'s>,
    /// Wall times of the serial reference, s.
    pub serial_s: &'s [f64],
    /// What a reader must know.
    pub notes: Vec<SweepNote>,
}

impl SweepView<'_> {
    /// What is degraded in it.
    fn assessment(&self, question: &SweepQuestion) -> Assessment {
        let definition = if question.paper {
            Definition::Paper
        } else {
            // Shares that matter are measured against the program at its fastest count.
            let walls = self.ensemble.timings(0).into_iter().map(|timing| timing.typical());
            Definition::Robust(Limits::of_program(walls.min().unwrap_or_default()))
        };
        Assessment::of(self.ensemble, definition)
    }
}

/// Builds a page about a sweep and writes it in the format asked for.
///
/// # Errors
/// [`ReportError`] when the sweep cannot answer: it has no run, or only one count where several are compared.
pub fn render_sweep(
    view: &SweepView<'_>,
    question: &SweepQuestion,
    style: &Style,
) -> Result<Rendered, ReportError> {
    check(view, question)?;
    let page = match question.page {
        SweepPage::Summary => write(&summary::SummaryPage::build(view, question), question, style),
        SweepPage::Scaling => write(&scaling::ScalingPage::build(view, question), question, style),
        SweepPage::Degradation => {
            write(&degradation::DegradationPage::build(view, question), question, style)
        }
    };
    Ok(Rendered { page, notes: Vec::new() })
}

/// Whether the sweep can answer.
fn check(view: &SweepView<'_>, question: &SweepQuestion) -> Result<(), ReportError> {
    if view.ensemble.runs().is_empty() {
        return Err(ReportError::Usage(format!(
            "no run of the sweep in {} is done, so there is nothing to show; `proust info {0}` tells how \
             they failed",
            view.dir
        )));
    }
    if question.page != SweepPage::Summary
        && let [count] = view.ensemble.counts()
    {
        return Err(ReportError::Usage(format!(
            "all runs of the sweep in {} that are done have the same count ({count}), and the page `{}` \
             compares several: run the sweep with more, such as --threads 1,2,4",
            view.dir,
            question.page.id()
        )));
    }
    Ok(())
}

/// Draws the picture of a page as SVG: of degradation the tree of regions, else speedup and processor time by
/// account.
///
/// # Errors
/// As [`render_sweep`].
pub fn picture(view: &SweepView<'_>, question: &SweepQuestion) -> Result<String, ReportError> {
    check(view, question)?;
    Ok(picture::draw(view, question))
}

/// The form of a page as JSON.
pub(crate) fn schemas(page: SweepPage, generator: &mut SchemaGenerator) -> Vec<Schema> {
    vec![match page {
        SweepPage::Summary => generator.subschema_for::<summary::SummaryPage>(),
        SweepPage::Scaling => generator.subschema_for::<scaling::ScalingPage>(),
        SweepPage::Degradation => generator.subschema_for::<degradation::DegradationPage>(),
    }]
}

/// A page that has been computed.
trait Page: serde::Serialize {
    fn text(&self, style: &Style) -> String;
    /// The page's main table, headings first.
    fn rows(&self) -> Vec<Vec<String>>;
}

fn write(page: &impl Page, question: &SweepQuestion, style: &Style) -> String {
    match question.format {
        Format::Text => style.plain(page.text(style)),
        Format::Json => json::write(page),
        Format::Csv => csv::write(page.rows()),
    }
}
