//! Where waits for the work of others are.

use std::collections::BTreeMap;

use proust_profile::{FunctionId, Ns};

use super::event_loops::place_of_wait;
use super::facts::Facts;
use super::handovers::Wait;
use super::place::Place;

/// A function and a line in it.
type Line = (Option<FunctionId>, Option<u32>);

/// Waits by where they are, with their sum.
pub(super) fn by_place<'w>(facts: &Facts<'_>, waits: &'w [Wait]) -> BTreeMap<Line, (Ns, Vec<&'w Wait>)> {
    let mut by_place: BTreeMap<Line, (Ns, Vec<&Wait>)> = BTreeMap::new();
    for wait in waits {
        let (sum, all) = by_place.entry(facts.places.line_key(wait.1)).or_default();
        *sum += wait.2.waited;
        all.push(wait);
    }
    by_place
}

/// Where these are, which are at one place; None if there are none.
pub(super) fn place_of(facts: &Facts<'_>, there: &[&Wait]) -> Option<Place> {
    let (context, location) = there.iter().map(|wait| (wait.1, wait.0)).min()?;
    let context = place_of_wait(facts, location, context);
    Some(facts.located(facts.places.place(context), there.iter().map(|wait| wait.0)))
}
