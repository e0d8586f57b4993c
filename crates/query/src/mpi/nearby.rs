//! What locations did in short parts of their time of which the next one mostly lies near: rows are decoded
//! many at a time, and those that were decoded last are kept by location.

use std::ops::Range;

use proust_profile::LocationId;
use rustc_hash::FxHashMap as Map;

use super::spending::{Did, Sampled, Spending, Spent, Step, spent_in};

/// So many rows of all locations are kept, some 100 MB; beyond that all are dropped.
const KEPT_ROWS: usize = 1 << 21;

/// Parts of a time that lie in more blocks than this are read each time: some 10 000 operations.
const KEPT_BLOCKS: usize = 16;

/// What is kept of each location.
pub(super) struct Nearby<'s, 'p> {
    spending: &'s Spending<'p>,
    of: Map<LocationId, Near>,
    rows: usize,
    kept_rows: usize,
}

/// Rows of a location: all that have a time in common with a range.
struct Rows<T> {
    range_ns: Range<u64>,
    rows: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows { range_ns: 0..0, rows: Vec::new() }
    }
}

impl<T> Rows<T> {
    fn contains(&self, range_ns: &Range<u64>) -> bool {
        self.range_ns.start <= range_ns.start && range_ns.end <= self.range_ns.end
    }
}

#[derive(Default)]
struct Near {
    singles: Rows<Did>,
    /// Of the same range as `singles`.
    sums: Vec<Did>,
    samples: Rows<Sampled>,
}

impl Near {
    fn len(&self) -> usize {
        self.singles.rows.len() + self.sums.len() + self.samples.rows.len()
    }

    /// None where a range has too many.
    fn read(&mut self, spending: &Spending<'_>, location: LocationId, range_ns: Range<u64>) -> Option<()> {
        if !self.singles.contains(&range_ns) {
            let range_ns = spending.events.read_together(location, range_ns.clone(), KEPT_BLOCKS)?;
            let all = spending.operations_in(location, range_ns.clone());
            (self.sums, self.singles.rows) = all.partition(|did| did.summed);
            self.singles.range_ns = range_ns;
        }
        if !self.samples.contains(&range_ns) {
            let range_ns = spending.samples.read_together(location, range_ns, KEPT_BLOCKS)?;
            let rows = spending.samples_in(location, range_ns.clone()).collect();
            self.samples = Rows { range_ns, rows };
        }
        Some(())
    }
}

impl<'s, 'p> Nearby<'s, 'p> {
    pub(super) fn of(spending: &'s Spending<'p>) -> Nearby<'s, 'p> {
        Nearby { spending, of: Map::default(), rows: 0, kept_rows: KEPT_ROWS }
    }

    /// The same as [`Spending::of_steps`].
    pub(super) fn of_steps(&mut self, steps: &[Step]) -> Spent {
        let Some((location, range_ns)) = Spending::range_of(steps) else { return Spent::default() };
        if self.rows > self.kept_rows {
            self.of.clear();
            self.rows = 0;
        }
        let near = self.of.entry(location).or_default();
        let before = near.len();
        let read = near.read(self.spending, location, range_ns.clone());
        self.rows = self.rows + near.len() - before;
        if read.is_none() {
            return self.spending.of_steps(steps);
        }
        let samples = &near.samples.rows;
        let samples = &samples[samples.partition_point(|sample| sample.time_ns <= range_ns.start)..];
        let (singles, sums) = (within(&near.singles.rows, &range_ns), within(&near.sums, &range_ns));
        spent_in(steps, samples.iter().copied(), singles, sums)
    }
}

