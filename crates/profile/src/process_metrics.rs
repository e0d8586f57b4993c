//! What readings of whole processes add to the metrics.

use crate::{ContextId, LocationId, Metric, Profile, Value};

/// Calls `add` with what was read of each process, at the program and the process's first location; `has`
/// says which samples of processes are wanted. Peaks are those of whole processes, and only given of these.
pub fn each_reading(
    profile: &Profile,
    is_whole: bool,
    has: impl Fn(u64, LocationId) -> bool,
    mut add: impl FnMut(Value),
) {
    let mut first = vec![None; profile.processes.len()];
    for (id, location) in profile.locations.iter_enumerated().rev() {
        first[location.process.index()] = Some(id);
    }
    let value = |location, metric, amount| Value { context: ContextId::PROGRAM, location, metric, amount };
    for (process, location) in profile.processes.iter().zip(&first) {
        if let (Some(peak), Some(location), true) = (process.peak_resident_bytes, *location, is_whole) {
            add(value(location, Metric::PeakResident, peak));
        }
    }
    for row in &profile.process_samples {
        if let (Some(resident), Some(location)) = (row.resident_bytes, first[row.process.index()])
            && has(row.time_ns, location)
        {
            add(value(location, Metric::Resident, resident));
        }
    }
}
