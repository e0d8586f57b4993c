//! The operations that were recorded alone, met in the order of time, as the sweep meets the waits that they
//! are.

use proust_profile::EventRow;

use super::evidence::{Done, Evidence};
use crate::ledger::WaitCharge;

/// Those of all locations; each location's are read when it is first asked for.
pub(super) struct Singles<'e> {
    evidence: &'e Evidence<'e>,
    of: Vec<Option<OfLocation<'e>>>,
}

struct OfLocation<'e> {
    rest: Box<dyn Iterator<Item = (u32, EventRow)> + 'e>,
    current: Option<(u32, EventRow)>,
}

impl<'e> Singles<'e> {
    pub(super) fn new(evidence: &'e Evidence<'e>) -> Singles<'e> {
        Singles { evidence, of: evidence.profile.locations.iter().map(|_| None).collect() }
    }

    /// The operation that a wait is; None if it is a part of a sum, or was seen by samples only. Waits of a
    /// location are asked for in their order.
    pub(super) fn find(&mut self, charge: &WaitCharge) -> Option<Done> {
        let evidence = self.evidence;
        let of = self.of.get_mut(charge.location.index())?.get_or_insert_with(|| {
            let mut rest = Box::new(evidence.singles_of(charge.location));
            OfLocation { current: rest.next(), rest }
        });
        let start_ns = charge.window.start_ns;
        while of.current.as_ref().is_some_and(|(_, row)| row.end_ns <= start_ns) {
            of.current = of.rest.next();
        }
        let (number, row) = of.current?;
        let is_it = row.begin_ns <= start_ns && row.context == charge.context;
        is_it.then(|| evidence.done(number, row))
    }
}
