//! The endpoints of all processes in order of time, a few of a process at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// So many items of a source are visited at once: memory is read in a row, and the next source is looked for
/// less often. So many more endpoints of each process may be under way.
pub const AT_ONCE: usize = 16;

/// Visits the items of all sources in the order of their times, but for [`AT_ONCE`]; those of a source are in
/// that order.
pub(crate) fn in_order<T>(
    sources: Vec<impl Iterator<Item = T>>,
    time_ns: impl Fn(&T) -> u64,
    mut visit: impl FnMut(usize, &T),
) {
    // Each with its next item.
    let mut sources: Vec<(Option<T>, _)> =
        sources.into_iter().map(|mut items| (items.next(), items)).collect();
    let mut next: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::with_capacity(sources.len());
    for (source, (item, _)) in sources.iter().enumerate() {
        next.extend(item.as_ref().map(|item| Reverse((time_ns(item), source))));
    }
    while let Some(mut earliest) = next.peek_mut() {
        let Reverse((_, source)) = *earliest;
        let (item, items) = &mut sources[source];
        for _ in 0..AT_ONCE {
            let Some(visited) = item.take() else { break };
            visit(source, &visited);
            *item = items.next();
        }
        match item {
            // It sinks to its place: half of what taking it out and putting it in again costs.
            Some(item) => *earliest = Reverse((time_ns(item), source)),
            None => drop(PeekMut::pop(earliest)),
        }
    }
}
