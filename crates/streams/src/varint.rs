//! Numbers in as many bytes as they need: seven bits a byte, the low ones first.

/// Appends a number.
pub(crate) fn put(bytes: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Appends a number of 64 bits.
pub(crate) fn put_u64(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// How many bytes a number takes.
pub(crate) fn length(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// Small numbers for small differences of either sign.
pub(crate) fn zigzag(difference: u64) -> u64 {
    (difference << 1) ^ ((difference as i64 >> 63) as u64)
}

/// The difference that `zigzag` was given.
pub(crate) fn unzigzag(value: u64) -> u64 {
    (value >> 1) ^ (value & 1).wrapping_neg()
}

/// Bytes that are read from the front. Every method answers `None` where they end too early or hold a number
/// that is too large.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn u8(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn u64(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for (at, &byte) in self.0.iter().enumerate().take(10) {
            let bits = u64::from(byte & 0x7f);
            if at == 9 && bits > 1 {
                return None;
            }
            value |= bits << (7 * at);
            if byte < 0x80 {
                self.0 = &self.0[at + 1..];
                return Some(value);
            }
        }
        None
    }

    pub fn u128(&mut self) -> Option<u128> {
        let mut value = 0u128;
        for (at, &byte) in self.0.iter().enumerate().take(19) {
            let bits = u128::from(byte & 0x7f);
            if at == 18 && bits > 3 {
                return None;
            }
            value |= bits << (7 * at);
            if byte < 0x80 {
                self.0 = &self.0[at + 1..];
                return Some(value);
            }
        }
        None
    }

    pub fn u32(&mut self) -> Option<u32> {
        u32::try_from(self.u64()?).ok()
    }

    /// A number that counts things of at least one byte each among the bytes that follow.
    pub fn count(&mut self) -> Option<usize> {
        usize::try_from(self.u64()?).ok().filter(|&count| count <= self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, length, put, put_u64, unzigzag, zigzag};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(narrow: u64, shift in 0u32..64, wide: u128) {
            let narrow = narrow >> shift;
            let mut bytes = vec![];
            put_u64(&mut bytes, narrow);
            prop_assert_eq!(bytes.len(), length(narrow));
            put(&mut bytes, wide);
            put(&mut bytes, u128::from(zigzag(narrow)));
            let mut read = Bytes(&bytes);
            prop_assert_eq!(read.u64(), Some(narrow));
            prop_assert_eq!(read.u128(), Some(wide));
            prop_assert_eq!(read.u64().map(unzigzag), Some(narrow));
            prop_assert!(read.0.is_empty());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let (mut narrow, mut wide) = (Bytes(&bytes), Bytes(&bytes));
            while narrow.u64().is_some() {}
            while wide.u128().is_some() {}
        }
    }
}
