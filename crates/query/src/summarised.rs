//! How the summary rows of a run are made of its amounts and of the rows of its ledger.

use proust_account::ledger::Ledger;
use proust_profile::{Profile, SummaryRow, SummaryRows};
use rayon::prelude::*;

use super::measure::Measure;
use super::selection::Selection;
use super::statistics::summed_by_context;
use super::summaries::measures;

/// The summary rows of a profile and its ledger, which has its rows.
pub fn summarised(profile: &Profile, ledger: &Ledger) -> SummaryRows {
    let selection = Selection::all(profile).with_rows(ledger);
    let measures: Vec<Measure> = measures().collect();
    let of_measure = |(number, &measure): (usize, &Measure)| {
        let own = selection.own(measure);
        if own.iter().all(|&own| own == 0) {
            return Vec::new();
        }
        let [inclusive, exclusive] = summed_by_context(&selection, measure);
        let rows = profile.contexts.keys().zip(own).zip(inclusive.into_iter().zip(exclusive));
        rows.map(|((context, own), (inclusive, exclusive))| SummaryRow {
            context,
            measure: number as u32,
            own,
            inclusive,
            exclusive,
        })
        .filter(|row| row.own > 0 || row.inclusive.sum > 0)
        .collect()
    };
    let rows: Vec<Vec<SummaryRow>> = measures.par_iter().enumerate().map(of_measure).collect();
    SummaryRows { measures: measures.into_iter().map(Measure::id).collect(), rows: rows.concat() }
}
