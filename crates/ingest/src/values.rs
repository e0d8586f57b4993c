//! From rows to amounts per context and location.

use rayon::prelude::*;
use rustc_hash::FxHashMap as Map;

use proust_profile::event_metrics::{EVENT_METRICS, amounts_of_event};
use proust_profile::mpi_metrics::{calling, each_amount_of};
use proust_profile::process_metrics::each_reading;
use proust_profile::sample_metrics::{SAMPLE_METRICS, amounts_of_sample};
use proust_profile::{ContextId, EventRow, LocationId, Metric, Nature, Profile, SampleRow, Value};

/// The metrics that rows add to: first those of samples, then those of events.
const METRICS: usize = SAMPLE_METRICS.len() + EVENT_METRICS.len();

/// Amounts of samples and of events.
type Amounts = [u64; METRICS];

/// Adds what calls of MPI amount to; the profile has its rows.
pub(super) fn add_mpi(profile: &mut Profile) {
    let known = &*profile;
    let of_location = |location: LocationId| {
        let mut sums: Map<(ContextId, Metric), u64> = Map::default();
        each_amount_of(
            known,
            location,
            |_| true,
            |context, metric, amount| {
                let sum = sums.entry((context, metric)).or_default();
                *sum = sum.saturating_add(amount);
            },
        );
        let value = |((context, metric), amount)| Value { context, location, metric, amount };
        sums.into_iter().map(value).collect::<Vec<Value>>()
    };
    let values: Vec<Value> = calling(profile).into_par_iter().flat_map_iter(of_location).collect();
    if !values.is_empty() {
        profile.values.extend(values);
        profile.values.sort_by_key(|value| (value.context, value.location, value.metric));
    }
}

/// Adds what was read of whole processes; the profile has its processes, locations and their samples.
pub(super) fn add_readings(profile: &mut Profile) {
    let mut sums: Map<(LocationId, Metric), u64> = Map::default();
    each_reading(
        profile,
        true,
        |_, _| true,
        |Value { location, metric, amount, .. }| {
            let sum = sums.entry((location, metric)).or_default();
            *sum = metric.kind().followed(*sum, amount);
        },
    );
    let context = ContextId::PROGRAM;
    let value = |((location, metric), amount)| Value { context, location, metric, amount };
    profile.values.extend(sums.into_iter().map(value).filter(|value| value.amount > 0));
    profile.values.sort_by_key(|value| (value.context, value.location, value.metric));
}

const NONE: u32 = u32::MAX;

/// Sums rows up, location by location.
pub(super) struct Sums {
    /// For the current location: the context's position in `current`.
    slots: Vec<u32>,
    current: Vec<(ContextId, Amounts)>,
    all: Vec<(ContextId, LocationId, Amounts)>,
}

impl Sums {
    pub(super) fn new() -> Sums {
        Sums { slots: Vec::new(), current: Vec::new(), all: Vec::new() }
    }

    #[inline]
    pub(super) fn add(&mut self, row: &SampleRow) {
        let sums = self.of(row.context);
        for (sum, amount) in sums.iter_mut().zip(amounts_of_sample(row)) {
            *sum = sum.saturating_add(amount);
        }
    }

    /// Adds an operation of this nature.
    #[inline]
    pub(super) fn add_event(&mut self, nature: Option<Nature>, event: &EventRow) {
        let sums = self.of(event.context);
        for (sum, amount) in sums[SAMPLE_METRICS.len()..].iter_mut().zip(amounts_of_event(nature, event)) {
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
            self.current.push((id, [0; METRICS]));
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
        let mut order: Vec<(Metric, usize)> =
            SAMPLE_METRICS.into_iter().chain(EVENT_METRICS).enumerate().map(|(at, of)| (of, at)).collect();
        order.sort_unstable();
        let mut values = Vec::with_capacity(self.all.len() * 3);
        for (context, location, sums) in self.all {
            let any = order.iter().map(|&(metric, at)| (metric, sums[at])).filter(|(_, sum)| *sum > 0);
            values.extend(any.map(|(metric, amount)| Value { context, location, metric, amount }));
        }
        values
    }
}
