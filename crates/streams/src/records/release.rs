//! Releases of objects for which others waited, and wakes.

use super::{from_optional, narrow, optional};
use crate::record::{Column, Kind, MAX_COLUMNS, Record, Times};

/// The release of a lock, or a wake, while other locations waited for the same object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Release {
    /// When, ns.
    pub time_ns: u64,
    /// The call path that did it.
    pub context: u32,
    /// Where the location had acquired the object, if that is known.
    pub site: Option<u32>,
    /// Which function was called, by the caller's numbers.
    pub operation: u32,
    /// The lock, condition, semaphore or futex.
    pub object: u64,
    /// How long it was held, ns; 0 = not known.
    pub held_ns: u64,
    /// The held time that this release stands for, ns.
    pub weight_ns: u64,
    /// For how long it had been held when it was released, ns, if the acquisition's time is known.
    pub since_ns: Option<u64>,
}

impl Record for Release {
    const KIND: Kind = Kind(4);
    const VERSION: u8 = 1;
    const TIMES: Times = Times::Instants;
    const COLUMNS: &'static [Column] = &[
        Column::Dictionary, // context
        Column::Dictionary, // site
        Column::Dictionary, // operation
        Column::Dictionary, // object
        Column::Number,     // held
        Column::Number,     // weight beyond it, of either sign
        Column::Number,     // acquired how long ago
    ];

    #[inline]
    fn begin_ns(&self) -> u64 {
        self.time_ns
    }

    #[inline]
    fn end_ns(&self) -> u64 {
        self.time_ns
    }

    #[inline]
    fn store(&self, values: &mut [u64; MAX_COLUMNS]) {
        values[0] = u64::from(self.context);
        values[1] = optional(self.site.map(u64::from));
        values[2] = u64::from(self.operation);
        values[3] = self.object;
        values[4] = self.held_ns;
        values[5] = crate::varint::zigzag(self.weight_ns.wrapping_sub(self.held_ns));
        values[6] = optional(self.since_ns);
    }

    #[inline]
    fn load(begin_ns: u64, _: u64, values: &[u64; MAX_COLUMNS]) -> Option<Release> {
        let site = match from_optional(values[1]) {
            Some(site) => Some(narrow(site)?),
            None => None,
        };
        Some(Release {
            time_ns: begin_ns,
            context: narrow(values[0])?,
            site,
            operation: narrow(values[2])?,
            object: values[3],
            held_ns: values[4],
            weight_ns: values[4].wrapping_add(crate::varint::unzigzag(values[5])),
            since_ns: from_optional(values[6]),
        })
    }
}
