//! The intervals that a thread is in, outermost first.

use proust_log::records::MOST_OPEN_INTERVALS as MOST_OPEN;

use super::definitions::Definitions;
use super::mark::{Key, Name};

/// An interval that the thread is in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opened {
    /// Which; 0 = one that has no number.
    pub index: u32,
    /// Flags of its execution.
    pub flags: u16,
    /// Its name.
    pub name: Name,
    /// The program's own number.
    pub number: i64,
    /// What ends it.
    pub key: Key,
    /// When it began.
    pub begin_ns: u64,
    /// Iterations so far.
    pub iterations: u64,
    /// [`crate::control::switches`] when it began.
    pub switches: u32,
}

impl Opened {
    /// Whether it has this name and number.
    #[inline]
    pub fn is(&self, name: Name, number: i64) -> bool {
        self.name == name && self.number == number
    }
}

/// The stack.
#[derive(Debug)]
pub struct Open {
    all: [Opened; MOST_OPEN],
    depth: usize,
    /// Intervals begun beyond the last one that found room, whose ends are to be passed over.
    beyond: u32,
    /// How many were begun so since that was last recorded.
    too_deep: u64,
    /// Of those on the stack, how many have a number.
    numbered: u32,
}

impl Default for Open {
    fn default() -> Open {
        Open { all: [Opened::default(); MOST_OPEN], depth: 0, beyond: 0, too_deep: 0, numbered: 0 }
    }
}

impl Open {
    /// Whether there is room for no more.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.depth >= MOST_OPEN
    }

    /// One begins for which there is no room.
    pub fn begin_beyond(&mut self) {
        self.beyond = self.beyond.saturating_add(1);
        self.too_deep += 1;
    }

    /// How many have begun so since this was last asked.
    pub fn take_too_deep(&mut self) -> u64 {
        core::mem::take(&mut self.too_deep)
    }

    /// One ends; true if it was the end of one for which there was no room.
    #[inline]
    pub fn end_beyond(&mut self) -> bool {
        if self.beyond == 0 {
            return false;
        }
        self.beyond -= 1;
        true
    }

    /// The innermost one.
    #[inline]
    pub fn top(&self) -> Option<Opened> {
        self.all.get(self.depth.checked_sub(1)?).copied()
    }

    /// The innermost one, to be changed.
    #[inline]
    pub fn top_mut(&mut self) -> Option<&mut Opened> {
        self.all.get_mut(self.depth.checked_sub(1)?)
    }

    /// All of them, outermost first.
    pub fn all(&self) -> &[Opened] {
        self.all.get(..self.depth).unwrap_or(&[])
    }

    /// Adds one, for which there is room; returns how many with numbers are around it.
    #[inline]
    pub fn push(&mut self, opened: Opened) -> u32 {
        let around = self.numbered;
        if let Some(place) = self.all.get_mut(self.depth) {
            *place = opened;
            // A handler of the program may leave by a jump: what counts as being there is written.
            core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
            self.depth += 1;
            self.numbered += u32::from(opened.index != 0);
        }
        around
    }

    /// Takes the innermost one away.
    #[inline]
    pub fn pop(&mut self) -> Option<Opened> {
        let top = self.top()?;
        self.depth -= 1;
        self.numbered = self.numbered.saturating_sub(u32::from(top.index != 0));
        Some(top)
    }

    /// Number of the innermost one that has one; 0 = none.
    #[inline]
    pub fn innermost(&self, definitions: &Definitions) -> u32 {
        self.all()
            .iter()
            .rev()
            .find(|opened| opened.index != 0)
            .map_or(0, |opened| definitions.id(opened.index))
    }

    /// The lane's next thread begins.
    pub fn forget(&mut self) {
        (self.depth, self.beyond, self.too_deep, self.numbered) = (0, 0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(name: &[u8], number: i64) -> Opened {
        Opened { index: 1, name: Name::of(name), number, ..Opened::default() }
    }

    #[test]
    fn the_stack_is_bounded_and_stays_balanced() {
        let mut open = Open::default();
        for number in 0..MOST_OPEN as i64 {
            assert_eq!(open.push(opened(b"a", number)), number as u32);
        }
        assert!(open.is_full());
        open.begin_beyond();
        open.begin_beyond();
        assert!(open.end_beyond() && open.end_beyond() && !open.end_beyond());
        assert_eq!([open.take_too_deep(), open.take_too_deep()], [2, 0]);
        for number in (0..MOST_OPEN as i64).rev() {
            assert!(open.pop().is_some_and(|top| top.is(Name::of(b"a"), number)));
        }
        assert!(open.pop().is_none());
    }
}
