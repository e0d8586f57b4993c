//! Waits for ranks that had waited themselves, each of which is a link of a chain.
//!
//! A wait follows from another one where its late rank had waited itself until some time in it, or just
//! before it began: until then both could not work at once. On a busy machine a rank may be without a
//! processor between what it sends and what it waits for next, for longer than it works. Such a gap separates
//! nothing if hardly any of the rank's samples fall into gaps like it: the rank did not work in them.

use std::collections::BTreeMap;

use proust_profile::{Array, FunctionId, LocationId, Ns, PartnerWaitRow, PartnerWaits};
use rustc_hash::FxHashMap;

use super::super::facts::Facts;
use super::time;

/// The part of a wait's length that hardly counts beside it.
const MOMENT: f64 = 0.1;
/// If ranks worked in gaps for so long that it counts, at least so many samples would fall into these.
const LEAST_SAMPLES: f64 = 5.0;

/// What is known of a wait.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link {
    pub is_linked: bool,
    /// Waits that led to this one, itself included.
    pub length: u32,
    /// The part of it in which the late rank waited, too.
    pub late_waited: Ns,
}

/// A wait, and the one before it of the rank that it is for.
#[derive(Clone, Copy, Debug)]
struct Pair {
    wait: u32,
    led: u32,
}

impl Pair {
    fn waits<'w>(&self, waits: &'w [PartnerWaitRow]) -> (&'w PartnerWaitRow, &'w PartnerWaitRow) {
        (&waits[self.wait as usize], &waits[self.led as usize])
    }

    /// From the end of the one before until this one begins, ns.
    fn gap(&self, waits: &[PartnerWaitRow]) -> (u64, u64) {
        let (wait, led) = self.waits(waits);
        (led.until_ns.min(wait.begin_ns), wait.begin_ns)
    }

    fn is_moment(&self, waits: &[PartnerWaitRow]) -> bool {
        let (from_ns, until_ns) = self.gap(waits);
        until_ns - from_ns <= moment_ns(self.waits(waits).0)
    }
}

fn moment_ns(wait: &PartnerWaitRow) -> u64 {
    (MOMENT * wait.length_ns() as f64) as u64
}

/// Which waits for partners follow from each other, in their order.
pub(super) fn links(facts: &Facts<'_>) -> Array<Link> {
    let waits = &facts.profile.partner_waits;
    let pairs = pairs(waits);
    let place = |pair: &Pair| {
        let (wait, _) = pair.waits(waits);
        (wait.location, facts.places.function(wait.context))
    };
    let mut gaps: BTreeMap<(LocationId, Option<FunctionId>), Vec<Pair>> = BTreeMap::new();
    for pair in pairs.iter().filter(|pair| !pair.is_moment(waits)) {
        gaps.entry(place(pair)).or_default().push(*pair);
    }
    gaps.retain(|&(location, _), gaps| is_displaced(facts, location, gaps));
    linked(waits, &pairs, |pair| gaps.contains_key(&place(pair)))
}

/// Each wait that was for a rank which had waited before, in the order of their ends.
fn pairs(waits: &PartnerWaits) -> Array<Pair> {
    let mut order: Array<u32> = Array::new(&waits.spool());
    order.extend((0..).take(waits.len()));
    order.sort_unstable_by_key(|&at| (waits[at as usize].until_ns, waits[at as usize].location, at));
    let (mut pairs, mut last) = (Array::new(&waits.spool()), FxHashMap::<LocationId, u32>::default());
    for &wait in &order {
        let row = &waits[wait as usize];
        pairs.extend(last.get(&row.late).map(|&led| Pair { wait, led }));
        last.insert(row.location, wait);
    }
    pairs
}

