//! A column of up to [`UNIT`] numbers, in as few bits as most of them need.
//!
//! ```text
//! u8 width | u8 exceptions | low `width` bits of the numbers, one after the other
//!            | exceptions × { u8 place, varint of the high bits }
//! ```
//!
//! One long number costs its own high bits and does not widen the others: the width is the one that makes the
//! column shortest.

use crate::varint::{Bytes, put_u64};

/// Numbers in a column at most.
pub(crate) const UNIT: usize = 128;

/// At most one number in eight is an exception: more would be read slowly.
const MOST_EXCEPTIONS: usize = UNIT / 8;

/// Appends a column.
pub(crate) fn pack(bytes: &mut Vec<u8>, values: &[u64]) {
    debug_assert!(values.len() <= UNIT);
    let widest = 64 - values.iter().fold(0, |all, value| all | value).leading_zeros();
    if widest == 0 {
        bytes.extend([0, 0]);
        return;
    }
    let width = best_width(values, widest);
    let exceptions = match width == widest {
        true => 0,
        false => values.iter().filter(|&&value| high(value, width) > 0).count(),
    };
    bytes.extend([width as u8, exceptions as u8]);
    let (mut held, mut bits) = (0u64, 0);
    for &value in values {
        let value = low(value, width);
        held |= value << bits;
        bits += width;
        if bits >= 64 {
            bytes.extend(held.to_le_bytes());
            bits -= 64;
            // What of the value found no room.
            held = high(value, width - bits);
        }
    }
    bytes.extend(&held.to_le_bytes()[..bits.div_ceil(8) as usize]);
    if exceptions == 0 {
        return;
    }
    for (place, &value) in values.iter().enumerate() {
        let high = high(value, width);
        if high > 0 {
            bytes.push(place as u8);
            put_u64(bytes, high);
        }
    }
}

/// Reads a column of as many numbers as `values` has room for. `Some(true)` says that all are 0.
pub(crate) fn unpack(bytes: &mut Bytes<'_>, values: &mut [u64]) -> Option<bool> {
    let width = u32::from(bytes.u8()?);
    let exceptions = bytes.u8()?;
    if width > 64 {
        return None;
    }
    let packed = bytes.take((values.len() * width as usize).div_ceil(8))?;
    match width {
        0 => values.fill(0),
        1..=56 => unpack_narrow(packed, width, values),
        _ => unpack_wide(packed, width, values),
    }
    for _ in 0..exceptions {
        let place = usize::from(bytes.u8()?);
        let high = bytes.u64()?;
        let shifted = high.checked_shl(width)?;
        if shifted >> width != high {
            return None;
        }
        *values.get_mut(place)? |= shifted;
    }
    Some(width == 0 && exceptions == 0)
}

/// A number of up to 56 bits lies within the eight bytes from the one it begins in.
fn unpack_narrow(packed: &[u8], width: u32, values: &mut [u64]) {
    let mask = (1u64 << width) - 1;
    let width = width as usize;
    let load = |byte: usize| packed.get(byte..byte + 8).and_then(|eight| eight.try_into().ok());
    // The last numbers' eight bytes may end behind the column.
    let fast = if packed.len() < 8 { 0 } else { ((packed.len() - 8) * 8 / width + 1).min(values.len()) };
    for (at, value) in values[..fast].iter_mut().enumerate() {
        let bit = at * width;
        *value = load(bit / 8).map_or(0, u64::from_le_bytes) >> (bit % 8) & mask;
    }
    for (at, value) in values.iter_mut().enumerate().skip(fast) {
        let bit = at * width;
        let mut eight = [0; 8];
        let tail = &packed[bit / 8..(bit / 8 + 8).min(packed.len())];
        eight[..tail.len()].copy_from_slice(tail);
        *value = u64::from_le_bytes(eight) >> (bit % 8) & mask;
    }
}

fn unpack_wide(packed: &[u8], width: u32, values: &mut [u64]) {
    for (at, value) in values.iter_mut().enumerate() {
        let bit = at * width as usize;
        let mut sixteen = [0; 16];
        let tail = &packed[bit / 8..(bit / 8 + 16).min(packed.len())];
        sixteen[..tail.len()].copy_from_slice(tail);
        *value = low((u128::from_le_bytes(sixteen) >> (bit % 8)) as u64, width);
    }
}

fn low(value: u64, width: u32) -> u64 {
    if width == 64 { value } else { value & ((1 << width) - 1) }
}

fn high(value: u64, width: u32) -> u64 {
    value.checked_shr(width).unwrap_or(0)
}

/// The width that makes the column shortest. `widest`: that of its longest number.
fn best_width(values: &[u64], widest: u32) -> u32 {
    let mut count_of = [0usize; 65];
    for value in values {
        count_of[(64 - value.leading_zeros()) as usize] += 1;
    }
    let widest = widest as usize;
    let (mut best, mut least) = (widest, usize::MAX);
    let mut exceptions = 0;
    for width in (0..=widest).rev() {
        let patches: usize =
            (width + 1..=widest).map(|bits| count_of[bits] * (1 + (bits - width).div_ceil(7))).sum();
        let cost = (values.len() * width).div_ceil(8) + patches;
        if cost < least {
            (best, least) = (width, cost);
        }
        exceptions += count_of[width];
        if exceptions > MOST_EXCEPTIONS.min(values.len()) {
            break;
        }
    }
    best as u32
}

#[cfg(test)]
mod tests {
    use super::{UNIT, pack, unpack};
    use crate::varint::Bytes;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn columns_come_back(
            values in prop::collection::vec((any::<u64>(), 0u32..=64), 0..=UNIT),
            most in 0u32..=64,
        ) {
            // Most numbers are short; one in eight is as long as it wants.
            let values: Vec<u64> = values
                .into_iter()
                .enumerate()
                .map(|(at, (value, shift))| {
                    value.checked_shr(if at % 8 == 7 { shift } else { shift.max(most) }).unwrap_or(0)
                })
                .collect();
            let mut bytes = vec![];
            pack(&mut bytes, &values);
            bytes.push(77);
            let mut read = vec![1; values.len()];
            let mut rest = Bytes(&bytes);
            let zero = unpack(&mut rest, &mut read);
            prop_assert_eq!(&read, &values);
            prop_assert_eq!(zero, Some(values.iter().all(|&value| value == 0)));
            prop_assert_eq!(rest.0, &[77]);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>, count in 0..=UNIT) {
            unpack(&mut Bytes(&bytes), &mut vec![0; count]);
        }
    }

    #[test]
    fn one_long_number_does_not_widen_the_others() {
        let mut values = vec![3; UNIT];
        values[50] = 1 << 40;
        let mut bytes = vec![];
        pack(&mut bytes, &values);
        assert!(bytes.len() < 2 + UNIT * 2 / 8 + 10, "{}", bytes.len());
    }
}
