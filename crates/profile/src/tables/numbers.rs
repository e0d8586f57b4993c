//! Tables of numbers that a later stage keeps beside the profile's own.

use std::io;

use super::columns::{self, Cells, Column};
use super::error::TablesError;
use super::reader::Table;
use super::{Building, Kept};

/// The cells of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Small numbers, such as ids.
    Small(Vec<u32>),
    /// Such numbers or nothing.
    Optional(Vec<Option<u32>>),
    /// Amounts.
    Large(Vec<u64>),
}

/// Such a table, open.
pub struct NumberTable(Table);

/// The next rows of a table: its columns, equally long.
pub type Part = Vec<(&'static str, Numbers)>;

/// A part has at most so many rows.
pub const PART_ROWS: usize = columns::ROWS;

impl Building {
    /// Adds a table of parts with the same columns; the first one may be empty, and must be there.
    ///
    /// # Errors
    /// [`TablesError`] when the storage refuses.
    pub fn add_numbers(
        &mut self,
        name: &str,
        parts: impl IntoIterator<Item = Part>,
    ) -> Result<(), TablesError> {
        let column = |(name, numbers)| {
            let cells = match numbers {
                Numbers::Small(numbers) => Cells::U32(numbers),
                Numbers::Optional(numbers) => Cells::OptionalU32(numbers),
                Numbers::Large(numbers) => Cells::Id(numbers),
            };
            Column::new(name, cells)
        };
        let parts = parts.into_iter().map(|part| part.into_iter().map(column).collect());
        self.add_written(name, |to| columns::write_parts(to, parts).map_err(io::Error::other))
    }
}

impl Kept {
    /// A table that [`Building::add_numbers`] has added.
    ///
    /// # Errors
    /// [`TablesError`] when it cannot be read.
    pub fn numbers(&self, name: &str) -> Result<NumberTable, TablesError> {
        self.table(name).map(NumberTable)
    }
}

impl NumberTable {
    /// A column of small numbers, in all rows.
    ///
    /// # Errors
    /// [`TablesError`] when there is none of that name and type.
    pub fn small(&self, name: &str) -> Result<Vec<u32>, TablesError> {
        self.all(|group| self.0.u32s(group, name))
    }

    /// A column of small numbers, or nothing.
    ///
    /// # Errors
    /// As [`NumberTable::small`].
    pub fn optional(&self, name: &str) -> Result<Vec<Option<u32>>, TablesError> {
        self.all(|group| self.0.optional_u32s(group, name))
    }

    /// A column of amounts.
    ///
    /// # Errors
    /// As [`NumberTable::small`].
    pub fn large(&self, name: &str) -> Result<Vec<u64>, TablesError> {
        self.all(|group| self.0.u64s(group, name))
    }

    fn all<T>(&self, of_group: impl Fn(usize) -> Result<Vec<T>, TablesError>) -> Result<Vec<T>, TablesError> {
        let mut all = Vec::new();
        for group in self.0.groups() {
            all.append(&mut of_group(group)?);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Provenance;
    use super::*;

    #[test]
    fn they_are_read_as_they_were_written() {
        let rows = 5000_u32;
        let small: Vec<u32> = (0..rows).map(|row| row % 11).collect();
        let optional: Vec<Option<u32>> = (0..rows).map(|row| (row % 3 > 0).then_some(row)).collect();
        let large: Vec<u64> = (0..rows).map(|row| u64::MAX - u64::from(row)).collect();
        let run = tempfile::tempdir().unwrap();
        let dir = run.path().join("profile");
        let mut building = Building::begin(&dir).unwrap();
        let part = |range: std::ops::Range<usize>| {
            vec![
                ("a", Numbers::Small(small[range.clone()].to_vec())),
                ("b", Numbers::Optional(optional[range.clone()].to_vec())),
                ("c", Numbers::Large(large[range].to_vec())),
            ]
        };
        building.add_numbers("n.parquet", [part(0..1), part(1..3000), part(3000..5000)]).unwrap();
        building.add_numbers("none.parquet", [part(0..0)]).unwrap();
        building.publish(&Provenance::default()).unwrap();
        let kept = Kept::open(&dir).unwrap();
        let table = kept.numbers("n.parquet").unwrap();
        assert_eq!(table.small("a").unwrap(), small);
        assert_eq!(table.optional("b").unwrap(), optional);
        assert_eq!(table.large("c").unwrap(), large);
        assert!(table.small("c").is_err() && table.optional("a").is_err() && table.large("d").is_err());
        assert!(kept.numbers("none.parquet").unwrap().small("a").unwrap().is_empty());
        assert!(kept.numbers("other.parquet").is_err());
    }
}
