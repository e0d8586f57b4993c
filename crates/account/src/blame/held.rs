//! The acts of holders while they held a lock for which another location waited.
//!
//! A release says which section it was, and when. What happened in it is known two ways: operations that were
//! recorded alone lie in it from begin to end, and a sample whose instant lies in it says where the thread
//! computed then. Samples are taken at random instants, so over all sections of one place their weights are
//! in proportion to the computation there, however short each section is. So for one holder (a thread, the
//! call path that releases, where it acquired) the time in its sections that no operation takes is divided by
//! the samples in all of them; without any it stays with the call path that releases.

use proust_profile::{ContextId, EventRow};

use super::computing::Computing;
use super::evidence::Evidence;
use super::lately::Lately;
use super::releases::PlaceId;
use crate::ledger::{Lasting, Window};
use rustc_hash::FxHashMap as Map;

/// So many operations of a location are kept behind the last section: of locks with very many short sections
/// the nearest that was recorded may lie far before.
const KEPT: usize = 1024;

/// So many acts in sections are kept: a release that represents others is asked for again and again, by
/// waits that are far behind it.
const KEPT_ACTS: usize = 1 << 14;

/// What a location did in a stretch of time.
#[derive(Clone, Debug, Default)]
pub(super) struct Meanwhile {
    /// Of the stretch, how much it is, ns.
    length_ns: f64,
    /// Operations, ns.
    operations: Vec<(ContextId, f64)>,
    /// Samples, by their weights.
    samples: Vec<(ContextId, f64)>,
}

/// The acts of a holder in all its sections that others waited for.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// What of the waits operations take, ns.
    operations: Map<ContextId, f64>,
    /// The rest, ns.
    rest_ns: f64,
    samples: Map<ContextId, f64>,
}

impl Held {
    /// Adds a section for which so long was waited.
    pub(super) fn add(&mut self, ns: f64, meanwhile: &Meanwhile) {
        let in_operations: f64 = meanwhile.operations.iter().map(|(_, ns)| ns).sum();
        let whole_ns = meanwhile.length_ns.max(in_operations);
        let scale = if whole_ns > 0.0 { ns / whole_ns } else { 0.0 };
        for &(context, part_ns) in &meanwhile.operations {
            *self.operations.entry(context).or_default() += part_ns * scale;
        }
        self.rest_ns += (ns - in_operations * scale).max(0.0);
        for &(context, weight) in &meanwhile.samples {
            *self.samples.entry(context).or_default() += weight;
        }
    }

    pub(super) fn append(&mut self, other: Held) {
        self.rest_ns += other.rest_ns;
        let add = |mine: &mut Map<ContextId, f64>, theirs: Map<ContextId, f64>| {
            theirs.into_iter().for_each(|(context, ns)| *mine.entry(context).or_default() += ns);
        };
        add(&mut self.operations, other.operations);
        add(&mut self.samples, other.samples);
    }

    /// The shares of its acts, in order. They sum to 1. `released`: the call path that releases.
    pub(super) fn parts(self, released: ContextId) -> Vec<(ContextId, f64)> {
        let mut sums = self.operations;
        let weights: f64 = self.samples.values().sum();
        if weights > 0.0 {
            for (context, weight) in self.samples {
                *sums.entry(context).or_default() += self.rest_ns * weight / weights;
            }
        } else {
            *sums.entry(released).or_default() += self.rest_ns;
        }
        let mut parts: Vec<(ContextId, f64)> = sums.into_iter().filter(|(_, ns)| *ns > 0.0).collect();
        parts.sort_unstable_by_key(|(context, _)| *context);
        let all: f64 = parts.iter().map(|(_, ns)| ns).sum();
        match all > 0.0 {
            true => parts.iter_mut().for_each(|(_, ns)| *ns /= all),
            false => parts = vec![(released, 1.0)],
        }
        parts
    }
}

