//! A record as bytes, for sorted runs.

use crate::record::{Column, Location, MAX_COLUMNS, Record};
use crate::varint::{Bytes, put_u64, unzigzag, zigzag};

use super::Located;

/// What the next row is a difference to.
pub(super) struct Before {
    end_ns: u64,
    location: u64,
    values: [u64; MAX_COLUMNS],
}

impl Default for Before {
    fn default() -> Before {
        Before { end_ns: 0, location: 0, values: [0; MAX_COLUMNS] }
    }
}

pub(super) fn put<R: Record>(bytes: &mut Vec<u8>, located: &Located<R>, before: &mut Before) {
    let (begin_ns, end_ns) = (located.record.begin_ns(), located.record.end_ns());
    let location = u64::from(located.location.0);
    put_u64(bytes, zigzag(end_ns.wrapping_sub(before.end_ns)));
    put_u64(bytes, end_ns - begin_ns);
    put_u64(bytes, zigzag(location.wrapping_sub(before.location)));
    let mut values = [0; MAX_COLUMNS];
    located.record.store(&mut values);
    for (column, how) in R::COLUMNS.iter().enumerate() {
        put_u64(
            bytes,
            match how {
                Column::Number => values[column],
                Column::Difference | Column::Dictionary => {
                    zigzag(values[column].wrapping_sub(before.values[column]))
                }
            },
        );
    }
    *before = Before { end_ns, location, values };
}

pub(super) fn get<R: Record>(bytes: &mut Bytes<'_>, before: &mut Before) -> Option<Located<R>> {
    let end_ns = before.end_ns.wrapping_add(unzigzag(bytes.u64()?));
    let begin_ns = end_ns.checked_sub(bytes.u64()?)?;
    let location = before.location.wrapping_add(unzigzag(bytes.u64()?));
    let mut values = [0; MAX_COLUMNS];
    for (column, how) in R::COLUMNS.iter().enumerate() {
        let value = bytes.u64()?;
        values[column] = match how {
            Column::Number => value,
            Column::Difference | Column::Dictionary => before.values[column].wrapping_add(unzigzag(value)),
        };
    }
    *before = Before { end_ns, location, values };
    let location = Location(u32::try_from(location).ok()?);
    Some(Located { location, record: R::load(begin_ns, end_ns, &values)? })
}
