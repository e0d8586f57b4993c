//! The samples at which locations computed, by ranges of time that mostly move forward.

use proust_profile::{ContextId, LocationId, SampleRow};

use super::evidence::Evidence;
use super::lately::Lately;
use crate::ledger::{Lasting, Window};

/// So many samples of a location are kept behind the last range.
const KEPT: usize = 256;

/// A sample outside of operations.
#[derive(Clone, Copy)]
struct Sampled {
    time_ns: u64,
    context: ContextId,
    cpu_ns: u64,
}

impl Lasting for Sampled {
    fn window(&self) -> Window {
        Window::new(self.time_ns, self.time_ns)
    }
}

/// Looks up where locations computed.
pub(super) struct Computing<'e> {
    evidence: &'e Evidence<'e>,
    locations: Vec<Option<Lately<'e, Sampled>>>,
}

impl<'e> Computing<'e> {
    pub(super) fn new(evidence: &'e Evidence<'e>) -> Computing<'e> {
        Computing { evidence, locations: evidence.profile.locations.iter().map(|_| None).collect() }
    }

    /// The contexts of the samples of a location behind one instant and up to another, each with its weight.
    pub(super) fn within(
        &mut self,
        location: LocationId,
        from_ns: u64,
        to_ns: u64,
    ) -> impl Iterator<Item = (ContextId, f64)> {
        let samples = &self.evidence.profile.samples;
        let computes = |row: &SampleRow| !row.tail && !row.in_operation;
        let sampled =
            |row: SampleRow| Sampled { time_ns: row.time_ns, context: row.context, cpu_ns: row.cpu_ns };
        let lately = self.locations[location.index()].get_or_insert_with(|| {
            Lately::new(KEPT, move |after_ns| {
                samples.ending_after(location, after_ns).filter(computes).map(sampled)
            })
        });
        let within = lately.between(from_ns, to_ns.saturating_add(1));
        within.map(|sampled| (sampled.context, sampled.cpu_ns as f64))
    }
}
