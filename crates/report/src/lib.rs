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
mod json;
mod number;
mod page;
mod pages;
mod question;
mod shorten;
mod style;
mod table;

pub use column::{Column, Over};
pub use number::{bytes, duration, utc};
pub use page::PageName;
pub use question::{Format, Question, ReportError, Sort};
pub use shorten::middle;
pub use style::{Paint, Style};
pub use table::{Align, Cell, Table};

use proust_analysis::ledger::Ledger;
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
/// The profile needs its samples where [`Question::needs_samples`] says so.
///
/// # Errors
/// [`ReportError`] when the question cannot be answered by this page or by this run.
pub fn render(profile: &Profile, question: &Question, style: &Style) -> Result<Rendered, ReportError> {
    pages::render(profile, None, question, style)
}

/// As [`render`], with the ledger of the whole run, which is then not drawn up again: that would take the samples.
/// Where [`Question::needs_rows`] says so it needs its rows.
///
/// # Errors
/// As [`render`].
pub fn render_with(
    profile: &Profile,
    ledger: &Ledger,
    question: &Question,
    style: &Style,
) -> Result<Rendered, ReportError> {
    pages::render(profile, Some(ledger), question, style)
}

/// The schema of the JSON contract.
pub const SCHEMA: u32 = 1;
