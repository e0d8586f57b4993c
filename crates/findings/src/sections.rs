//! The acts of holders while they held a lock that others waited for.
//!
//! A section begins no earlier than the previous release of the lock; that it was free for a while is not
//! noticed. So only the part of it counts in which a thread waited, where that is recorded.

use proust_profile::{ContextId, EventRow, LocationId, Nature, Ns, ReleaseRow};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::facts::Facts;
use proust_account::ledger::Account;
use rustc_hash::FxHashMap as Map;

/// Critical sections of one holder: a thread and the call path that releases the lock.
#[derive(Clone, Debug, Default)]
pub(super) struct Sections {
    /// How many ended while others waited; an estimate where only some were recorded.
    pub(super) count: f64,
    /// How long they were in all, s.
    pub(super) held: Ns,
    /// The part in I/O, and where that was, s.
    pub(super) io: FxHashMap<ContextId, Ns>,
    /// The part asleep or waiting for something else than a lock, s.
    pub(super) passive: FxHashMap<ContextId, Ns>,
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
    let releases = &facts.profile.releases;
    let mut first_row = 0;
    let mut parts = Vec::new();
    for location in releases.locations() {
        parts.push((first_row, location));
        first_row += releases.count_of(location);
    }
    let by_location = parts.into_par_iter().flat_map_iter(|(first_row, location)| {
        let meanwhile = Meanwhile::of(facts, location, looks[location.index()]);
        of_location(facts, first_row, releases.of(location), &meanwhile)
    });
    by_location.collect()
}

/// The sections of one location, whose releases begin with row `first_row` of the profile's.
fn of_location(
    facts: &Facts<'_>,
    first_row: usize,
    releases: impl Iterator<Item = ReleaseRow>,
    meanwhile: &Meanwhile,
) -> Holders {
    let mut holders = Holders::default();
    for (row, release) in releases.enumerate() {
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
        sections.held += Ns::of(section_ns) * times;
        let from_ns = release.time_ns - section_ns.min(release.time_ns);
        for taken in meanwhile.during(from_ns, release.time_ns) {
            let part = match taken.doing {
                Doing::Io => &mut sections.io,
                Doing::Nothing => &mut sections.passive,
            };
            *part.entry(taken.context).or_default() +=
                meanwhile.inside(taken, from_ns, release.time_ns) * times;
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

/// Time that such an operation takes, or a sum of such.
#[derive(Clone, Copy, Debug)]
struct Taken {
    doing: Doing,
    context: ContextId,
    begin_ns: u64,
    end_ns: u64,
    time_ns: u64,
    summed: bool,
}

impl Taken {
    fn by(event: &EventRow, doing: Doing) -> Taken {
        let &EventRow { context, begin_ns, end_ns, time_ns, summed, .. } = event;
        Taken { doing, context, begin_ns, end_ns, time_ns, summed }
    }
}

/// Such operations of a location, by their ends.
#[derive(Default)]
struct Meanwhile {
    all: Vec<Taken>,
    longest_ns: u64,
    /// The part of its life in which it waited for locks.
    waits: f64,
}

impl Meanwhile {
    /// Without a look at its operations if none of them is of use.
    fn of(facts: &Facts<'_>, location: LocationId, looks: bool) -> Meanwhile {
        let events = looks.then(|| facts.profile.events.of(location)).into_iter().flatten();
        let all = events.filter_map(|event| Some(Taken::by(&event, doing(facts.nature(event.operation))?)));
        let lived = &facts.profile.locations[location];
        Meanwhile::from(all.collect(), facts.spent(location, &[Account::Lock]).share_of(lived.wall()))
    }

    fn from(all: Vec<Taken>, waits: f64) -> Meanwhile {
        let length = |taken: &Taken| taken.end_ns.saturating_sub(taken.begin_ns);
        Meanwhile { longest_ns: all.iter().map(length).max().unwrap_or(0), all, waits }
    }

    /// Those that have something in common with a stretch of time.
    fn during(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = &Taken> {
        let first = self.all.partition_point(|taken| taken.end_ns <= from_ns);
        let last_ns = to_ns.saturating_add(self.longest_ns);
        let near = self.all[first..].iter().take_while(move |taken| taken.end_ns <= last_ns);
        near.filter(move |taken| taken.begin_ns < to_ns)
    }

    /// How much of it lies in a stretch of time in which the thread waited for no lock, s. Of a sum a
    /// proportional part does, and none of it where the thread waited.
    fn inside(&self, taken: &Taken, from_ns: u64, to_ns: u64) -> Ns {
        let length_ns = taken.end_ns.saturating_sub(taken.begin_ns);
        let common_ns = taken.end_ns.min(to_ns).saturating_sub(taken.begin_ns.max(from_ns));
        let common = Ns::of(common_ns);
        match (length_ns, taken.summed) {
            (0, _) => Ns::ZERO,
            (_, false) => common,
            (_, true) => {
                let at_work_ns = length_ns as f64 * (1.0 - self.waits).max(f64::MIN_POSITIVE);
                common.min(common * (taken.time_ns as f64 / at_work_ns))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(begin_ns: u64, end_ns: u64) -> Taken {
        let event = EventRow { begin_ns, end_ns, time_ns: end_ns - begin_ns, ..EventRow::default() };
        Taken::by(&event, Doing::Io)
    }

    #[test]
    fn events_that_reach_into_a_stretch_are_found() {
        let all = [taken(0, 10), taken(10, 40), taken(45, 50), taken(55, 100), taken(200, 210)];
        let meanwhile = Meanwhile::from(all.to_vec(), 0.0);
        let found: Vec<u64> = meanwhile.during(20, 60).map(|taken| taken.begin_ns).collect();
        assert_eq!(found, [10, 45, 55]);
    }

    #[test]
    fn of_a_sum_a_part_lies_inside() {
        let sum = Taken { summed: true, time_ns: 100, ..taken(0, 1000) };
        let by = |waits, taken: &Taken| Meanwhile::from(Vec::new(), waits).inside(taken, 500, 2000);
        assert_eq!(by(0.0, &sum), Ns::new(50));
        assert_eq!(by(0.6, &sum), Ns::new(125));
        assert_eq!(by(0.99, &sum), Ns::new(500));
        assert_eq!(by(0.6, &taken(0, 1000)), Ns::new(500));
    }
}
