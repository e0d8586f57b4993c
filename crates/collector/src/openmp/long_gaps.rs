//! Gaps between measured instances that are much longer than others: somewhere in one a thread waited long,
//! or worked long.
//!
//! Drawn instances show how long waits of the usual length are. A wait that is a thousand times as long,
//! because another thread lost its processor or had something else to do, would be drawn once in so many
//! times, and represent all the others: right in the long run, and far off in a short one. But the gap that
//! it lies in is long, and long gaps are few: each is examined by itself. A thread that was sampled in it was
//! seen at a barrier or at work; one that gave its processor away was at a barrier. Of gaps of which neither
//! is known the same part is waiting as of those of which something is, and of long ones that were drawn.

use proust_log::operations::Operation;

use super::sites::{Segment, Site};
use super::team::Team;
use super::visits::{SITES, Visits};
use crate::lane::{Lane, Usage};
use crate::operation::stretch;

/// A gap is long if it is so many times as long as the mean of those that are not,
const TIMES_THE_MEAN: u64 = 8;
/// and so long at least.
const LEAST_NS: u64 = 200_000;
/// Until the mean is known.
const FIRST_MEAN_NS: u64 = 100_000;

/// The time that one sample represents, about.
const SAMPLE_NS: u64 = 5_000_000;

/// The data of a thread's long gaps.
#[derive(Debug, Default)]
pub struct Long {
    /// Mean length of those that are not long; 0 = not known.
    mean_ns: u64,
    /// Waiting that was seen in long ones, or is represented by long waits that were drawn, ns.
    waited_ns: u64,
    /// The same of work.
    worked_ns: u64,
    /// How often the thread had given its processor away when that was last asked.
    given_away: u64,
}

impl Long {
    fn mean_ns(&self) -> u64 {
        if self.mean_ns == 0 { FIRST_MEAN_NS } else { self.mean_ns }
    }

    /// From which length on a gap is long, and so is a wait or work that is measured.
    pub fn from_ns(&self) -> u64 {
        (self.mean_ns().saturating_mul(TIMES_THE_MEAN)).max(LEAST_NS)
    }

    /// A gap is over that is not long.
    pub fn is_usual(&mut self, ns: u64) {
        self.mean_ns = (self.mean_ns() * 15 + ns.min(self.from_ns())) / 16;
    }

    /// A long wait was measured that represents others.
    pub fn waited(&mut self, ns: u64, weight: u64) {
        self.waited_ns = self.waited_ns.saturating_add(ns.saturating_mul(weight));
    }

    /// Long work was measured that represents other work.
    pub fn worked(&mut self, ns: u64, weight: u64) {
        self.worked_ns = self.worked_ns.saturating_add(ns.saturating_mul(weight));
    }

    /// How much of `ns` in a long gap is waiting, where nothing is known of that gap: as in those of which
    /// something is.
    fn part_of(&self, ns: u64) -> u64 {
        let all = u128::from(self.waited_ns) + u128::from(self.worked_ns);
        // So little is known of none that half of it is as good as any other part.
        (u128::from(ns) * u128::from(self.waited_ns)).checked_div(all).map_or(ns / 2, |part| part as u64)
    }
}

/// The thread's segment ends at `now_ns`, and its work is counted up to then. If barriers were passed in it
/// without measuring them, and it took long, the long part of it is taken out and recorded.
#[inline]
pub fn take_out(lane: &'static Lane, visits: &'static Visits, now_ns: u64) {
    if visits.is_in_gap() {
        look(lane, visits, now_ns);
    }
}

/// As [`take_out`], where a wait begins that is recorded by itself, inside a gap that continues after it: the
/// long part so far is recorded before that wait, where it was.
#[inline]
pub fn take_out_before(lane: &'static Lane, visits: &'static Visits, now_ns: u64) {
    if visits.is_in_gap() && lane.member.worked_ns() >= LEAST_NS && is_long(lane, visits) {
        look(lane, visits, now_ns);
    }
}

