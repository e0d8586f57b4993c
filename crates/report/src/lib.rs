//! Renderings of queries: pages as text, JSON and CSV.
//!
//! A page is built once from a profile, as a structure of the JSON contract (schema 1); the text and the CSV
//! are written from the same structure, so that all three say the same numbers. Text obeys a [`Style`]: the
//! width, whether colours may be used, and whether the terminal shows Unicode.
//!
//! This crate decides wording and number formats. What a number means is decided in `proust-analysis`.

mod choice;
mod column;
mod csv;
mod diff;
mod json;
mod number;
mod page;
mod pages;
mod question;
mod shorten;
mod style;
mod sweep;
mod table;
mod wrap;

pub use column::{Column, Over};
pub use diff::{
    DiffPage, DiffQuestion, SweepDiffQuestion, limit_text, render_diff, render_sweep_diff, sweep_diff_picture,
};
pub use number::{bytes, duration, utc};
pub use page::PageName;
pub use question::{Format, Question, ReportError, Sort};
pub use shorten::middle;
pub use style::{Paint, Style};
pub use sweep::{SweepPage, SweepQuestion, SweepView, picture as sweep_picture, render_sweep};
pub use table::{Align, Cell, Table};
pub use wrap::wrapped;

use proust_analysis::blame::Blame;
use proust_analysis::findings::{Finding, Kind};
use proust_analysis::ledger::Ledger;
use proust_analysis::query::OperationSums;
use proust_profile::Profile;

/// A page, written.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// The page itself, for standard output.
    pub page: String,
    /// What a reader must know beside it, for standard error.
    pub notes: Vec<String>,
}

/// Builds a page and writes it in the format asked for.
///
/// The profile needs its samples and operations.
///
/// # Errors
/// [`ReportError`] when the question cannot be answered by this page or by this run.
pub fn render(profile: &Profile, question: &Question, style: &Style) -> Result<Rendered, ReportError> {
    pages::render(profile, None, question, style)
}

/// What is known of the whole run already, and is then not found again: that would take its samples and
/// operations.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Its account; with its rows where [`Question::needs_rows`] says so.
    pub ledger: Ledger,
    /// What is shown in the summary.
    pub findings: Vec<Finding>,
    /// The causes of what was lost, for [`Question::takes_blame`].
    pub blame: Option<Blame>,
    /// Its operations, summed up, for [`Question::takes_operations`].
    pub operations: Option<OperationSums>,
}

/// As [`render`], with what is known of the whole run. The profile needs its samples and operations only
/// where [`Question::needs_samples`] says so.
///
/// # Errors
/// As [`render`].
pub fn render_with(
    profile: &Profile,
    kept: &Kept,
    question: &Question,
    style: &Style,
) -> Result<Rendered, ReportError> {
    pages::render(profile, Some(kept), question, style)
}

/// A finding with its derivation, as text: which numbers, which formula, which thresholds, where to look
/// next. `number` is its rank, from 1 on; None if there are not so many. `dir` is how commands name the run's
/// folder.
pub fn derivation(
    ledger: &Ledger,
    findings: &[Finding],
    number: u32,
    dir: &str,
    style: &Style,
) -> Option<String> {
    pages::derivation(ledger, findings, number, dir, style)
}

/// What a kind of finding is, by its identifier, as text; None if there is no such kind.
pub fn explain_kind(id: &str, style: &Style) -> Option<String> {
    let kind = Kind::ALL.iter().find(|kind| kind.id().eq_ignore_ascii_case(id))?;
    Some(style.plain(pages::kind_text(*kind, style)))
}

/// All thresholds of findings, as text.
pub fn explain_thresholds(style: &Style) -> String {
    style.plain(pages::thresholds_text(style))
}

/// The schema of the JSON contract.
pub const SCHEMA: u32 = 1;
