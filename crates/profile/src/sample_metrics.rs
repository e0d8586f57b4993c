//! What samples add to the metrics.

use crate::{Metric, SampleRow};

/// What samples count into.
pub const SAMPLE_METRICS: [Metric; 12] = [
    Metric::Cpu,
    Metric::User,
    Metric::System,
    Metric::Samples,
    Metric::Measurement,
    Metric::MinorFaults,
    Metric::MajorFaults,
    Metric::VoluntarySwitches,
    Metric::InvoluntarySwitches,
    Metric::CpuSquares,
    Metric::BusyWait,
    Metric::Atomic,
];

/// What a sample adds to each of [`SAMPLE_METRICS`].
#[inline]
pub fn amounts_of_sample(row: &SampleRow) -> [u64; SAMPLE_METRICS.len()] {
    let cpu_us = row.cpu_ns / 1000;
    [
        row.cpu_ns,
        row.user_ns,
        row.system_ns,
        u64::from(!row.tail),
        row.measurement_ns,
        row.minor_faults.into(),
        row.major_faults.into(),
        row.voluntary_switches.into(),
        row.involuntary_switches.into(),
        if row.tail { 0 } else { cpu_us.saturating_mul(cpu_us) },
        if row.is_busy_wait { row.cpu_ns } else { 0 },
        if row.is_atomic { row.cpu_ns } else { 0 },
    ]
}
