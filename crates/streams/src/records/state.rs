//! States: what a location was doing, without gaps while it lived.

use super::narrow;
use crate::record::{Column, Key, Kind, MAX_COLUMNS, Record, Summed, Times};

/// The accounts of a state's parts, by position in [`State::parts_ns`]. A caller that has accounts of its own
/// for them maps these; no state may have them as its account.
pub const PART_ACCOUNTS: [u8; 4] = [0xf0, 0xf1, 0xf2, 0xf3];

/// A stretch of time that a location spent in one state and one context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// When it began, ns.
    pub begin_ns: u64,
    /// When it ended, ns.
    pub end_ns: u64,
    /// What the location was doing, and where.
    pub key: Key,
    /// Bits that do not change what its time is summed by, such as being in a parallel region.
    pub flags: u8,
    /// Time of other kinds within it, without a place of its own: inside the measurement, without a
    /// processor, in page faults, in work that repeats that of others. At most its length in all.
    pub parts_ns: [u64; 4],
}

impl Record for State {
    const KIND: Kind = Kind(1);
    const VERSION: u8 = 2;
    const TIMES: Times = Times::Exclusive;
    const COLUMNS: &'static [Column] = &[
        Column::Dictionary, // key
        Column::Dictionary, // flags
        Column::Number,     // parts
        Column::Number,
        Column::Number,
        Column::Number,
    ];

    #[inline]
    fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    #[inline]
    fn end_ns(&self) -> u64 {
        self.end_ns
    }

    #[inline]
    fn store(&self, values: &mut [u64; MAX_COLUMNS]) {
        values[0] = self.key.number();
        values[1] = u64::from(self.flags);
        values[2..6].copy_from_slice(&self.parts_ns);
    }

    #[inline]
    fn load(begin_ns: u64, end_ns: u64, values: &[u64; MAX_COLUMNS]) -> Option<State> {
        let parts_ns = [values[2], values[3], values[4], values[5]];
        let parts = parts_ns.iter().try_fold(0u64, |sum, &part| sum.checked_add(part))?;
        (parts <= end_ns - begin_ns).then_some(State {
            begin_ns,
            end_ns,
            key: Key::from_number(values[0])?,
            flags: narrow(values[1])?,
            parts_ns,
        })
    }
}

impl Summed for State {
    const KEY_COLUMN: usize = 0;
    const PARTS: &'static [(usize, u8)] =
        &[(2, PART_ACCOUNTS[0]), (3, PART_ACCOUNTS[1]), (4, PART_ACCOUNTS[2]), (5, PART_ACCOUNTS[3])];

    fn key(&self) -> Key {
        self.key
    }

    fn part_ns(&self, part: usize) -> u64 {
        self.parts_ns[part]
    }
}
