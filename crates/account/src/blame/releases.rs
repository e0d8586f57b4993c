//! The releases of a profile, by object and by process, in order of time.
//!
//! - `lists`: those of objects, encoded in a spool
//! - `nearby`: what is read of them near a wait

use proust_profile::{ContextId, LocationId, Nature, ProcessId, Profile, ReleaseRow};

use super::object::{NONE, Object, ObjectId};
use lists::{Lists, ListsBuilder};
use proust_profile::event_metrics::Operations;
use rustc_hash::FxHashMap as Map;

mod lists;
mod nearby;

pub(super) use nearby::{Found, Nearby};

/// A release as the rules need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Let {
    pub(super) time_ns: u64,
    pub(super) held_ns: u64,
    pub(super) weight_ns: u64,
    /// 0 = not known.
    pub(super) since_ns: u64,
    pub(super) location: LocationId,
    pub(super) place: PlaceId,
    /// Position in the profile's releases.
    pub(super) row: u32,
}

impl Let {
    pub(super) fn is_sampled(&self) -> bool {
        self.held_ns > 0 && self.held_ns < self.weight_ns
    }
}

/// A release of a lock of a process, for waits of which only sums are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Weighed {
    pub(super) time_ns: u64,
    pub(super) weight_ns: u64,
    pub(super) place: PlaceId,
    pub(super) is_sampled: bool,
}

/// Who lets go of what, and where: very many releases are alike in that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) location: LocationId,
    /// The call path that releases.
    pub(super) context: ContextId,
    /// Where it was acquired, if that is known.
    pub(super) site: Option<ContextId>,
    /// What is released, as an address in the process.
    pub(super) object: u64,
}

impl Place {
    fn of(release: &ReleaseRow) -> Place {
        let &ReleaseRow { location, context, site, object, .. } = release;
        Place { location, context, site, object }
    }
}

/// Position among the places of releases.
pub(super) type PlaceId = u32;

/// So many rows are in memory at once, about, while they are put in order.
const ROWS: usize = 1 << 17;

/// A row on its way into the lists.
#[derive(Clone, Copy, Debug)]
struct Sorted {
    /// [`NONE`] if nobody waits for it.
    object: ObjectId,
    /// Whose list it is in, if it is in one.
    process: Option<ProcessId>,
    one: Let,
}

/// The lists of a profile. What grows with the releases lies in the spool of its rows, but for those of locks
/// of which short waits are known by sums.
#[derive(Debug, Default)]
pub(super) struct Releases {
    by_object: Lists,
    /// Those of locks, where there are sums of waits for some.
    by_process: Vec<Vec<Weighed>>,
    places: Vec<Place>,
}

impl Releases {
    /// `with_sums`: whether there are short waits for locks of which only sums are known.
    pub(super) fn new(
        profile: &Profile,
        known: &Map<(ProcessId, u64), ObjectId>,
        objects: &[Object],
        with_sums: bool,
    ) -> Releases {
        let borders = profile.releases.slices(ROWS);
        Releases::in_slices(profile, known, objects, with_sums, &borders)
    }

