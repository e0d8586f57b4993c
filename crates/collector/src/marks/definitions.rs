//! Numbers for intervals: one for each name and number that a thread begins inside another interval, on each
//! call path.

use core::sync::atomic::{AtomicU32, Ordering};

use proust_log::records::{Interval, IntervalKind, MOST_INTERVALS, Subject};

use super::executions::Sums;
use super::mark::{Mark, Name};
use crate::arena::{Entry, Table, spread};
use crate::lane::Output;
use crate::path::tree::NodeId;

const SLOTS: usize = 64;

static LAST: AtomicU32 = AtomicU32::new(0);

/// A number for an interval, or for texts about a mark.
pub fn next_number() -> u32 {
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// A forked child's log is another one.
pub fn after_fork() {
    LAST.store(0, Ordering::Relaxed);
}

/// What distinguishes an interval from others of its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Number of the interval around it.
    pub parent: u32,
    /// Its name.
    pub name: Name,
    /// The program's own number.
    pub number: i64,
    /// Line of the call that began it.
    pub line: u32,
    /// Call path; 0 = not known: then it is the newest one that is the same otherwise.
    pub node: NodeId,
    /// Parallel region.
    pub region: u32,
    /// What is said of the work in it.
    pub kind: IntervalKind,
    /// Of a replicated one.
    pub degree: u32,
}

impl Wanted {
    #[inline]
    fn hash(&self) -> u64 {
        let words = [
            self.name.number(),
            self.number as u64,
            u64::from(self.parent) << 32 | u64::from(self.node),
            u64::from(self.region) << 32 | u64::from(self.line),
            u64::from(self.degree) << 2 | self.kind as u64,
        ];
        words.iter().fold(0, |hash: u64, word| spread(hash.rotate_left(23) ^ word))
    }
}

/// A slot of the table.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    wanted: Wanted,
    /// Position in [`Definitions::all`] plus one; 0 = free.
    index: u32,
}

// SAFETY: zeros are a valid slot, and one without an index is free.
unsafe impl Entry for Slot {
    fn is_free(&self) -> bool {
        self.index == 0
    }
}

/// An interval of the lane.
#[derive(Clone, Copy, Debug)]
pub struct Defined {
    /// Its number in the process.
    pub id: u32,
    /// What distinguishes it.
    pub wanted: Wanted,
    /// Its name and file, kept for a forked child.
    pub texts: (&'static [u8], &'static [u8]),
    /// Executions that were not recorded alone.
    pub sums: Sums,
}

/// The intervals of a lane.
#[derive(Debug, Default)]
pub struct Definitions {
    table: Table<Slot>,
    all: Vec<Defined>,
    /// Executions of intervals for which there was no number, since that was last recorded.
    too_many: u64,
}

impl Definitions {
    /// Index of an interval, if it is known.
    #[inline]
    pub fn find(&mut self, wanted: &Wanted) -> Option<u32> {
        let at = self.table.position(wanted.hash(), |slot| slot.wanted == *wanted)?;
        self.table.at(at).map(|slot| slot.index).filter(|&index| index != 0)
    }

    /// The interval with this index.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&Defined> {
        self.all.get((index as usize).checked_sub(1)?)
    }

    /// The same, to be changed.
    #[inline]
    pub fn get_mut(&mut self, index: u32) -> Option<&mut Defined> {
        self.all.get_mut((index as usize).checked_sub(1)?)
    }

    /// Its number in the process; 0 = it has none.
    #[inline]
    pub fn id(&self, index: u32) -> u32 {
        self.get(index).map_or(0, |defined| defined.id)
    }

    /// How many executions were of intervals for which there was no number, since this was last asked.
    pub fn take_too_many(&mut self) -> u64 {
        core::mem::take(&mut self.too_many)
    }

    /// All of them.
    pub fn all_mut(&mut self) -> &mut [Defined] {
        &mut self.all
    }

    /// Index of an interval, which is written to the log if it is new; 0 if there is no room. With all
    /// signals blocked.
    pub fn number(&mut self, wanted: &Wanted, mark: &Mark<'_>, output: &mut Output) -> u32 {
        if let Some(index) = self.find(wanted) {
            return index;
        }
        if self.all.len() >= MOST_INTERVALS {
            self.too_many += 1;
            return 0;
        }
        if !output.is_open() {
            super::state::miss();
            return 0;
        }
        let id = next_number();
        let name = kept(&mark.text());
        let file = self.all.iter().map(|defined| defined.texts.1).find(|&file| file == mark.file);
        let file = file.unwrap_or_else(|| kept(mark.file));
        output.push_text(Subject::IntervalName, id, name);
        if !file.is_empty() {
            output.push_text(Subject::IntervalFile, id, file);
        }
        let interval = Interval {
            id,
            parent: wanted.parent,
            node: wanted.node,
            region: wanted.region,
            number: wanted.number,
            line: wanted.line,
            degree: wanted.degree,
        };
        if !output.push(wanted.kind as u16, mark.origin as u16, &interval) {
            super::state::miss();
            return 0;
        }
        self.all.push(Defined { id, wanted: *wanted, texts: (name, file), sums: Sums::default() });
        let index = self.all.len() as u32;
        self.put(wanted, index);
        if wanted.node != 0 {
            self.put(&Wanted { node: 0, ..*wanted }, index);
        }
        index
    }

    fn put(&mut self, wanted: &Wanted, index: u32) {
        if self.table.capacity() == 0 || self.table.is_full() {
            self.table.grow(SLOTS, |slot| slot.wanted.hash());
        }
        let Some(at) = self.table.position(wanted.hash(), |slot| slot.wanted == *wanted) else { return };
        let has_room = !self.table.is_full();
        match self.table.at(at) {
            Some(slot) if slot.index != 0 => slot.index = index,
            Some(_) if has_room => self.table.put(at, Slot { wanted: *wanted, index }),
            _ => {}
        }
    }
}

/// A copy that lasts as long as the process: the program's text may be gone with its library.
fn kept(text: &[u8]) -> &'static [u8] {
    if text.is_empty() { &[] } else { Vec::leak(text.to_vec()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_found_by_all_that_distinguishes_it() {
        let mut definitions = Definitions::default();
        let name = Name::of(b"solve");
        let one = Wanted { parent: 1, name, number: 3, line: 7, node: 9, ..Wanted::default() };
        let others = [
            Wanted { parent: 2, ..one },
            Wanted { name: Name::of(b"solves"), ..one },
            Wanted { number: 4, ..one },
            Wanted { line: 8, ..one },
            Wanted { node: 10, ..one },
            Wanted { region: 1, ..one },
            Wanted { kind: IntervalKind::Parallel, ..one },
            Wanted { degree: 4, ..one },
        ];
        for (at, wanted) in others.iter().chain([&one]).enumerate() {
            definitions.put(wanted, at as u32 + 1);
        }
        for (at, wanted) in others.iter().chain([&one]).enumerate() {
            assert_eq!(definitions.find(wanted), Some(at as u32 + 1));
        }
        assert_eq!(definitions.find(&Wanted { node: 11, ..one }), None);
        for node in 100..1_000 {
            definitions.put(&Wanted { node, ..one }, node);
        }
        for node in 100..1_000 {
            assert_eq!(definitions.find(&Wanted { node, ..one }), Some(node));
        }
    }
}
