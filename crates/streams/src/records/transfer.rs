//! What calls sent and received, by their ends.

use super::narrow;
use crate::record::{Column, Kind, MAX_COLUMNS, Record, Times};

/// The messages that a call started, and the prepared collectives.
///
/// It is stored as the instant at which the call ended: nobody asks which calls lay around an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfer {
    /// When the call began, ns: not after `end_ns`.
    pub begin_ns: u64,
    /// When it ended, ns.
    pub end_ns: u64,
    /// The caller.
    pub context: u32,
    /// Which function was called, by the caller's numbers.
    pub operation: u32,
    /// Messages that were sent, received, and prepared collectives.
    pub counts: [u32; 3],
    /// Bytes of each of these.
    pub bytes: [u64; 3],
}

impl Record for Transfer {
    const KIND: Kind = Kind(7);
    const VERSION: u8 = 1;
    const TIMES: Times = Times::Instants;
    const COLUMNS: &'static [Column] = &[
        Column::Number,     // begin to end
        Column::Dictionary, // the caller
        Column::Dictionary, // operation
        Column::Dictionary, // messages sent
        Column::Dictionary, // received
        Column::Dictionary, // collectives
        Column::Number,     // bytes sent
        Column::Number,     // received
        Column::Number,     // of collectives
    ];

    #[expect(clippy::misnamed_getters, reason = "it is stored as the instant at which it ends")]
    #[inline]
    fn begin_ns(&self) -> u64 {
        self.end_ns
    }

    #[inline]
    fn end_ns(&self) -> u64 {
        self.end_ns
    }

    #[inline]
    fn store(&self, values: &mut [u64; MAX_COLUMNS]) {
        values[0] = self.end_ns.wrapping_sub(self.begin_ns);
        values[1] = u64::from(self.context);
        values[2] = u64::from(self.operation);
        for (at, (&count, &bytes)) in self.counts.iter().zip(&self.bytes).enumerate() {
            values[3 + at] = u64::from(count);
            values[6 + at] = bytes;
        }
    }

    #[inline]
    fn load(_: u64, end_ns: u64, values: &[u64; MAX_COLUMNS]) -> Option<Transfer> {
        Some(Transfer {
            begin_ns: end_ns.wrapping_sub(values[0]),
            end_ns,
            context: narrow(values[1])?,
            operation: narrow(values[2])?,
            counts: [narrow(values[3])?, narrow(values[4])?, narrow(values[5])?],
            bytes: [values[6], values[7], values[8]],
        })
    }
}
