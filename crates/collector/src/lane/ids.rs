//! The kernel ids of all threads that have a lane, to be asked for each of very many.

use core::sync::atomic::Ordering;

use super::live;
use crate::arena;

/// A set of thread ids.
#[derive(Debug)]
pub struct Ids {
    slots: *mut u32,
    count: usize,
}

impl Ids {
    /// Of the threads that have a lane now; None without memory.
    pub fn of_lanes() -> Option<Ids> {
        let (owned, _) = super::counts();
        let mut ids = Ids::for_up_to(owned + 64)?;
        for lane in live().take(owned + 64) {
            ids.add(lane.owner.load(Ordering::Acquire));
        }
        Some(ids)
    }

    fn for_up_to(most: usize) -> Option<Ids> {
        let count = (2 * most).next_power_of_two();
        let slots = arena::pages(count * size_of::<u32>()).cast::<u32>();
        (!slots.is_null()).then_some(Ids { slots, count })
    }

    /// The slot of an id, or the free one where it would be.
    fn slot(&self, id: u32) -> *mut u32 {
        let mut at = id.wrapping_mul(0x9e37_79b9) as usize & (self.count - 1);
        loop {
            // SAFETY: below the number of slots, of which at most half are taken.
            let slot = unsafe { self.slots.add(at) };
            // SAFETY: as above; the memory was zero, and only this value uses it.
            let there = unsafe { *slot };
            if there == id || there == 0 {
                return slot;
            }
            at = (at + 1) & (self.count - 1);
        }
    }

    fn add(&mut self, id: u32) {
        // SAFETY: a slot of ours.
        unsafe { *self.slot(id) = id };
    }

    /// Whether that thread has a lane.
    pub fn contains(&self, id: u32) -> bool {
        // SAFETY: a slot of ours.
        id != 0 && unsafe { *self.slot(id) } == id
    }
}

impl Drop for Ids {
    fn drop(&mut self) {
        // SAFETY: made with this size, and not used any more.
        unsafe { arena::give_back(self.slots.cast(), self.count * size_of::<u32>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_what_was_added_and_nothing_else() {
        let mut ids = Ids::for_up_to(1000).unwrap();
        (0..1000).for_each(|n| ids.add(1 + n * 4096));
        for n in 0..1000 {
            assert!(ids.contains(1 + n * 4096));
            assert!(!ids.contains(2 + n * 4096));
        }
        assert!(!ids.contains(0));
    }
}
