//! Serial chains: a rank waits for another one that waited for a third one before, so that they work one
//! after the other. It waits for a message, for a receiver, or in a collective.
//!
//! A wait belongs to a chain where the late rank had waited itself until some time in it, or just before it
//! began. All that such a wait consists of is the late rank's own wait and what it did afterwards. Where one
//! rank's work is all that the others wait for, it is not a chain but a late rank whose effects travel.
//!
//! Two that take turns may wait in functions of their own, such as one that hands out work and one that does
//! it. Each waits for one rank only, and the chain is found where both are taken together.

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
use super::{groups, ranks, spinning_share, time};

/// The part of a wait's length that hardly counts beside it.
const MOMENT: f64 = 0.1;

/// What is known of a wait.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    is_linked: bool,
    /// Waits that led to this one, itself included.
    length: u32,
    /// The part of it in which the late rank waited, too.
    late_waited: Ns,
}

/// The waits in one function.
#[derive(Clone, Debug, Default)]
struct Chained {
    /// All of them.
    all: Ns,
    /// Those in chains.
    chained: Ns,
    /// Those of them for messages.
    by_message: Ns,
    late_waited: Ns,
    waits: u64,
    longest: u32,
    /// What is left of them by late rank: it did something else than wait meanwhile.
    worked: BTreeMap<LocationId, Ns>,
    sites: FxHashSet<Site>,
    victims: Vec<(LocationId, ContextId, Ns)>,
}

impl Chained {
    fn add(&mut self, wait: &PartnerWaitRow, link: &Link) {
        self.all += time(wait);
        if !link.is_linked {
            return;
        }
        self.chained += time(wait);
        if wait.pattern == WaitPattern::LateSender {
            self.by_message += time(wait);
        }
        self.late_waited += link.late_waited;
        *self.worked.entry(wait.late).or_default() += time(wait) - link.late_waited;
        self.waits += 1;
        self.longest = self.longest.max(link.length);
        self.sites.insert((wait.location, wait.context));
        self.victims.push((wait.location, wait.context, time(wait)));
    }

    /// Whether its waits are a chain for the most part.
    fn is_chain(&self, checks: &mut Checks) -> bool {
        checks.holds(&limits::CHAIN_SHARE, self.chained / self.all.max(Ns::SHORTEST))
    }
}

pub(super) fn find(facts: &Facts<'_>, sites: &Sites) -> Vec<Finding> {
    let waits = &facts.profile.partner_waits;
    let links = links(waits);
    let mut groups: BTreeMap<Option<FunctionId>, Chained> = BTreeMap::new();
    for (wait, link) in waits.iter().zip(&links) {
        groups.entry(facts.places.function(wait.context)).or_default().add(wait, link);
    }
    let found: Vec<Finding> = groups.values().filter_map(|of| finding(facts, sites, of)).collect();
    if !found.is_empty() || groups.len() < 2 {
        return found;
    }
    groups.retain(|_, of| of.is_chain(&mut Checks::default()));
    let mut together = Chained::default();
    for (wait, link) in waits.iter().zip(&links) {
        if groups.contains_key(&facts.places.function(wait.context)) {
            together.add(wait, link);
        }
    }
    finding(facts, sites, &together).into_iter().collect()
}

/// Which waits follow from each other, in the order of `waits`.
fn links(waits: &[PartnerWaitRow]) -> Vec<Link> {
    let mut order: Vec<usize> = (0..waits.len()).collect();
    order.sort_by_key(|&at| (waits[at].until_ns, waits[at].location));
    let mut links = vec![Link { length: 1, ..Link::default() }; waits.len()];
    let mut last: FxHashMap<LocationId, usize> = FxHashMap::default();
    for at in order {
        let wait = &waits[at];
        let moment_ns = |wait: &PartnerWaitRow| (MOMENT * wait.length_ns() as f64) as u64;
        let led = last.get(&wait.late).copied();
        if let Some(led) = led.filter(|&led| waits[led].until_ns + moment_ns(wait) >= wait.begin_ns) {
            let both_ns = waits[led].until_ns.saturating_sub(waits[led].begin_ns.max(wait.begin_ns));
            let late_waited = Ns::of(both_ns);
            links[at] = Link { is_linked: true, length: links[led].length + 1, late_waited };
            // A long wait is no link of a chain for a short one behind it.
            links[led].is_linked |= wait.length_ns() >= moment_ns(&waits[led]);
        }
        last.insert(wait.location, at);
    }
    links
}

fn finding(facts: &Facts<'_>, sites: &Sites, of: &Chained) -> Option<Finding> {
    let (mut displaced, mut did) = (Ns::ZERO, BTreeMap::<LocationId, Ns>::new());
    let rows = facts.blame.rows.iter().filter(|row| row.account == Account::MpiPartner && !row.slots);
    for row in rows.filter(|row| of.sites.contains(&(row.location, row.context))) {
        let time = Ns::of(row.ns);
        if row.cause.kind == CauseKind::Displaced {
            displaced += time;
        } else {
            *did.entry(row.cause.location).or_default() += time;
        }
    }
    let excess = groups::excess(facts, &did, displaced);
    let on_processor = 1.0 - displaced.share_of(displaced + did.values().sum());
    let lost = of.chained * on_processor;
    let burned = lost * spinning_share(facts);
    let (ranks, largest) = ranks(facts, &of.worked);
    let mut checks = Checks::default();
    if !checks.holds(&limits::LEAST_TOTAL_S, facts.total)
        || !checks.holds(&limits::LARGE_SHARE, facts.recoverable(lost, burned) / facts.total)
        || !of.is_chain(&mut checks)
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
        Figure::time(FigureId::WaitedForWaitingRank, of.late_waited),
        Figure::share(FigureId::ShareOfLatestRankOfRest, largest),
        Figure::time(FigureId::WaitedForDisplacedRanks, displaced),
    ];
    finding.ranks = ranks;
    // Ranks may have to meet in a collective, but no message has to be sent late.
    let is_by_message = of.by_message >= of.chained * 0.25;
    let is_sure = is_by_message && limits::MPI_LATE_EXCESS.holds(on_processor);
    finding.sure = if is_sure { Sure::Likely } else { Sure::Possible };
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
        let ns = |link: &Link| link.late_waited.unsigned();
        links(waits).iter().map(|link| (link.is_linked, link.length, ns(link))).collect()
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
