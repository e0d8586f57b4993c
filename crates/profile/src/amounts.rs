//! Amounts: numbers by context, location and metric, and their totals by context and metric.
//!
//! Amounts are additive and whole: nanoseconds, bytes, counts. What is zero has no row. The totals say of all
//! locations together what a page needs that shows none of them, however many there are.

use crate::{BrokenInvariant, ContextId, LocationId, Profile, Value, invariants};

/// The number of a metric in the tables of a profile, which name each in [`AmountMetric`].
pub type MetricNumber = u32;

/// A metric of amounts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct AmountMetric {
    /// What the rows call it.
    pub number: MetricNumber,
    /// Its stable identifier.
    pub id: String,
    /// What is counted: `ns`, `us²`, `bytes`, `count`.
    pub unit: String,
}

/// An exclusive amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AmountRow {
    /// Where in the program.
    pub context: ContextId,
    /// Which thread.
    pub location: LocationId,
    /// What.
    pub metric: MetricNumber,
    /// How much, never 0.
    pub amount: u64,
}

impl From<&Value> for AmountRow {
    fn from(value: &Value) -> AmountRow {
        AmountRow {
            context: value.context,
            location: value.location,
            metric: value.metric as MetricNumber,
            amount: (value.amount * value.metric.per_unit()).round() as u64,
        }
    }
}

/// The amounts of a metric in a context, over all locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TotalRow {
    /// Where in the program.
    pub context: ContextId,
    /// What.
    pub metric: MetricNumber,
    /// Their sum: 10⁶ locations and a day pass what 64 bits hold.
    pub sum: u128,
    /// How many locations have an amount.
    pub locations: u32,
    /// The smallest of these amounts.
    pub min: u64,
    /// The largest.
    pub max: u64,
    /// The first location with the largest.
    pub max_location: LocationId,
    /// The sum of their squares; at most 2¹²⁸ − 1.
    pub squares: u128,
}

impl TotalRow {
    fn of(row: &AmountRow) -> TotalRow {
        let amount = u128::from(row.amount);
        TotalRow {
            context: row.context,
            metric: row.metric,
            sum: amount,
            locations: 1,
            min: row.amount,
            max: row.amount,
            max_location: row.location,
            squares: amount * amount,
        }
    }

    /// With the amounts of other locations in the same context: the order does not matter.
    fn add(&mut self, other: &TotalRow) {
        self.sum += other.sum;
        self.locations += other.locations;
        self.min = self.min.min(other.min);
        self.squares = self.squares.saturating_add(other.squares);
        let larger = other.max.cmp(&self.max).then(self.max_location.cmp(&other.max_location));
        if larger.is_gt() {
            (self.max, self.max_location) = (other.max, other.max_location);
        }
    }
}

/// The totals of amounts that are sorted by context, by context and metric.
pub fn totals(rows: &[AmountRow]) -> Vec<TotalRow> {
    let mut all = Vec::new();
    let mut of_context: Vec<TotalRow> = Vec::new();
    for rows in rows.chunk_by(|a, b| a.context == b.context) {
        of_context.clear();
        of_context.extend(rows.iter().map(TotalRow::of));
        of_context.sort_by_key(|row| row.metric);
        for rows in of_context.chunk_by(|a, b| a.metric == b.metric) {
            let mut total = rows[0];
            rows[1..].iter().for_each(|row| total.add(row));
            all.push(total);
        }
    }
    all
}

/// Whether amounts can be those of a profile, and are sorted by context, location and metric, each combination
/// once.
///
/// # Errors
/// [`BrokenInvariant`] with the first row that is not.
pub fn check_amounts(rows: &[AmountRow], profile: &Profile) -> Result<(), BrokenInvariant> {
    let key = |row: &AmountRow| (row.context, row.location, row.metric);
    for (at, row) in rows.iter().enumerate() {
        invariants::in_range("amounts", at, "context", row.context, &profile.contexts)?;
        invariants::in_range("amounts", at, "location", row.location, &profile.locations)?;
        if at > 0 && key(&rows[at - 1]) >= key(row) {
            let order = "by context, location and metric, each combination once";
            return Err(BrokenInvariant::Unsorted { table: "amounts", row: at, order });
        }
    }
    Ok(())
}

