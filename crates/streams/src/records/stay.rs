//! Stays in parallel regions, by their begins.

use super::narrow;
use crate::record::{Column, Kind, MAX_COLUMNS, Record, Times};

/// A location's part of one execution of a region.
///
/// It is stored as the instant at which it begins. All readers want stays in the order of their begins, and
/// in a stream by ends a stay in an outer region would come after all those inside of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stay {
    /// When the location began its part, ns.
    pub begin_ns: u64,
    /// When it had done it, before it waited for the others, ns.
    pub end_ns: u64,
    /// When the region was opened, ns: not after `begin_ns`.
    pub fork_ns: u64,
    /// Which region, by the caller's numbers.
    pub region: u32,
    /// The location's number in the team.
    pub number: u32,
    /// Threads in the team; 0 = not known.
    pub team: u32,
}

impl Record for Stay {
    const KIND: Kind = Kind(5);
    const VERSION: u8 = 2;
    const TIMES: Times = Times::Instants;
    const COLUMNS: &'static [Column] = &[
        Column::Number,     // fork to begin
        Column::Number,     // begin to end
        Column::Dictionary, // region
        Column::Dictionary, // number
        Column::Dictionary, // team
    ];

    #[inline]
    fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    #[expect(clippy::misnamed_getters, reason = "it is stored as the instant at which it begins")]
    #[inline]
    fn end_ns(&self) -> u64 {
        self.begin_ns
    }

    #[inline]
    fn store(&self, values: &mut [u64; MAX_COLUMNS]) {
        values[0] = self.begin_ns.wrapping_sub(self.fork_ns);
        values[1] = self.end_ns.wrapping_sub(self.begin_ns);
        values[2] = u64::from(self.region);
        values[3] = u64::from(self.number);
        values[4] = u64::from(self.team);
    }

    #[inline]
    fn load(begin_ns: u64, _: u64, values: &[u64; MAX_COLUMNS]) -> Option<Stay> {
        Some(Stay {
            begin_ns,
            end_ns: begin_ns.wrapping_add(values[1]),
            fork_ns: begin_ns.wrapping_sub(values[0]),
            region: narrow(values[2])?,
            number: narrow(values[3])?,
            team: narrow(values[4])?,
        })
    }
}
