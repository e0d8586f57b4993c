//! Samples: advances of a location's CPU clock.

use super::{from_optional, narrow, optional};
use crate::record::{Column, Kind, MAX_COLUMNS, Record, Times};

/// One sample, or CPU time without a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// When, ns.
    pub time_ns: u64,
    /// Where in the program.
    pub context: u32,
    /// CPU time since the location's previous one, ns.
    pub cpu_ns: u64,
    /// Of it in user mode, ns.
    pub user_ns: u64,
    /// Of it in the kernel, ns.
    pub system_ns: u64,
    /// Of it inside the measurement, ns.
    pub measurement_ns: u64,
    /// Page faults without I/O since the previous one.
    pub minor_faults: u32,
    /// Page faults with I/O since the previous one.
    pub major_faults: u32,
    /// Voluntary context switches since the previous one.
    pub voluntary_switches: u32,
    /// Involuntary context switches since the previous one.
    pub involuntary_switches: u32,
    /// Time in the run queue since it was last read, µs, where it was.
    pub queued_us: Option<u32>,
    /// Processor number.
    pub processor: u16,
    /// Bits by the caller's numbers: tail, partial path, in an operation.
    pub flags: u8,
}

impl Record for Sample {
    const KIND: Kind = Kind(3);
    const VERSION: u8 = 1;
    const TIMES: Times = Times::Instants;
    const COLUMNS: &'static [Column] = &[
        Column::Dictionary, // context
        Column::Dictionary, // processor, flags
        Column::Number,     // CPU time
        Column::Number,     // user mode
        Column::Number,     // kernel
        Column::Number,     // measurement
        Column::Number,     // minor faults
        Column::Number,     // major faults
        Column::Number,     // voluntary switches
        Column::Number,     // involuntary switches
        Column::Number,     // run queue
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
        values[1] = u64::from(self.processor) << 8 | u64::from(self.flags);
        values[2] = self.cpu_ns;
        values[3] = self.user_ns;
        values[4] = self.system_ns;
        values[5] = self.measurement_ns;
        values[6] = u64::from(self.minor_faults);
        values[7] = u64::from(self.major_faults);
        values[8] = u64::from(self.voluntary_switches);
        values[9] = u64::from(self.involuntary_switches);
        values[10] = optional(self.queued_us.map(u64::from));
    }

    #[inline]
    fn load(begin_ns: u64, _: u64, values: &[u64; MAX_COLUMNS]) -> Option<Sample> {
        let queued_us = match from_optional(values[10]) {
            Some(queued_us) => Some(narrow(queued_us)?),
            None => None,
        };
        Some(Sample {
            time_ns: begin_ns,
            context: narrow(values[0])?,
            processor: narrow(values[1] >> 8)?,
            flags: values[1] as u8,
            cpu_ns: values[2],
            user_ns: values[3],
            system_ns: values[4],
            measurement_ns: values[5],
            minor_faults: narrow(values[6])?,
            major_faults: narrow(values[7])?,
            voluntary_switches: narrow(values[8])?,
            involuntary_switches: narrow(values[9])?,
            queued_us,
        })
    }
}
