//! The operations that were recorded alone, met in the order of time, as the sweep meets the waits that they
//! are.

use super::evidence::{Done, Evidence};
use crate::ledger::WaitCharge;

/// Those of all locations; each location's are read when it is first asked for.
pub(super) struct Singles<'e> {
    evidence: &'e Evidence<'e>,
    of: Vec<Option<OfLocation<'e>>>,
}

struct OfLocation<'e> {
    rest: Box<dyn Iterator<Item = Done> + 'e>,
    current: Option<Done>,
}

impl<'e> Singles<'e> {
    pub(super) fn new(evidence: &'e Evidence<'e>) -> Singles<'e> {
        Singles { evidence, of: evidence.profile.locations.iter().map(|_| None).collect() }
    }

    /// The operation that a wait is; None if it is a part of a sum, or was seen by samples only. Waits of a
    /// location are asked for in their order.
    pub(super) fn find(&mut self, charge: &WaitCharge) -> Option<&Done> {
        let evidence = self.evidence;
        let of = self.of.get_mut(charge.location.index())?.get_or_insert_with(|| {
            let mut rest = Box::new(evidence.of(charge.location).filter(|done| !done.row.summed));
            OfLocation { current: rest.next(), rest }
        });
        let start_ns = charge.window.start_ns;
        while of.current.as_ref().is_some_and(|done| done.row.end_ns <= start_ns) {
            of.current = of.rest.next();
        }
        let is_it = |done: &&Done| done.row.begin_ns <= start_ns && done.row.context == charge.context;
        of.current.as_ref().filter(is_it)
    }
}
