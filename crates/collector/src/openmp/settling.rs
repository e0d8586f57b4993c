//! The times of visits to barriers that were not measured, added to the sums of their thread: by site, and as
//! operations.

use proust_log::operations::Operation;

use super::estimate::{Settled, settle as divide};
use super::sites::{Added, Segment, Site};
use super::visits::{Pending, SITES, Visits};
use crate::lane::Record;
use crate::operation::Kind;
use crate::operation::sums::Several;
use crate::{clock, room};

/// A stretch of the thread's time is over in which barriers were passed that were not drawn.
pub fn add_gap(pending: &mut Pending, ns: u64, end_ns: u64) {
    let begin_ns = end_ns.saturating_sub(ns);
    if pending.gap_ns == 0 || begin_ns < pending.since_ns {
        pending.since_ns = begin_ns;
    }
    pending.gap_ns += ns;
}

/// Adds the visits that the thread made without a measurement since the last time. For the thread that has
/// taken the record.
pub fn settle(record: &mut Record) {
    let Some(visits) = record.parallel.member.visits() else { return };
    if visits.has_undrawn() || visits.has_added() {
        // It takes 3 KiB, and hooks run this on the program's stack.
        room::apart(|| distribute(record, visits, &visits.take_undrawn()));
    }
}

/// Divides what passed among the sites of these visits.
#[inline(never)]
fn distribute(record: &mut Record, visits: &Visits, undrawn: &[u64; SITES]) {
    // SAFETY: the caller has taken the record.
    let pending = unsafe { visits.pending() };
    let now_ns = clock::now_ns();
    // A gap is divided among visits. Without any it is left for the next ones.
    let is_empty = undrawn.iter().all(|&visits| visits == 0);
    let (gap_ns, since_ns) = match is_empty {
        true => (0, now_ns),
        false => (core::mem::take(&mut pending.gap_ns), pending.since_ns),
    };
    let settled = match is_empty {
        true => [Settled::default(); SITES],
        false => divide(gap_ns, undrawn, &mut pending.tallies),
    };
    let trials = &mut pending.trials;
    for (at, (Settled { wait_ns, work_ns }, executions)) in
        settled.into_iter().zip(undrawn.iter().copied()).enumerate()
    {
        let is_passed = executions != 0 || wait_ns != 0 || work_ns != 0;
        let of = visits.site(at);
        let site = Site {
            region: of.region,
            operation: Operation::OmpBarrier as u16,
            address: of.address,
            sp: of.sp,
        };
        // The cost of measuring is kept until the site's call path is known: that is found at the end of its
        // first visit.
        if !(is_passed || visits.has_added_at(at) && record.parallel.sites.knows(&site)) {
            continue;
        }
        let added_ns = visits.take_added(at);
        let segment = Segment {
            end_ns: now_ns,
            work_ns,
            wait_ns,
            executions,
            is_estimated: true,
            is_whole: true,
            added: Added { ns: added_ns, ..Added::default() },
            ..Segment::default()
        };
        record.parallel.sites.add_elsewhere(&site, &segment, &mut record.output);
        record.parallel.sites.tried(&site, &trials[at].take());
        if executions == 0 && wait_ns == 0 {
            continue;
        }
        let estimated = Several {
            kind: Kind::from(of.operation.unwrap_or(Operation::OmpBarrier)),
            calls: executions,
            ns: wait_ns,
            since_ns: if gap_ns == 0 { now_ns } else { since_ns },
            until_ns: now_ns,
        };
        record.operations.sums.add_estimated(&estimated, &mut record.output);
    }
}
