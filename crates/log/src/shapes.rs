//! The shapes that a lane has written, as its writer knows them.

use core::sync::atomic::{Ordering, compiler_fence};

use crate::records::{MOST_SLOTS, SHAPE_WORDS, Shape};

/// Slots of a lane's first table; each later one has four times as many.
const FIRST_SLOTS: usize = 16;

/// Slots in which a shape may stand.
const WAYS: usize = 4;

/// Whether the largest table is large enough is judged by so many uses, of which half would not be there:
/// more than it takes to fill it.
const LOOKED_AT: u32 = 2 * MOST_SLOTS as u32;

/// A thread whose shapes do not fit writes so many records in their long form before it tries again: a shape
/// that is used once makes a record longer and slower.
const LONG_IN_A_ROW: u32 = 16 * LOOKED_AT;

/// A slot: the shape that was last written for its number.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    shape: Shape,
    /// 0 = nothing.
    generation: u8,
}

/// Where a shape stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) slot: u16,
    /// The generation under which it is in the log; None if it must be written.
    pub(crate) generation: Option<u8>,
}

/// A lane's shapes, by hash in one of four slots. It lies in memory that is handed over, and keeps its
/// contract when a signal handler leaves by a jump at any instruction: at worst a shape is written again.
#[derive(Debug)]
pub struct Shapes {
    slots: &'static mut [Slot],
    /// Of the last shape that was written, whatever its slot. Never 0 once one was.
    generation: u8,
    /// Shapes that were not there, since the table is as large as it is.
    misses: u32,
    /// Uses of the largest table since it was last looked whether it is large enough, and misses until then.
    uses: u32,
    misses_before: u32,
    /// Records that are still to be written in their long form.
    long: u32,
}

impl Shapes {
    /// Without memory: nothing is written short.
    pub const fn none() -> Shapes {
        Shapes { slots: &mut [], generation: 0, misses: 0, uses: 0, misses_before: 0, long: 0 }
    }

    /// How many slots a better table would have; None while this one does.
    #[inline]
    pub fn wanted_slots(&self) -> Option<usize> {
        match self.slots.len() {
            0 => Some(FIRST_SLOTS),
            slots if slots < MOST_SLOTS && self.misses as usize > 2 * slots => Some(slots * 4),
            _ => None,
        }
    }

    /// Continues with another table: [`Shapes::wanted_slots`] slots, all [`Slot::default`] (zero). Returns
    /// the one before.
    ///
    /// # Panics
    /// Never in release builds; the number of slots must be a power of two.
    pub fn move_to(&mut self, slots: &'static mut [Slot]) -> &'static mut [Slot] {
        debug_assert!(slots.len().is_power_of_two() && slots.len() >= WAYS && slots.len() <= MOST_SLOTS);
        (self.misses, self.uses, self.misses_before) = (0, 0, 0);
        core::mem::replace(&mut self.slots, slots)
    }

    /// Whether the next record is to be written short: there is a table, and it is large enough.
    #[inline]
    pub(crate) fn are_worth_it(&mut self) -> bool {
        if self.long > 0 {
            self.long -= 1;
            return false;
        }
        if self.slots.len() == MOST_SLOTS {
            self.uses += 1;
            if self.uses == LOOKED_AT {
                let missed = self.misses.wrapping_sub(self.misses_before);
                (self.uses, self.misses_before) = (0, self.misses);
                self.long = if missed > LOOKED_AT / 2 { LONG_IN_A_ROW } else { 0 };
            }
        }
        !self.slots.is_empty()
    }

    /// From here on the log has none of them: the next use of each writes it again.
    pub(crate) fn forget(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.generation = 0);
    }

    /// The slot in which a shape of these words stands, and its generation.
    #[inline(always)]
    pub(crate) fn find(&self, words: &[u64; SHAPE_WORDS]) -> Option<(u16, u8)> {
        let (first, bucket) = self.bucket(words)?;
        for (way, slot) in bucket.iter().enumerate() {
            if slot.generation != 0 && are_equal(&slot.shape.words(), words) {
                return Some(((first + way) as u16, slot.generation));
            }
        }
        None
    }

    /// The slots in which a shape may stand, and the number of the first one; None without memory.
    #[inline(always)]
    fn bucket(&self, words: &[u64; SHAPE_WORDS]) -> Option<(usize, &[Slot])> {
        let last = self.slots.len().checked_sub(1)?;
        let first = hash(words) & last & !(WAYS - 1);
        Some((first, self.slots.get(first..first + WAYS)?))
    }

    /// Where `shape` stands, or would; None without memory.
    pub(crate) fn place(&mut self, shape: &Shape) -> Option<Place> {
        let words = shape.words();
        if let Some((slot, generation)) = self.find(&words) {
            return Some(Place { slot, generation: Some(generation) });
        }
        let (first, bucket) = self.bucket(&words)?;
        let free = bucket.iter().rposition(|slot| slot.generation == 0);
        self.misses = self.misses.wrapping_add(1);
        // Of those that are taken each goes in its turn.
        let way = free.unwrap_or(self.misses as usize % WAYS);
        Some(Place { slot: (first + way) as u16, generation: None })
    }

