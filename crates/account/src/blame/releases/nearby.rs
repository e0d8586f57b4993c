//! The releases of objects near the waits for them. Waits are looked at in order of time, more or less, so
//! what is decoded for one serves the next.

use proust_profile::seek;
use rustc_hash::FxHashMap as Map;

use super::lists::Chunk;
use super::{LOOKED_AT, Let, Releases};
use crate::blame::object::ObjectId;

/// So many releases before a wait are found with those during it.
const BEFORE: usize = LOOKED_AT;
/// And so many after it.
pub(in crate::blame) const AFTER: usize = 2 * LOOKED_AT;
/// So many decoded releases are kept, of all objects together, beside those of the last wait.
const KEPT: usize = 1 << 19;
/// What is kept of an object takes as much as so many releases more.
const ENTRY: usize = 2;

/// Reads releases near waits.
pub(in crate::blame) struct Nearby<'r> {
    releases: &'r Releases,
    opened: Map<ObjectId, Opened>,
    /// Decoded releases of all objects.
    decoded: usize,
    kept: usize,
}

/// What is decoded of an object.
#[derive(Debug, Default)]
struct Opened {
    /// These chunks.
    from: usize,
    to: usize,
    list: Vec<Let>,
    /// Where the last wait was found.
    near: usize,
}

/// Releases of an object around a wait.
#[derive(Clone, Copy, Debug)]
pub(in crate::blame) struct Found<'n> {
    /// With [`BEFORE`] before it and [`AFTER`] after it at least, where there are so many.
    pub(in crate::blame) list: &'n [Let],
    /// Position of the first one after the wait's begin.
    pub(in crate::blame) from: usize,
    /// Position of the first one after its end.
    pub(in crate::blame) until: usize,
}

impl<'n> Found<'n> {
    /// No releases.
    pub(in crate::blame) const NONE: Found<'static> = Found { list: &[], from: 0, until: 0 };

    /// Those after the begin, up to the end.
    pub(in crate::blame) fn meanwhile(&self) -> &'n [Let] {
        &self.list[self.from..self.until]
    }

    /// The next ones, [`AFTER`] at most, however many are decoded.
    pub(in crate::blame) fn after(&self) -> &'n [Let] {
        let after = &self.list[self.until..];
        &after[..after.len().min(AFTER)]
    }
}

impl<'r> Nearby<'r> {
    pub(in crate::blame) fn new(releases: &'r Releases) -> Nearby<'r> {
        Nearby { releases, opened: Map::default(), decoded: 0, kept: KEPT }
    }

    /// Those of an object around a wait from `begin_ns` to `end_ns`.
    pub(in crate::blame) fn of(&mut self, object: ObjectId, begin_ns: u64, end_ns: u64) -> Found<'_> {
        let chunks = self.releases.by_object.chunks(object);
        if chunks.is_empty() {
            return Found::NONE;
        }
        if self.decoded + ENTRY * self.opened.len() > self.kept {
            self.opened.clear();
            self.decoded = 0;
        }
        let opened = self.opened.entry(object).or_default();
        let found = opened.find(begin_ns, end_ns);
        let has_before = found.0 >= BEFORE || opened.from == 0;
        let has_after = opened.list.len() - found.1 >= AFTER || opened.to == chunks.len();
        let (from, until) = if has_before && has_after {
            found
        } else {
            self.decoded -= opened.list.len();
            opened.read(self.releases, chunks, begin_ns, end_ns);
            self.decoded += opened.list.len();
            opened.find(begin_ns, end_ns)
        };
        opened.near = from;
        Found { list: &opened.list, from, until }
    }
}

impl Opened {
    /// The positions of the first ones after each of two instants.
    fn find(&self, begin_ns: u64, end_ns: u64) -> (usize, usize) {
        let from = seek(&self.list, self.near, |one| one.time_ns <= begin_ns);
        (from, seek(&self.list, from, |one| one.time_ns <= end_ns.max(begin_ns)))
    }