/// The same of totals.
///
/// # Errors
/// [`BrokenInvariant`] with the first row that is not.
pub fn check_totals(rows: &[TotalRow], profile: &Profile) -> Result<(), BrokenInvariant> {
    let key = |row: &TotalRow| (row.context, row.metric);
    for (at, row) in rows.iter().enumerate() {
        invariants::in_range("totals", at, "context", row.context, &profile.contexts)?;
        invariants::in_range("totals", at, "location", row.max_location, &profile.locations)?;
        if at > 0 && key(&rows[at - 1]) >= key(row) {
            let order = "by context and metric, each combination once";
            return Err(BrokenInvariant::Unsorted { table: "totals", row: at, order });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{Context, ContextKind, Location};
    use proptest::prelude::*;

    fn profile(contexts: usize, locations: usize) -> Profile {
        let program = Context { parent: None, kind: ContextKind::Program, function: None, file: None, line: None };
        Profile {
            contexts: vec![program; contexts].into(),
            locations: vec![Location::default(); locations].into(),
            ..Profile::default()
        }
    }

    fn rows() -> impl Strategy<Value = Vec<AmountRow>> {
        let key = (0..4_u32, 0..5_u32, 0..3_u32);
        prop::collection::btree_map(key, prop_oneof![1..5_u64, Just(u64::MAX)], 0..40).prop_map(|amounts| {
            let row = |((context, location, metric), amount): ((u32, u32, u32), u64)| AmountRow {
                context: context.into(),
                location: location.into(),
                metric,
                amount,
            };
            amounts.into_iter().map(row).collect()
        })
    }

    proptest! {
        /// Each total is that of its rows, taken by themselves.
        #[test]
        fn totals_are_those_of_their_rows(rows in rows()) {
            prop_assert_eq!(check_amounts(&rows, &profile(4, 5)), Ok(()));
            let totals = totals(&rows);
            prop_assert_eq!(check_totals(&totals, &profile(4, 5)), Ok(()));
            let mut by_key: BTreeMap<_, Vec<&AmountRow>> = BTreeMap::new();
            for row in &rows {
                by_key.entry((row.context, row.metric)).or_default().push(row);
            }
            prop_assert_eq!(totals.len(), by_key.len());
            for (total, ((context, metric), rows)) in totals.iter().zip(by_key) {
                prop_assert_eq!((total.context, total.metric), (context, metric));
                prop_assert_eq!(total.sum, rows.iter().map(|row| u128::from(row.amount)).sum::<u128>());
                prop_assert_eq!(total.locations as usize, rows.len());
                prop_assert_eq!(Some(total.min), rows.iter().map(|row| row.amount).min());
                prop_assert_eq!(Some(total.max), rows.iter().map(|row| row.amount).max());
                let first = rows.iter().find(|row| row.amount == total.max).map(|row| row.location);
                prop_assert_eq!(Some(total.max_location), first);
                let squares = rows.iter().map(|row| u128::from(row.amount).pow(2));
                prop_assert_eq!(total.squares, squares.fold(0, u128::saturating_add));
            }
        }
    }

    #[test]
    fn rows_of_another_profile_are_refused() {
        let row = |context: u32, location: u32| AmountRow {
            context: context.into(),
            location: location.into(),
            metric: 1,
            amount: 1,
        };
        assert!(check_amounts(&[row(0, 0), row(1, 0)], &profile(2, 1)).is_ok());
        for wrong in [[row(0, 0), row(2, 0)], [row(0, 0), row(1, 1)], [row(1, 0), row(0, 0)]] {
            assert!(check_amounts(&wrong, &profile(2, 1)).is_err());
        }
        assert!(check_totals(&totals(&[row(3, 0)]), &profile(2, 1)).is_err());
    }
}
