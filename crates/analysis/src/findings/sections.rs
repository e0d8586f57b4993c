//! What holders did while they held a lock that others waited for.
//!
//! A section is known to begin when the lock was let go before; that it was free for a while is not noticed. So only the part
//! of it counts in which somebody waited, where that is told.

use std::collections::HashMap;

use proust_log::operations::Nature;
use proust_profile::{ContextId, EventRow, LocationId, ProcessId};
use rayon::prelude::*;

use super::facts::Facts;
use super::locks::is_lock;
use crate::hash::Map;

/// Critical sections of one holder: a thread and the call path that lets the lock go.
#[derive(Clone, Debug, Default)]
pub(super) struct Sections {
    /// How many ended while others waited; an estimate where only some were told.
    pub(super) count: f64,
    /// How long they were in all, s.
    pub(super) held_s: f64,
    /// The part in I/O, and where that was, s.
    pub(super) io_s: HashMap<ContextId, f64>,
    /// The part asleep or waiting for something else than a lock, s.
    pub(super) passive_s: HashMap<ContextId, f64>,
}

/// By location and context of the release.
pub(super) type Holders = HashMap<(LocationId, ContextId), Sections>;

/// The sections of all holders.
pub(super) fn holders(facts: &Facts<'_>) -> Holders {
    let mut holders = Holders::new();
    let mut longest_ns: HashMap<LocationId, u64> = HashMap::new();
    let waits = Waits::of(facts);
    for release in &facts.profile.releases {
        let mut section_ns = release.held_ns;
        if let Some(since_ns) = release.since_ns {
            let since_ns = release.time_ns.saturating_sub(since_ns);
            section_ns = if section_ns > 0 { section_ns.min(since_ns) } else { since_ns };
        }
        let process = facts.profile.locations[release.location as usize].process;
        if let Some(since_ns) = waits.since(process, release.object, release.time_ns) {
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
        let events = facts.events_of(release.location);
        let longest_ns = longest_ns.entry(release.location).or_insert_with(|| longest(events));
        let from_ns = release.time_ns - section_ns.min(release.time_ns);
        for event in during(events, from_ns, release.time_ns, *longest_ns) {
            let seconds = times * inside_s(event, from_ns, release.time_ns);
            let part = match facts.nature(event.operation) {
                Some(nature) if nature.is_io() => &mut sections.io_s,
                Some(Nature::Sleep | Nature::Poll | Nature::Process | Nature::Signal | Nature::Pause) => {
                    &mut sections.passive_s
                }
                Some(Nature::Accept | Nature::Queue | Nature::Join | Nature::Semaphore) => {
                    &mut sections.passive_s
                }
                _ => continue,
            };
            *part.entry(event.context).or_default() += seconds;
        }
    }
    holders
}

/// When waits began and ended, ns.
type Times = Vec<(u64, u64)>;

/// The waits for each lock that were told alone, by when they began.
struct Waits(Map<(ProcessId, u64), Times>);

/// Of so many waits that began before a release at least one was still going on.
const LOOKED_AT: usize = 64;

impl Waits {
    fn of(facts: &Facts<'_>) -> Waits {
        let profile = facts.profile;
        let process = |location: LocationId| profile.locations[location as usize].process;
        let keys = profile.releases.iter().map(|release| (process(release.location), release.object));
        let mut waits: Map<(ProcessId, u64), Times> = keys.map(|key| (key, Vec::new())).collect();
        let locations: Vec<&[EventRow]> = profile.events.chunk_by(|a, b| a.location == b.location).collect();
        let by_location: Vec<(ProcessId, Map<u64, Times>)> = (locations.into_par_iter())
            .map(|events| {
                let process = process(events[0].location);
                let mut mine: Map<u64, Times> = Map::default();
                for event in events.iter().filter(|event| !event.summed && is_lock(facts.state(event))) {
                    if waits.contains_key(&(process, event.object)) {
                        mine.entry(event.object).or_default().push((event.begin_ns, event.end_ns));
                    }
                }
                (process, mine)
            })
            .collect();
        for (process, mine) in by_location {
            for (object, times) in mine {
                waits.entry((process, object)).or_default().extend(times);
            }
        }
        // Those of one thread are sorted already, which a stable sort makes use of.
        waits.par_iter_mut().for_each(|(_, times)| times.sort());
        Waits(waits)
    }

    /// Since when somebody had waited who still did then.
    fn since(&self, process: ProcessId, object: u64, time_ns: u64) -> Option<u64> {
        let times = self.0.get(&(process, object))?;
        let before = times.partition_point(|&(begin_ns, _)| begin_ns < time_ns);
        let near = times[before.saturating_sub(LOOKED_AT)..before].iter();
        near.filter(|&&(_, end_ns)| end_ns >= time_ns).map(|&(begin_ns, _)| begin_ns).min()
    }
}

fn longest(events: &[EventRow]) -> u64 {
    events.iter().map(|event| event.end_ns.saturating_sub(event.begin_ns)).max().unwrap_or(0)
}

/// The events of a location that have something in common with a stretch of time; they are sorted by their ends.
fn during(events: &[EventRow], from_ns: u64, to_ns: u64, longest_ns: u64) -> impl Iterator<Item = &EventRow> {
    let first = events.partition_point(|event| event.end_ns <= from_ns);
    let may_reach = move |event: &&EventRow| event.end_ns <= to_ns.saturating_add(longest_ns);
    events[first..].iter().take_while(may_reach).filter(move |event| event.begin_ns < to_ns)
}

/// How much of an event lies in a stretch of time, s. Of a sum a proportional part does.
fn inside_s(event: &EventRow, from_ns: u64, to_ns: u64) -> f64 {
    let length_ns = event.end_ns.saturating_sub(event.begin_ns);
    let common_ns = event.end_ns.min(to_ns).saturating_sub(event.begin_ns.max(from_ns));
    match (length_ns, event.summed) {
        (0, _) => 0.0,
        (_, false) => common_ns as f64 / 1e9,
        (_, true) => event.time_ns as f64 / 1e9 * common_ns as f64 / length_ns as f64,
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
        let found: Vec<u64> = during(&events, 20, 60, 45).map(|event| event.begin_ns).collect();
        assert_eq!(found, [10, 45, 55]);
    }

    #[test]
    fn of_a_sum_a_part_lies_inside() {
        let sum = EventRow { summed: true, time_ns: 100, ..event(0, 1000) };
        assert!((inside_s(&sum, 500, 2000) - 50e-9).abs() < 1e-15);
        assert!((inside_s(&event(0, 1000), 500, 2000) - 500e-9).abs() < 1e-15);
    }
}
