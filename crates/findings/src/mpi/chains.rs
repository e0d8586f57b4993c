//! Serial chains: a rank waits for another one that waited for a third one before, so that they work one
//! after the other. It waits for a message, for a receiver, or in a collective.
//!
//! [`links`] finds the waits that belong to one. All that such a wait consists of is the late rank's own wait
//! and what it did afterwards. Where one rank's work is all that the others wait for, it is not a chain but a
//! late rank whose effects travel.
//!
//! Two that take turns may wait in functions of their own, such as one that hands out work and one that does
//! it. Each waits for one rank only, and the chain is found where both are taken together.

use std::collections::{BTreeMap, BTreeSet};

use proust_account::blame::CauseKind;
use proust_account::ledger::Account;
use proust_profile::{FunctionId, LocationId, Ns, PartnerWaitRow, WaitPattern};

use super::super::facts::Facts;
use super::super::figure::{Figure, FigureId};
use super::super::finding::{Finding, Kind, Sure};
use super::super::thresholds::{self as limits, Checks};
use super::links::{Link, links};
use super::sites::{Site, Sites};
use super::{ranks, spinning_share, time};

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
    sites: BTreeMap<Site, Ns>,
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
        *self.sites.entry((wait.location, wait.context)).or_default() += time(wait);
    }

    /// Whether its waits are a chain for the most part.
    fn is_chain(&self, checks: &mut Checks) -> bool {
        checks.holds(&limits::CHAIN_SHARE, self.chained / self.all.max(Ns::SHORTEST))
    }
}

pub(super) fn find(facts: &Facts<'_>, sites: &Sites) -> Vec<Finding> {
    let waits = &facts.profile.partner_waits;
    let links = links(facts);
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

fn finding(facts: &Facts<'_>, sites: &Sites, of: &Chained) -> Option<Finding> {
    let (mut displaced, mut did) = (Ns::ZERO, Ns::ZERO);
    let rows = facts.blame.rows.iter().filter(|row| row.account == Account::MpiPartner && !row.slots);
    for row in rows.filter(|row| of.sites.contains_key(&(row.location, row.context))) {
        let time = Ns::of(row.ns);
        if row.cause.kind == CauseKind::Displaced {
            displaced += time;
        } else {
            did += time;
        }
    }
    let on_processor = 1.0 - displaced.share_of(displaced + did);
    let lost = of.chained * on_processor;
    let burned = lost * spinning_share(facts);
    let (ranks, largest) = ranks(facts, &of.worked);
    let mut checks = Checks::default();
    if !checks.holds(&limits::LEAST_TOTAL_S, facts.total)
        || !checks.holds(&limits::LARGE_SHARE, facts.recoverable(lost, burned) / facts.total)
        || !of.is_chain(&mut checks)
        || !checks.holds(&limits::CHAIN_WAITS, f64::from(of.longest))
        || !checks.holds(&limits::CHAIN_BY_ONE, largest)
        // Ranks that wait for each other's turn on a processor are a chain as well, and not the program's.
        || !checks.holds(&limits::CHAIN_ON_PROCESSOR, on_processor)
    {
        return None;
    }
    let victims =
        facts.victims(of.sites.iter().map(|(&(location, context), &time)| (location, context, time)));
    let cause = victims.first()?.place.clone();
    let mut finding = facts.finding(Kind::MpiSerialChain, Account::MpiPartner, lost, burned, cause);
    finding.victims = victims;
    let members: BTreeSet<LocationId> = of.sites.keys().map(|&(location, _)| location).collect();
    let times: u64 = of.sites.keys().map(|&site| sites.times(site)).sum();
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
