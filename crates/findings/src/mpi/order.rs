//! Messages that are taken in another order than they come: a rank waits for one while others are there, and
//! works on each when it has got it.

use std::collections::BTreeMap;

use proust_account::ledger::Account;
use proust_profile::{FunctionId, LocationId, PartnerWaitRow};

use super::super::facts::Facts;
use super::super::finding::{Figure, Finding, Kind, Sure};
use super::super::thresholds::{self as limits, Checks};
use super::sites::Sites;
use super::{ranks, seconds, spinning_share};

pub(super) fn find(facts: &Facts<'_>, sites: &Sites) -> Vec<Finding> {
    let mut groups: BTreeMap<Option<FunctionId>, Vec<&PartnerWaitRow>> = BTreeMap::new();
    for wait in facts.profile.partner_waits.iter().filter(|wait| wait.misordered_ns > 0) {
        groups.entry(facts.places.function(wait.context)).or_default().push(wait);
    }
    groups.values().filter_map(|waits| finding(facts, sites, waits)).collect()
}

fn finding(facts: &Facts<'_>, sites: &Sites, waits: &[&PartnerWaitRow]) -> Option<Finding> {
    let filled_s = |wait: &PartnerWaitRow| wait.misordered_ns as f64 / 1e9;
    let lost_s: f64 = waits.iter().map(|wait| filled_s(wait)).sum();
    let burned_s = spinning_share(facts) * lost_s;
    let mut checks = Checks::default();
    if !facts.matters(&mut checks, lost_s, burned_s)
        || !checks.holds(&limits::MISORDERED_TIMES, waits.len() as f64)
    {
        return None;
    }
    let longest = waits.iter().max_by_key(|wait| wait.misordered_ns)?;
    let place = facts.places.place(longest.context);
    let cause = facts.located(place, waits.iter().map(|wait| wait.location));
    let mut finding = facts.finding(Kind::MpiWrongOrder, Account::MpiPartner, lost_s, burned_s, cause);
    finding.victims = facts.victims(waits.iter().map(|wait| (wait.location, wait.context, filled_s(wait))));
    let mut late: BTreeMap<LocationId, f64> = BTreeMap::new();
    for wait in waits {
        *late.entry(wait.late).or_default() += filled_s(wait);
    }
    let (ranks, largest) = ranks(facts, &late);
    let places: std::collections::BTreeSet<_> =
        waits.iter().map(|wait| (wait.location, wait.context)).collect();
    finding.evidence = vec![
        Figure::seconds("waited while messages were there that are taken later", lost_s),
        Figure::count("such waits", waits.len() as f64),
        Figure::seconds("these waits in all", waits.iter().map(|wait| seconds(wait)).sum()),
        Figure::count("waits there", places.iter().map(|&site| sites.times(site)).sum::<u64>() as f64),
        Figure::share("of it for the sender that was waited for most", largest),
    ];
    finding.ranks = ranks;
    // Only a part of the run that every machine's load may bring about is not worth more.
    let is_large = limits::LARGE_SHARE.holds(lost_s / facts.total_s);
    if is_large {
        checks.holds(&limits::LARGE_SHARE, lost_s / facts.total_s);
    }
    finding.sure = if is_large { Sure::Likely } else { Sure::Possible };
    finding.checks = checks.kept();
    Some(finding)
}