    /// As [`Releases::new`]: rows are put in order between each two of these instants, which are in order.
    fn in_slices(
        profile: &Profile,
        known: &Map<(ProcessId, u64), ObjectId>,
        objects: &[Object],
        with_sums: bool,
        borders: &[u64],
    ) -> Releases {
        let rows = &profile.releases;
        let operations = Operations::of(profile);
        // A futex of which nothing but short waits is known may be a lock.
        let is_lock = |release: &ReleaseRow, object: ObjectId| {
            let may_be = match objects.get(object as usize) {
                Some(object) => object.lock_waits > 0 || object.other_waits == 0,
                None => release.weight_ns > 0,
            };
            let is_release = || operations.nature(release.operation) == Some(Nature::Release);
            may_be && (release.weight_ns > 0 || is_release())
        };
        let mut lists = ListsBuilder::new(&rows.spool());
        let mut places = Places::default();
        let mut by_process: Vec<Vec<Weighed>> = vec![Vec::new(); profile.processes.len()];
        // Each location, and the number of its next row.
        let mut next: Vec<(LocationId, u32)> = Vec::new();
        let mut first_row = 0;
        for location in rows.locations() {
            next.push((location, first_row));
            first_row += rows.count_of(location) as u32;
        }
        let mut slice: Vec<Sorted> = Vec::new();
        let mut from_ns = None;
        for &to_ns in borders.iter().chain(&[u64::MAX]) {
            for (location, row) in &mut next {
                let process = profile.locations[*location].process;
                let all = from_ns.is_none().then(|| rows.of(*location));
                let later = from_ns.map(|from_ns| rows.ending_after(*location, from_ns));
                let rest = all.into_iter().chain(later).flatten();
                for release in rest.take_while(|release| release.time_ns <= to_ns) {
                    let object = known.get(&(process, release.object)).copied().unwrap_or(NONE);
                    let is_in_list = with_sums && is_lock(&release, object);
                    slice.push(Sorted {
                        object,
                        process: is_in_list.then_some(process),
                        one: Let {
                            time_ns: release.time_ns,
                            held_ns: release.held_ns,
                            weight_ns: release.weight_ns,
                            since_ns: release.since_ns.unwrap_or(0),
                            location: *location,
                            place: places.id(&release),
                            row: *row,
                        },
                    });
                    *row += 1;
                }
            }
            slice.sort_unstable_by_key(|sorted| (sorted.object, sorted.one.time_ns, sorted.one.row));
            for of_object in slice.chunk_by(|one, other| one.object == other.object) {
                if of_object[0].object != NONE {
                    lists.append(of_object[0].object, of_object.iter().map(|sorted| &sorted.one));
                }
            }
            if with_sums {
                slice.sort_unstable_by_key(|sorted| (sorted.one.time_ns, sorted.one.row));
                for (process, one) in slice.iter().filter_map(|sorted| Some((sorted.process?, &sorted.one))) {
                    by_process[process.index()].push(Weighed {
                        time_ns: one.time_ns,
                        weight_ns: one.weight_ns,
                        place: one.place,
                        is_sampled: one.is_sampled(),
                    });
                }
            }
            slice.clear();
            from_ns = Some(to_ns);
        }
        Releases { by_object: lists.finish(objects.len()), by_process, places: places.all }
    }

    /// The place of a release.
    pub(super) fn place(&self, id: PlaceId) -> Place {
        self.places[id as usize]
    }

    /// How many places there are.
    pub(super) fn places(&self) -> usize {
        self.places.len()
    }

    /// Those of an object, one by one.
    pub(super) fn each_of_object(&self, object: ObjectId) -> impl Iterator<Item = Let> + '_ {
        self.by_object.each_of(object, &self.places)
    }

    /// Those of the locks of a process.
    pub(super) fn of_process(&self, process: ProcessId) -> &[Weighed] {
        self.by_process.get(process.index()).map_or(&[], Vec::as_slice)
    }
}

/// Places by number.
#[derive(Debug, Default)]
struct Places {
    all: Vec<Place>,
    ids: Map<Place, PlaceId>,
}

impl Places {
    fn id(&mut self, release: &ReleaseRow) -> PlaceId {
        let (place, next) = (Place::of(release), self.all.len() as PlaceId);
        *self.ids.entry(place).or_insert_with(|| {
            self.all.push(place);
            next
        })
    }
}

/// How many of the nearest releases represent one that was not recorded.
pub(super) const NEAREST: usize = 8;
/// How many are looked at to find them.
const LOOKED_AT: usize = 64;

