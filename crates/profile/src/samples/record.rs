//! What of a sample is stored.

use proust_streams::records::Sample;

use super::{NOT_READ, SampleRow};
use crate::by_location::{Ids, Row};
use crate::{ContextId, LocationId};

/// Flags of a record.
const TAIL: u8 = 1;
const PARTIAL: u8 = 2;
const IN_OPERATION: u8 = 4;
const BUSY_WAIT: u8 = 8;
const ATOMIC: u8 = 16;

impl Row for SampleRow {
    type Record = Sample;
    const NAME: &'static str = "sample";

    #[inline]
    fn location(&self) -> LocationId {
        self.location
    }

    #[inline]
    fn record(&self) -> Sample {
        let flag = |is: bool, flag| if is { flag } else { 0 };
        Sample {
            time_ns: self.time_ns,
            context: self.context.0,
            cpu_ns: self.cpu_ns,
            user_ns: self.user_ns,
            system_ns: self.system_ns,
            measurement_ns: self.measurement_ns,
            minor_faults: self.minor_faults,
            major_faults: self.major_faults,
            voluntary_switches: self.voluntary_switches,
            involuntary_switches: self.involuntary_switches,
            queued_us: Some(self.queued_us).filter(|&queued_us| queued_us != NOT_READ),
            processor: self.processor,
            flags: flag(self.tail, TAIL)
                | flag(self.partial, PARTIAL)
                | flag(self.in_operation, IN_OPERATION)
                | flag(self.is_busy_wait, BUSY_WAIT)
                | flag(self.is_atomic, ATOMIC),
        }
    }

    #[inline]
    fn load(location: LocationId, sample: &Sample) -> Option<SampleRow> {
        let has = |flag| sample.flags & flag != 0;
        Some(SampleRow {
            location,
            context: ContextId(sample.context),
            time_ns: sample.time_ns,
            cpu_ns: sample.cpu_ns,
            user_ns: sample.user_ns,
            system_ns: sample.system_ns,
            measurement_ns: sample.measurement_ns,
            minor_faults: sample.minor_faults,
            major_faults: sample.major_faults,
            voluntary_switches: sample.voluntary_switches,
            involuntary_switches: sample.involuntary_switches,
            queued_us: sample.queued_us.unwrap_or(NOT_READ),
            processor: sample.processor,
            tail: has(TAIL),
            partial: has(PARTIAL),
            in_operation: has(IN_OPERATION),
            is_busy_wait: has(BUSY_WAIT),
            is_atomic: has(ATOMIC),
        })
    }

    #[inline]
    fn refer(&self, ids: &mut Ids) {
        ids.context(self.context);
    }
}
