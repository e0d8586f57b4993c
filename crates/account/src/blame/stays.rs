//! The stays of a location in parallel regions that had begun at an instant, asked for by instants that
//! mostly move forward.

use std::collections::VecDeque;
use std::iter::Peekable;

use proust_profile::{LocationId, RowsOf, StayRow, Stays};

/// How many stays are looked back at for the one around a region inside of it.
const LOOKED_AT: usize = 8;
/// So many are kept behind the last instant.
const KEPT: usize = 64;

/// The stays of one location.
pub(super) struct StaysOf<'s> {
    stays: &'s Stays,
    location: LocationId,
    rest: Peekable<RowsOf<'s, StayRow>>,
    /// The last ones that were read, in the order of their begins.
    kept: VecDeque<StayRow>,
    /// Whether there were others before them.
    is_cut: bool,
}

impl<'s> StaysOf<'s> {
    pub(super) fn new(stays: &'s Stays, location: LocationId) -> StaysOf<'s> {
        let rest = stays.of(location).peekable();
        StaysOf { stays, location, rest, kept: VecDeque::new(), is_cut: false }
    }

    /// Of the last stays that had begun at an instant, the newest that lasted until another one.
    pub(super) fn newest(
        &mut self,
        begun_ns: u64,
        lasts_ns: u64,
        is_wanted: impl Fn(&StayRow) -> bool,
    ) -> Option<StayRow> {
        while let Some(stay) = self.rest.next_if(|stay| stay.begin_ns <= begun_ns) {
            if self.kept.len() == KEPT {
                self.kept.pop_front();
                self.is_cut = true;
            }
            self.kept.push_back(stay);
        }
        let is_it = |stay: &StayRow| stay.end_ns >= lasts_ns && is_wanted(stay);
        let begun = self.kept.partition_point(|stay| stay.begin_ns <= begun_ns);
        if self.is_cut && begun < LOOKED_AT {
            return self.stays.begun_backward(self.location, begun_ns).take(LOOKED_AT).find(is_it);
        }
        self.kept.range(..begun).rev().take(LOOKED_AT).find(|stay| is_it(stay)).copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proust_profile::RegionId;

    use super::*;

    proptest! {
        #[test]
        fn the_newest_is_found_whatever_the_order_of_questions(
            stays in prop::collection::vec((0u64..900, 0u64..300, 0u32..3), 0..300),
            asked in prop::collection::vec((0u64..1000, 0u64..100, 0u32..3), 1..60),
        ) {
            let stay = |(begin_ns, length_ns, region)| StayRow {
                begin_ns,
                end_ns: begin_ns + length_ns,
                region: RegionId(region),
                ..StayRow::default()
            };
            let mut rows: Vec<StayRow> = stays.into_iter().map(stay).collect();
            rows.sort_by_key(|stay| stay.begin_ns);
            let stays = Stays::from(rows.clone());
            let mut of = StaysOf::new(&stays, LocationId(0));
            for (begun_ns, more_ns, region) in asked {
                let (lasts_ns, is_wanted) =
                    (begun_ns + more_ns, |stay: &StayRow| stay.region == RegionId(region));
                let found = of.newest(begun_ns, lasts_ns, is_wanted);
                let before = &rows[..rows.partition_point(|stay| stay.begin_ns <= begun_ns)];
                let mut last = before.iter().rev().take(LOOKED_AT);
                let expected = last.find(|stay| stay.end_ns >= lasts_ns && is_wanted(stay));
                prop_assert_eq!(found.as_ref(), expected);
            }
        }
    }
}
