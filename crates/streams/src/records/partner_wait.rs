//! Waits of calls for their partners, by their begins.

use super::narrow;
use crate::record::{Column, Kind, MAX_COLUMNS, Record, Times};

/// A wait for another location.
///
/// It is stored as the instant at which it began: all readers want waits in that order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartnerWait {
    /// When it began, ns.
    pub begin_ns: u64,
    /// When the partner arrived, ns: not before `begin_ns`.
    pub until_ns: u64,
    /// The caller.
    pub context: u32,
    /// Which function was called, by the caller's numbers.
    pub operation: u32,
    /// Why, by the caller's numbers.
    pub pattern: u8,
    /// The location that arrived.
    pub late: u32,
    /// Its caller.
    pub late_context: u32,
    /// The part of it that could have been filled, ns.
    pub misordered_ns: u64,
    /// Bytes of the message.
    pub bytes: u64,
}

impl Record for PartnerWait {
    const KIND: Kind = Kind(8);
    const VERSION: u8 = 1;
    const TIMES: Times = Times::Instants;
    const COLUMNS: &'static [Column] = &[
        Column::Number,     // begin to end
        Column::Dictionary, // the caller
        Column::Dictionary, // operation
        Column::Dictionary, // pattern
        Column::Dictionary, // the late location
        Column::Dictionary, // its caller
        Column::Number,     // what could have been filled
        Column::Number,     // bytes
    ];

    #[inline]
    fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    #[inline]
    fn end_ns(&self) -> u64 {
        self.begin_ns
    }

    #[inline]
    fn store(&self, values: &mut [u64; MAX_COLUMNS]) {
        values[0] = self.until_ns.wrapping_sub(self.begin_ns);
        values[1] = u64::from(self.context);
        values[2] = u64::from(self.operation);
        values[3] = u64::from(self.pattern);
        values[4] = u64::from(self.late);
        values[5] = u64::from(self.late_context);
        values[6] = self.misordered_ns;
        values[7] = self.bytes;
    }

    #[inline]
    fn load(begin_ns: u64, _: u64, values: &[u64; MAX_COLUMNS]) -> Option<PartnerWait> {
        Some(PartnerWait {
            begin_ns,
            until_ns: begin_ns.wrapping_add(values[0]),
            context: narrow(values[1])?,
            operation: narrow(values[2])?,
            pattern: narrow(values[3])?,
            late: narrow(values[4])?,
            late_context: narrow(values[5])?,
            misordered_ns: values[6],
            bytes: values[7],
        })
    }
}
