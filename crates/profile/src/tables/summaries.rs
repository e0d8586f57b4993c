//! Summary rows on disk: the table `summaries.parquet`, and the names of what it counts, `summaries.json`.

use super::columns::{self, Cells, Column};
use super::error::TablesError;
use super::reader::Table;
use super::{Building, Kept};
use crate::{LocationId, Summary, SummaryRow, SummaryRows};

const ROWS: &str = "summaries.parquet";
const NAMES: &str = "summaries.json";

/// The names of the columns of a summary.
struct Names {
    sum: [&'static str; 2],
    squares: [&'static str; 2],
    min: [&'static str; 2],
    min_location: &'static str,
    max: [&'static str; 2],
    max_location: &'static str,
}

const OWN: [&str; 2] = ["own_low", "own_high"];
const INCLUSIVE: Names = Names {
    sum: ["inclusive_sum_low", "inclusive_sum_high"],
    squares: ["inclusive_squares_low", "inclusive_squares_high"],
    min: ["inclusive_min_low", "inclusive_min_high"],
    min_location: "inclusive_min_location",
    max: ["inclusive_max_low", "inclusive_max_high"],
    max_location: "inclusive_max_location",
};
const EXCLUSIVE: Names = Names {
    sum: ["exclusive_sum_low", "exclusive_sum_high"],
    squares: ["exclusive_squares_low", "exclusive_squares_high"],
    min: ["exclusive_min_low", "exclusive_min_high"],
    min_location: "exclusive_min_location",
    max: ["exclusive_max_low", "exclusive_max_high"],
    max_location: "exclusive_max_location",
};

impl Building {
    /// Adds the summary rows of the profile.
    ///
    /// # Errors
    /// [`TablesError`] when the storage refuses.
    pub fn add_summaries(&mut self, summaries: &SummaryRows) -> Result<(), TablesError> {
        let json = |source| TablesError::Json { path: self.path(NAMES), source };
        let names = serde_json::to_vec(&summaries.measures).map_err(json)?;
        self.add(NAMES, &names)?;
        let bytes = columns::to_parquet(&table(&summaries.rows))
            .map_err(|source| TablesError::Parquet { path: self.path(ROWS), source })?;
        self.add(ROWS, &bytes)
    }
}

impl Kept {
    /// The summary rows, if it has any; the statistics over locations only where they are wanted.
    ///
    /// # Errors
    /// [`TablesError`] when they cannot be read.
    pub fn summaries(&self, with_statistics: bool) -> Result<Option<SummaryRows>, TablesError> {
        if !self.has(ROWS) {
            return Ok(None);
        }
        let json = |source| TablesError::Json { path: self.folder().join(NAMES), source };
        let measures = serde_json::from_slice(&self.bytes(NAMES)?).map_err(json)?;
        let table = self.table(ROWS)?;
        let mut rows = Vec::new();
        for group in table.groups() {
            rows.append(&mut group_rows(&table, group, with_statistics)?);
        }
        Ok(Some(SummaryRows { measures, rows }))
    }
}

fn table(rows: &[SummaryRow]) -> Vec<Column> {
    let numbers = |names: [&'static str; 2], of: &dyn Fn(&SummaryRow) -> u128| {
        let part = |shift: u32| Cells::Id(rows.iter().map(|row| (of(row) >> shift) as u64).collect());
        [Column::new(names[0], part(0)), Column::new(names[1], part(64))]
    };
    let ids = |name, of: &dyn Fn(&SummaryRow) -> Option<LocationId>| {
        Column::new(name, Cells::OptionalU32(rows.iter().map(|row| of(row).map(u32::from)).collect()))
    };
    let mut columns = vec![
        Column::new("context", Cells::U32(rows.iter().map(|row| row.context.0).collect())),
        Column::new("measure", Cells::U32(rows.iter().map(|row| row.measure).collect())),
    ];
    columns.extend(numbers(OWN, &|row| row.own));
    for (names, is_inclusive) in [(INCLUSIVE, true), (EXCLUSIVE, false)] {
        let pick = |row: &SummaryRow| if is_inclusive { row.inclusive } else { row.exclusive };
        columns.extend(numbers(names.sum, &|row| pick(row).sum));
        columns.extend(numbers(names.squares, &|row| pick(row).squares));
        columns.extend(numbers(names.min, &|row| pick(row).min));
        columns.push(ids(names.min_location, &|row| pick(row).min_location));
        columns.extend(numbers(names.max, &|row| pick(row).max));
        columns.push(ids(names.max_location, &|row| pick(row).max_location));
    }
    columns
}

fn group_rows(table: &Table, group: usize, with_statistics: bool) -> Result<Vec<SummaryRow>, TablesError> {
    let numbers = |names: [&str; 2]| -> Result<Vec<u128>, TablesError> {
        let (low, high) = (table.u64s(group, names[0])?, table.u64s(group, names[1])?);
        let both = low.into_iter().zip(high);
        Ok(both.map(|(low, high)| u128::from(high) << 64 | u128::from(low)).collect())
    };
    let (contexts, measures) = (table.ids(group, "context")?, table.u32s(group, "measure")?);
    let rows = contexts.into_iter().zip(measures).zip(numbers(OWN)?);
    let mut rows: Vec<SummaryRow> = rows
        .map(|((context, measure), own)| SummaryRow { context, measure, own, ..SummaryRow::default() })
        .collect();
    if !with_statistics {
        return Ok(rows);
    }
    for (names, is_inclusive) in [(INCLUSIVE, true), (EXCLUSIVE, false)] {
        let min = numbers(names.min)?.into_iter().zip(table.optional_ids(group, names.min_location)?);
        let max = numbers(names.max)?.into_iter().zip(table.optional_ids(group, names.max_location)?);
        let sums = numbers(names.sum)?.into_iter().zip(numbers(names.squares)?);
        for (row, ((sum, min), max)) in rows.iter_mut().zip(sums.zip(min).zip(max)) {
            let to = if is_inclusive { &mut row.inclusive } else { &mut row.exclusive };
            *to = Summary {
                sum: sum.0,
                squares: sum.1,
                min: min.0,
                min_location: min.1,
                max: max.0,
                max_location: max.1,
            };
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::super::Provenance;
    use super::*;
    use crate::ContextId;

    #[test]
    fn they_are_read_as_they_were_written() {
        let large = (1_u128 << 100) + 7;
        let of = |n: u128, location| Summary {
            sum: large + n,
            squares: u128::MAX - n,
            min: n,
            min_location: None,
            max: large,
            max_location: Some(LocationId(location)),
        };
        let row = |context, measure| SummaryRow {
            context: ContextId(context),
            measure,
            own: large - u128::from(context),
            inclusive: of(1, context),
            exclusive: of(2, 3),
        };
        let rows = vec![row(0, 0), row(4, 0), row(1, 1)];
        let summaries = SummaryRows { measures: vec!["cpu_s".into(), "samples".into()], rows };
        let run = tempfile::tempdir().unwrap();
        let dir = run.path().join("profile");
        let mut building = Building::begin(&dir).unwrap();
        building.add_summaries(&summaries).unwrap();
        building.publish(&Provenance::default()).unwrap();
        let kept = Kept::open(&dir).unwrap();
        assert_eq!(kept.summaries(true).unwrap(), Some(summaries.clone()));
        let sums = kept.summaries(false).unwrap().unwrap();
        let own = |rows: &SummaryRows| rows.rows.iter().map(|row| (row.context, row.own)).collect::<Vec<_>>();
        assert_eq!((own(&sums), sums.rows[0].inclusive), (own(&summaries), Summary::default()));
        let other = run.path().join("other");
        Building::begin(&other).unwrap().publish(&Provenance::default()).unwrap();
        assert_eq!(Kept::open(&other).unwrap().summaries(true).unwrap(), None);
    }
}
