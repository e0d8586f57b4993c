//! What is kept of a whole run so that pages by context need no amount of a single location: each context's own
//! amount of every measure, and statistics over the locations.

use std::ops::Range;

use proust_account::ledger::Ledger;
use proust_profile::{Metric, Profile, SummaryRow, SummaryRows};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::measure::Measure;
use super::selection::Selection;
use super::statistics::summed_by_context;

/// From so many locations on it is kept: the amounts of fewer are read as fast.
pub const MANY_LOCATIONS: usize = 64;

/// The summaries of a whole run.
#[derive(Clone, Debug)]
pub struct Summaries {
    rows: Vec<SummaryRow>,
    of: FxHashMap<Measure, Range<usize>>,
}

/// All that may be asked of a run, with what errors are computed of.
fn measures() -> impl Iterator<Item = Measure> {
    let hidden = [Metric::CpuSquares, Metric::WaitSquares, Metric::IoSquares];
    Measure::all().chain(hidden.map(Measure::Metric))
}

impl Summaries {
    /// Those of a profile and its ledger, which has its rows.
    pub fn rows_of(profile: &Profile, ledger: &Ledger) -> SummaryRows {
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

    /// As they were kept of this profile; None if they are of another one.
    pub fn of(kept: SummaryRows, profile: &Profile) -> Option<Summaries> {
        let known: FxHashMap<String, Measure> = measures().map(|measure| (measure.id(), measure)).collect();
        let mut of = FxHashMap::default();
        let mut end = 0;
        for rows in kept.rows.chunk_by(|a, b| a.measure == b.measure) {
            let name = kept.measures.get(rows[0].measure as usize)?;
            let range = end..end + rows.len();
            end = range.end;
            of.insert(*known.get(name)?, range);
        }
        let is_known = |row: &SummaryRow| row.context.index() < profile.contexts.len();
        kept.rows.iter().all(is_known).then_some(Summaries { rows: kept.rows, of })
    }

    /// The rows of a measure, by context; a context without a row has nothing.
    pub fn rows(&self, measure: Measure) -> &[SummaryRow] {
        self.of.get(&measure).map_or(&[], |range| &self.rows[range.clone()])
    }

    /// All rows.
    pub fn all(&self) -> &[SummaryRow] {
        &self.rows
    }
}
