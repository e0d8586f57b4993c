//! The acts of holders while they held a lock that others waited for.
//!
//! A section begins no earlier than the previous release of the lock; that it was free for a while is not
//! noticed. So only the part of it counts in which a thread waited, where that is recorded.

use std::collections::HashMap;

use proust_profile::{ContextId, EventRow, LocationId, Nature, ReleaseRow};
use rayon::prelude::*;

use super::facts::Facts;
use proust_account::ledger::Account;
use proust_account::search::groups;
use rustc_hash::FxHashMap as Map;

/// Critical sections of one holder: a thread and the call path that releases the lock.
#[derive(Clone, Debug, Default)]
pub(super) struct Sections {
    /// How many ended while others waited; an estimate where only some were recorded.
    pub(super) count: f64,
    /// How long they were in all, s.
    pub(super) held_s: f64,
    /// The part in I/O, and where that was, s.
    pub(super) io_s: HashMap<ContextId, f64>,
    /// The part asleep or waiting for something else than a lock, s.
    pub(super) passive_s: HashMap<ContextId, f64>,
}

/// By location and context of the release.
pub(super) type Holders = Map<(LocationId, ContextId), Sections>;

/// The sections of all holders.
pub(super) fn holders(facts: &Facts<'_>) -> Holders {
    // Most threads do nothing in their sections that takes time: their operations need no second look.
    let mut looks = vec![false; facts.profile.locations.len()];
    for calls in facts.calls.iter().filter(|calls| doing(facts.nature(calls.operation)).is_some()) {
        looks[calls.location.index()] = true;
    }
    let mut first_row = 0;
    let mut releases = Vec::new();
    for of_location in groups(&facts.profile.releases, |release| release.location) {
        releases.push((first_row, of_location));
        first_row += of_location.len();
    }
    let by_location = releases.into_par_iter().flat_map_iter(|(first_row, releases)| {
        let location = releases[0].location;
        let meanwhile = Meanwhile::of(facts, location, looks[location.index()]);
        of_location(facts, first_row, releases, &meanwhile)
    });
    by_location.collect()
}

/// The sections of one location, whose releases begin with row `first_row` of the profile's.
fn of_location(
    facts: &Facts<'_>,
    first_row: usize,
    releases: &[ReleaseRow],
    meanwhile: &Meanwhile,
) -> Holders {
    let mut holders = Holders::default();
    for (row, release) in releases.iter().enumerate() {
        let mut section_ns = release.held_ns;
        if let Some(since_ns) = release.since_ns {
            let since_ns = release.time_ns.saturating_sub(since_ns);
            section_ns = if section_ns > 0 { section_ns.min(since_ns) } else { since_ns };
        }
        if let Some(since_ns) = facts.queues.since_ns(first_row + row) {
            section_ns = section_ns.min(release.time_ns - since_ns);
        }
        if section_ns == 0 {
            continue;
        }
        let times = match release.is_sampled() {
            true => release.weight_ns as f64 / release.held_ns as f64,
            false => 1.0,
        };
        let sections = holders.entry((release.location, release.context)).or_default();
        sections.count += times;
        sections.held_s += times * section_ns as f64 / 1e9;
        let from_ns = release.time_ns - section_ns.min(release.time_ns);
        for (doing, event) in meanwhile.during(from_ns, release.time_ns) {
            let part = match *doing {
                Doing::Io => &mut sections.io_s,
                Doing::Nothing => &mut sections.passive_s,
            };
            *part.entry(event.context).or_default() +=
                times * meanwhile.inside_s(event, from_ns, release.time_ns);
        }
    }
    holders
}

/// What holders should not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Io,
    /// Asleep, or waiting for something else than a lock.
    Nothing,
}

