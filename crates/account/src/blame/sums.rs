//! Short waits, of which only sums are known: their objects were not recorded.
//!
//! They are shared by the weights of the releases of locks by others of the same process meanwhile, or, if
//! none was recorded in so short a time, of those next to it.

use super::evidence::{Done, Evidence, Kind};
use super::releases::{Weighed, nearest};
use super::sections::chance;
use super::tally::Tally;
use crate::ledger::{Account, Windows};

/// So many releases show which locations hold locks, and for how long.
const ENOUGH: usize = 512;

/// Charges all short waits for locks to their possible holders.
pub(super) fn charge(evidence: &Evidence<'_>, windows: &Windows, tally: &mut Tally) {
    let all = evidence.met.lock_sums.then(|| evidence.all());
    for Done { row: event, kind, .. } in all.into_iter().flatten() {
        if !event.summed || kind != Kind::Lock || event.time_ns == 0 {
            continue;
        }
        // The range that is asked for may begin or end in the middle.
        let in_windows =
            |window: &crate::ledger::Window| window.start_ns < event.end_ns && window.end_ns > event.begin_ns;
        if !windows.as_slice().iter().any(in_windows) {
            continue;
        }
        let victim = tally.victim(event.location, Account::Lock, event.context);
        let list = evidence.releases.of_process(evidence.process(event.location));
        let meanwhile = &list[list.partition_point(|one| one.time_ns <= event.begin_ns)..];
        let meanwhile = &meanwhile[..meanwhile.partition_point(|one| one.time_ns <= event.end_ns)];
        let is_of_another = |one: &Weighed| evidence.releases.place(one.place).location != event.location;
        let others: Vec<&Weighed> =
            some(meanwhile, event.begin_ns).filter(|one| is_of_another(one)).collect();
        let all = |one: &Weighed| one.weight_ns as f64;
        let weight: f64 = others.iter().map(|one| all(one)).sum();
        let time_ns = event.time_ns as f64;
        if weight > 0.0 {
            for one in others {
                let cause = tally.of_release(evidence, one.place);
                tally.hint(victim, cause, time_ns * all(one) / weight);
            }
            continue;
        }
        let middle_ns = event.begin_ns + (event.end_ns - event.begin_ns) / 2;
        let middle = list.partition_point(|one| one.time_ns <= middle_ns);
        let can_stand = |one: &Weighed| one.is_sampled && is_of_another(one);
        let near: Vec<&Weighed> = nearest(list, middle, middle_ns, |one| one.time_ns, can_stand).collect();
        let weight: f64 = near.iter().map(|one| all(one)).sum();
        if near.is_empty() {
            let unknown = tally.unknown((event.location, event.context));
            tally.hint(victim, unknown, time_ns);
        }
        for one in near {
            let cause = tally.of_release(evidence, one.place);
            tally.hint(victim, cause, time_ns * all(one) / weight);
        }
    }
}

/// All of a list, or one of each of many parts of it, drawn by lot: sections of several locks may follow each
/// other in turn, and each k-th would be of one.
fn some(list: &[Weighed], seed: u64) -> impl Iterator<Item = &Weighed> {
    let parts = list.len().min(ENOUGH);
    (0..parts).map(move |part| {
        let (from, to) = (part * list.len() / parts, (part + 1) * list.len() / parts);
        let lot = chance(seed.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(part as u64 + 1)));
        &list[from + ((to - from) as f64 * lot) as usize]
    })
}
