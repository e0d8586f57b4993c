//! Derived metrics in the rows of a table: each is computed of the row's other numbers, inclusive values of
//! inclusive ones, so that sums of rows have values of their own and no sum of values.

use std::sync::Arc;

use proust_query::{Derived, Measure};

use crate::column::{Amount, ColumnHead, Over};
use crate::row_amounts::RowAmounts;

/// The derived metrics of a table, without those that are statistics over locations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Derivations(Vec<Derivation>);

#[derive(Clone, Debug)]
struct Derivation {
    id: Arc<str>,
    derived: Arc<Derived>,
    /// The ids of the columns of what it is computed of.
    bases: Vec<(Measure, String)>,
}

impl Derivations {
    /// Those of these columns.
    pub fn of(heads: &[ColumnHead]) -> Derivations {
        let derivation = |head: &ColumnHead| {
            let derived = head.quantity.derived().filter(|_| head.over == Over::Sum)?;
            let bases = derived.bases().into_iter().map(|measure| (measure, measure.id())).collect();
            Some(Derivation { id: head.id.as_str().into(), derived: derived.clone(), bases })
        };
        Derivations(heads.iter().filter_map(derivation).collect())
    }

    /// Gives a row with the sums of its measures its derived metrics.
    pub fn add_to(&self, row: &mut RowAmounts) {
        for derivation in &self.0 {
            let value = |pick: fn(&Amount) -> f64| {
                let amount = |wanted: Measure| {
                    let id = derivation.bases.iter().find(|(measure, _)| *measure == wanted);
                    id.and_then(|(_, id)| row.get(id)).map_or(0.0, pick)
                };
                derivation.derived.of(amount).unwrap_or(f64::NAN)
            };
            let (inclusive, exclusive) = (value(|amount| amount.inclusive), value(|amount| amount.exclusive));
            row.insert(derivation.id.clone(), Amount { inclusive, exclusive, ..Amount::default() });
        }
    }
}