fn doing(nature: Option<Nature>) -> Option<Doing> {
    match nature? {
        nature if nature.is_io() => Some(Doing::Io),
        Nature::Sleep | Nature::Poll | Nature::Process | Nature::Signal | Nature::Pause => {
            Some(Doing::Nothing)
        }
        Nature::Accept | Nature::Queue | Nature::Join | Nature::Semaphore => Some(Doing::Nothing),
        _ => None,
    }
}

/// Such operations of a location, by their ends.
#[derive(Default)]
struct Meanwhile {
    events: Vec<(Doing, EventRow)>,
    longest_ns: u64,
    /// The part of its life in which it waited for locks.
    waits: f64,
}

impl Meanwhile {
    /// Without a look at its operations if none of them is of use.
    fn of(facts: &Facts<'_>, location: LocationId, looks: bool) -> Meanwhile {
        let events = looks.then(|| facts.profile.events.of(location)).into_iter().flatten();
        let events = events.filter_map(|event| Some((doing(facts.nature(event.operation))?, event)));
        let lived = &facts.profile.locations[location];
        let lived_s = (lived.end_s - lived.start_s).max(f64::MIN_POSITIVE);
        Meanwhile::from(events.collect(), facts.spent_s(location, &[Account::Lock]) / lived_s)
    }

    fn from(events: Vec<(Doing, EventRow)>, waits: f64) -> Meanwhile {
        let length = |(_, event): &(Doing, EventRow)| event.end_ns.saturating_sub(event.begin_ns);
        Meanwhile { longest_ns: events.iter().map(length).max().unwrap_or(0), events, waits }
    }

    /// Those that have something in common with a stretch of time.
    fn during(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = &(Doing, EventRow)> {
        let first = self.events.partition_point(|(_, event)| event.end_ns <= from_ns);
        let last_ns = to_ns.saturating_add(self.longest_ns);
        let near = self.events[first..].iter().take_while(move |(_, event)| event.end_ns <= last_ns);
        near.filter(move |(_, event)| event.begin_ns < to_ns)
    }

    /// How much of an event lies in a stretch of time in which the thread waited for no lock, s. Of a sum a
    /// proportional part does, and none of it where the thread waited.
    fn inside_s(&self, event: &EventRow, from_ns: u64, to_ns: u64) -> f64 {
        let length_ns = event.end_ns.saturating_sub(event.begin_ns);
        let common_ns = event.end_ns.min(to_ns).saturating_sub(event.begin_ns.max(from_ns));
        let common_s = common_ns as f64 / 1e9;
        match (length_ns, event.summed) {
            (0, _) => 0.0,
            (_, false) => common_s,
            (_, true) => {
                let at_work_ns = length_ns as f64 * (1.0 - self.waits).max(f64::MIN_POSITIVE);
                common_s.min(common_s * event.time_ns as f64 / at_work_ns)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(begin_ns: u64, end_ns: u64) -> EventRow {
        EventRow { begin_ns, end_ns, time_ns: end_ns - begin_ns, ..EventRow::default() }
    }

    #[test]
    fn events_that_reach_into_a_stretch_are_found() {
        let events = [event(0, 10), event(10, 40), event(45, 50), event(55, 100), event(200, 210)];
        let events = Meanwhile::from(events.iter().map(|event| (Doing::Io, *event)).collect(), 0.0);
        let found: Vec<u64> = events.during(20, 60).map(|(_, event)| event.begin_ns).collect();
        assert_eq!(found, [10, 45, 55]);
    }

    #[test]
    fn of_a_sum_a_part_lies_inside() {
        let sum = EventRow { summed: true, time_ns: 100, ..event(0, 1000) };
        let by = |waits, event: &EventRow| Meanwhile::from(Vec::new(), waits).inside_s(event, 500, 2000);
        assert!((by(0.0, &sum) - 50e-9).abs() < 1e-15);
        assert!((by(0.6, &sum) - 125e-9).abs() < 1e-15);
        assert!((by(0.99, &sum) - 500e-9).abs() < 1e-15);
        assert!((by(0.6, &event(0, 1000)) - 500e-9).abs() < 1e-15);
    }
}
