//! What was measured, in whole numbers: the formats have no others.

use std::collections::BTreeMap;

use proust_profile::{ContextId, LocationId, Unit};
use proust_query::{Measure, Selection};

/// Amounts of a measure by location and context; seconds are in nanoseconds.
pub fn by_location(selection: &Selection<'_>, measure: Measure) -> BTreeMap<(LocationId, ContextId), u64> {
    let mut sums: BTreeMap<(LocationId, ContextId), u64> = BTreeMap::new();
    selection.each(measure, |context, location, amount| {
        let sum = sums.entry((location, context)).or_default();
        *sum = sum.saturating_add(amount);
    });
    sums
}

/// The unit of the whole numbers.
pub fn unit(measure: Measure) -> String {
    match measure.unit() {
        Unit::SECONDS => "nanoseconds".into(),
        unit => unit.to_string(),
    }
}

/// An amount for people: seconds of nanoseconds.
pub fn shown(measure: Measure, whole: u64) -> String {
    match measure.unit() {
        Unit::SECONDS => format!("{:.3} s", whole as f64 / 1e9),
        Unit::BYTES => format!("{whole} bytes"),
        _ => whole.to_string(),
    }
}
