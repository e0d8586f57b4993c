//! For how long locations are active beside each other: in one pass over their states, and with memory that
//! does not grow with them.

use proust_account::ledger::{Merge, Spans, Timeline};

/// So many locations can be compared with each other.
pub(super) const MOST: usize = 64;

/// An amount of each location.
type OfEach = [u64; MOST];

/// Some locations, [`MOST`] at most, by their positions.
pub(super) struct AtOnce<'r, S> {
    timelines: Vec<&'r Timeline<S>>,
    /// For how long each was active while each other one was, and for how long at all, ns.
    beside_ns: Vec<OfEach>,
}

impl<'r, S: Spans> AtOnce<'r, S> {
    /// None where these are too many.
    pub(super) fn of(timelines: &[&'r Timeline<S>]) -> Option<AtOnce<'r, S>> {
        if timelines.len() > MOST {
            return None;
        }
        let mut beside_ns = vec![[0; MOST]; timelines.len()];
        let mut active = Active::default();
        // What each had come to when a location became active.
        let mut since_ns = vec![[0; MOST]; timelines.len()];
        let mut edges = Merge::new(timelines.iter().map(|timeline| timeline.active()));
        while let Some(edge) = edges.next() {
            active.advance(edge.at_ns);
            if edge.ended.is_some() {
                active.members &= !(1 << edge.source);
                let grown = active.ns.iter().zip(&since_ns[edge.source]);
                beside_ns[edge.source]
                    .iter_mut()
                    .zip(grown)
                    .for_each(|(sum, (now, then))| *sum += now - then);
            }
            if edge.began.is_some() {
                active.members |= 1 << edge.source;
                since_ns[edge.source] = active.ns;
            }
        }
        Some(AtOnce { timelines: timelines.to_vec(), beside_ns })
    }

    /// How long a location was active, ns.
    pub(super) fn ns(&self, one: usize) -> u64 {
        self.beside_ns[one][one]
    }

    /// Whether a location was active for at most so long while any of some others were.
    pub(super) fn is_at_most(&self, others: &[usize], one: usize, limit_ns: f64) -> bool {
        let each_ns = || others.iter().map(|&other| self.beside_ns[one][other]);
        // Both are known without another pass: several others may have been active at once.
        let (least_ns, most_ns) = (each_ns().max().unwrap_or(0), each_ns().sum::<u64>());
        if most_ns as f64 <= limit_ns || least_ns as f64 > limit_ns {
            return most_ns as f64 <= limit_ns;
        }
        self.beside_any_ns(others, one) as f64 <= limit_ns
    }

    /// For how long a location was active while any of some others were, ns.
    fn beside_any_ns(&self, others: &[usize], one: usize) -> u64 {
        let all = || others.iter().chain([&one]).map(|&at| self.timelines[at].active());
        let (mut any, mut is_one, mut since_ns, mut sum_ns) = (0, false, 0, 0);
        let mut edges = Merge::new(all());
        while let Some(edge) = edges.next() {
            if is_one && any > 0 {
                sum_ns += edge.at_ns - since_ns;
            }
            since_ns = edge.at_ns;
            if edge.source == others.len() {
                is_one = edge.began.is_some();
            } else {
                any = any + usize::from(edge.began.is_some()) - usize::from(edge.ended.is_some());
            }
        }
        sum_ns
    }
}

/// How long each location was active until an instant.
struct Active {
    /// Those that are, as bits.
    members: u64,
    ns: OfEach,
    at_ns: u64,
}

impl Default for Active {
    fn default() -> Active {
        Active { members: 0, ns: [0; MOST], at_ns: 0 }
    }
}

impl Active {
    fn advance(&mut self, to_ns: u64) {
        let mut left = self.members;
        while left != 0 {
            self.ns[left.trailing_zeros() as usize] += to_ns - self.at_ns;
            left &= left - 1;
        }
        self.at_ns = to_ns;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proust_account::ledger::{PassiveReason, Span, State, Window, Windows, Work};
    use proust_profile::{ContextId, LocationId, ProcessId};

    use super::*;

    fn timeline((number, spans): (usize, Vec<(u64, u64, bool)>)) -> Timeline {
        let mut at_ns = 0;
        let span = |(gap_ns, length_ns, is_active): (u64, u64, bool)| {
            let start_ns = at_ns + gap_ns;
            at_ns = start_ns + length_ns;
            let state = match is_active {
                true => State::Working(Work::Compute),
                false => State::Passive(PassiveReason::Sleep),
            };
            Span::new(start_ns, at_ns, state, ContextId(0))
        };
        let spans = spans.into_iter().map(span).collect();
        Timeline { location: LocationId::from_index(number), process: ProcessId(0), service: false, spans }
    }

    fn windows(timeline: &Timeline) -> Windows {
        let active = timeline.spans.iter().filter(|span| !matches!(span.state, State::Passive(_)));
        active.map(|span| Window::new(span.start_ns, span.end_ns)).collect()
    }

    proptest! {
        #[test]
        fn as_the_windows_of_all_have_it(
            spans in prop::collection::vec(
                prop::collection::vec((0_u64..4, 1_u64..9, any::<bool>()), 0..12), 1..6),
            one in any::<prop::sample::Index>(),
            limit_ns in 0_u64..20,
        ) {
            let all: Vec<Timeline> = spans.into_iter().enumerate().map(timeline).collect();
            let at_once = AtOnce::of(&all.iter().collect::<Vec<_>>()).unwrap();
            let one = one.index(all.len());
            let others: Vec<usize> = (0..all.len()).filter(|&other| other != one).collect();
            let any: Windows = others.iter().flat_map(|&at| windows(&all[at]).as_slice().to_vec()).collect();
            let beside_ns = windows(&all[one]).intersection(&any).length_ns();
            prop_assert_eq!(at_once.ns(one), windows(&all[one]).length_ns());
            prop_assert_eq!(at_once.beside_any_ns(&others, one), beside_ns);
            prop_assert_eq!(at_once.is_at_most(&others, one, limit_ns as f64), beside_ns <= limit_ns);
        }
    }

    #[test]
    fn more_than_can_be_compared() {
        let all: Vec<Timeline> = (0..=MOST).map(|number| timeline((number, vec![(0, 5, true)]))).collect();
        assert!(AtOnce::of(&all.iter().collect::<Vec<_>>()).is_none());
        let some = AtOnce::of(&all.iter().skip(1).collect::<Vec<_>>()).unwrap();
        assert!((0..MOST).all(|at| some.beside_ns[at] == [5; MOST]));
    }
}
