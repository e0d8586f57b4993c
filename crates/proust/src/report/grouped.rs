//! `proust report PAGE --by process|program`: a page for the largest of them, one by one.

use anyhow::Result;
use proust_query::Filter;
use proust_report::{Format, GroupedPages, Grouping, Question, groups};
use proust_store::Run;

use super::written_of;
use crate::failure::WrongUsage;
use crate::{analysis_notes, output, terminal};

/// Prints the page for each of the largest groups.
///
/// # Errors
/// When the run cannot be read, the question cannot be answered, or the page cannot be divided.
pub(super) fn show(
    run: &Run,
    question: &Question,
    filters: &[String],
    by: Grouping,
    shown: usize,
) -> Result<()> {
    if question.format == Format::Csv || question.classic.is_some() {
        return Err(WrongUsage("--by is for text and JSON".into()).into());
    }
    let profile = if question.needs_samples() { run.profile_with_rows()? } else { run.profile()? };
    let mut pages = GroupedPages::new(by, groups(profile, &question.filter, by), shown);
    analysis_notes::print(run);
    for group in pages.shown() {
        let filters: Vec<&str> = filters.iter().map(String::as_str).chain([group.filter.as_str()]).collect();
        let question = Question { filter: Filter::parse(&filters)?, ..question.clone() };
        let mut page = Ok(Vec::new());
        written_of(run, &question, &mut |written| {
            let mut bytes = Vec::new();
            page = written.write(&mut bytes).map(|()| bytes);
        })?;
        pages.add(page?);
    }
    run.rows_were_read()?;
    let style = terminal::style();
    Ok(output::print_with(|to| pages.write(question.format, &style, to))?)
}
