//! Page faults: memory that is touched for the first time.
//!
//! When and by whom is measured exactly; what a fault costs is fitted to the run, and booked by the ledger:
//! what a finding says is what stands on the account. Which memory it was is not known.

use std::collections::HashMap;

use proust_profile::{ContextId, LocationId, Metric};

use super::facts::Facts;
use super::finding::{Figure, Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};
use crate::ledger::Account;
use crate::timelines::FaultCost;

/// Parts of the run by which faults are told apart in time.
const PARTS: usize = 12;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    page_faults(facts).into_iter().collect()
}

fn page_faults(facts: &Facts<'_>) -> Option<Finding> {
    let mut by_context: HashMap<ContextId, f64> = HashMap::new();
    let mut by_location: HashMap<LocationId, f64> = HashMap::new();
    for value in facts.profile.values.iter().filter(|value| value.metric == Metric::MinorFaults) {
        *by_context.entry(value.context).or_default() += value.amount;
        *by_location.entry(value.location).or_default() += value.amount;
    }
    let all: f64 = by_context.values().sum();
    let mut checks = Checks::default();
    let lost_s = facts.ledger.with_beyond_ns(Account::Fault) as f64 / 1e9;
    if !facts.matters(&mut checks, lost_s, lost_s) || !checks.holds(&limits::FAULTS, all) {
        return None;
    }
    let (&toucher, &by_one) = by_location.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)))?;
    let cause = facts.places.cause(&by_context, 0.5)?;
    let in_kernel_s: f64 = by_context.keys().map(|&context| facts.system[context as usize]).sum();
    let cost = FaultCost::of(facts.profile);
    let when = When::of(facts);
    let by_one_share = by_one / all;
    let used_after = when.used_after(facts, toucher);
    let mut as_first = checks.clone();
    let is_first_touch = facts.width >= 2.0
        && as_first.holds(&limits::FAULTS_BY_ONE, by_one_share)
        && as_first.holds(&limits::FAULTS_AT_ONCE, when.at_once)
        && as_first.holds(&limits::USED_AFTER, used_after);
    // Touched in parallel, it takes each of them a part of that time.
    let first_s = lost_s * (1.0 - 1.0 / facts.width);
    let (kind, checks, lost_s) = if is_first_touch && facts.matters(&mut as_first, first_s, first_s) {
        (Kind::FirstTouch, as_first, first_s)
    } else if when.at_once >= limits::FAULTS_AT_ONCE.value {
        checks.holds(&limits::FAULTS_AT_ONCE, when.at_once);
        (Kind::FaultStartup, checks, lost_s)
    } else {
        (Kind::FaultChurn, checks, lost_s)
    };
    let mut finding = facts.finding(kind, Account::Fault, lost_s, lost_s, cause);
    finding.evidence = vec![
        Figure::count("page faults", all),
        Figure::seconds("in the kernel where they happened", in_kernel_s),
        Figure::seconds("a fault takes, by the system time of stretches with and without", cost.ns / 1e9),
        Figure::seconds(
            "standard error of that (0: not fitted, the usual cost)",
            cost.error_ns.unwrap_or(0.0) / 1e9,
        ),
        Figure::share("of them by one thread", by_one_share),
        Figure::share("of them within one half of the processor time", when.at_once),
        Figure::share("of the processor time was other threads' afterwards", used_after),
    ];
    // How much memory the process ever had is not known: faults all through a run may be of memory that each
    // step touches for the first time.
    finding.sure = if kind == Kind::FaultStartup { Sure::Likely } else { Sure::Possible };
    finding.checks = checks.kept();
    Some(finding)
}

/// When the faults were, by the processor time that had been used: other programs do not change that.
struct When {
    /// Of all faults, the most that lie within a half of the run.
    at_once: f64,
    /// When most of them were over, ns.
    over_ns: u64,
}

impl When {
    fn of(facts: &Facts<'_>) -> When {
        let mut rows: Vec<(u64, u64, u32)> =
            (facts.profile.samples.iter()).map(|row| (row.time_ns, row.cpu_ns, row.minor_faults)).collect();
        rows.sort_unstable();
        let all_ns = rows.iter().map(|(_, cpu_ns, _)| cpu_ns).sum::<u64>().max(1);
        let (mut parts, mut ends_ns) = ([0.0; PARTS], [0; PARTS]);
        let mut used_ns = 0;
        for (time_ns, cpu_ns, faults) in rows {
            // They lie somewhere between the sample before and this one: in its middle on average.
            let middle = (used_ns + cpu_ns / 2) as f64 / all_ns as f64;
            used_ns += cpu_ns;
            let part = ((middle * PARTS as f64) as usize).min(PARTS - 1);
            parts[part] += f64::from(faults);
            ends_ns[part] = time_ns;
        }
        let all = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let half = PARTS / 2;
        let windows = parts.windows(half).map(|window| window.iter().sum::<f64>());
        let (at, most) =
            windows.enumerate().fold((0, 0.0), |best, (at, sum)| if sum > best.1 { (at, sum) } else { best });
        // Within it, until the last part that has much of them.
        let last = (at..at + half).rev().find(|&part| parts[part] >= 0.1 * most).unwrap_or(at);
        When { at_once: most / all, over_ns: ends_ns[last] }
    }

    /// Of all processor time, what others than the one that touched the memory used afterwards.
    fn used_after(&self, facts: &Facts<'_>, toucher: LocationId) -> f64 {
        let after = facts.profile.samples.iter();
        let after = after.filter(|row| row.location != toucher && row.time_ns > self.over_ns);
        after.map(|row| row.cpu_ns).sum::<u64>() as f64 / 1e9 / facts.cpu_s.max(f64::MIN_POSITIVE)
    }
}
