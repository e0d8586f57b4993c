//! What late ranks did while others waited for them, by the kind of these waits and by function.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{ContextId, FunctionId, LocationId, Ns};
use rustc_hash::FxHashMap;

use super::super::facts::Facts;
use super::sites::Site;

/// What late ranks did in one function while others waited for them.
#[derive(Debug, Default)]
pub(super) struct Late {
    pub by_location: BTreeMap<LocationId, Ns>,
    pub contexts: FxHashMap<ContextId, Ns>,
    pub victims: Vec<(LocationId, ContextId, Ns)>,
    pub sites: BTreeSet<Site>,
    /// Waited for them while they had no processor.
    pub displaced: Ns,
}

/// By position in [`KINDS`] and function.
pub(super) type Groups = BTreeMap<(usize, Option<FunctionId>), Late>;

impl Late {
    /// What others waited because the ranks had more to do.
    pub(super) fn lost(&self) -> Ns {
        self.by_location.values().sum()
    }

    /// Of the waiting for these ranks, the part in which they had a processor.
    pub(super) fn on_processor(&self) -> f64 {
        self.lost() / (self.lost() + self.displaced).max(Ns::SHORTEST)
    }

    /// Of the waiting for these ranks, the part that is for what they had more to do ([`excess`]).
    pub(super) fn excess(&self, facts: &Facts<'_>) -> f64 {
        excess(facts, &self.by_location, self.displaced)
    }

    pub(super) fn add(&mut self, more: &Late) {
        for (&location, &time) in &more.by_location {
            *self.by_location.entry(location).or_default() += time;
        }
        for (&context, &time) in &more.contexts {
            *self.contexts.entry(context).or_default() += time;
        }
        self.victims.extend(&more.victims);
        self.sites.extend(&more.sites);
        self.displaced += more.displaced;
    }
}

/// Of the waiting for ranks, the part that is for what they did, by rank; `displaced` is waiting for ranks
/// that had no processor.
///
/// Whoever has more to do on a busy machine has no processor more often, too: as often as in the rest of its
/// time. Only what goes beyond that may have made the rank late by itself.
fn excess(facts: &Facts<'_>, did: &BTreeMap<LocationId, Ns>, displaced: Ns) -> f64 {
    let stretch = |location: LocationId| -> f64 {
        facts.queued(location) / facts.profile.locations[location].cpu.max(Ns::SHORTEST)
    };
    let expected: Ns = did.iter().map(|(&location, &time)| time * stretch(location)).sum();
    let beyond = (displaced - expected).max(Ns::ZERO);
    let all: Ns = did.values().sum();
    all / (all + beyond).max(Ns::SHORTEST)
}
