//! Which code lies between parallel regions of OpenMP, and which threads execute it.

use std::collections::BTreeSet;

use proust_profile::{ContextId, Detail, LocationId, Profile};

use proust_profile::event_metrics::Operations;

/// The parallel regions of a run.
#[derive(Debug)]
pub(super) struct Regions {
    /// Whether a context lies in or below one.
    inside: Vec<bool>,
    /// Whether a context lies in or below one whose work is handed out on demand: by tasks, or in chunks.
    handed_out: Vec<bool>,
    /// Threads that were members of teams.
    members: BTreeSet<LocationId>,
}

impl Regions {
    /// Those of a run; None if no team had more than one thread.
    pub(super) fn of(profile: &Profile, operations: &Operations) -> Option<Regions> {
        let teams = profile.segments.iter().filter(|row| row.team_max > 1);
        let members: BTreeSet<LocationId> = teams.map(|row| row.location).collect();
        if members.is_empty() {
            return None;
        }
        let below = |mut of: Vec<bool>| {
            for id in 0..of.len() {
                of[id] |= profile.contexts[ContextId::from_index(id)]
                    .parent
                    .is_some_and(|parent| of[parent.index()]);
            }
            of
        };
        let mut inside = vec![false; profile.contexts.len()];
        for region in &profile.regions {
            inside[region.context.index()] = true;
        }
        let mut handed_out = vec![false; profile.contexts.len()];
        let hands_out = |operation| {
            let kind = operations.get(operation);
            matches!(kind.map(|kind| kind.detail), Some(Detail::Task | Detail::Dispatch))
        };
        for row in profile.segments.iter().filter(|row| hands_out(row.operation)) {
            handed_out[profile.regions[row.region].context.index()] = true;
        }
        Some(Regions { inside: below(inside), handed_out: below(handed_out), members })
    }

    /// Whether a context lies in a region whose work is handed out on demand.
    pub(super) fn is_handed_out(&self, context: ContextId) -> bool {
        self.handed_out[context.index()]
    }

    /// Whether a thread that has teams is in a region there whose work is divided beforehand: no thread waits
    /// for a portion of it.
    pub(super) fn is_divided(&self, location: LocationId, context: ContextId) -> bool {
        self.members.contains(&location) && self.inside[context.index()] && !self.handed_out[context.index()]
    }

    /// Whether a thread that has teams is outside of all regions there.
    pub(super) fn is_between(&self, location: LocationId, context: ContextId) -> bool {
        self.members.contains(&location) && !self.inside[context.index()]
    }
}
