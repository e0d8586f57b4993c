//! Records as columns of numbers.

use crate::pack::{UNIT, pack, unpack};
use crate::record::{Column, MAX_COLUMNS, Record, Times};
use crate::varint::{Bytes, put_u64, unzigzag, zigzag};

/// The columns of a unit: the distances of ends (or gaps), the lengths, the values.
pub(crate) struct Columns {
    pub distances: [u64; UNIT],
    pub lengths: [u64; UNIT],
    /// As many as a kind has of which records were read.
    pub values: Vec<[u64; UNIT]>,
    /// Whether all values of a column are 0.
    pub zero: [bool; MAX_COLUMNS],
}

impl Columns {
    /// Makes room for the columns of a kind.
    fn fit<R: Record>(&mut self) {
        if self.values.len() < R::COLUMNS.len() {
            self.values.resize(R::COLUMNS.len(), [0; UNIT]);
        }
    }
}

impl Default for Columns {
    fn default() -> Columns {
        Columns { distances: [0; UNIT], lengths: [0; UNIT], values: Vec::new(), zero: [false; MAX_COLUMNS] }
    }
}

/// Appends a unit. `base_ns` is where its first record's distance is measured from, `reference_ns` where the
/// base is; `place` gives a value's place in the dictionary of a column.
pub(super) fn encode<R: Record>(
    bytes: &mut Vec<u8>,
    records: &[R],
    base_ns: u64,
    reference_ns: u64,
    columns: &mut Columns,
    mut place: impl FnMut(usize, u64) -> u64,
) {
    columns.fit::<R>();
    put_u64(bytes, base_ns - reference_ns);
    let count = records.len();
    let mut previous_ns = base_ns;
    let mut row = [0; MAX_COLUMNS];
    let mut before = [0; MAX_COLUMNS];
    for (at, record) in records.iter().enumerate() {
        let (begin, end) = (record.begin_ns(), record.end_ns());
        columns.distances[at] = match R::TIMES {
            Times::Exclusive => begin - previous_ns,
            Times::Instants | Times::Nested => end - previous_ns,
        };
        columns.lengths[at] = end - begin;
        previous_ns = end;
        record.store(&mut row);
        for (column, how) in R::COLUMNS.iter().enumerate() {
            columns.values[column][at] = match how {
                Column::Number => row[column],
                Column::Difference => zigzag(row[column].wrapping_sub(before[column])),
                Column::Dictionary => place(column, row[column]),
            };
        }
        before = row;
    }
    if R::TIMES == Times::Nested {
        let min_begin_ns = records.iter().map(Record::begin_ns).min().unwrap_or(previous_ns);
        put_u64(bytes, previous_ns - min_begin_ns);
    }
    pack(bytes, &columns.distances[..count]);
    if R::TIMES != Times::Instants {
        pack(bytes, &columns.lengths[..count]);
    }
    for column in 0..R::COLUMNS.len() {
        pack(bytes, &columns.values[column][..count]);
    }
}

/// Reads the columns behind a unit's base. `values` says which columns beside the times are wanted.
pub(super) fn read_columns<R: Record>(
    bytes: &mut Bytes<'_>,
    count: usize,
    columns: &mut Columns,
) -> Option<()> {
    columns.fit::<R>();
    unpack(bytes, &mut columns.distances[..count])?;
    if R::TIMES != Times::Instants {
        unpack(bytes, &mut columns.lengths[..count])?;
    }
    for column in 0..R::COLUMNS.len() {
        columns.zero[column] = unpack(bytes, &mut columns.values[column][..count])?;
    }
    Some(())
}

/// Makes records of columns, and appends them. Answers the end of the last one.
pub(super) fn records<R: Record>(
    columns: &mut Columns,
    count: usize,
    base_ns: u64,
    dictionaries: &[Vec<u64>],
    records: &mut Vec<R>,
) -> Option<u64> {
    let mut previous_ns = base_ns;
    let mut row = [0; MAX_COLUMNS];
    // Most columns of a unit are constant: only the others are looked at for each record.
    let mut live = [0; MAX_COLUMNS];
    let mut lives = 0;
    for (column, &how) in R::COLUMNS.iter().enumerate() {
        match how {
            Column::Dictionary if columns.zero[column] => row[column] = *dictionaries[column].first()?,
            _ if columns.zero[column] => {}
            _ => {
                to_values(how, &mut columns.values[column][..count], &dictionaries[column])?;
                live[lives] = column;
                lives += 1;
            }
        }
    }
    records.reserve(count);
    for at in 0..count {
        let (distance, length) = (columns.distances[at], columns.lengths[at]);
        let (begin_ns, end_ns) = match R::TIMES {
            Times::Exclusive => {
                let begin_ns = previous_ns.checked_add(distance)?;
                (begin_ns, begin_ns.checked_add(length)?)
            }
            Times::Nested => {
                let end_ns = previous_ns.checked_add(distance)?;
                (end_ns.checked_sub(length)?, end_ns)
            }
            Times::Instants => {
                let end_ns = previous_ns.checked_add(distance)?;
                (end_ns, end_ns)
            }
        };
        previous_ns = end_ns;
        for &column in &live[..lives] {
            row[column] = columns.values[column][at];
        }
        records.push(R::load(begin_ns, end_ns, &row)?);
    }
    Some(previous_ns)
}

/// Makes the values of a column of what is stored for them.
fn to_values(how: Column, column: &mut [u64], dictionary: &[u64]) -> Option<()> {
    match how {
        Column::Number => {}
        Column::Difference => {
            let mut before = 0u64;
            for value in column {
                before = before.wrapping_add(unzigzag(*value));
                *value = before;
            }
        }
        Column::Dictionary => {
            for value in column {
                *value = *dictionary.get(usize::try_from(*value).ok()?)?;
            }
        }
    }
    Some(())
}