/// The waits with those that they follow from. `is_nothing` where a gap may be as long as it is.
fn linked(waits: &PartnerWaits, pairs: &[Pair], is_nothing: impl Fn(&Pair) -> bool) -> Array<Link> {
    let one = Link { length: 1, ..Link::default() };
    let mut links = Array::filled(&waits.spool(), one, waits.len());
    for pair in pairs {
        if pair.is_moment(waits) || is_nothing(pair) {
            let ((wait, led), before) = (pair.waits(waits), &mut links[pair.led as usize]);
            let late_waited = Ns::of(led.until_ns.saturating_sub(led.begin_ns.max(wait.begin_ns)));
            // A long wait is no link of a chain for a short one behind it.
            before.is_linked |= wait.length_ns() >= moment_ns(led);
            let length = before.length + 1;
            links[pair.wait as usize] = Link { is_linked: true, length, late_waited };
        }
    }
    links
}

/// Whether a rank had no processor in gaps before its waits in one function, and hardly did anything in them.
fn is_displaced(facts: &Facts<'_>, location: LocationId, gaps: &[Pair]) -> bool {
    let waits = &facts.profile.partner_waits;
    let mut instants: Vec<(u64, u64)> = gaps.iter().map(|pair| pair.gap(waits)).collect();
    let passed: Ns = instants.iter().map(|(from_ns, until_ns)| Ns::of(until_ns - from_ns)).sum();
    if facts.queued(location) * 2.0 < passed {
        return false;
    }
    instants.sort_unstable();
    let (mut instants, mut worked, mut samples, mut used) =
        (instants.into_iter().peekable(), Ns::ZERO, 0, Ns::ZERO);
    for row in facts.profile.samples.of(location).filter(|row| !row.tail) {
        (samples, used) = (samples + 1, used + Ns::of(row.cpu_ns));
        while instants.next_if(|&(_, until_ns)| until_ns < row.time_ns).is_some() {}
        if instants.peek().is_some_and(|&(from_ns, _)| from_ns < row.time_ns) {
            worked += Ns::of(row.cpu_ns);
        }
    }
    let counts = gaps.iter().map(|pair| time(pair.waits(waits).0)).sum::<Ns>() * MOMENT;
    let expected = counts / used.max(Ns::SHORTEST) * f64::from(samples);
    expected >= LEAST_SAMPLES && worked <= counts
}

#[cfg(test)]
mod tests {
    use proust_profile::{ContextId, WaitPattern};

    use super::*;

    fn wait(location: u32, late: u32, (begin_ns, until_ns): (u64, u64)) -> PartnerWaitRow {
        PartnerWaitRow {
            location: LocationId(location),
            late: LocationId(late),
            context: ContextId(0),
            late_context: ContextId(0),
            operation: proust_profile::OperationId(0),
            begin_ns,
            until_ns,
            pattern: WaitPattern::LateSender,
            misordered_ns: 0,
            bytes: 0,
        }
    }

    fn of(waits: &[PartnerWaitRow]) -> Vec<(bool, u32, u64)> {
        let waits = &PartnerWaits::from(waits.to_vec());
        let ns = |link: &Link| link.late_waited.unsigned();
        linked(waits, &pairs(waits), |_| false)
            .iter()
            .map(|link| (link.is_linked, link.length, ns(link)))
            .collect()
    }

    #[test]
    fn a_pipeline_is_a_chain() {
        // Rank 1 waits for 0, 2 for 1 that works 100 ns, and 3 for 2.
        let found = of(&[wait(1, 0, (0, 100)), wait(2, 1, (0, 200)), wait(3, 2, (0, 300))]);
        assert_eq!(found, [(true, 1, 0), (true, 2, 100), (true, 3, 200)]);
    }

    #[test]
    fn ranks_that_take_turns_are_a_chain() {
        let found = of(&[wait(1, 0, (0, 100)), wait(0, 1, (101, 200)), wait(1, 0, (201, 300))]);
        assert_eq!(found, [(true, 1, 0), (true, 2, 0), (true, 3, 0)]);
    }

    #[test]
    fn a_late_sender_is_none() {
        // It has waited as well, but worked for long between.
        let found = of(&[wait(0, 1, (0, 10)), wait(1, 0, (500, 600)), wait(2, 0, (500, 600))]);
        assert_eq!(found, [(false, 1, 0); 3]);
    }
}
