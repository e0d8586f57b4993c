//! How much of a wait at a barrier of OpenMP lies behind the arrival of the last thread. From there on there
//! is nothing to wait for: a thread that does not go on wants a processor, also if it spun before.
//!
//! It is known for all waits of a thread at a site together, not for each; a wait is taken to be divided as
//! they are.

use proust_profile::{ContextId, EventRow, FunctionId, LocationId, OperationId, Profile};
use rustc_hash::FxHashMap;

/// A place in the source: the same one on all call paths.
type Site = (Option<FunctionId>, Option<u32>);

/// Σ of the waits of a thread at a site, and of the parts of them behind the last arrival, ns.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    wait_ns: u64,
    latency_ns: u64,
}

/// Those of all threads.
#[derive(Debug)]
pub(super) struct Latencies<'p> {
    profile: &'p Profile,
    sums: FxHashMap<(LocationId, OperationId, Site), Sums>,
}

impl<'p> Latencies<'p> {
    pub(super) fn of(profile: &'p Profile) -> Latencies<'p> {
        let mut all = Latencies { profile, sums: FxHashMap::default() };
        for row in profile.segments.iter().filter(|row| row.latency_ns > 0) {
            let sums = all.sums.entry((row.location, row.operation, all.site(row.context))).or_default();
            sums.wait_ns = sums.wait_ns.saturating_add(row.wait_ns);
            sums.latency_ns = sums.latency_ns.saturating_add(row.latency_ns.min(row.wait_ns));
        }
        all
    }

    fn site(&self, context: ContextId) -> Site {
        self.profile.contexts.get(context).map_or((None, None), |context| (context.function, context.line))
    }

    /// The part of a wait behind the last arrival, ns; 0 where that is not known.
    pub(super) fn of_event(&self, event: &EventRow) -> u64 {
        if self.sums.is_empty() {
            return 0;
        }
        let sums = self.sums.get(&(event.location, event.operation, self.site(event.context)));
        sums.map_or(0, |sums| {
            let latency_ns =
                u128::from(event.time_ns) * u128::from(sums.latency_ns) / u128::from(sums.wait_ns.max(1));
            latency_ns.min(u128::from(event.time_ns)) as u64
        })
    }
}
