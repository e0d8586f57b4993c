//! From rows to amounts per context and location.

use rustc_hash::FxHashMap as Map;

use proust_profile::{ContextId, EventRow, LocationId, Metric, Nature, Profile, SampleRow, Unit, Value};

use proust_profile::event_metrics::{EVENT_METRICS, amounts_of_event};
use proust_profile::mpi_metrics::each_amount;

/// What samples count into.
const SAMPLE_METRICS: usize = 10;

/// The metrics that rows add to, sorted as a profile has them: first those of samples, then those of events,
/// and one of samples again.
const METRICS: [Metric; SAMPLE_METRICS + EVENT_METRICS.len() + 1] = [
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
    EVENT_METRICS[0],
    EVENT_METRICS[1],
    EVENT_METRICS[2],
    EVENT_METRICS[3],
    EVENT_METRICS[4],
    EVENT_METRICS[5],
    EVENT_METRICS[6],
    Metric::BusyWait,
];
const BUSY_WAIT: usize = METRICS.len() - 1;

/// Amounts in the order of [`METRICS`]; times in nanoseconds, squares in square microseconds, of which 64
/// bits hold enough.
type Amounts = [u64; METRICS.len()];

/// Adds what calls of MPI amount to; the profile has its rows.
pub(super) fn add_mpi(profile: &mut Profile) {
    let mut sums: Map<(ContextId, LocationId, Metric), f64> = Map::default();
    each_amount(
        profile,
        |_| true,
        |context, location, metric, amount| {
            *sums.entry((context, location, metric)).or_default() += amount;
        },
    );
    if !sums.is_empty() {
        let value = |((context, location, metric), amount)| Value { context, location, metric, amount };
        profile.values.extend(sums.into_iter().map(value));
        profile.values.sort_by_key(|value| (value.context, value.location, value.metric));
    }
}

const NONE: u32 = u32::MAX;

/// Sums rows up, location by location.
pub(super) struct Sums {
    /// For the current location: the context's position in `current`.
    slots: Vec<u32>,
    current: Vec<(ContextId, Amounts)>,
    all: Vec<(ContextId, LocationId, Amounts)>,
}

/// What a row adds to each of the samples' [`METRICS`].
#[inline]
fn amounts(row: &SampleRow) -> [u64; SAMPLE_METRICS] {
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
        let sums = self.of(row.context);
        for (sum, amount) in sums.iter_mut().zip(amounts(row)) {
            *sum = sum.saturating_add(amount);
        }
        if row.is_busy_wait {
            sums[BUSY_WAIT] = sums[BUSY_WAIT].saturating_add(row.cpu_ns);
        }
    }

    /// Adds an operation of this nature.
    #[inline]
    pub(super) fn add_event(&mut self, nature: Option<Nature>, event: &EventRow) {
        let sums = self.of(event.context);
        for (sum, amount) in sums[SAMPLE_METRICS..].iter_mut().zip(amounts_of_event(nature, event)) {
            *sum = sum.saturating_add(amount);
        }
    }

    /// The sums of a context at the current location.
    #[inline]
    fn of(&mut self, id: ContextId) -> &mut Amounts {
        let context = id.index();
        if self.slots.len() <= context {
            self.slots.resize(context + 1, NONE);
        }
        let slot = &mut self.slots[context];
        if *slot == NONE {
            *slot = self.current.len() as u32;
            self.current.push((id, [0; METRICS.len()]));
        }
        &mut self.current[*slot as usize].1
    }

    /// All rows of `location` have been added.
    pub(super) fn finish_location(&mut self, location: LocationId) {
        for (context, sums) in self.current.drain(..) {
            if let Some(slot) = self.slots.get_mut(context.index()) {
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
                        Unit::SECONDS => 1e9,
                        Unit::SECONDS_SQUARED => 1e12,
                        _ => 1.0,
                    };
                    values.push(Value { context, location, metric, amount: sum as f64 / scale });
                }
            }
        }
        values
    }
}
