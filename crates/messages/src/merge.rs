//! The endpoints of all processes in order of time, with one of each process in hand.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Visits the items of all sources in the order of their times; those of a source are in that order.
pub(crate) fn in_order<T>(
    sources: Vec<Vec<T>>,
    time_ns: impl Fn(usize, &T) -> u64,
    mut visit: impl FnMut(usize, T),
) {
    let mut iterators: Vec<_> = sources.into_iter().map(Vec::into_iter).map(Iterator::peekable).collect();
    let mut next: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    for (source, items) in iterators.iter_mut().enumerate() {
        next.extend(items.peek().map(|item| Reverse((time_ns(source, item), source))));
    }
    while let Some(Reverse((_, source))) = next.pop() {
        let Some(item) = iterators[source].next() else { continue };
        visit(source, item);
        next.extend(iterators[source].peek().map(|item| Reverse((time_ns(source, item), source))));
    }
}