    /// Decodes the chunks around a wait that are not there yet, and drops those before them.
    fn read(&mut self, releases: &Releases, chunks: &[Chunk], begin_ns: u64, end_ns: u64) {
        let mut from = seek(chunks, self.from, |chunk| chunk.last_ns <= begin_ns);
        let mut to = seek(chunks, from, |chunk| chunk.first_ns <= end_ns);
        let (mut before, mut after) = (0, 0);
        while from > 0 && before < BEFORE {
            from -= 1;
            before += chunks[from].count as usize;
        }
        // Some more, so that the next wait needs none.
        while to < chunks.len() && after < 3 * AFTER {
            after += chunks[to].count as usize;
            to += 1;
        }
        let count = |chunks: &[Chunk]| chunks.iter().map(|chunk| chunk.count as usize).sum::<usize>();
        let is_ahead = (self.from..=self.to).contains(&from) && self.to <= to;
        if is_ahead {
            self.list.drain(..count(&chunks[self.from..from]).min(self.list.len()));
        } else {
            self.list.clear();
            self.to = from;
        }
        for chunk in &chunks[self.to..to] {
            releases.by_object.decode(chunk, &releases.places, &mut self.list);
        }
        (self.from, self.to, self.near) = (from, to, 0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proust_profile::{Budget, ContextId, LocationId, Spool};

    use super::super::lists::ListsBuilder;
    use super::*;
    use crate::blame::releases::Place;

    const PLACES: u32 = 5;

    fn place(id: u32) -> Place {
        Place { location: LocationId(id % 3), context: ContextId(id), site: None, object: 0x10 }
    }

    /// Releases of each object, the lists of which were written slice by slice.
    fn releases(of: &[Vec<Let>], slice_ns: u64, budget_bytes: u64) -> (tempfile::TempDir, Releases) {
        let folder = tempfile::tempdir().unwrap();
        let mut builder = ListsBuilder::new(&Spool::new(folder.path(), Budget::new(budget_bytes)));
        let last_ns = of.iter().flatten().map(|one| one.time_ns).max().unwrap_or(0);
        for slice in 0..=last_ns / slice_ns {
            for (object, list) in of.iter().enumerate() {
                let some = list.iter().filter(|one| one.time_ns / slice_ns == slice);
                builder.append(object as ObjectId, some);
            }
        }
        let by_object = builder.finish(of.len());
        (folder, Releases { by_object, places: (0..PLACES).map(place).collect(), ..Releases::default() })
    }

    fn list() -> impl Strategy<Value = Vec<Let>> {
        type Made = (u64, u64, u64, Option<u64>, u32, u32);
        let one = (0_u64..6, 0_u64..50, 0_u64..90, prop::option::of(0_u64..40), 0..PLACES, any::<u32>());
        prop::collection::vec(one, 0..700).prop_map(|all| {
            let mut time_ns = 0;
            let one = |(gap_ns, held_ns, weight_ns, since_ns, place_id, row): Made| {
                time_ns += gap_ns;
                Let {
                    time_ns,
                    held_ns,
                    weight_ns,
                    since_ns: since_ns.map_or(0, |since_ns| time_ns.abs_diff(since_ns)),
                    location: place(place_id).location,
                    place: place_id,
                    row,
                }
            };
            all.into_iter().map(one).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_is_near_is_found_whatever_was_asked_for_before(
            of in prop::collection::vec(list(), 1..4),
            slice_ns in 1_u64..3000,
            budget_bytes in prop_oneof![Just(0), Just(u64::MAX)],
            waits in prop::collection::vec(
                (any::<prop::sample::Index>(), 0_u64..2500, 0_u64..800), 0..40),
            kept in 0_usize..1000,
        ) {
            let (_folder, releases) = releases(&of, slice_ns, budget_bytes);
            let mut nearby = Nearby { kept, ..Nearby::new(&releases) };
            for (object, list) in of.iter().enumerate() {
                prop_assert_eq!(&releases.each_of_object(object as ObjectId).collect::<Vec<_>>(), list);
            }
            for (object, begin_ns, length_ns) in waits {
                let (object, end_ns) = (object.index(of.len()), begin_ns + length_ns);
                let list = &of[object];
                let from = list.partition_point(|one| one.time_ns <= begin_ns);
                let until = list.partition_point(|one| one.time_ns <= end_ns);
                let found = nearby.of(object as ObjectId, begin_ns, end_ns);
                prop_assert_eq!(found.meanwhile(), &list[from..until]);
                prop_assert_eq!(found.after(), &list[until..list.len().min(until + AFTER)]);
                let before = &list[..from];
                prop_assert!(found.from >= before.len().min(BEFORE));
                prop_assert_eq!(&found.list[..found.from], &before[before.len() - found.from..]);
            }
        }
    }

    #[test]
    fn nothing_is_found_of_what_nobody_released() {
        let (_folder, releases) = releases(&[Vec::new()], 1, 0);
        let mut nearby = Nearby::new(&releases);
        assert!([0, 9].into_iter().all(|object| nearby.of(object, 0, 10).list.is_empty()));
    }
}
