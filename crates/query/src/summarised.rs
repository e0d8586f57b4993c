//! How the summary rows of a run are made of its amounts and of the rows of its ledger.

use proust_account::ledger::Ledger;
use proust_profile::{Metric, Profile, SummaryRow, SummaryRows};
use rayon::prelude::*;

use super::measure::Measure;
use super::selection::Selection;
use super::statistics::summed_by_context;
use super::summaries::measures;

/// They are kept where there are so many times as many amounts: with fewer to sum up, as where each location
/// has been at places of its own, the amounts are read as fast.
const FEWER: usize = 8;

/// The summary rows, if they are far fewer than the amounts and rows that they stand for.
pub fn summarised_if_fewer(profile: &Profile, ledger: &Ledger) -> Option<SummaryRows> {
    // Each metric that a context has is a row: that takes no time to find out.
    let mut least = 0;
    for of_context in profile.values.chunk_by(|a, b| a.context == b.context) {
        let mut metrics: Vec<Metric> = Vec::new();
        for value in of_context {
            if !metrics.contains(&value.metric) {
                metrics.push(value.metric);
            }
        }
        least += metrics.len();
    }
    let rows = [&ledger.spent, &ledger.blamed, &ledger.caused].map(Vec::len);
    let stored = profile.values.len() + ledger.passive.len() + rows.iter().sum::<usize>();
    let is_fewer = |rows: usize| rows > 0 && rows * FEWER <= stored;
    is_fewer(least).then(|| summarised(profile, ledger)).filter(|made| is_fewer(made.rows.len()))
}

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
