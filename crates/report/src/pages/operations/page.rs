//! A page about operations: its head, its notes, and the callers. Each page chooses its operations and the
//! columns of its table.

use std::marker::PhantomData;

use proust_profile::OperationInfo;
use proust_query::{OperationSums, Selection};
use schemars::JsonSchema;
use serde::Serialize;

use super::{InsideRows, OperationKey, Tables};
use crate::error::ReportError;
use crate::pages::{Page, heading, no_arguments};
use crate::question::Question;
use crate::schema::SCHEMA;
use crate::style::Style;
use crate::table::Table;
use crate::wording::Notes;
use crate::wrap::legend;

/// The differences between such pages.
pub(in crate::pages) trait About {
    /// Whether it is about I/O, or about all that is not.
    const IS_IO: bool;
    /// Its heading.
    const TITLE: &'static str;
    /// What there is none of, where there is none.
    const NOTHING: &'static str;
    /// Explains words of the table.
    const LEGEND: &'static str;
    /// Columns of the table that are left out where there is no room, the first one first.
    const LEAST: &'static [&'static str];
    /// Operations in which this is the same are one line of the table.
    type Line: PartialEq;

    /// See [`About::Line`].
    fn line(key: &OperationKey) -> Self::Line;
    /// The table of operations, with its sum.
    fn table(tables: &Tables) -> Table;
    /// The same for CSV, headings first.
    fn rows(tables: &Tables) -> Vec<Vec<String>>;
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct OperationsPage<A> {
    schema: u32,
    #[serde(flatten)]
    tables: Tables,
    inside: InsideRows,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
    #[serde(skip)]
    about: PhantomData<A>,
}

impl<A: About> OperationsPage<A> {
    /// `kept` are the sums of all that is selected, where they are known already.
    pub fn build(
        selection: &Selection<'_>,
        question: &Question,
        kept: Option<&OperationSums>,
    ) -> Result<OperationsPage<A>, ReportError> {
        no_arguments(question)?;
        let tables = Tables::new(selection, question, kept, A::IS_IO, A::line)?;
        let scope = tables.scope(question);
        let is_io = |of: &OperationInfo| of.kind.is_some_and(|kind| kind.nature.is_io());
        let inside = InsideRows::of(selection, |operation| is_io(operation) == A::IS_IO);
        let notes = Notes::of(selection.notes());
        Ok(OperationsPage { schema: SCHEMA, tables, inside, notes, scope, about: PhantomData })
    }
}

impl<A: About> Page for OperationsPage<A> {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, A::TITLE, &self.scope);
        if self.tables.operations.is_empty() {
            return text + A::NOTHING + "\n";
        }
        text.push_str(&A::table(&self.tables).render_within(A::LEAST, style));
        text.push_str(&legend(A::LEGEND, style));
        text.push_str(&self.tables.sites_text(A::IS_IO, style));
        text.push_str(&self.inside.text(style));
        text.push_str(&self.notes.lines(style));
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        A::rows(&self.tables)
    }
}