/// Looks up what locations did. Queries in order of time find a stretch near the one before.
pub(super) struct Doings<'e> {
    evidence: &'e Evidence<'e>,
    computing: Computing<'e>,
    /// By location, the operations that were recorded alone.
    operations: Vec<Option<Lately<'e, Single>>>,
    /// What was found of late of sections that represent others, by the place of the release and the stretch.
    found: Map<(PlaceId, u64, u64), Meanwhile>,
    /// Acts in all of that, and one for each stretch.
    found_acts: usize,
    /// What was found last of another section.
    last: Meanwhile,
}

/// An operation that was recorded alone.
#[derive(Clone, Copy)]
struct Single {
    window: Window,
    context: ContextId,
    /// What was waited for or used.
    address: u64,
}

impl Lasting for Single {
    fn window(&self) -> Window {
        self.window
    }
}

impl<'e> Doings<'e> {
    pub(super) fn new(evidence: &'e Evidence<'e>) -> Doings<'e> {
        let operations = evidence.profile.locations.iter().map(|_| None).collect();
        let computing = Computing::new(evidence);
        let (found, last) = (Map::default(), Meanwhile::default());
        Doings { evidence, computing, operations, found, found_acts: 0, last }
    }

    /// The acts, in a stretch of time, of the location that released a lock at this place.
    /// That it waited for this lock itself is no part of holding it. Those of a section that represents
    /// others are kept, since it is asked for again.
    pub(super) fn during(&mut self, place: PlaceId, held: Window, represents_others: bool) -> &Meanwhile {
        if !represents_others {
            let mut last = std::mem::take(&mut self.last);
            self.find(place, held, &mut last);
            self.last = last;
            return &self.last;
        }
        if self.found_acts > KEPT_ACTS {
            self.found.clear();
            self.found_acts = 0;
        }
        let key = (place, held.start_ns, held.end_ns);
        if !self.found.contains_key(&key) {
            let mut found = Meanwhile::default();
            self.find(place, held, &mut found);
            self.found_acts += 1 + found.operations.len() + found.samples.len();
            self.found.insert(key, found);
        }
        &self.found[&key]
    }

    fn find(&mut self, place: PlaceId, held: Window, found: &mut Meanwhile) {
        let evidence = self.evidence;
        let release = evidence.releases.place(place);
        let location = release.location;
        found.length_ns = held.length_ns() as f64;
        found.operations.clear();
        found.samples.clear();
        found.samples.extend(self.computing.within(location, held.start_ns, held.end_ns));
        let single = |row: EventRow| Single {
            window: Window::new(row.begin_ns, row.end_ns),
            context: row.context,
            address: row.object,
        };
        let operations = self.operations[location.index()].get_or_insert_with(|| {
            Lately::new(KEPT, move |after_ns| evidence.singles_after(location, after_ns).map(single))
        });
        for Single { window, context, address } in operations.between(held.start_ns, held.end_ns) {
            let common_ns = window.end_ns.min(held.end_ns).saturating_sub(window.start_ns.max(held.start_ns));
            if common_ns > 0 && *address != release.object {
                found.operations.push((*context, common_ns as f64));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_take_their_time_and_samples_divide_the_rest() {
        let mut held = Held::default();
        let meanwhile = Meanwhile {
            length_ns: 100.0,
            operations: vec![(ContextId(1), 20.0)],
            samples: vec![(ContextId(2), 3.0), (ContextId(3), 1.0)],
        };
        held.add(200.0, &meanwhile);
        assert_eq!(held.parts(ContextId(9)), [(ContextId(1), 0.2), (ContextId(2), 0.6), (ContextId(3), 0.2)]);
    }

    #[test]
    fn without_samples_the_rest_is_that_of_who_releases() {
        let mut held = Held::default();
        held.add(
            10.0,
            &Meanwhile { length_ns: 10.0, operations: vec![(ContextId(1), 5.0)], ..Meanwhile::default() },
        );
        assert_eq!(held.parts(ContextId(9)), [(ContextId(1), 0.5), (ContextId(9), 0.5)]);
        assert_eq!(Held::default().parts(ContextId(9)), [(ContextId(9), 1.0)]);
    }
}
