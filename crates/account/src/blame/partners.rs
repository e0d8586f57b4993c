//! What took the partner of a call of MPI longer than the call that waited for it.
//!
//! A wait is compared as one at a barrier is ([`delays`](super::delays)): what both locations did since they
//! last synchronised ([`since`](super::since)). What each did is read from its timeline, so that memory is
//! that of timelines and waits.

use proust_profile::{Array, ContextId, LocationId, PartnerWaitRow};

use super::computing::Computing;
use super::delays::{Delays, Pair};
use super::doer::grains_ns;
use super::doing::Doing;
use super::evidence::Evidence;
use super::lately::Lately;
use super::since::each_since;
use crate::ledger::{Account, Begun, PartKind, Run, Span, Spans, WaitCharge, Window};

/// So many spans of a location are kept behind the last comparison: the next one may begin a little earlier.
const KEPT: usize = 64;

/// The waits of a run for partners, compared with what the partners did.
pub(super) struct Partners<'e> {
    rows: &'e [PartnerWaitRow],
    /// Where each row's members synchronised before.
    begins: Array<Option<ContextId>>,
    /// By location, its next wait.
    next: Vec<std::ops::Range<usize>>,
    delays: Delays,
}

impl<'e> Partners<'e> {
    pub(super) fn new(evidence: &'e Evidence<'e>, run: &Run<impl Spans>) -> Partners<'e> {
        let rows = &evidence.profile.partner_waits[..];
        let mut partners = Partners {
            rows,
            begins: Array::filled(&evidence.profile.partner_waits.spool(), None, rows.len()),
            next: evidence.profile.locations.iter().map(|_| 0..0).collect(),
            delays: Delays::new(Account::MpiPartner, &evidence.profile.events.spool()),
        };
        for (at, row) in rows.iter().enumerate() {
            let range = &mut partners.next[row.location.index()];
            *range = if range.start == range.end { at..at + 1 } else { range.start..at + 1 };
        }
        if !rows.is_empty() {
            partners.compare(evidence, run);
        }
        partners
    }

    fn compare(&mut self, evidence: &Evidence<'_>, run: &Run<impl Spans>) {
        let rows = self.rows;
        let mut acts = Acts::new(evidence, run);
        let mut known: Option<((u64, LocationId, u64), Doing)> = None;
        each_since(evidence.profile, |at, since| {
            let row = &rows[at];
            let pair = pair_of(row, since.site);
            self.begins[at] = since.site;
            // Most that wait for one wait since the same instant.
            let key = (row.until_ns, row.late, since.time_ns);
            if known.as_ref().is_none_or(|(of, _)| *of != key) {
                known = Some((key, acts.of(row.late, since.time_ns, row.until_ns)));
            }
            let early = acts.of(row.location, since.time_ns, row.begin_ns);
            let of_late = known.as_ref().map(|(_, doing)| doing);
            self.delays.compare(pair, (of_late, 1), &early);
        });
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
            Some(row) => self.delays.late(pair_of(row, self.begins[next.start]), victim, loss),
            // It was seen by samples only.
            None => self.delays.unknown(victim, loss),
        }
    }

    pub(super) fn finish(self) -> Delays {
        self.delays
    }
}

/// What a wait is charged by.
fn pair_of(row: &PartnerWaitRow, begin: Option<ContextId>) -> Pair {
    Pair { begin, end: row.context, late: row.late }
}

/// What locations did, by their timelines and samples.
struct Acts<'r> {
    /// By location, its timeline.
    timelines: Vec<Option<Lately<'r, Span>>>,
    computing: Computing<'r>,
    grains_ns: Vec<f64>,
}

impl<'r> Acts<'r> {
    fn new(evidence: &'r Evidence<'r>, run: &'r Run<impl Spans>) -> Acts<'r> {
        let mut timelines: Vec<Option<Lately<Span>>> =
            evidence.profile.locations.iter().map(|_| None).collect();
        for timeline in &run.timelines {
            if let Some(place) = timelines.get_mut(timeline.location.index()) {
                *place = Some(Lately::new(KEPT, |after_ns| timeline.spans.overlapping(after_ns..u64::MAX)));
            }
        }
        Acts { timelines, computing: Computing::new(evidence), grains_ns: grains_ns(evidence) }
    }

    fn of(&mut self, location: LocationId, from_ns: u64, to_ns: u64) -> Doing {
        let mut doing = Doing::default();
        let grain_ns = self.grains_ns[location.index()];
        if let Some(timeline) = &mut self.timelines[location.index()] {
            for span in timeline.between(from_ns, to_ns) {
                let begun = Begun {
                    location,
                    context: span.context,
                    state: span.state,
                    window: Window::new(span.start_ns, span.end_ns),
                    delayed_ns: span.parts.get(PartKind::Delayed),
                };
                let (begin_ns, end_ns) = (span.start_ns.max(from_ns), span.end_ns.min(to_ns));
                doing.add(&begun, begin_ns, end_ns, grain_ns);
            }
        }
        for (context, weight) in self.computing.within(location, from_ns, to_ns) {
            doing.sample(context, weight);
        }
        doing
    }
}
