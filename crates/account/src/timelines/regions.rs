//! Which spans lie in a parallel region: empty slots beside them are the region's, not serial code's.

use proust_profile::StayRow;

use crate::ledger::{Parts, Span};

/// The spans of a location, cut where a stay of `stays` begins or ends, those inside marked.
pub(super) fn marked(
    mut spans: impl Iterator<Item = Span>,
    stays: impl IntoIterator<Item = StayRow>,
) -> impl Iterator<Item = Span> {
    let windows = united(stays);
    let mut next = 0;
    // What is left of a span that was cut.
    let mut rest: Option<Span> = None;
    std::iter::from_fn(move || {
        let mut span = rest.take().or_else(|| spans.next())?;
        while windows.get(next).is_some_and(|&(_, end_ns)| end_ns <= span.start_ns) {
            next += 1;
        }
        match windows.get(next) {
            Some(&(begin_ns, end_ns)) if begin_ns < span.end_ns => {
                if begin_ns > span.start_ns {
                    let before = take_until(&mut span, begin_ns);
                    rest = Some(span);
                    Some(before)
                } else if end_ns < span.end_ns {
                    let inside = take_until(&mut span, end_ns).in_region();
                    rest = Some(span);
                    Some(inside)
                } else {
                    Some(span.in_region())
                }
            }
            _ => Some(span),
        }
    })
}

/// From the begin of each stay's way in to the end of its part; regions inside others make one window with
/// them.
fn united(stays: impl IntoIterator<Item = StayRow>) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = stays.into_iter().map(|stay| (stay.fork_ns, stay.end_ns)).collect();
    all.sort_unstable();
    let mut windows: Vec<(u64, u64)> = Vec::with_capacity(all.len());
    for (begin_ns, end_ns) in all {
        match windows.last_mut() {
            Some(last) if begin_ns <= last.1 => last.1 = last.1.max(end_ns),
            _ => windows.push((begin_ns, end_ns)),
        }
    }
    windows.retain(|(begin_ns, end_ns)| begin_ns < end_ns);
    windows
}

/// Cuts a span: returns the part before `at_ns`, with its share of each part.
pub(super) fn take_until(span: &mut Span, at_ns: u64) -> Span {
    let (length_ns, before_ns) = (span.length_ns(), at_ns - span.start_ns);
    let mut before = Span { end_ns: at_ns, parts: Parts::default(), ..*span };
    let mut after = Span { start_ns: at_ns, parts: Parts::default(), ..*span };
    // The running sum is divided, not each part: divided alone, several that fill the span may leave the
    // second half a nanosecond more than its length for each.
    let (mut sum_ns, mut sum_before_ns) = (0_u128, 0);
    for (kind, ns) in span.parts.iter() {
        sum_ns += u128::from(ns);
        let due_ns = (sum_ns * u128::from(before_ns) / u128::from(length_ns.max(1))) as u64;
        let share_ns = due_ns - sum_before_ns;
        before.parts.add(kind, share_ns);
        after.parts.add(kind, ns - share_ns);
        sum_before_ns = due_ns;
    }
    *span = after;
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{PartKind, State, Work};
    use proust_profile::ContextId;

    fn stay(fork_ns: u64, end_ns: u64) -> StayRow {
        StayRow { fork_ns, begin_ns: fork_ns + 1, end_ns, ..StayRow::default() }
    }

    #[test]
    fn spans_are_cut_at_the_borders_of_regions_and_nothing_is_lost() {
        let span = |start_ns, end_ns| {
            Span::new(start_ns, end_ns, State::Working(Work::Compute), ContextId(1))
                .with(PartKind::Fault, (end_ns - start_ns) / 2)
        };
        let spans = vec![span(0, 100), span(100, 110), span(110, 400)];
        let marked: Vec<Span> =
            marked(spans.iter().copied(), [stay(50, 200), stay(60, 120), stay(300, 350)]).collect();
        let shown: Vec<_> = marked.iter().map(|span| (span.start_ns, span.end_ns, span.in_region)).collect();
        let expected = [
            (0, 50, false),
            (50, 100, true),
            (100, 110, true),
            (110, 200, true),
            (200, 300, false),
            (300, 350, true),
            (350, 400, false),
        ];
        assert_eq!(shown, expected);
        let faults = |spans: &[Span]| spans.iter().map(|span| span.parts.sum_ns()).sum::<u64>();
        assert_eq!(faults(&marked), faults(&spans));
    }

    #[test]
    fn parts_that_fill_a_span_fill_both_halves_of_it() {
        let mut span = Span::new(0, 10, State::Working(Work::Compute), ContextId(1))
            .with(PartKind::Measurement, 3)
            .with(PartKind::Delayed, 3)
            .with(PartKind::Fault, 4);
        let before = take_until(&mut span, 5);
        assert_eq!((before.parts.sum_ns(), before.length_ns()), (5, 5));
        assert_eq!((span.parts.sum_ns(), span.length_ns()), (5, 5));
    }

    #[test]
    fn without_regions_nothing_changes() {
        let spans = [Span::new(5, 9, State::Working(Work::Io), ContextId(0))];
        assert!(marked(spans.iter().copied(), []).eq(spans.iter().copied()));
        assert!(marked(spans.iter().copied(), [stay(9, 20)]).eq(spans.iter().copied()));
    }
}
