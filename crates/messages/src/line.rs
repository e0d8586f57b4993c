//! Who waits in a line: first in, first out. Of a long one only the head is in memory.

use std::collections::VecDeque;

use proust_streams::Spool;
use proust_streams::numbers::{NumbersReader, NumbersWriter, SpooledNumbers};

/// So many of a line are in memory; those behind them lie in the spool.
pub const IN_MEMORY: usize = 64;

/// What can lie in a spool as numbers.
pub trait Stored: Copy {
    /// Appends its numbers.
    fn store(&self, to: &mut NumbersWriter);

    /// Reads them; None = they are not there any more.
    fn load(from: &mut NumbersReader<'_>) -> Option<Self>;
}

/// A line. Most have one member: for that nothing is allocated.
#[derive(Debug)]
pub(crate) struct Line<E> {
    first: Option<E>,
    others: VecDeque<E>,
    behind: Option<Box<Behind>>,
}

/// The part of a line in the spool: what is read, and what is written behind that.
#[derive(Debug)]
struct Behind {
    read: NumbersReader<'static>,
    left_to_read: usize,
    written: NumbersWriter,
    waiting_to_be_read: usize,
}

impl<E> Default for Line<E> {
    fn default() -> Line<E> {
        Line { first: None, others: VecDeque::new(), behind: None }
    }
}

impl<E: Stored> Line<E> {
    pub(crate) fn push(&mut self, one: E, spool: &Spool) {
        match &mut self.behind {
            Some(behind) => behind.push(one),
            None if self.first.is_none() => self.first = Some(one),
            None if self.others.len() < IN_MEMORY => self.others.push_back(one),
            None => self.behind.insert(Box::new(Behind::new(spool))).push(one),
        }
    }

    pub(crate) fn pop(&mut self, spool: &Spool) -> Option<E> {
        let next = self.others.pop_front();
        let popped = std::mem::replace(&mut self.first, next);
        if self.first.is_none()
            && let Some(behind) = &mut self.behind
        {
            behind.fill(&mut self.others, spool);
            self.first = self.others.pop_front();
            if behind.is_empty() {
                self.behind = None;
            }
        }
        popped
    }

    pub(crate) fn first(&self) -> Option<&E> {
        self.first.as_ref()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(crate) fn len(&self) -> usize {
        let behind = self.behind.as_ref().map_or(0, |behind| behind.left_to_read + behind.waiting_to_be_read);
        usize::from(self.first.is_some()) + self.others.len() + behind
    }
}

impl Behind {
    fn new(spool: &Spool) -> Behind {
        Behind {
            read: SpooledNumbers::default().into_reader(),
            left_to_read: 0,
            written: NumbersWriter::new(spool),
            waiting_to_be_read: 0,
        }
    }

    fn push(&mut self, one: impl Stored) {
        one.store(&mut self.written);
        self.waiting_to_be_read += 1;
    }

    fn is_empty(&self) -> bool {
        self.left_to_read + self.waiting_to_be_read == 0
    }

    fn fill<E: Stored>(&mut self, line: &mut VecDeque<E>, spool: &Spool) {
        if self.left_to_read == 0 {
            let written = std::mem::replace(&mut self.written, NumbersWriter::new(spool));
            self.read = written.finish().into_reader();
            self.left_to_read = std::mem::take(&mut self.waiting_to_be_read);
        }
        while line.len() < IN_MEMORY && self.left_to_read > 0 {
            let Some(one) = E::load(&mut self.read) else {
                // The spool is damaged, and says so.
                self.left_to_read = 0;
                break;
            };
            line.push_back(one);
            self.left_to_read -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proust_streams::Budget;

    use super::*;

    impl Stored for u32 {
        fn store(&self, to: &mut NumbersWriter) {
            to.put(&[u64::from(*self)]);
        }

        fn load(from: &mut NumbersReader<'_>) -> Option<u32> {
            u32::try_from(from.next()?).ok()
        }
    }

    proptest! {
        #[test]
        fn a_line_is_first_in_first_out(
            pushed_and_popped in prop::collection::vec((0_usize..300, 0_usize..300), 0..12),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let spool = Spool::new(folder.path(), Budget::new(0));
            let (mut line, mut truth) = (Line::default(), VecDeque::new());
            let mut next = 0_u32;
            for (pushed, popped) in pushed_and_popped {
                for _ in 0..pushed {
                    line.push(next, &spool);
                    truth.push_back(next);
                    next += 1;
                }
                for _ in 0..popped {
                    prop_assert_eq!(line.pop(&spool), truth.pop_front());
                    prop_assert_eq!(line.first(), truth.front());
                    prop_assert_eq!((line.len(), line.is_empty()), (truth.len(), truth.is_empty()));
                }
            }
        }
    }
}
