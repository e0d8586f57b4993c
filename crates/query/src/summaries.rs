//! What is kept of a whole run so that pages by context need no amount of a single location: each context's
//! own amount of every measure, and statistics over the locations.

use std::ops::Range;

use proust_profile::{Metric, Profile, SummaryRow, SummaryRows};
use rustc_hash::FxHashMap;

use super::measure::Measure;

/// The summaries of a whole run.
#[derive(Clone, Debug)]
pub struct Summaries {
    rows: Vec<SummaryRow>,
    of: FxHashMap<Measure, Range<usize>>,
}

/// All that may be asked of a run, with what errors are computed of.
pub(super) fn measures() -> impl Iterator<Item = Measure> {
    let hidden = [Metric::CpuSquares, Metric::WaitSquares, Metric::IoSquares];
    Measure::all().chain(hidden.map(Measure::Metric))
}

impl Summaries {
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
