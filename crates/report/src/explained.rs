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

/// The title of findings of a kind.
pub fn finding_name(kind: Kind) -> &'static str {
    pages::finding_name(kind)
}

/// What findings of a kind are about: the title says it in few words.
pub fn finding_about(kind: Kind) -> &'static str {
    pages::finding_about(kind)
}

/// What a kind of finding is, by its identifier or its title, as text; None if there is no such kind.
pub fn explain_kind(id: &str, style: &Style) -> Option<String> {
    let is_meant =
        |kind: &&Kind| [kind.id(), finding_name(**kind)].iter().any(|name| name.eq_ignore_ascii_case(id));
    let kind = Kind::ALL.iter().find(is_meant)?;
    Some(style.plain(pages::kind_text(*kind, style)))
}

/// All thresholds of findings, as text.
pub fn explain_thresholds(style: &Style) -> String {
    style.plain(pages::thresholds_text(style))
}