/// The releases next to an instant that can stand for one that was not recorded, nearest first. `middle` is
/// the position of the first one after it.
pub(super) fn nearest<'l, T>(
    list: &'l [T],
    middle: usize,
    at_ns: u64,
    time_ns: fn(&T) -> u64,
    can_stand: impl Fn(&T) -> bool + 'l,
) -> impl Iterator<Item = &'l T> {
    let (mut before, mut after) = (list[..middle].iter().rev().peekable(), list[middle..].iter().peekable());
    let by_distance = std::iter::from_fn(move || match (before.peek(), after.peek()) {
        (Some(b), Some(a)) if at_ns - time_ns(b) > time_ns(a) - at_ns => after.next(),
        (Some(_), _) => before.next(),
        (None, _) => after.next(),
    });
    by_distance.take(LOOKED_AT).filter(move |one| can_stand(one)).take(NEAREST)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proust_profile::{Location, OperationId, Process};

    use super::*;
    use crate::blame::object::First;

    const THREADS: u32 = 4;

    fn process_of(location: LocationId) -> ProcessId {
        ProcessId(location.0 % 2)
    }

    /// Of each: the thread, its object and call path, when, and for how much held time it stands.
    fn profile(mut all: Vec<(u32, u64, u32, u64, u64)>) -> Profile {
        all.sort_by_key(|&(thread, _, _, time_ns, _)| (thread, time_ns));
        let release = |(thread, object, context, time_ns, weight_ns)| ReleaseRow {
            location: LocationId(thread),
            context: ContextId(context),
            object,
            time_ns,
            held_ns: weight_ns / 2,
            weight_ns,
            ..ReleaseRow::default()
        };
        let location = |id| Location { process: process_of(LocationId(id)), ..Location::default() };
        Profile {
            processes: vec![Process::default(); 2].into(),
            locations: (0..THREADS).map(location).collect(),
            releases: all.into_iter().map(release).collect(),
            ..Profile::default()
        }
    }

    proptest! {
        /// Rows of any slices are in the lists as if all had been put in order at once.
        #[test]
        fn lists_do_not_depend_on_the_slices_in_which_they_are_made(
            all in prop::collection::vec((0..THREADS, 1_u64..4, 0_u32..3, 0_u64..60, 0_u64..9), 0..200),
            mut borders in prop::collection::vec(0_u64..70, 0..5),
        ) {
            borders.sort_unstable();
            borders.dedup();
            let profile = profile(all);
            // Nobody waits for the third object of a process.
            let waited_for = [(ProcessId(0), 1), (ProcessId(0), 2), (ProcessId(1), 1), (ProcessId(1), 2)];
            let known: Map<(ProcessId, u64), ObjectId> = waited_for.into_iter().zip(0..).collect();
            let object = |&(process, address): &(ProcessId, u64)| {
                let (location, context, operation) = (LocationId(0), ContextId(0), OperationId(0));
                let first = First { begin_ns: 0, location, context, operation, address };
                Object { process, first, lock_waits: 1, other_waits: 0 }
            };
            let objects: Vec<Object> = waited_for.iter().map(object).collect();
            let found = Releases::in_slices(&profile, &known, &objects, true, &borders);
            let rows: Vec<(usize, ReleaseRow)> = profile.releases.iter().enumerate().collect();
            let in_order = |is_wanted: &dyn Fn(&ReleaseRow) -> bool| {
                let mut wanted: Vec<_> = rows.iter().filter(|(_, row)| is_wanted(row)).copied().collect();
                wanted.sort_by_key(|(number, row)| (row.time_ns, *number));
                wanted
            };
            for (&(process, address), &id) in &known {
                let is_of = |row: &ReleaseRow| (process_of(row.location), row.object) == (process, address);
                let expected = in_order(&is_of).into_iter().map(|(number, row)| {
                    (number as u32, row.time_ns, row.held_ns, row.weight_ns, Place::of(&row))
                });
                let list = found.each_of_object(id).map(|one| {
                    (one.row, one.time_ns, one.held_ns, one.weight_ns, found.place(one.place))
                });
                prop_assert_eq!(list.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
            }
            for process in [ProcessId(0), ProcessId(1)] {
                let is_of = |row: &ReleaseRow| process_of(row.location) == process && row.weight_ns > 0;
                let expected = in_order(&is_of).into_iter().map(|(_, row)| {
                    (row.time_ns, row.weight_ns, Place::of(&row), row.is_sampled())
                });
                let list = found.of_process(process).iter().map(|one| {
                    (one.time_ns, one.weight_ns, found.place(one.place), one.is_sampled)
                });
                prop_assert_eq!(list.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
            }
            let without = Releases::in_slices(&profile, &known, &objects, false, &borders);
            prop_assert!(without.of_process(ProcessId(0)).is_empty());
        }
    }
}
