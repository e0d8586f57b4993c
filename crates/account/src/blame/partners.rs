//! What took the partner of a call of MPI longer than the call that waited for it.
//!
//! A wait is compared as one at a barrier is ([`delays`](super::delays)): what both locations did since they
//! last synchronised. Two locations synchronise when one waits for the other, and when both wait for the same
//! third one, since all of these go on at one instant; the first time is when both had begun MPI. What each
//! did is read from its timeline, so that memory is that of timelines and waits.

use proust_profile::{ContextId, LocationId, Nature, PartnerWaitRow};

use super::delays::{Delays, Pair};
use super::doer::grains_ns;
use super::doing::Doing;
use super::evidence::Evidence;
use crate::ledger::{Account, Begun, PartKind, Run, WaitCharge, Window};

/// How many synchronisations of a location are looked back at for one that another was a part of, too.
const LOOKED_AT: usize = 512;

/// The waits of a run for partners, compared with what the partners did.
pub(super) struct Partners<'e> {
    rows: &'e [PartnerWaitRow],
    /// What each row is charged by.
    pairs: Vec<Pair>,
    /// By location, its next wait.
    next: Vec<std::ops::Range<usize>>,
    delays: Delays,
}

/// An instant at which several locations went on.
#[derive(Clone, Copy, Debug)]
struct Synchronised {
    number: usize,
    time_ns: u64,
    site: ContextId,
}

impl<'e> Partners<'e> {
    pub(super) fn new(evidence: &'e Evidence<'e>, run: &Run) -> Partners<'e> {
        let rows = &evidence.profile.partner_waits[..];
        let mut partners = Partners {
            rows,
            pairs: Vec::with_capacity(rows.len()),
            next: evidence.profile.locations.iter().map(|_| 0..0).collect(),
            delays: Delays::new(Account::MpiPartner),
        };
        for (at, row) in rows.iter().enumerate() {
            let range = &mut partners.next[row.location.index()];
            *range = if range.start == range.end { at..at + 1 } else { range.start..at + 1 };
            partners.pairs.push(Pair { begin: None, end: row.context, late: row.late });
        }
        if !rows.is_empty() {
            partners.compare(evidence, run);
        }
        partners
    }

    fn compare(&mut self, evidence: &Evidence<'_>, run: &Run) {
        let rows = self.rows;
        let mut acts = Acts::new(evidence, run);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        let key = |at: usize| (rows[at].until_ns, rows[at].late, rows[at].location);
        order.sort_unstable_by_key(|&at| key(at));
        let mut history: Vec<Vec<Synchronised>> = vec![Vec::new(); self.next.len()];
        let begins_ns = begins_ns(evidence);
        let same = |a: &usize, b: &usize| (key(*a).0, key(*a).1) == (key(*b).0, key(*b).1);
        for (number, group) in order.chunk_by(same).enumerate() {
            let (until_ns, late, _) = key(group[0]);
            let mut known: Option<(u64, Doing)> = None;
            for &at in group {
                let row = &rows[at];
                let first_ns = begins_ns[row.location.index()].max(begins_ns[late.index()]);
                let (since_ns, begin) =
                    common(&history[row.location.index()], &history[late.index()], first_ns);
                let since_ns = since_ns.min(row.begin_ns);
                let pair = Pair { begin, ..self.pairs[at] };
                self.pairs[at] = pair;
                // Most wait since the same instant.
                if known.as_ref().is_none_or(|(from_ns, _)| *from_ns != since_ns) {
                    known = Some((since_ns, acts.of(late, since_ns, until_ns)));
                }
                let early = acts.of(row.location, since_ns, row.begin_ns);
                let of_late = known.as_ref().map(|(_, doing)| doing);
                self.delays.compare(pair, (of_late, 1), &early);
            }
            let site = group.iter().map(|&at| rows[at].context).min().unwrap_or(ContextId::PROGRAM);
            let synchronised = Synchronised { number, time_ns: until_ns, site };
            history[late.index()].push(synchronised);
            group.iter().for_each(|&at| history[rows[at].location.index()].push(synchronised));
        }
    }

    /// A location has waited for a partner.
    pub(super) fn waited(&mut self, charge: &WaitCharge) {
        let (victim, window) = ((charge.location, charge.context), charge.window);
        let loss = (window.length_ns() as f64, charge.slots_ns);
        let Some(next) = self.next.get_mut(charge.location.index()) else { return };
        while next.start < next.end && self.rows[next.start].until_ns <= window.start_ns {
            next.start += 1;
        }
        let is_it = |row: &PartnerWaitRow| row.begin_ns <= window.start_ns && row.context == charge.context;
        match self.rows.get(next.start).filter(|row| next.start < next.end && is_it(row)) {
            Some(_) => self.delays.late(self.pairs[next.start], victim, loss),
            // It was seen by samples only.
            None => self.delays.unknown(victim, loss),
        }
    }

    pub(super) fn finish(self) -> Delays {
        self.delays
    }
}

