//! Cuts a location's spans to the windows of interest and at the borders of pauses.

use super::timeline::Span;
use super::windows::{Stretch, Window};

/// The part of a span between two cuts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub span: Span,
    /// The position of this piece in the span; never empty.
    pub window: Window,
    /// Recording was switched off.
    pub paused: bool,
}

/// The pieces of a location's spans that lie in the given stretches (disjoint, in time order; those *inside*
/// are pauses).
///
/// A span that begins before the previous one has ended is cut at that end: a location does one thing at a
/// time. Amounts that are cut away are counted.
pub(super) struct Pieces<'a, I> {
    spans: I,
    stretches: &'a [Stretch],
    rest: Option<(Span, u64)>,
    last_end_ns: u64,
    overlap_ns: u64,
}

impl<'a, I: Iterator<Item = Span>> Pieces<'a, I> {
    pub fn new(spans: I, stretches: &'a [Stretch]) -> Self {
        Pieces { spans, stretches, rest: None, last_end_ns: 0, overlap_ns: 0 }
    }

    /// Nanoseconds of spans that were dropped because they overlapped an earlier span.
    pub fn overlap_ns(&self) -> u64 {
        self.overlap_ns
    }

    /// The next span and the instant from which it counts.
    fn next_span(&mut self) -> Option<(Span, u64)> {
        loop {
            let span = self.spans.next()?;
            let from = span.start_ns.max(self.last_end_ns);
            if from > span.start_ns {
                self.overlap_ns += span.end_ns.min(from).saturating_sub(span.start_ns);
            }
            if from < span.end_ns {
                self.last_end_ns = span.end_ns;
                return Some((span, from));
            }
        }
    }
}

impl<I: Iterator<Item = Span>> Iterator for Pieces<'_, I> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        loop {
            let (span, from) = match self.rest.take() {
                Some(rest) => rest,
                None => self.next_span()?,
            };
            while self.stretches.first()?.window.end_ns <= from {
                self.stretches = &self.stretches[1..];
            }
            let stretch = self.stretches[0];
            let start_ns = stretch.window.start_ns.max(from);
            if start_ns >= span.end_ns {
                continue;
            }
            let end_ns = stretch.window.end_ns.min(span.end_ns);
            if end_ns < span.end_ns {
                self.rest = Some((span, end_ns));
            }
            return Some(Piece { span, window: Window::new(start_ns, end_ns), paused: stretch.inside });
        }
    }
}
