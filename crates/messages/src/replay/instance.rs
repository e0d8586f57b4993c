//! A collective in the replay, while members have not arrived or not gone on.

use std::collections::hash_map::OccupiedEntry;

use super::step::Arrival;
use crate::call::Collective;

/// A collective at which some have arrived.
pub(super) struct Instance {
    kind: Collective,
    /// Of a scan: when each member arrived in the replay.
    pub(super) arrived_ns: Vec<Option<u64>>,
    /// When the root did.
    pub(super) root_ns: Option<u64>,
    /// Members that have not arrived.
    pub(super) missing: u32,
    pub(super) last_ns: u64,
    /// Members that have not gone on.
    pub(super) depending: u32,
    pub(super) waiting: Vec<usize>,
}

/// One member of it needs nothing of it any more.
pub(super) fn gone_on(mut instance: OccupiedEntry<'_, u64, Instance>) {
    instance.get_mut().depending -= 1;
    if instance.get().depending == 0 && instance.get().missing == 0 {
        instance.remove();
    }
}

impl Instance {
    pub(super) fn of(arrival: &Arrival) -> Instance {
        let &Arrival { kind, members, depending, .. } = arrival;
        Instance {
            kind,
            arrived_ns: if kind == Collective::Scan { vec![None; members as usize] } else { Vec::new() },
            root_ns: None,
            missing: members,
            last_ns: 0,
            depending,
            waiting: Vec::new(),
        }
    }

    /// When what a member depends on has happened; None = it has not yet.
    pub(super) fn known_ns(&self, member: u32) -> Option<u64> {
        match self.kind {
            Collective::Barrier | Collective::AllToAll | Collective::AllToOne => {
                (self.missing == 0).then_some(self.last_ns)
            }
            Collective::OneToAll => self.root_ns,
            Collective::Scan => {
                let before = self.arrived_ns.get(..member as usize).unwrap_or_default();
                before.iter().try_fold(0, |last, arrived| arrived.map(|ns| u64::max(last, ns)))
            }
            Collective::Loose | Collective::Neighbours => Some(0),
        }
    }
}
