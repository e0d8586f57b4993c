//! Events: operations with exact begin and end, which may contain others.

use super::{from_optional, narrow, optional};
use crate::record::{Column, Kind, MAX_COLUMNS, Record, Times};

/// One operation, or the sum of short ones of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// When it began, ns; of a sum: the first.
    pub begin_ns: u64,
    /// When it ended, ns; of a sum: the last.
    pub end_ns: u64,
    /// Time in it, ns: from begin to end, of a sum less.
    pub time_ns: u64,
    /// How many operations of its location enclose it.
    pub depth: u16,
    /// The caller.
    pub context: u32,
    /// Which function was called, by the caller's numbers.
    pub operation: u32,
    /// The target of its descriptor, by the caller's numbers.
    pub target: u8,
    /// How many operations these are.
    pub calls: u32,
    /// How many of them failed.
    pub errors: u32,
    /// Bytes moved.
    pub bytes: u64,
    /// The location's CPU clock at its end, ns, where it was read.
    pub cpu_clock_ns: Option<u64>,
    /// What was waited for or used; 0 = nothing.
    pub object: u64,
    /// A second object; 0 = none.
    pub object2: u64,
    /// Bits by the caller's numbers: summed, left, open.
    pub flags: u8,
}

impl Record for Event {
    const KIND: Kind = Kind(2);
    const VERSION: u8 = 1;
    const TIMES: Times = Times::Nested;
    const COLUMNS: &'static [Column] = &[
        Column::Dictionary, // the caller
        Column::Dictionary, // operation, target, flags, depth
        Column::Dictionary, // object
        Column::Dictionary, // object2
        Column::Number,     // length that is not time in it
        Column::Dictionary, // calls
        Column::Number,     // errors
        Column::Number,     // bytes
        Column::Difference, // CPU clock
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
    fn depth(&self) -> u32 {
        u32::from(self.depth)
    }

    #[inline]
    fn store(&self, values: &mut [u64; MAX_COLUMNS]) {
        let what = u64::from(self.depth) << 48 | u64::from(self.flags) << 40 | u64::from(self.target) << 32;
        values[0] = u64::from(self.context);
        values[1] = what | u64::from(self.operation);
        values[2] = self.object;
        values[3] = self.object2;
        values[4] = (self.end_ns - self.begin_ns).wrapping_sub(self.time_ns);
        values[5] = u64::from(self.calls);
        values[6] = u64::from(self.errors);
        values[7] = self.bytes;
        values[8] = optional(self.cpu_clock_ns);
    }

    #[inline]
    fn load(begin_ns: u64, end_ns: u64, values: &[u64; MAX_COLUMNS]) -> Option<Event> {
        Some(Event {
            begin_ns,
            end_ns,
            time_ns: (end_ns - begin_ns).wrapping_sub(values[4]),
            depth: (values[1] >> 48) as u16,
            flags: (values[1] >> 40) as u8,
            target: (values[1] >> 32) as u8,
            operation: values[1] as u32,
            context: narrow(values[0])?,
            object: values[2],
            object2: values[3],
            calls: narrow(values[5])?,
            errors: narrow(values[6])?,
            bytes: values[7],
            cpu_clock_ns: from_optional(values[8]),
        })
    }
}
