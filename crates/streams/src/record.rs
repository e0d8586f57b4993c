//! What a stream consists of: records of one kind.

/// A thread, as the streams of a file know it: any number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location(pub u32);

/// The number of a kind of records, in every block. Numbers are permanent; those of types outside of this
/// crate start at 128.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(pub u8);

/// How the records of one location lie in time. In a stream they are always ordered by their ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// A record is an instant: it begins when it ends.
    Instants,
    /// Records last and do not overlap: their begins are ordered, too.
    Exclusive,
    /// Records last, and may contain others, which stand before them.
    Nested,
}

/// How the values of a column are stored. All are numbers of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// In as many bits as most of them need: counts and lengths.
    Number,
    /// As their distance from the record before: clocks and counters.
    Difference,
    /// Each different one once a block: identifiers and addresses.
    Dictionary,
}

/// Columns of a record at most, beside its times.
pub const MAX_COLUMNS: usize = 16;

/// One thing that a location recorded. Its times are on the run's clock, in nanoseconds.
pub trait Record: Copy + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// The kind's number.
    const KIND: Kind;
    /// The version of `COLUMNS` and of what they mean: a block of another version is not read.
    const VERSION: u8;
    /// How records lie in time.
    const TIMES: Times;
    /// How each value beside the times is stored; at most [`MAX_COLUMNS`].
    const COLUMNS: &'static [Column];

    /// When it began, ns.
    fn begin_ns(&self) -> u64;
    /// When it ended, ns: not before it began.
    fn end_ns(&self) -> u64;
    /// How many records of its location enclose it. Times alone cannot say which of two records encloses the
    /// other where they have an end in common.
    fn depth(&self) -> u32 {
        0
    }
    /// Its values, by column.
    fn store(&self, values: &mut [u64; MAX_COLUMNS]);
    /// The record with these times and values; `None` if there is no such record.
    fn load(begin_ns: u64, end_ns: u64, values: &[u64; MAX_COLUMNS]) -> Option<Self>;
}

/// What time is summed by: an account, or whatever a caller sorts time into, and a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The account's number.
    pub account: u8,
    /// The context's number.
    pub context: u32,
}

impl Key {
    /// The key as one number, in the same order.
    pub(crate) fn number(self) -> u64 {
        u64::from(self.account) << 32 | u64::from(self.context)
    }

    pub(crate) fn from_number(number: u64) -> Option<Key> {
        Some(Key { account: u8::try_from(number >> 32).ok()?, context: number as u32 })
    }
}

/// A record whose time is summed by key. Its times are [`Times::Exclusive`].
pub trait Summed: Record {
    /// The column that is its key as a number ([`Column::Dictionary`]).
    const KEY_COLUMN: usize;
    /// Columns of time within the record that belongs to other accounts: nanoseconds, and the account. The
    /// rest of the record's time belongs to its key.
    const PARTS: &'static [(usize, u8)];

    /// Its key.
    fn key(&self) -> Key;
    /// Nanoseconds of a part, by position in `PARTS`. All together are at most as long as the record.
    fn part_ns(&self, part: usize) -> u64;

    /// Adds the record's time between two instants, by key. The parts are spread evenly over the record, and
    /// every nanosecond of it belongs to one account: sums of adjacent ranges add up exactly.
    fn charge(&self, from_ns: u64, to_ns: u64, mut add: impl FnMut(Key, u64)) {
        let (begin, end) = (self.begin_ns(), self.end_ns());
        let (from, to) = (from_ns.clamp(begin, end), to_ns.clamp(begin, end));
        if from >= to {
            return;
        }
        let mut split = Split::new((begin, end), (from, to));
        let mut rest =
            (0..Self::PARTS.len()).fold(0, |sum: u64, part| sum.saturating_add(self.part_ns(part)));
        let all_parts = split.take(rest);
        if split.left_ns() > 0 {
            add(self.key(), split.left_ns());
        }
        split = all_parts;
        for (part, &(_, account)) in Self::PARTS.iter().enumerate() {
            let part_ns = self.part_ns(part);
            if part_ns > 0 {
                let own = split.take(part_ns);
                rest -= part_ns;
                if own.left_ns() > 0 {
                    add(Key { account, ..self.key() }, own.left_ns());
                }
                if rest == 0 {
                    break;
                }
            }
        }
    }
}

/// The nanoseconds of a record that are still to be divided, counted up to each of two instants.
#[derive(Clone, Copy)]
struct Split {
    length: u64,
    before_from: u64,
    before_to: u64,
}

impl Split {
    fn new(record: (u64, u64), range: (u64, u64)) -> Split {
        Split { length: record.1 - record.0, before_from: range.0 - record.0, before_to: range.1 - record.0 }
    }

    /// Takes some of them away, spread evenly: of the first n, ⌊n × taken ÷ length⌋. This grows by one
    /// nanosecond or none with each n, and so do those left: neither is ever negative.
    fn take(&mut self, taken: u64) -> Split {
        let of = |n: u64| {
            if n == self.length {
                taken
            } else {
                (u128::from(taken) * u128::from(n) / u128::from(self.length)) as u64
            }
        };
        let away = Split { length: taken, before_from: of(self.before_from), before_to: of(self.before_to) };
        self.length -= away.length;
        self.before_from -= away.before_from;
        self.before_to -= away.before_to;
        away
    }

    fn left_ns(&self) -> u64 {
        self.before_to - self.before_from
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, Summed};
    use crate::records::State;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn charged(state: &State, from_ns: u64, to_ns: u64) -> BTreeMap<Key, u64> {
        let mut sums = BTreeMap::new();
        state.charge(from_ns, to_ns, |key, ns| *sums.entry(key).or_default() += ns);
        sums
    }

    proptest! {
        #[test]
        fn every_nanosecond_of_a_record_belongs_to_one_account(
            lengths in [0u64..40, 0u64..40, 0u64..40, 0u64..40, 0u64..40],
            begin_ns in 0u64..100,
        ) {
            let length: u64 = lengths.iter().sum();
            let parts_ns = [lengths[1], lengths[2], lengths[3], lengths[4]];
            let state = State { begin_ns, end_ns: begin_ns + length, parts_ns, ..State::default() };
            let mut whole = BTreeMap::new();
            for at in begin_ns..state.end_ns {
                let one = charged(&state, at, at + 1);
                prop_assert_eq!(one.values().sum::<u64>(), 1);
                for (key, ns) in one {
                    *whole.entry(key).or_default() += ns;
                }
            }
            prop_assert_eq!(&charged(&state, 0, u64::MAX), &whole);
            for (part, &ns) in parts_ns.iter().enumerate() {
                let key = Key { account: crate::records::PART_ACCOUNTS[part], context: 0 };
                prop_assert_eq!(whole.get(&key).copied().unwrap_or(0), ns);
            }
        }
    }
}
