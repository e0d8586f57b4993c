//! Merges many sorted sequences of stretches into one sequence of edges, holding two stretches of each.

use super::tournament::Tournament;
use super::windows::Window;

/// Something that lasts from one instant to another.
pub trait Lasting {
    /// From when to when.
    fn window(&self) -> Window;
}

/// An instant at which one source ends a stretch, begins one, or goes from one to the next.
pub struct Edge<'a, T> {
    pub at_ns: u64,
    pub source: usize,
    pub ended: Option<T>,
    pub began: Option<&'a T>,
}

struct Source<I: Iterator> {
    rest: I,
    current: Option<I::Item>,
    /// Read already, but begins later.
    upcoming: Option<I::Item>,
}

/// A merge by a tournament of the sources: O(log sources) for each edge.
pub struct Merge<I: Iterator> {
    sources: Vec<Source<I>>,
    order: Tournament,
}

impl<T: Lasting, I: Iterator<Item = T>> Merge<I> {
    /// Each source must be sorted, without overlaps and empty stretches.
    pub fn new(sources: impl IntoIterator<Item = I>) -> Self {
        let sources: Vec<Source<I>> = sources
            .into_iter()
            .map(|mut rest| {
                let upcoming = rest.next();
                Source { rest, current: None, upcoming }
            })
            .collect();
        let starts: Vec<Option<u64>> = (sources.iter())
            .map(|source| source.upcoming.as_ref().map(|next| next.window().start_ns))
            .collect();
        Merge { order: Tournament::new(&starts), sources }
    }

    /// When the next edge is.
    pub fn due_ns(&self) -> Option<u64> {
        self.order.first().map(|(at_ns, _)| at_ns)
    }

    /// What a source does between the last edge and the next one.
    pub fn current(&self, source: usize) -> Option<&T> {
        self.sources[source].current.as_ref()
    }

    /// The next edge in time order; the order of edges at the same instant is not specified.
    #[expect(clippy::should_implement_trait, reason = "an edge borrows the merge, as no iterator's item can")]
    pub fn next(&mut self) -> Option<Edge<'_, T>> {
        let (at_ns, index) = self.order.first()?;
        let source = &mut self.sources[index];
        let ended = source.current.take();
        if ended.is_some() {
            source.upcoming = source.rest.next();
        }
        if source.upcoming.as_ref().is_some_and(|next| next.window().start_ns == at_ns) {
            source.current = source.upcoming.take();
        }
        let due_ns = match (&source.current, &source.upcoming) {
            (Some(current), _) => Some(current.window().end_ns),
            (None, Some(upcoming)) => Some(upcoming.window().start_ns),
            (None, None) => None,
        };
        self.order.again(index, due_ns);
        Some(Edge { at_ns, source: index, ended, began: self.sources[index].current.as_ref() })
    }

    /// The sources, after the last edge.
    pub fn into_sources(self) -> impl Iterator<Item = I> {
        self.sources.into_iter().map(|source| source.rest)
    }
}
