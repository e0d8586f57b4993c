//! The kernel ids of all threads that have a lane, to be asked for each of very many.

use core::sync::atomic::Ordering;

use super::live;
use crate::arena::{Table, spread};

/// A set of thread ids.
#[derive(Debug)]
pub struct Ids(Table<u32>);

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
        let mut ids = Ids(Table::default());
        ids.0.grow(2 * most, |&id| spread(id.into())).then_some(ids)
    }

    fn add(&mut self, id: u32) {
        if let Some(at) = self.0.position(spread(id.into()), |&there| there == id)
            && self.0.at(at).is_some_and(|&mut there| there == 0)
        {
            self.0.put(at, id);
        }
    }

    /// Whether that thread has a lane.
    pub fn contains(&self, id: u32) -> bool {
        let mut found = false;
        self.0.position(spread(id.into()), |&there| {
            found = there == id;
            found
        });
        found
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
