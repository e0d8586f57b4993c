//! Sequences of numbers that are written once and read in order: in a spool, in as many bytes as each needs.

use std::io::Write;

use crate::source::ReadAt;
use crate::spool::{Spool, SpoolWriter, Spooled};
use crate::varint;

/// Bytes that a reader has in memory, at least.
const READ_BYTES: usize = 4096;
/// Bytes of a number at most.
const LONGEST_BYTES: usize = 10;

/// Numbers on their way into a [`Spool`].
#[derive(Debug)]
pub struct NumbersWriter {
    to: SpoolWriter,
    bytes: u64,
    /// Encoded, and not written yet.
    last: Vec<u8>,
}

impl NumbersWriter {
    /// Begins a sequence.
    pub fn new(spool: &Spool) -> NumbersWriter {
        NumbersWriter { to: spool.writer(), bytes: 0, last: Vec::new() }
    }

    /// Appends numbers: small ones take few bytes.
    #[inline]
    pub fn put(&mut self, numbers: &[u64]) {
        self.last.clear();
        numbers.iter().for_each(|&number| varint::put_u64(&mut self.last, number));
        // A spool takes everything.
        let _ = self.to.write_all(&self.last);
        self.bytes += self.last.len() as u64;
    }

    /// How many bytes the numbers so far take: from here on the next ones can be read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// All that were appended.
    pub fn finish(self) -> SpooledNumbers {
        SpooledNumbers(Some(self.to.finish()))
    }
}

/// Numbers in a [`Spool`]; none, by default.
#[derive(Debug, Default)]
pub struct SpooledNumbers(Option<Spooled>);

impl SpooledNumbers {
    /// Reads them from the first one on.
    pub fn read(&self) -> NumbersReader<'_> {
        self.read_at(0)
    }

    /// Reads them from a place on that [`NumbersWriter::bytes`] has named.
    pub fn read_at(&self, at_byte: u64) -> NumbersReader<'_> {
        let bytes = self.bytes();
        let from = self.0.as_ref().map_or(From::Nothing, From::Lent);
        NumbersReader { from, bytes, read: at_byte.min(bytes), buffer: Vec::new(), at: 0 }
    }

    /// As [`read()`](SpooledNumbers::read); they are given up when they have been read.
    pub fn into_reader(self) -> NumbersReader<'static> {
        let bytes = self.bytes();
        let from = self.0.map_or(From::Nothing, |own| From::Own(Box::new(own)));
        NumbersReader { from, bytes, read: 0, buffer: Vec::new(), at: 0 }
    }

    fn bytes(&self) -> u64 {
        self.0.as_ref().and_then(|bytes| bytes.length().ok()).unwrap_or(0)
    }
}

#[derive(Debug)]
enum From<'n> {
    Nothing,
    Lent(&'n Spooled),
    Own(Box<Spooled>),
}

/// Reads numbers in the order in which they were written. If some cannot be read from the spool's file, they
/// end there, and the spool is damaged.
#[derive(Debug)]
pub struct NumbersReader<'n> {
    from: From<'n>,
    bytes: u64,
    /// Up to here they have been in the buffer.
    read: u64,
    buffer: Vec<u8>,
    at: usize,
}

impl NumbersReader<'_> {
    fn fill(&mut self) {
        self.buffer.drain(..self.at);
        self.at = 0;
        let (have, left) = (self.buffer.len(), self.bytes - self.read);
        let more = left.min(READ_BYTES as u64) as usize;
        self.buffer.resize(have + more, 0);
        let from = match &self.from {
            From::Nothing => None,
            From::Lent(from) => Some(*from),
            From::Own(from) => Some(&**from),
        };
        let is_read =
            from.is_some_and(|from| from.read_exact_at(&mut self.buffer[have..], self.read).is_ok());
        if is_read {
            self.read += more as u64;
        } else {
            self.buffer.truncate(have);
            self.bytes = self.read;
        }
    }
}

impl Iterator for NumbersReader<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.buffer.len() - self.at < LONGEST_BYTES && self.read < self.bytes {
            self.fill();
        }
        let mut rest = varint::Bytes(self.buffer.get(self.at..)?);
        let before = rest.0.len();
        let number = rest.u64()?;
        self.at += before - rest.0.len();
        Some(number)
    }
}

/// A number that is small where two others are near to each other, whichever is larger.
#[inline]
pub fn near(number: u64, other: u64) -> u64 {
    varint::zigzag(number.wrapping_sub(other))
}

/// The number of which `near` is what [`near()`] made.
#[inline]
pub fn far(near: u64, other: u64) -> u64 {
    other.wrapping_add(varint::unzigzag(near))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::spool::Budget;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn numbers_are_read_as_they_were_written_whatever_the_budget(
            numbers in prop::collection::vec((any::<u64>(), 0_u32..64), 0..30_000),
            budget_bytes in 0_u64..200_000,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let spool = Spool::new(folder.path(), Budget::new(budget_bytes));
            let numbers: Vec<u64> = numbers.iter().map(|(number, bits)| number >> bits).collect();
            let mut writer = NumbersWriter::new(&spool);
            let mut places = Vec::new();
            for some in numbers.chunks(7) {
                places.push(writer.bytes());
                writer.put(some);
            }
            let written = writer.finish();
            let at_places = places.iter().map(|&at| written.read_at(at).take(7));
            prop_assert_eq!(at_places.flatten().collect::<Vec<_>>(), numbers.clone());
            prop_assert_eq!(written.read().collect::<Vec<_>>(), numbers.clone());
            prop_assert_eq!(written.into_reader().collect::<Vec<_>>(), numbers);
            prop_assert_eq!(SpooledNumbers::default().read().next(), None);
        }

        #[test]
        fn what_is_near_comes_back(number: u64, other: u64) {
            prop_assert_eq!(far(near(number, other), other), number);
            prop_assert_eq!(near(other, other), 0);
        }
    }
}