/// Whether the gap that the thread is in is long so far.
#[cold]
fn is_long(lane: &'static Lane, visits: &'static Visits) -> bool {
    let gap_ns = lane.member.worked_ns();
    // SAFETY: the owner, and `with_record_in_silence` has taken the record.
    let from_ns = lane.with_record_in_silence(|_| unsafe { visits.pending() }.long.from_ns());
    from_ns.is_some_and(|from_ns| gap_ns >= from_ns)
}

fn look(lane: &'static Lane, visits: &'static Visits, now_ns: u64) {
    let gap_ns = lane.member.worked_ns();
    let seen = visits.take_seen();
    let found = lane.with_record_in_silence(|record| {
        // SAFETY: the owner, which has taken the record.
        let long = unsafe { &mut visits.pending().long };
        if gap_ns < long.from_ns() {
            long.is_usual(gap_ns);
            return None;
        }
        let excess_ns = gap_ns - long.mean_ns();
        let Divided { wait_ns, at, variance_ns2 } =
            divide(long, record.usage.switches.0, seen, excess_ns, visits);
        let of = visits.site(at.min(SITES - 1));
        let site = Site {
            region: of.region,
            operation: Operation::OmpBarrier as u16,
            address: of.address,
            sp: of.sp,
        };
        let executions = u64::from(wait_ns > 0 && visits.take_one(at));
        let segment = Segment {
            end_ns: now_ns,
            work_ns: excess_ns - wait_ns,
            wait_ns,
            executions,
            variance_ns2,
            is_whole: true,
            ..Segment::default()
        };
        record.parallel.sites.add_elsewhere(&site, &segment, &mut record.output);
        let node = record.parallel.sites.node(&site);
        Some((excess_ns, wait_ns, of.operation.unwrap_or(Operation::OmpBarrier), node))
    });
    if let Some(Some((excess_ns, wait_ns, operation, node))) = found {
        lane.member.set_worked(gap_ns - excess_ns);
        let object = lane.member.team().map_or(0, Team::object);
        stretch::record(lane, (operation, object), (now_ns - wait_ns, now_ns), node);
    }
}

/// How much of a long gap is waiting, and at which site.
struct Divided {
    wait_ns: u64,
    at: usize,
    /// Of the waiting, ns².
    variance_ns2: f64,
}

fn divide(
    long: &mut Long,
    given_away_before: u64,
    seen: Option<Option<usize>>,
    excess_ns: u64,
    visits: &Visits,
) -> Divided {
    let given_away = Usage::now().switches.0;
    let before = core::mem::replace(&mut long.given_away, given_away).max(given_away_before);
    let (wait_ns, at) = match seen {
        Some(Some(at)) => {
            long.waited(SAMPLE_NS, 1);
            (excess_ns, at)
        }
        Some(None) => {
            long.worked(SAMPLE_NS, 1);
            (0, visits.before())
        }
        None if given_away > before => (excess_ns, visits.before()),
        None => (long.part_of(excess_ns), visits.before()),
    };
    // Where nothing is known all of it may have been the one or the other, with these chances. A sample says
    // what its own time went into, and no more of a gap that is longer.
    let not_seen_ns = match seen {
        Some(_) => excess_ns.saturating_sub(SAMPLE_NS),
        None if given_away > before => 0,
        None => excess_ns,
    };
    let part = (long.part_of(1 << 20) as f64 / f64::from(1 << 20)).clamp(0.05, 0.95);
    Divided { wait_ns, at, variance_ns2: (not_seen_ns as f64).powi(2) * part * (1.0 - part) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_usual_is_not_long() {
        let mut long = Long::default();
        for _ in 0..100 {
            long.is_usual(30_000);
        }
        assert!((240_000..245_000).contains(&long.from_ns()), "{}", long.from_ns());
        for _ in 0..200 {
            long.is_usual(1_000);
        }
        assert_eq!(long.from_ns(), LEAST_NS);
    }

    #[test]
    fn of_unseen_gaps_the_same_part_is_waiting() {
        let mut long = Long::default();
        assert_eq!(long.part_of(100), 50);
        long.waited(3_000, 16);
        long.worked(1_000, 16);
        assert_eq!(long.part_of(1_000), 750);
    }
}
