//! Stretches of time: the time that the ledger is integrated over.

/// A half-open stretch of time, from `start_ns` up to, not including, `end_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// First instant, ns on the run's clock.
    pub start_ns: u64,
    /// First instant after it, ns on the run's clock.
    pub end_ns: u64,
}

impl Window {
    /// The window from `start_ns` to `end_ns`.
    pub const fn new(start_ns: u64, end_ns: u64) -> Window {
        Window { start_ns, end_ns }
    }

    /// Its length, ns; an inverted window has none.
    pub const fn length_ns(self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// A set of instants: disjoint, non-empty windows in time order. An interval of the program that is executed
/// many times is such a set.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Windows(Vec<Window>);

/// A part of a window that lies wholly inside or wholly outside another set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub window: Window,
    pub inside: bool,
}

/// Windows that are in time order, adjoining ones joined: a thread that computes throughout has one, however
/// often it was sampled.
pub(super) fn joined(windows: impl Iterator<Item = Window>) -> impl Iterator<Item = Window> {
    let mut windows = windows.peekable();
    std::iter::from_fn(move || {
        let mut joined = windows.next()?;
        while let Some(next) = windows.next_if(|next| next.start_ns == joined.end_ns) {
            joined.end_ns = next.end_ns;
        }
        Some(joined)
    })
}

impl Windows {
    /// All time: the whole run.
    pub fn all() -> Windows {
        Windows(vec![Window::new(0, u64::MAX)])
    }

    /// The instants from `start_ns` to `end_ns`.
    pub fn between(start_ns: u64, end_ns: u64) -> Windows {
        [Window::new(start_ns, end_ns)].into_iter().collect()
    }

    /// The windows, in time order.
    pub fn as_slice(&self) -> &[Window] {
        &self.0
    }

    /// From the begin of the first to the end of the last, ns.
    pub fn span_ns(&self) -> std::ops::Range<u64> {
        let start_ns = self.0.first().map_or(0, |window| window.start_ns);
        start_ns..self.0.last().map_or(0, |window| window.end_ns)
    }

    /// Sum of their lengths, ns.
    pub fn length_ns(&self) -> u64 {
        self.0.iter().map(|window| window.length_ns()).sum()
    }

    /// The instants of this set that lie in `bounds`.
    pub fn within(&self, bounds: Window) -> Windows {
        let first = self.0.partition_point(|window| window.end_ns <= bounds.start_ns);
        self.0[first..]
            .iter()
            .take_while(|window| window.start_ns < bounds.end_ns)
            .map(|w| Window::new(w.start_ns.max(bounds.start_ns), w.end_ns.min(bounds.end_ns)))
            .collect()
    }

    /// The instants that are in both.
    pub fn intersection(&self, other: &Windows) -> Windows {
        let (mut mine, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some(one), Some(other)) = (mine.peek(), theirs.peek()) {
            let start_ns = one.start_ns.max(other.start_ns);
            let end_ns = one.end_ns.min(other.end_ns);
            if start_ns < end_ns {
                both.push(Window::new(start_ns, end_ns));
            }
            if one.end_ns <= other.end_ns {
                mine.next()
            } else {
                theirs.next()
            };
        }
        Windows(both)
    }

    /// The instants that are not in this set.
    pub fn complement(&self) -> Windows {
        let starts = [0].into_iter().chain(self.0.iter().map(|window| window.end_ns));
        let ends = self.0.iter().map(|window| window.start_ns).chain([u64::MAX]);
        starts.zip(ends).map(|(start_ns, end_ns)| Window::new(start_ns, end_ns)).collect()
    }

