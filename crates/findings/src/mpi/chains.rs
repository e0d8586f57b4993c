//! Serial chains: a rank waits for a message of another one that waited for a third one before, so that they
//! work one after the other.
//!
//! A wait belongs to a chain where the sender had waited for a message itself until some time in it, or just
//! before it began. All that such a wait consists of is the sender's own wait and what it did with the
//! message that it got. Where one rank's work is all that the others wait for, it is not a chain but a late
//! sender whose effects travel.

use std::collections::{BTreeMap, BTreeSet};

use proust_account::blame::CauseKind;
use proust_account::ledger::Account;
use proust_profile::{ContextId, FunctionId, LocationId, Ns, PartnerWaitRow, WaitPattern};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::facts::Facts;
use super::super::figure::{Figure, FigureId};
use super::super::finding::{Finding, Kind, Sure};
use super::super::thresholds::{self as limits, Checks};
use super::sites::{Site, Sites};
use super::{ranks, spinning_share, time};

/// Of a wait's length, the time before it began that counts as its beginning.
const BEFORE: f64 = 0.1;

/// What is known of a wait for a sender.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    is_linked: bool,
    /// Waits that led to this one, itself included.
    length: u32,
    /// The part of it in which the sender waited, too.
    sender_waited: Ns,
}

/// The waits for senders in one function.
#[derive(Debug, Default)]
struct Chained {
    /// All of them.
    all: Ns,
    /// Those in chains.
    chained: Ns,
    sender_waited: Ns,
    waits: u64,
    longest: u32,
    /// What is left of them by sender: it did something else than wait meanwhile.
    worked: BTreeMap<LocationId, Ns>,
    sites: FxHashSet<Site>,
    victims: Vec<(LocationId, ContextId, Ns)>,
}

pub(super) fn find(facts: &Facts<'_>, sites: &Sites) -> Vec<Finding> {
    let waits: Vec<&PartnerWaitRow> =
        (facts.profile.partner_waits.iter()).filter(|wait| wait.pattern == WaitPattern::LateSender).collect();
    let links = links(&waits);
    let mut groups: BTreeMap<Option<FunctionId>, Chained> = BTreeMap::new();
    for (wait, link) in waits.iter().zip(&links) {
        let of = groups.entry(facts.places.function(wait.context)).or_default();
        of.all += time(wait);
        if link.is_linked {
            of.chained += time(wait);
            of.sender_waited += link.sender_waited;
            *of.worked.entry(wait.late).or_default() += time(wait) - link.sender_waited;
            of.waits += 1;
            of.longest = of.longest.max(link.length);
            of.sites.insert((wait.location, wait.context));
            of.victims.push((wait.location, wait.context, time(wait)));
        }
    }
    groups.values().filter_map(|of| finding(facts, sites, of)).collect()
}

/// Which waits follow from each other, in the order of `waits`.
fn links(waits: &[&PartnerWaitRow]) -> Vec<Link> {
    let mut order: Vec<usize> = (0..waits.len()).collect();
    order.sort_by_key(|&at| (waits[at].until_ns, waits[at].location));
    let mut links = vec![Link { length: 1, ..Link::default() }; waits.len()];
    let mut last: FxHashMap<LocationId, usize> = FxHashMap::default();
    for at in order {
        let wait = waits[at];
        let before_ns = (BEFORE * wait.length_ns() as f64) as u64;
        let led = last.get(&wait.late).copied();
        if let Some(led) = led.filter(|&led| waits[led].until_ns + before_ns >= wait.begin_ns) {
            let both_ns = waits[led].until_ns.saturating_sub(waits[led].begin_ns.max(wait.begin_ns));
            let sender_waited = Ns::of(both_ns);
            links[at] = Link { is_linked: true, length: links[led].length + 1, sender_waited };
            links[led].is_linked = true;
        }
        last.insert(wait.location, at);
    }
    links
}

fn finding(facts: &Facts<'_>, sites: &Sites, of: &Chained) -> Option<Finding> {
    let (mut displaced, mut blamed) = (Ns::ZERO, Ns::ZERO);
    let rows = facts.blame.rows.iter().filter(|row| row.account == Account::MpiPartner && !row.slots);
    for row in rows.filter(|row| of.sites.contains(&(row.location, row.context))) {
        let time = Ns::of(row.ns);
        blamed += time;
        if row.cause.kind == CauseKind::Displaced {
            displaced += time;
        }
    }
    let excess = 1.0 - displaced.share_of(blamed);
    let lost = of.chained * excess;
    let burned = lost * spinning_share(facts);
    let (ranks, largest) = ranks(facts, &of.worked);
    let mut checks = Checks::default();
    if !checks.holds(&limits::LEAST_TOTAL_S, facts.total)
        || !checks.holds(&limits::LARGE_SHARE, facts.recoverable(lost, burned) / facts.total)
        || !checks.holds(&limits::CHAIN_SHARE, of.chained / of.all.max(Ns::SHORTEST))
        || !checks.holds(&limits::CHAIN_WAITS, f64::from(of.longest))
        || !checks.holds(&limits::CHAIN_BY_ONE, largest)
        || !checks.holds(&limits::MPI_LATE_EXCESS, excess)
    {
        return None;
    }
    let victims = facts.victims(of.victims.iter().copied());
    let cause = victims.first()?.place.clone();
    let mut finding = facts.finding(Kind::MpiSerialChain, Account::MpiPartner, lost, burned, cause);
    finding.victims = victims;
    let members: BTreeSet<LocationId> = of.victims.iter().map(|&(location, ..)| location).collect();
    let times: u64 = of.sites.iter().map(|&site| sites.times(site)).sum();
    finding.evidence = vec![
        Figure::time(FigureId::WaitedInChains, of.chained),
        Figure::count(FigureId::WaitsOfLongestChain, f64::from(of.longest)),
        Figure::count(FigureId::RanksInChains, members.len() as f64),
        Figure::count(FigureId::WaitsInChains, of.waits as f64),
        Figure::count(FigureId::WaitsThereInAll, times as f64),
        Figure::time(FigureId::WaitedForWaitingSender, of.sender_waited),
        Figure::share(FigureId::ShareOfLatestRankOfRest, largest),
        Figure::time(FigureId::WaitedForDisplacedRanks, displaced),
    ];
    finding.ranks = ranks;
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}

#[cfg(test)]
mod tests {
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
        let waits: Vec<&PartnerWaitRow> = waits.iter().collect();
        let ns = |link: &Link| link.sender_waited.unsigned();
        links(&waits).iter().map(|link| (link.is_linked, link.length, ns(link))).collect()
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