fn within(rows: &[Did], range_ns: &Range<u64>) -> impl Iterator<Item = Did> {
    let (first, end_ns) = (rows.partition_point(|did| did.end_ns <= range_ns.start), range_ns.end);
    rows[first..].iter().filter(move |did| did.begin_ns < end_ns).copied()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proptest::prelude::*;
    use proust_profile::{ContextId, EventRow, OperationId, OperationInfo, Profile, SampleRow};

    use super::super::spending::{Activities, Activity, Amount};
    use super::*;

    fn profile(events: Vec<EventRow>, samples: Vec<SampleRow>) -> Profile {
        Profile {
            operations: vec![OperationInfo { name: "MPI_Put".to_owned(), kind: None }].into(),
            events: events.into(),
            samples: samples.into(),
            ..Profile::default()
        }
    }

    fn activities() -> Activities {
        Activities::new((0..9).map(ContextId).collect(), vec![true])
    }

    fn sorted(spent: &Spent) -> Vec<(Activity, Amount)> {
        let mut all: Vec<(Activity, Amount)> = spent.iter().map(|(&of, &amount)| (of, amount)).collect();
        all.sort_by_key(|one| one.0);
        all
    }

    /// The gap before it, its length, its context, and whether it is a sum.
    fn operation() -> impl Strategy<Value = (u64, u64, u32, bool)> {
        (0u64..400, 0u64..60, 1u32..5, prop::bool::weighted(0.2))
    }

    proptest! {
        #[test]
        fn what_is_kept_says_the_same(
            operations in prop::collection::vec(operation(), 0..1500),
            samples in prop::collection::vec((0u32..3, 0u64..40_000, 1u64..9, 1u32..5), 0..400),
            asked in prop::collection::vec((0u32..3, 0u64..40_000, 0u64..3000, 0u64..900), 1..40),
            kept_rows in 0usize..3000,
        ) {
            let mut begin_ns = 0;
            let mut events = Vec::new();
            for (number, (gap_ns, length_ns, context, summed)) in operations.into_iter().enumerate() {
                begin_ns += gap_ns / 8;
                // Sums are of a longer time than operations.
                let end_ns = begin_ns + if summed { gap_ns } else { length_ns };
                events.push(EventRow {
                    location: LocationId(number as u32 % 3),
                    context: ContextId(context),
                    begin_ns,
                    end_ns,
                    time_ns: if summed { gap_ns / 2 } else { length_ns },
                    calls: 2,
                    summed,
                    ..EventRow::default()
                });
            }
            let sample = |(location, time_ns, cpu_ns, context)| SampleRow {
                location: LocationId(location),
                context: ContextId(context),
                time_ns,
                cpu_ns,
                ..SampleRow::default()
            };
            let profile = profile(events, samples.into_iter().map(sample).collect());
            let activities = activities();
            let spending = Spending::of(&profile, &activities);
            let mut nearby = Nearby { kept_rows, ..Nearby::of(&spending) };
            for (location, begin_ns, length_ns, left_out_ns) in asked {
                let location = LocationId(location);
                let end_ns = begin_ns + length_ns;
                let middle_ns = begin_ns + length_ns / 2;
                let steps = [
                    Step { location, begin_ns, end_ns: middle_ns },
                    Step { location, begin_ns: (middle_ns + left_out_ns).min(end_ns), end_ns },
                ];
                let (found, expected) = (nearby.of_steps(&steps), spending.of_steps(&steps));
                prop_assert_eq!(format!("{:?}", sorted(&found)), format!("{:?}", sorted(&expected)));
            }
        }
    }

    /// Asked for again and again, a location's operations are not read to their end each time.
    #[test]
    fn a_short_part_costs_nothing_of_the_rest() {
        let operation = |n: u64| EventRow {
            begin_ns: 100 * n,
            end_ns: 100 * n + 50,
            time_ns: 50,
            calls: 1,
            operation: OperationId(0),
            ..EventRow::default()
        };
        let profile = profile((0..200_000).map(operation).collect(), Vec::new());
        let activities = activities();
        let spending = Spending::of(&profile, &activities);
        let part = |n: u64| [Step { location: LocationId(0), begin_ns: 100 * n, end_ns: 100 * n + 300 }];
        let begin = Instant::now();
        let whole = [Step { location: LocationId(0), begin_ns: 0, end_ns: 20_000_000 }];
        assert_eq!(spending.of_steps(&whole).len(), 2);
        let once = begin.elapsed();
        let mut nearby = Nearby::of(&spending);
        let begin = Instant::now();
        for n in (0..4000).rev() {
            assert_eq!(nearby.of_steps(&part(50 * n)).len(), 2);
            assert_eq!(spending.of_steps(&part(50 * n)).len(), 2);
        }
        // Without what the index knows of times it takes as long as 4000 readings of the half.
        assert!(begin.elapsed() < 300 * once, "{:?} of {once:?}", begin.elapsed());
    }
}
