//! The releases of a profile, by object and by process, in order of time.

use proust_profile::{ContextId, LocationId, Nature, ProcessId, Profile, ReleaseRow};

use super::object::{NONE, Object, ObjectId};
use proust_profile::event_metrics::Operations;
use rustc_hash::FxHashMap as Map;

/// A release as the rules need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Let {
    pub(super) time_ns: u64,
    pub(super) held_ns: u64,
    pub(super) weight_ns: u64,
    /// 0 = not known.
    pub(super) since_ns: u64,
    pub(super) location: LocationId,
    /// Position in the profile's releases.
    pub(super) row: u32,
}

impl Let {
    fn of(row: usize, release: &ReleaseRow) -> Let {
        Let {
            time_ns: release.time_ns,
            held_ns: release.held_ns,
            weight_ns: release.weight_ns,
            since_ns: release.since_ns.unwrap_or(0),
            location: release.location,
            row: row as u32,
        }
    }

    pub(super) fn is_sampled(&self) -> bool {
        self.held_ns > 0 && self.held_ns < self.weight_ns
    }
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

/// Lists of releases, each in order of time.
#[derive(Debug, Default)]
struct Lists {
    all: Vec<Let>,
    /// Where the list of each number begins; one more than there are lists.
    begins: Vec<usize>,
}

impl Lists {
    fn new<Id: Copy + Ord + Into<u32>>(lists: usize, mut of: Vec<(Id, Let)>) -> Lists {
        of.sort_unstable_by_key(|(list, one)| (*list, one.time_ns, one.row));
        let mut begins = vec![0; lists + 1];
        for (list, _) in &of {
            begins[(*list).into() as usize + 1] += 1;
        }
        for list in 0..lists {
            begins[list + 1] += begins[list];
        }
        Lists { all: of.into_iter().map(|(_, one)| one).collect(), begins }
    }

    fn get(&self, list: usize) -> &[Let] {
        match (self.begins.get(list), self.begins.get(list + 1)) {
            (Some(&from), Some(&to)) => &self.all[from..to],
            _ => &[],
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Releases {
    by_object: Lists,
    /// Only those of locks.
    by_process: Lists,
    places: Vec<Place>,
    /// By row of the profile's releases.
    place_of: Vec<PlaceId>,
}

impl Releases {
    pub(super) fn new(
        profile: &Profile,
        known: &Map<(ProcessId, u64), ObjectId>,
        objects: &[Object],
    ) -> Releases {
        let operations = Operations::of(profile);
        let (mut by_object, mut by_process) = (Vec::new(), Vec::new());
        let (mut places, mut place_of) = (Vec::new(), Vec::with_capacity(profile.releases.len()));
        let mut ids: Map<Place, PlaceId> = Map::default();
        for (row, release) in profile.releases.iter().enumerate() {
            let process = profile.locations[release.location].process;
            let one = Let::of(row, &release);
            place_of.push(*ids.entry(Place::of(&release)).or_insert_with(|| {
                places.push(Place::of(&release));
                places.len() as PlaceId - 1
            }));
            let object = known.get(&(process, release.object)).copied().unwrap_or(NONE);
            if object != NONE {
                by_object.push((object, one));
            }
            // A futex of which nothing but short waits is known may be a lock.
            let is_lock = match objects.get(object as usize) {
                Some(object) => object.lock_waits > 0 || object.other_waits == 0,
                None => release.weight_ns > 0,
            };
            if is_lock && (operations.nature(release.operation) == Some(Nature::Release) || one.weight_ns > 0)
            {
                by_process.push((process, one));
            }
        }
        Releases {
            by_object: Lists::new(objects.len(), by_object),
            by_process: Lists::new(profile.processes.len(), by_process),
            places,
            place_of,
        }
    }

    /// The number of a row's place.
    pub(super) fn place_id(&self, row: u32) -> PlaceId {
        self.place_of[row as usize]
    }

    /// A row's place.
    pub(super) fn place(&self, row: u32) -> Place {
        self.places[self.place_id(row) as usize]
    }

    /// How many places there are.
    pub(super) fn places(&self) -> usize {
        self.places.len()
    }

    /// Those of an object.
    pub(super) fn of_object(&self, object: ObjectId) -> &[Let] {
        self.by_object.get(object as usize)
    }

    /// Those of the locks of a process.
    pub(super) fn of_process(&self, process: ProcessId) -> &[Let] {
        self.by_process.get(process.index())
    }
}

/// Those after `after_ns` up to `until_ns`.
pub(super) fn within(list: &[Let], after_ns: u64, until_ns: u64) -> &[Let] {
    let from = list.partition_point(|one| one.time_ns <= after_ns);
    let rest = &list[from..];
    &rest[..rest.partition_point(|one| one.time_ns <= until_ns)]
}

/// How many of the nearest releases represent one that was not recorded.
pub(super) const NEAREST: usize = 8;
/// How many are looked at to find them.
const LOOKED_AT: usize = 64;

/// The releases by others than `me` next to an instant that represent further ones, nearest first. `middle`
/// is the position of the first one after it.
pub(super) fn nearest_sampled(
    list: &[Let],
    me: LocationId,
    middle: usize,
    at_ns: u64,
) -> impl Iterator<Item = &Let> {
    let (mut before, mut after) = (list[..middle].iter().rev().peekable(), list[middle..].iter().peekable());
    let by_distance = std::iter::from_fn(move || match (before.peek(), after.peek()) {
        (Some(b), Some(a)) if at_ns - b.time_ns > a.time_ns - at_ns => after.next(),
        (Some(_), _) => before.next(),
        (None, _) => after.next(),
    });
    by_distance.take(LOOKED_AT).filter(move |one| one.location != me && one.is_sampled()).take(NEAREST)
}
