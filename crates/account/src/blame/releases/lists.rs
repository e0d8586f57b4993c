//! Lists of releases by object, in chunks that are decoded one by one.

use std::ops::Range;

use proust_profile::{LocationId, NumbersWriter, Spool, SpooledNumbers, far, near};

use super::{Let, Place};
use crate::blame::object::ObjectId;

/// Releases of a chunk, at most.
const LONGEST: usize = 64;

/// Releases of one object that follow one another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    /// Where its numbers are.
    at_byte: u64,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    object: ObjectId,
    pub(super) count: u32,
}

/// The lists of objects, each in order of time.
#[derive(Debug, Default)]
pub(super) struct Lists {
    numbers: SpooledNumbers,
    /// In order of objects and time.
    chunks: Vec<Chunk>,
    /// Where the chunks of each object begin; one more than there are objects.
    begins: Vec<u32>,
}

impl Lists {
    /// The chunks of an object, in order.
    pub(super) fn chunks(&self, object: ObjectId) -> &[Chunk] {
        &self.chunks[self.range(object)]
    }

    fn range(&self, object: ObjectId) -> Range<usize> {
        match (self.begins.get(object as usize), self.begins.get(object as usize + 1)) {
            (Some(&from), Some(&to)) => from as usize..to as usize,
            _ => 0..0,
        }
    }

    /// Appends what is in a chunk. What cannot be read from the spool's file is left out; then the spool is
    /// damaged.
    pub(super) fn decode(&self, chunk: &Chunk, places: &[Place], to: &mut Vec<Let>) {
        let mut numbers = self.numbers.read_at(chunk.at_byte);
        let (mut time_ns, mut row) = (chunk.first_ns, 0);
        for _ in 0..chunk.count {
            let mut next = || numbers.next();
            let one = || -> Option<Let> {
                time_ns += next()?;
                let held_ns = next()?;
                let weight_ns = far(next()?, held_ns);
                let since_ns = match next()? {
                    0 => 0,
                    more => far(more - 1, time_ns),
                };
                let place = next()? as u32;
                row = far(next()?, row);
                let location = places.get(place as usize).map_or(LocationId(0), |place| place.location);
                Some(Let { time_ns, held_ns, weight_ns, since_ns, location, place, row: row as u32 })
            };
            to.extend({ one }());
        }
    }

    /// The releases of an object, a chunk of them in memory.
    pub(super) fn each_of<'l>(
        &'l self,
        object: ObjectId,
        places: &'l [Place],
    ) -> impl Iterator<Item = Let> + 'l {
        self.chunks(object).iter().flat_map(|chunk| {
            let mut some = Vec::with_capacity(chunk.count as usize);
            self.decode(chunk, places, &mut some);
            some
        })
    }
}

/// Writes [`Lists`].
#[derive(Debug)]
pub(super) struct ListsBuilder {
    numbers: NumbersWriter,
    chunks: Vec<Chunk>,
}

impl ListsBuilder {
    pub(super) fn new(spool: &Spool) -> ListsBuilder {
        ListsBuilder { numbers: NumbersWriter::new(spool), chunks: Vec::new() }
    }

    /// Appends releases of an object that are later than those before.
    pub(super) fn append<'l>(&mut self, object: ObjectId, releases: impl Iterator<Item = &'l Let>) {
        let mut open: Option<(Chunk, u64)> = None;
        for one in releases {
            let (mut chunk, row) = open.unwrap_or_else(|| {
                let (at_byte, time_ns) = (self.numbers.bytes(), one.time_ns);
                (Chunk { at_byte, first_ns: time_ns, last_ns: time_ns, object, count: 0 }, 0)
            });
            let since = if one.since_ns == 0 { 0 } else { near(one.since_ns, one.time_ns).wrapping_add(1) };
            self.numbers.put(&[
                one.time_ns - chunk.last_ns,
                one.held_ns,
                near(one.weight_ns, one.held_ns),
                since,
                u64::from(one.place),
                near(u64::from(one.row), row),
            ]);
            (chunk.last_ns, chunk.count) = (one.time_ns, chunk.count + 1);
            open = Some((chunk, u64::from(one.row)));
            if chunk.count as usize == LONGEST {
                self.chunks.extend(open.take().map(|(chunk, _)| chunk));
            }
        }
        self.chunks.extend(open.map(|(chunk, _)| chunk));
    }

    /// The lists of so many objects.
    pub(super) fn finish(mut self, objects: usize) -> Lists {
        // Those of an object are in order already: a stable sort.
        self.chunks.sort_by_key(|chunk| chunk.object);
        self.chunks.shrink_to_fit();
        let mut begins = vec![0; objects + 1];
        self.chunks.iter().for_each(|chunk| begins[chunk.object as usize + 1] += 1);
        for object in 0..objects {
            begins[object + 1] += begins[object];
        }
        Lists { numbers: self.numbers.finish(), chunks: self.chunks, begins }
    }
}
