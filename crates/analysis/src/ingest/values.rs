//! From rows to amounts per context and location.

use proust_profile::{ContextId, LocationId, Metric, SampleRow, Value};

/// The metrics that rows add to, sorted as a profile has them.
const METRICS: [Metric; 10] = [
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
];

/// Amounts in the order of [`METRICS`]; times in nanoseconds, squares in square microseconds, of which 64 bits
/// hold enough.
type Amounts = [u64; METRICS.len()];

const NONE: u32 = u32::MAX;

/// Sums rows up, location by location.
pub(super) struct Sums {
    /// For the current location: the context's position in `current`.
    slots: Vec<u32>,
    current: Vec<(ContextId, Amounts)>,
    all: Vec<(ContextId, LocationId, Amounts)>,
}

/// What a row adds to each of [`METRICS`].
#[inline]
fn amounts(row: &SampleRow) -> Amounts {
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
        if row.tail { 0 } else { (row.cpu_ns / 1000).saturating_mul(row.cpu_ns / 1000) },
    ]
}

impl Sums {
    pub(super) fn new() -> Sums {
        Sums { slots: Vec::new(), current: Vec::new(), all: Vec::new() }
    }

    #[inline]
    pub(super) fn add(&mut self, row: &SampleRow) {
        let context = row.context as usize;
        if self.slots.len() <= context {
            self.slots.resize(context + 1, NONE);
        }
        let Some(slot) = self.slots.get_mut(context) else { return };
        if *slot == NONE {
            *slot = self.current.len() as u32;
            self.current.push((row.context, [0; METRICS.len()]));
        }
        if let Some((_, sums)) = self.current.get_mut(*slot as usize) {
            for (sum, amount) in sums.iter_mut().zip(amounts(row)) {
                *sum = sum.saturating_add(amount);
            }
        }
    }

    /// All rows of `location` have been added.
    pub(super) fn finish_location(&mut self, location: LocationId) {
        for (context, sums) in self.current.drain(..) {
            if let Some(slot) = self.slots.get_mut(context as usize) {
                *slot = NONE;
            }
            self.all.push((context, location, sums));
        }
    }

    /// The amounts that are not zero, sorted as a profile has them.
    pub(super) fn finish(mut self) -> Vec<Value> {
        self.all.sort_unstable_by_key(|&(context, location, _)| (context, location));
        let mut values = Vec::with_capacity(self.all.len() * 3);
        for (context, location, sums) in self.all {
            for (metric, sum) in METRICS.into_iter().zip(sums) {
                if sum > 0 {
                    let scale = match metric.unit() {
                        "s" => 1e9,
                        "s²" => 1e12,
                        _ => 1.0,
                    };
                    values.push(Value { context, location, metric, amount: sum as f64 / scale });
                }
            }
        }
        values
    }
}
