//! Renderings of queries: pages as text, JSON and CSV.
//!
//! A page is built once from a profile, as a structure of the JSON contract (schema 1); the text and the CSV
//! are written from the same structure, so that all three say the same numbers. Text obeys a [`Style`]: the
//! width, whether colours may be used, and whether the terminal shows Unicode.
//!
//! This crate decides wording and number formats. What a number means is decided in `proust-analysis`.

mod choice;
mod column;
mod columns;
mod csv;
mod derivations;
mod described;
mod diff;
mod error;
mod explained;
mod grouped;
mod groups;
mod json;
mod json_schema;
mod kept;
mod metrics;
mod named;
mod number;
mod page;
mod pages;
mod question;
mod references;
mod row_amounts;
mod schema;
mod shell;
mod shorten;
mod style;
mod sweep;
mod table;
mod wording;
mod wrap;

pub use column::{Column, Over};
pub use diff::{
    DiffPage, DiffQuestion, SweepDiffQuestion, limit_text, render_diff, render_diffs, render_sweep_diff,
    sweep_diff_picture,
};
pub use error::ReportError;
pub use explained::{derivation, explain_kind, explain_thresholds, finding_about, finding_name};
pub use grouped::GroupedPages;
pub use groups::{By, GROUPINGS, Group, Grouping, GroupingSpec, RowsOf, groups};
pub use json_schema::{json_schema_document, json_schema_text};
pub use kept::{Kept, Rendered, Written};
pub use metrics::{MetricRow, metric_rows};
pub use named::{Named, named};
pub use number::{bytes, duration, units, utc};
pub use page::{Argument, Need, Orders, PAGES, PageHead, PageName, PageSpec, Takes, listed};
pub use pages::{render, render_with, written};
pub use question::{Across, Block, Classic, Format, IntervalsOf, Layout, Question, Sort};
pub use references::{Reference, References};
pub use schema::SCHEMA;
pub use shell::shell_word;
pub use shorten::middle;
pub use style::{Paint, Style};
pub use sweep::{SweepPage, SweepQuestion, SweepView, picture as sweep_picture, render_sweep};
pub use table::{Align, Cell, Table};
pub use wording::{
    GapsOfRun, NoteRow, Notes, SweepNote, Worded, gaps_listed, gaps_text, joined as module_notes,
};
pub use wrap::wrapped;
