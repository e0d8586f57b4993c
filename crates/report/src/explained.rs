//! Findings explained one by one: the derivation of their numbers, and the description of a kind.

use proust_account::ledger::Ledger;
use proust_findings::{Finding, Kind};

use crate::pages;
use crate::style::Style;

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
