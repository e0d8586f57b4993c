//! What is kept of a run, as far as a page needs it.

use proust_query::Summaries;
use proust_report::{Kept, Need, Question};
use proust_store::{Run, StoreError};

/// The summaries of the run, where these answer it.
pub(super) fn summaries<'r>(run: &'r Run, question: &Question) -> Option<&'r Summaries> {
    question.takes_summaries().then(|| run.summaries(question.needs_statistics())).flatten()
}

/// The results for the whole run that the page needs.
pub(super) fn kept<'r>(run: &'r Run, question: &Question) -> Result<Kept<'r>, StoreError> {
    if let summaries @ Some(_) = summaries(run, question) {
        return Ok(Kept { summaries, ..Kept::new(run.ledger()?) });
    }
    if question.needs_rows() {
        let mut kept = Kept::new(run.ledger_with_rows()?);
        if question.takes_blame() {
            kept.blame = Some(run.blame()?);
        }
        if question.takes_timelines() {
            kept.timelines = Some(run.timelines()?);
        }
        return Ok(kept);
    }
    let mut kept = Kept::new(run.ledger()?);
    if question.page.needs(Need::Findings) {
        kept.findings = run.findings()?;
    }
    if question.takes_blame() {
        kept.blame = Some(run.blame()?);
    }
    if question.takes_operations() {
        kept.operations = Some(run.operations()?);
    }
    Ok(kept)
}
