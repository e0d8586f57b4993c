//! What late ranks did while others waited for them, by the kind of these waits and by function.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{ContextId, FunctionId, LocationId, Ns};
use rustc_hash::FxHashMap;

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
