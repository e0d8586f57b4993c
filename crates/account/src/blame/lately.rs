//! What a location did by ranges of time that mostly move forward: what was read lately is kept, so that a
//! range near the last one opens no stream again.

use proust_profile::seek;

use crate::ledger::Lasting;

/// So many are read to get to a range further on; then the stream is opened again where that begins.
const READ_AHEAD: usize = 512;

/// Things of a location that do not overlap, in order of time, read as far as they were asked for.
pub(super) struct Lately<'s, T> {
    /// Reads those that end after an instant.
    open: Box<dyn Fn(u64) -> Box<dyn Iterator<Item = T> + 's> + 's>,
    /// So many are kept behind a range: the next range may begin earlier.
    kept: usize,
    /// So many are read to get to a range: [`READ_AHEAD`].
    ahead: usize,
    opened: Option<Opened<'s, T>>,
}

struct Opened<'s, T> {
    rest: Box<dyn Iterator<Item = T> + 's>,
    /// All that end after this, and were read, are there.
    from_ns: u64,
    read: Vec<T>,
    /// Where the last range was found.
    near: usize,
}

impl<'s, T: Lasting> Lately<'s, T> {
    /// `open` reads those that end after an instant. A range that begins before the last `kept` that were
    /// passed opens it again.
    pub(super) fn new<I: Iterator<Item = T> + 's>(
        kept: usize,
        open: impl Fn(u64) -> I + 's,
    ) -> Lately<'s, T> {
        Lately {
            open: Box::new(move |after_ns| Box::new(open(after_ns))),
            kept,
            ahead: READ_AHEAD,
            opened: None,
        }
    }

    /// Those that have a time in common with a range, and those without length inside of it.
    pub(super) fn between(&mut self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = &T> {
        if self.opened.as_ref().is_some_and(|opened| from_ns < opened.from_ns) {
            self.opened = None;
        }
        let open = &self.open;
        let opened = self.opened.get_or_insert_with(|| Opened {
            rest: open(from_ns),
            from_ns,
            read: Vec::new(),
            near: 0,
        });
        let mut passed = 0;
        while opened.read.last().is_none_or(|last| last.window().end_ns < to_ns) {
            let Some(next) = opened.rest.next() else { break };
            passed += usize::from(next.window().end_ns <= from_ns);
            if passed == self.ahead {
                *opened = Opened { rest: open(from_ns), from_ns, read: Vec::new(), near: 0 };
                passed += 1;
                continue;
            }
            opened.read.push(next);
            // A range far behind the last one: what lies between is not kept.
            if opened.read.len() > 2 * self.kept + 1 && opened.read[self.kept].window().end_ns <= from_ns {
                opened.from_ns = opened.read[self.kept].window().end_ns;
                opened.read.drain(..=self.kept);
                opened.near = 0;
            }
        }
        let passed = seek(&opened.read, opened.near, |one| one.window().end_ns <= from_ns);
        opened.near = passed;
        if passed > 2 * self.kept {
            let dropped = passed - self.kept;
            opened.from_ns = opened.read[dropped - 1].window().end_ns;
            opened.read.drain(..dropped);
            opened.near = self.kept;
        }
        opened.read[opened.near..].iter().take_while(move |one| one.window().start_ns < to_ns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ledger::{Span, Spans, State, Work};
    use proust_profile::ContextId;

    proptest! {
        #[test]
        fn any_sequence_of_ranges_finds_what_overlaps_each(
            lengths in prop::collection::vec((0u64..3, 1u64..9), 0..400),
            ranges in prop::collection::vec((0u64..2500, 0u64..60), 1..60),
            kept in 0usize..50,
            ahead in 1usize..50,
        ) {
            let mut spans = Vec::new();
            let mut at_ns = 0;
            for (number, (gap_ns, length_ns)) in lengths.into_iter().enumerate() {
                let state = State::Working(Work::Compute);
                let start_ns = at_ns + gap_ns;
                at_ns = start_ns + length_ns;
                spans.push(Span::new(start_ns, at_ns, state, ContextId(number as u32)));
            }
            let open = |after_ns| spans.overlapping(after_ns..u64::MAX);
            let mut lately = Lately { ahead, ..Lately::new(kept, open) };
            for (from_ns, length_ns) in ranges {
                let to_ns = from_ns + length_ns;
                let found: Vec<Span> = lately.between(from_ns, to_ns).copied().collect();
                let overlap = spans.iter().filter(|span| span.end_ns > from_ns && span.start_ns < to_ns);
                prop_assert_eq!(found, overlap.copied().collect::<Vec<_>>());
            }
        }
    }
}
