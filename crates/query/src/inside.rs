//! Operations inside others of the same thread, summed up by place: what the time of the outer ones was spent
//! with.

use proust_profile::{ContextId, OperationId};
use rustc_hash::FxHashMap;

use super::selection::Selection;

/// The calls of an operation inside calls of another one from one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InsideSum {
    /// The outer one.
    pub outer: OperationId,
    /// From where that was called; the program where that is not known.
    pub context: ContextId,
    /// The inner one.
    pub operation: OperationId,
    /// How many calls.
    pub calls: u64,
    /// How many of them failed.
    pub errors: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Time in them, ns: part of the outer one's.
    pub time_ns: u64,
    /// The longest, ns.
    pub longest_ns: u64,
}

/// The operations inside others in scope; those with most time first.
///
/// States have no part in this: what is inside an operation has none of its own. Where a filter asks for
/// some, there is nothing.
pub fn inside(selection: &Selection<'_>) -> Vec<InsideSum> {
    let mut sums: Vec<InsideSum> = Vec::new();
    let mut known: FxHashMap<(OperationId, ContextId, OperationId), usize> = FxHashMap::default();
    for row in selection.profile().inside.iter().filter(|row| selection.scope().has_inside(row)) {
        let at = *known.entry((row.outer, row.context, row.operation)).or_insert_with(|| {
            sums.push(InsideSum {
                outer: row.outer,
                context: row.context,
                operation: row.operation,
                calls: 0,
                errors: 0,
                bytes: 0,
                time_ns: 0,
                longest_ns: 0,
            });
            sums.len() - 1
        });
        let sum = &mut sums[at];
        sum.calls += u64::from(row.calls);
        sum.errors += u64::from(row.errors);
        sum.bytes = sum.bytes.saturating_add(row.bytes);
        sum.time_ns = sum.time_ns.saturating_add(row.time_ns);
        sum.longest_ns = sum.longest_ns.max(row.longest_ns);
    }
    sums.sort_by_key(|sum| (std::cmp::Reverse(sum.time_ns), sum.outer, sum.context, sum.operation));
    sums
}

#[cfg(test)]
mod tests {
    use proust_ingest::operation_info;
    use proust_profile::{Context, ContextKind, InsideRow, Location, LocationId, Ns, Profile};

    use super::*;
    use crate::Filter;

    #[test]
    fn they_are_summed_up_by_place_and_in_scope() {
        let program =
            Context { parent: None, kind: ContextKind::Program, function: None, file: None, line: None };
        let row = |location, operation, end_ms: u64, time_ms: u64| InsideRow {
            location: LocationId(location),
            outer: OperationId(0),
            operation: OperationId(operation),
            begin_ns: 0,
            end_ns: end_ms * 1_000_000,
            time_ns: time_ms * 1_000_000,
            longest_ns: 1_000_000,
            calls: 3,
            errors: 1,
            bytes: 5,
            ..InsideRow::default()
        };
        let thread = Location { end: Ns::of(100_000_000), ..Location::default() };
        let profile = Profile {
            processes: vec![Default::default()].into(),
            locations: vec![thread.clone(), thread].into(),
            contexts: vec![program].into(),
            operations: ["MPI_Wait", "poll", "write"].map(operation_info).to_vec().into(),
            inside: vec![row(0, 1, 10, 2), row(0, 2, 20, 7), row(1, 1, 30, 4)],
            ..Profile::default()
        };
        assert_eq!(profile.check(), Ok(()));
        let shown = |filter: &[&str]| -> Vec<(u32, u64, u64, u64, u64)> {
            let filter = Filter::parse(filter).unwrap();
            let sums = inside(&Selection::new(&profile, &filter));
            let ms = |ns: u64| ns / 1_000_000;
            sums.iter().map(|s| (s.operation.0, s.calls, s.errors, ms(s.time_ns), s.bytes)).collect()
        };
        assert_eq!(shown(&[]), [(2, 3, 1, 7, 5), (1, 6, 2, 6, 10)]);
        assert_eq!(shown(&["time=0ms..15ms"]), [(1, 3, 1, 2, 5)]);
        assert_eq!(shown(&["state=io"]), []);
    }
}
