//! Time in calls of MPI.

use proust_profile::{ContextId, LocationId, Ns};
use rustc_hash::FxHashMap;

use super::super::facts::Facts;
use super::super::finding::Victim;

/// Time in calls by location and place.
pub(super) type Spent = FxHashMap<(LocationId, ContextId), Ns>;

/// The places of it, most first.
pub(super) fn victims(facts: &Facts<'_>, spent: &Spent) -> Vec<Victim> {
    facts.victims(spent.iter().map(|(&(location, context), &time)| (location, context, time)))
}
