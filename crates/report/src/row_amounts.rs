//! The numbers of a row.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::column::{Amount, derived_keys, measure_keys};

/// The numbers of a row by the id of their column, sorted by it. Tables have many rows and rows few numbers,
/// so they are kept in a list, and all rows share the ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowAmounts(Vec<(Arc<str>, Amount)>);

impl RowAmounts {
    /// A row without numbers.
    pub fn new() -> RowAmounts {
        RowAmounts::default()
    }

    /// The number of a column, if the row has one.
    pub fn get(&self, column: &str) -> Option<&Amount> {
        self.place(column).ok().map(|at| &self.0[at].1)
    }

    /// Whether any of its numbers is its own, and not of what it calls.
    pub(crate) fn has_own(&self) -> bool {
        self.0.iter().any(|(_, amount)| amount.exclusive != 0.0 && !amount.exclusive.is_nan())
    }

    /// Gives the row a number, in place of the one that it had.
    pub fn insert(&mut self, column: impl Into<Arc<str>>, amount: Amount) {
        *self.entry(column) = amount;
    }

    /// The number of a column; nothing at first.
    pub fn entry(&mut self, column: impl Into<Arc<str>>) -> &mut Amount {
        let column = column.into();
        let at = self.place(&column).unwrap_or_else(|at| {
            self.0.insert(at, (column, Amount::default()));
            at
        });
        &mut self.0[at].1
    }

    /// With its own amounts in the place of inclusive ones.
    pub(crate) fn own(mut self) -> RowAmounts {
        for (_, amount) in &mut self.0 {
            (amount.inclusive, amount.inclusive_error) = (amount.exclusive, amount.exclusive_error);
        }
        self
    }

    fn place(&self, column: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(id, _)| id.as_ref().cmp(column))
    }
}

impl From<Vec<(Arc<str>, Amount)>> for RowAmounts {
    fn from(mut amounts: Vec<(Arc<str>, Amount)>) -> RowAmounts {
        amounts.sort_by(|a, b| a.0.cmp(&b.0));
        RowAmounts(amounts)
    }
}

impl JsonSchema for RowAmounts {
    fn schema_name() -> Cow<'static, str> {
        "RowAmounts".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let amount = generator.subschema_for::<Amount>();
        json_schema!({
            "type": "object",
            "patternProperties": { (measure_keys()): amount },
            "propertyNames": { "pattern": (derived_keys()) },
            "additionalProperties": {
                "description": "a derived metric; null where it has no value, since a divisor is zero",
                "type": "object",
                "required": ["inclusive"],
                "properties": {
                    "inclusive": { "type": ["number", "null"] },
                    "exclusive": { "type": ["number", "null"] },
                    "location": { "type": "string" }
                }
            }
        })
    }
}

impl Serialize for RowAmounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(id, amount)| (id.as_ref(), amount)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_one_number_a_column_in_the_order_of_their_ids() {
        let amount = |inclusive| Amount { inclusive, ..Amount::default() };
        let mut row = RowAmounts::from(vec![("wall_s".into(), amount(3.0)), ("cpu_s".into(), amount(1.0))]);
        row.insert("lock_s", amount(2.0));
        row.entry("cpu_s").exclusive += 0.5;
        row.insert("wall_s", amount(4.0));
        assert_eq!(row.get("lock_s").map(|amount| amount.inclusive), Some(2.0));
        assert_eq!(row.get("io_s"), None);
        let json = serde_json::to_string(&row).unwrap();
        assert_eq!(
            json,
            concat!(
                r#"{"cpu_s":{"inclusive":1.0,"exclusive":0.5},"#,
                r#""lock_s":{"inclusive":2.0},"wall_s":{"inclusive":4.0}}"#
            )
        );
    }
}
