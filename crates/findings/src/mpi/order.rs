//! Messages that are taken in another order than they come: a rank waits for one while others are there, and
//! works on each when it has got it.

use std::collections::BTreeMap;

use proust_account::ledger::Account;
use proust_profile::{FunctionId, LocationId, Ns, PartnerWaitRow};

use super::super::facts::Facts;
use super::super::figure::{Figure, FigureId};
use super::super::finding::{Finding, Kind, Sure};
use super::super::thresholds::{self as limits, Checks};
use super::sites::Sites;
use super::{ranks, spinning_share, time};

pub(super) fn find(facts: &Facts<'_>, sites: &Sites) -> Vec<Finding> {
    let mut groups: BTreeMap<Option<FunctionId>, Vec<&PartnerWaitRow>> = BTreeMap::new();
    for wait in facts.profile.partner_waits.iter().filter(|wait| wait.misordered_ns > 0) {
        groups.entry(facts.places.function(wait.context)).or_default().push(wait);
    }
    groups.values().filter_map(|waits| finding(facts, sites, waits)).collect()
}

fn finding(facts: &Facts<'_>, sites: &Sites, waits: &[&PartnerWaitRow]) -> Option<Finding> {
    let filled = |wait: &PartnerWaitRow| Ns::of(wait.misordered_ns);
    let lost: Ns = waits.iter().map(|wait| filled(wait)).sum();
    let burned = lost * spinning_share(facts);
    let mut checks = Checks::default();
    if !facts.matters(&mut checks, lost, burned)
        || !checks.holds(&limits::MISORDERED_TIMES, waits.len() as f64)
    {
        return None;
    }
    let longest = waits.iter().max_by_key(|wait| wait.misordered_ns)?;
    let place = facts.places.place(longest.context);
    let cause = facts.located(place, waits.iter().map(|wait| wait.location));
    let mut finding = facts.finding(Kind::MpiWrongOrder, Account::MpiPartner, lost, burned, cause);
    finding.victims = facts.victims(waits.iter().map(|wait| (wait.location, wait.context, filled(wait))));
    let mut late: BTreeMap<LocationId, Ns> = BTreeMap::new();
    for wait in waits {
        *late.entry(wait.late).or_default() += filled(wait);
    }
    let (ranks, largest) = ranks(facts, &late);
    let places: std::collections::BTreeSet<_> =
        waits.iter().map(|wait| (wait.location, wait.context)).collect();
    finding.evidence = vec![
        Figure::time(FigureId::WaitedBesideMessages, lost),
        Figure::count(FigureId::WaitsOfKind, waits.len() as f64),
        Figure::time(FigureId::TheseWaits, waits.iter().map(|wait| time(wait)).sum()),
        Figure::count(FigureId::WaitsThere, places.iter().map(|&site| sites.times(site)).sum::<u64>() as f64),
        Figure::share(FigureId::ShareOfLatestSender, largest),
    ];
    finding.ranks = ranks;
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