/// The last synchronisation that both were a part of: when it was, and where. Without one `first_ns`, or
/// where there are too many to look at all of them the first of these: any instant will do, as long as it is
/// the same for both.
fn common(one: &[Synchronised], other: &[Synchronised], first_ns: u64) -> (u64, Option<ContextId>) {
    let looked_at = |all: &[Synchronised]| all.len().saturating_sub(LOOKED_AT);
    let horizon_ns = |all: &[Synchronised]| match looked_at(all) {
        0 => first_ns,
        first => all[first].time_ns.max(first_ns),
    };
    let none = (horizon_ns(one).max(horizon_ns(other)), None);
    let (mut a, mut b) = (one[looked_at(one)..].iter().rev(), other[looked_at(other)..].iter().rev());
    let (Some(mut of_one), Some(mut of_other)) = (a.next(), b.next()) else { return none };
    loop {
        let next = match of_one.number.cmp(&of_other.number) {
            std::cmp::Ordering::Equal => return (of_one.time_ns, Some(of_one.site)),
            std::cmp::Ordering::Greater => a.next().map(|next| of_one = next),
            std::cmp::Ordering::Less => b.next().map(|next| of_other = next),
        };
        if next.is_none() {
            return none;
        }
    }
}

/// When each location had begun MPI: the end of its first call of the runtime's own, 0 where it made none.
fn begins_ns(evidence: &Evidence<'_>) -> Vec<u64> {
    let profile = evidence.profile;
    let is_begin = |id: &usize| {
        let kind = evidence.operation(*id);
        kind.is_some_and(|kind| kind.is_of_mpi() && kind.nature == Nature::Runtime)
    };
    let begin_ns = |range: &std::ops::Range<usize>| {
        range.clone().find(is_begin).map_or(0, |id| profile.events[id].end_ns)
    };
    evidence.ranges.iter().map(begin_ns).collect()
}

/// What locations did, by their timelines and samples.
struct Acts<'r> {
    evidence: &'r Evidence<'r>,
    run: &'r Run,
    /// By location, its timeline.
    timelines: Vec<Option<usize>>,
    samples: Vec<std::ops::Range<usize>>,
    grains_ns: Vec<f64>,
}

impl<'r> Acts<'r> {
    fn new(evidence: &'r Evidence<'r>, run: &'r Run) -> Acts<'r> {
        let mut timelines = vec![None; evidence.profile.locations.len()];
        for (at, timeline) in run.timelines.iter().enumerate() {
            if let Some(place) = timelines.get_mut(timeline.location.index()) {
                *place = Some(at);
            }
        }
        Acts { evidence, run, timelines, samples: evidence.samples(), grains_ns: grains_ns(evidence) }
    }

    fn of(&mut self, location: LocationId, from_ns: u64, to_ns: u64) -> Doing {
        let mut doing = Doing::default();
        let spans = self.timelines[location.index()].map_or(&[][..], |at| &self.run.timelines[at].spans);
        let first = spans.partition_point(|span| span.end_ns <= from_ns);
        for span in spans[first..].iter().take_while(|span| span.start_ns < to_ns) {
            let begun = Begun {
                location,
                context: span.context,
                state: span.state,
                window: Window::new(span.start_ns, span.end_ns),
                delayed_ns: span.parts.get(PartKind::Delayed),
            };
            let (begin_ns, end_ns) = (span.start_ns.max(from_ns), span.end_ns.min(to_ns));
            doing.add(&begun, begin_ns, end_ns, self.grains_ns[location.index()]);
        }
        let samples = &self.evidence.profile.samples[self.samples[location.index()].clone()];
        let first = samples.partition_point(|row| row.time_ns <= from_ns);
        for row in samples[first..].iter().take_while(|row| row.time_ns <= to_ns) {
            if !row.tail && !row.in_operation {
                doing.sample(row.context, row.cpu_ns as f64);
            }
        }
        doing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(numbers: impl IntoIterator<Item = usize>) -> Vec<Synchronised> {
        let one = |number: usize| Synchronised {
            number,
            time_ns: 10 * number as u64,
            site: ContextId(number as u32),
        };
        numbers.into_iter().map(one).collect()
    }

    #[test]
    fn the_last_common_one_is_found() {
        assert_eq!(common(&at([1, 3, 5, 8]), &at([2, 3, 6, 7]), 4), (30, Some(ContextId(3))));
        assert_eq!(common(&at([1, 3]), &at([2, 4]), 4), (4, None));
        assert_eq!(common(&at([]), &at([2, 4]), 4), (4, None));
        // Too far back to be looked at.
        let many = at((0..2 * LOOKED_AT).map(|n| 2 * n));
        assert_eq!(common(&many, &at([0]), 4), (20 * LOOKED_AT as u64, None));
    }
}