    /// This set, cut at every border of `marks`, each part saying whether it is inside `marks`.
    pub(super) fn cut_by(&self, marks: &Windows) -> Vec<Stretch> {
        let mut stretches = Vec::new();
        let mut push = |start_ns, end_ns, inside| {
            if start_ns < end_ns {
                stretches.push(Stretch { window: Window::new(start_ns, end_ns), inside });
            }
        };
        let mut marks = marks.0.iter().peekable();
        for window in &self.0 {
            let mut from = window.start_ns;
            while let Some(mark) = marks.peek() {
                if mark.start_ns >= window.end_ns {
                    break;
                }
                let (start, end) = (mark.start_ns.max(from), mark.end_ns.min(window.end_ns));
                push(from, start.min(window.end_ns), false);
                push(start, end, true);
                from = from.max(end);
                if mark.end_ns > window.end_ns {
                    break;
                }
                marks.next();
            }
            push(from, window.end_ns, false);
        }
        stretches
    }
}

impl FromIterator<Window> for Windows {
    /// Sorts, drops the empty ones, and joins those that touch or overlap.
    fn from_iter<I: IntoIterator<Item = Window>>(windows: I) -> Windows {
        let join = |next: &mut Window, last: &mut Window| {
            let joins = last.start_ns <= next.start_ns && next.start_ns <= last.end_ns;
            if joins {
                last.end_ns = last.end_ns.max(next.end_ns);
            }
            joins
        };
        // Most are in order, and follow each other: the spans of a location are not kept one by one.
        let mut joined: Vec<Window> = Vec::new();
        for mut window in windows.into_iter().filter(|w| w.start_ns < w.end_ns) {
            if !joined.last_mut().is_some_and(|last| join(&mut window, last)) {
                joined.push(window);
            }
        }
        joined.sort_unstable();
        joined.dedup_by(join);
        joined.shrink_to_fit();
        Windows(joined)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn windows(borders: &[(u64, u64)]) -> Windows {
        borders.iter().map(|&(start, end)| Window::new(start, end)).collect()
    }

    #[test]
    fn windows_are_sorted_and_joined() {
        let joined = windows(&[(5, 7), (0, 2), (3, 3), (6, 9), (2, 3), (8, 4)]);
        assert_eq!(joined.as_slice(), [Window::new(0, 3), Window::new(5, 9)]);
        assert_eq!(joined.length_ns(), 7);
    }

    #[test]
    fn a_set_and_its_complement_are_all_time() {
        let set = windows(&[(2, 4), (8, u64::MAX)]);
        assert_eq!(set.complement(), windows(&[(0, 2), (4, 8)]));
        assert_eq!(Windows::all().complement(), Windows::default());
        assert_eq!(set.intersection(&windows(&[(3, 9), (20, 21)])), windows(&[(3, 4), (8, 9), (20, 21)]));
        assert_eq!(set.intersection(&set.complement()), Windows::default());
    }

    proptest! {
        #[test]
        fn an_instant_is_in_both_if_it_is_in_each(
            sets in prop::array::uniform2(prop::collection::vec((0u64..60, 0u64..9), 0..12)),
            (from_ns, length_ns) in (0u64..60, 0u64..30),
        ) {
            let [of_a, of_b] = sets.map(|set| {
                set.into_iter().map(|(start, length)| Window::new(start, start + length)).collect::<Vec<_>>()
            });
            let [a, b] = [&of_a, &of_b].map(|set| set.iter().copied().collect::<Windows>());
            let lies_in = |set: &[Window], at| set.iter().any(|w| (w.start_ns..w.end_ns).contains(&at));
            let has = |set: &Windows, at: u64| lies_in(&set.0, at);
            let (both, bounds) = (a.intersection(&b), Window::new(from_ns, from_ns + length_ns));
            let within = a.within(bounds);
            for at in 0..80 {
                prop_assert_eq!((has(&a, at), has(&b, at)), (lies_in(&of_a, at), lies_in(&of_b, at)));
                prop_assert_eq!(has(&both, at), has(&a, at) && has(&b, at));
                let is_bound = (bounds.start_ns..bounds.end_ns).contains(&at);
                prop_assert_eq!(has(&within, at), has(&a, at) && is_bound);
            }
            // As all sets are: in order, apart, and none empty.
            for set in [a, b, both, within] {
                prop_assert!(set.0.windows(2).all(|two| two[0].end_ns < two[1].start_ns));
                prop_assert!(set.0.iter().all(|window| window.length_ns() > 0));
            }
        }
    }

    #[test]
    fn a_cut_covers_the_set_and_nothing_else() {
        let cut = windows(&[(0, 10), (20, 30)]).cut_by(&windows(&[(2, 4), (8, 22), (30, 40)]));
        let parts: Vec<_> = cut.iter().map(|s| (s.window.start_ns, s.window.end_ns, s.inside)).collect();
        let expected =
            [(0, 2, false), (2, 4, true), (4, 8, false), (8, 10, true), (20, 22, true), (22, 30, false)];
        assert_eq!(parts, expected);
    }
}