    /// Puts `shape` into a slot; `write` writes it under the generation that it is given.
    #[inline]
    pub(crate) fn replace(&mut self, slot: u16, shape: &Shape, write: impl FnOnce(u8)) -> u8 {
        let generation = self.generation.checked_add(1).unwrap_or(1);
        self.generation = generation;
        let Some(slot) = self.slots.get_mut(usize::from(slot)) else { return 0 };
        // Only what is in the log may be found, and only if it was stored whole.
        slot.generation = 0;
        compiler_fence(Ordering::SeqCst);
        write(generation);
        slot.shape = *shape;
        compiler_fence(Ordering::SeqCst);
        slot.generation = generation;
        generation
    }
}

/// Whether they are the same, found out without a place in memory for either.
#[inline(always)]
fn are_equal(one: &[u64; SHAPE_WORDS], other: &[u64; SHAPE_WORDS]) -> bool {
    let mut different = 0;
    for at in 0..SHAPE_WORDS {
        different |= one[at] ^ other[at];
    }
    different == 0
}

/// Of one odd factor for each word the upper bits of the sum of products: the multiplications do not wait for
/// each other.
#[inline(always)]
fn hash(words: &[u64; SHAPE_WORDS]) -> usize {
    const FACTORS: [u64; SHAPE_WORDS] = [
        0x9e37_79b9_7f4a_7c15,
        0xbf58_476d_1ce4_e5b9,
        0x94d0_49bb_1331_11eb,
        0xff51_afd7_ed55_8ccd,
        0xc4ce_b9fe_1a85_ec53,
        0xd6e8_feb8_6659_fd93,
        0xa076_1d64_78bd_642f,
    ];
    let mut sum = 0_u64;
    for at in 0..SHAPE_WORDS {
        sum = sum.wrapping_add(words[at].wrapping_mul(FACTORS[at]));
    }
    (sum >> (u64::BITS - MOST_SLOTS.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(slots: usize) -> Shapes {
        let mut shapes = Shapes::none();
        shapes.move_to(vec![Slot::default(); slots].leak());
        shapes
    }

    fn put(shapes: &mut Shapes, shape: &Shape) -> u8 {
        let place = shapes.place(shape).expect("there is memory");
        assert_eq!(place.generation, None);
        let mut written = 0;
        let generation = shapes.replace(place.slot, shape, |generation| written = generation);
        assert_eq!(written, generation);
        generation
    }

    #[test]
    fn a_shape_is_found_where_it_was_put_until_others_take_its_place() {
        let mut shapes = table(16);
        let shape = |object: u64| Shape { object, ..Shape::default() };
        let generation = put(&mut shapes, &shape(1));
        let place = shapes.place(&shape(1)).expect("there is memory");
        assert_eq!(place.generation, Some(generation));
        for object in 2..100 {
            if shapes.place(&shape(object)).is_some_and(|place| place.generation.is_none()) {
                put(&mut shapes, &shape(object));
            }
        }
        let still = (1..100).filter(|&o| shapes.place(&shape(o)).is_some_and(|p| p.generation.is_some()));
        assert!((8..=16).contains(&still.count()));
    }

    #[test]
    fn shapes_of_the_same_bucket_stand_side_by_side() {
        let mut shapes = table(WAYS);
        let all: Vec<Shape> = (7..).take(WAYS).map(|object| Shape { object, ..Shape::default() }).collect();
        for shape in &all {
            put(&mut shapes, shape);
        }
        for shape in &all {
            assert!(shapes.place(shape).is_some_and(|place| place.generation.is_some()));
        }
    }

    #[test]
    fn a_table_that_is_too_small_wants_to_be_larger_up_to_a_limit() {
        let mut shapes = Shapes::none();
        assert_eq!(shapes.place(&Shape::default()), None);
        let mut object = 0;
        let mut sizes = Vec::new();
        while let Some(slots) = shapes.wanted_slots() {
            sizes.push(slots);
            shapes.move_to(vec![Slot::default(); slots].leak());
            for _ in 0..3 * MOST_SLOTS {
                object += 1;
                put(&mut shapes, &Shape { object, ..Shape::default() });
            }
        }
        assert_eq!(sizes, [16, 64, 256, 1024]);
    }

    #[test]
    fn a_thread_that_leaves_while_a_shape_is_written_finds_no_half_of_it() {
        let mut shapes = table(16);
        let shape = Shape { object: 5, ..Shape::default() };
        let place = shapes.place(&shape).expect("there is memory");
        let left = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
            shapes.replace(place.slot, &shape, |_| std::panic::resume_unwind(Box::new(())));
        }));
        assert!(left.is_err());
        assert_eq!(shapes.place(&shape).expect("there is memory").generation, None);
    }

    #[test]
    fn generations_go_round_without_the_one_that_means_nothing() {
        let mut shapes = table(WAYS);
        let generations: Vec<u8> =
            (0..600).map(|object| put(&mut shapes, &Shape { object, ..Shape::default() })).collect();
        assert!(generations.iter().all(|&generation| generation != 0));
        assert_eq!((generations[0], generations[254], generations[255]), (1, 255, 1));
    }
}
