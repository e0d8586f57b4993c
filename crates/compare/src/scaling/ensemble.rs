//! The runs of a sweep laid over each other.
//!
//! A region's time in a run is that of the thread that takes longest in it: of contexts the largest inclusive
//! wall time of one thread, by samples and operations; of sites of parallel regions (barriers, critical
//! sections …) the work up to the site and the wait in it, which were measured from begin to end; of the
//! program its wall time. Its processor time is what all threads spend there, and the empty slots beside
//! them.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{Metric, Ns};
use rayon::prelude::*;

use super::causes::{Cause, Causes};
use super::swept::{ACCOUNTS, Segment, Swept, ThreadTime};
use super::timing::Timing;
use crate::joint::Label;
use crate::{Joint, JointId};
use proust_account::ledger::Account;
use proust_query::openmp::Cost;
use proust_query::{Amounts, Measure};

/// The runs of a sweep laid over each other.
#[derive(Debug)]
pub struct Ensemble<'s> {
    runs: &'s [Swept],
    joint: Joint<'s>,
    counts: Vec<u32>,
    /// By count the positions of its runs.
    groups: Vec<Vec<usize>>,
    amounts: Vec<RunAmounts>,
}

/// The data of one run on each node.
#[derive(Debug)]
struct RunAmounts {
    times: Vec<Ns>,
    queued: Vec<Ns>,
    /// CPU time of the thread that has most of it.
    busy: Vec<Ns>,
    errors: Vec<Ns>,
    /// The cost of measuring in the times.
    costs: Vec<Cost>,
    /// Processor time, and of it each account.
    cost: Amounts<f64>,
    accounts: BTreeMap<Account, Amounts<f64>>,
    /// With all below.
    segments: BTreeMap<JointId, Segment>,
    /// Of sites, without what is below.
    sites: BTreeMap<JointId, Segment>,
    regions: BTreeSet<JointId>,
    threads: BTreeMap<JointId, Vec<ThreadTime>>,
}

/// A region that was not executed as often in all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// Where.
    pub node: JointId,
    /// Executions in the run that had fewest, and its count.
    pub fewest: (u64, u32),
    /// Executions in the run that had most, and its count.
    pub most: (u64, u32),
}

impl<'s> Ensemble<'s> {
    /// Lays them over each other.
    pub fn new(runs: &'s [Swept]) -> Ensemble<'s> {
        let joint = Joint::of(runs.iter().map(|run| &run.outline));
        let mut counts: Vec<u32> = runs.iter().map(|run| run.count).collect();
        counts.sort_unstable();
        counts.dedup();
        let of_count = |&count: &u32| (0..runs.len()).filter(|&at| runs[at].count == count).collect();
        let groups = counts.iter().map(of_count).collect();
        let amounts =
            (0..runs.len()).into_par_iter().map(|at| RunAmounts::of(&joint, at, &runs[at])).collect();
        Ensemble { runs, joint, counts, groups, amounts }
    }

    /// The runs.
    pub fn runs(&self) -> &'s [Swept] {
        self.runs
    }

    /// Their tree.
    pub fn joint(&self) -> &Joint<'s> {
        &self.joint
    }

    /// The counts, ascending.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// The runs with the count at this position.
    pub fn group(&self, count: usize) -> impl Iterator<Item = &'s Swept> + '_ {
        self.groups[count].iter().map(|&at| &self.runs[at])
    }

    /// Processors that were there for all runs: with more threads they are oversubscribed.
    pub fn available(&self) -> u32 {
        self.runs.iter().map(|run| run.available).max().unwrap_or(0)
    }

    /// What a node is called.
    pub fn label(&self, node: JointId) -> Label<'s> {
        self.joint.label(node)
    }

    /// Whether a node is a parallel region.
    pub fn is_region(&self, node: JointId) -> bool {
        self.amounts.iter().any(|of| of.regions.contains(&node))
    }

    /// Whether a node is a site in a parallel region.
    pub fn is_site(&self, node: JointId) -> bool {
        self.amounts.iter().any(|of| of.sites.contains_key(&node)) && !self.is_region(node)
    }

    /// The times of a node, by count.
    pub fn timings(&self, node: JointId) -> Vec<Timing> {
        let at = node as usize;
        let timing = |(group, &count): (&Vec<usize>, &u32)| Timing {
            count,
            visits: group
                .iter()
                .filter_map(|&run| self.amounts[run].sites.get(&node))
                .map(|site| site.visits)
                .max()
                .unwrap_or(0),
            times: group.iter().map(|&run| self.amounts[run].times[at]).collect(),
            queued: group.iter().map(|&run| self.amounts[run].queued[at]).collect(),
            busy: group.iter().map(|&run| self.amounts[run].busy[at]).collect(),
            error: group.iter().map(|&run| self.amounts[run].errors[at]).max().unwrap_or_default(),
            added: group.iter().map(|&run| Ns::from_seconds(self.amounts[run].costs[at].ns / 1e9)).collect(),
            added_error: group
                .iter()
                .map(|&run| Ns::from_seconds(self.amounts[run].costs[at].error_ns() / 1e9))
                .max()
                .unwrap_or_default(),
        };
        self.groups.iter().zip(&self.counts).map(timing).collect()
    }

    /// What each thread took in a region, or up to a site and in it, in the repetition with this count that
    /// was fastest; empty for places of which that is not counted.
    pub fn threads(&self, node: JointId, count: usize) -> &[ThreadTime] {
        let time = |&run: &usize| self.amounts[run].times[node as usize];
        let fastest = self.groups[count].iter().copied().min_by_key(time);
        let threads = fastest.and_then(|run| self.amounts[run].threads.get(&node));
        threads.map_or(&[], Vec::as_slice)
    }

    /// `of`: seconds of a run.
    fn mean(&self, count: usize, of: impl Fn(usize) -> f64) -> Ns {
        let runs = &self.groups[count];
        Ns::from_seconds(runs.iter().map(|&run| of(run)).sum::<f64>() / runs.len().max(1) as f64)
    }

    /// Mean processor time of a node with all below.
    pub fn cost(&self, node: JointId, count: usize) -> Ns {
        self.mean(count, |run| self.amounts[run].cost.inclusive[node as usize])
    }

    /// Mean processor time of a node alone, with its lines. What belongs to a call around it is that
    /// one's.
    pub fn own_cost(&self, node: JointId, count: usize) -> Ns {
        self.mean(count, |run| self.amounts[run].cost.exclusive[node as usize])
    }

    /// By repetition, processor time of a node with all below.
    pub fn costs(&self, node: JointId, count: usize) -> Vec<Ns> {
        let cost = |&run: &usize| Ns::from_seconds(self.amounts[run].cost.inclusive[node as usize]);
        self.groups[count].iter().map(cost).collect()
    }

    /// Mean time of a node with all below on an account.
    pub fn on_account(&self, node: JointId, count: usize, account: Account) -> Ns {
        self.mean(count, |run| {
            self.amounts[run].accounts.get(&account).map_or(0.0, |a| a.inclusive[node as usize])
        })
    }

    /// Accounts on which any run has anything.
    pub fn accounts(&self) -> Vec<Account> {
        ACCOUNTS
            .into_iter()
            .filter(|account| self.amounts.iter().any(|of| of.accounts.contains_key(account)))
            .collect()
    }

    /// Work and waits at a node's own site in the runs with a count: means, and visits of the first run.
    pub fn site(&self, node: JointId, count: usize) -> Option<Segment> {
        let runs = self.groups[count].iter();
        mean_segment(runs.clone().filter_map(|&run| self.amounts[run].sites.get(&node)), runs.len())
    }

    /// The same with all sites below.
    fn segment(&self, node: JointId, count: usize) -> Segment {
        let runs = self.groups[count].iter();
        let segments = runs.clone().filter_map(|&run| self.amounts[run].segments.get(&node));
        mean_segment(segments, runs.len()).unwrap_or_default()
    }

    /// What a node's processor time with a count was spent on, means; of a site what was spent up to it and
    /// in it.
    pub fn causes(&self, node: JointId, count: usize) -> Causes {
        let mut causes = Causes::default();
        if self.is_site(node) {
            let site = self.site(node, count).unwrap_or_default();
            for (cause, time) in [
                (Cause::Work, site.work),
                (Cause::Imbalance, site.imbalance),
                (Cause::ReleaseLatency, site.latency),
                (Cause::Critical, site.critical),
                (Cause::Ordered, site.ordered),
                (Cause::Lock, site.lock),
                (Cause::Runtime, site.runtime),
            ] {
                causes[cause] = time;
            }
            return causes;
        }
        let waits = self.segment(node, count);
        for account in self.accounts() {
            let time = self.on_account(node, count, account);
            let cause = match account {
                Account::Compute | Account::Replicated => Cause::Work,
                Account::Fault => Cause::Faults,
                Account::Io => Cause::Io,
                Account::Preempted => Cause::Preemption,
                Account::Oversubscribed => Cause::Oversubscription,
                Account::Runtime => Cause::Runtime,
                Account::MpiPartner | Account::MpiTransfer => Cause::Messages,
                Account::Serial | Account::Narrow => Cause::Serial,
                Account::Barrier => {
                    let parts = [(Cause::Imbalance, waits.imbalance), (Cause::ReleaseLatency, waits.latency)];
                    divide(&mut causes, time, &parts);
                    continue;
                }
                Account::Lock => {
                    let parts = [
                        (Cause::Lock, waits.lock),
                        (Cause::Critical, waits.critical),
                        (Cause::Ordered, waits.ordered),
                    ];
                    divide(&mut causes, time, &parts);
                    continue;
                }
                _ => Cause::Other,
            };
            causes[cause] += time;
        }
        // Proust's own time, and empty slots beside waits, whose account is not known by place.
        let left = self.cost(node, count) - causes.sum();
        causes[Cause::Other] += left;
        causes
    }

    /// How often each thread visited it, if it was counted.
    pub fn visits(&self, node: JointId, count: usize) -> u64 {
        let sites = self.groups[count].iter().filter_map(|&run| self.amounts[run].sites.get(&node));
        sites.map(|site| site.visits).max().unwrap_or(0)
    }

    /// Regions and barriers that were not executed as often in all runs.
    pub fn disagreements(&self) -> Vec<Disagreement> {
        let mut seen: BTreeMap<JointId, Disagreement> = BTreeMap::new();
        for (of, run) in self.amounts.iter().zip(self.runs) {
            // With a team of one some runtimes do not report barriers.
            for (&node, site) in of.sites.iter().filter(|(_, site)| site.visits > 0) {
                let here = (site.visits, run.count);
                let range = seen.entry(node).or_insert(Disagreement { node, fewest: here, most: here });
                range.fewest = range.fewest.min(here);
                range.most = range.most.max(here);
            }
        }
        seen.into_values().filter(|range| range.fewest.0 != range.most.0).collect()
    }
}

impl RunAmounts {
    fn of(joint: &Joint<'_>, at: usize, run: &Swept) -> RunAmounts {
        let mut node_in_joint: BTreeMap<u32, JointId> = BTreeMap::new();
        let mut regions = BTreeSet::new();
        let (mut costs, mut threads) = (vec![Cost::default(); joint.len()], BTreeMap::new());
        for node in 0..joint.len() as JointId {
            let Some(in_run) = joint.node_in(node, at) else { continue };
            if run.segments.contains_key(&in_run) {
                node_in_joint.insert(in_run, node);
            }
            if run.regions.contains(&in_run) {
                regions.insert(node);
            }
            if let Some(cost) = run.costs.get(&in_run) {
                costs[node as usize] = *cost;
            }
            if let Some(of_node) = run.threads.get(&in_run) {
                threads.insert(node, of_node.clone());
            }
        }
        let as_times = |seconds: Vec<f64>| seconds.into_iter().map(Ns::from_seconds).collect::<Vec<Ns>>();
        let most = |measure| joint.most(at, measure).map_or_else(|| vec![Ns::ZERO; joint.len()], as_times);
        let mut times = most(Measure::Wall);
        let mut errors = as_times(joint.errors(at).inclusive);
        if let Some(program) = times.first_mut() {
            *program = run.wall;
        }
        let mut queued = as_times(queued(joint, at, run));
        let mut busy = most(Measure::Metric(Metric::Cpu));
        for (in_run, &time) in &run.site_times {
            if let Some(&node) = node_in_joint.get(in_run) {
                // What was worked on the way to a site lies elsewhere in its region.
                let region = above(joint, node, |place| regions.contains(&place)).unwrap_or(0) as usize;
                let share = time.share_of(times[region]).min(1.0);
                let node = node as usize;
                (queued[node], busy[node]) = (queued[region] * share, busy[region] * share);
                (times[node], errors[node]) = (time, Ns::ZERO);
            }
        }
        let (active, empty) = (joint.amounts(at, Measure::Active), joint.amounts(at, Measure::Empty));
        let sum = |a: Vec<f64>, b: Vec<f64>| a.into_iter().zip(b).map(|(a, b)| a + b).collect();
        let cost = Amounts {
            inclusive: sum(active.inclusive, empty.inclusive),
            exclusive: sum(active.exclusive, empty.exclusive),
        };
        let known: Vec<Measure> = run.outline.measures().collect();
        let accounts = ACCOUNTS.into_iter().filter(|&account| known.contains(&Measure::Account(account)));
        let accounts =
            accounts.map(|account| (account, joint.amounts(at, Measure::Account(account)))).collect();
        let (mut segments, mut sites) = (BTreeMap::new(), BTreeMap::new());
        for (in_run, segment) in &run.segments {
            let Some(&node) = node_in_joint.get(in_run) else { continue };
            sites.insert(node, *segment);
            let mut above = Some(node);
            while let Some(place) = above {
                let sum: &mut Segment = segments.entry(place).or_default();
                let visits = sum.visits;
                *sum += segment;
                // The number of visits is not the sum, nor the most, of those below.
                if place != node {
                    sum.visits = visits;
                }
                above = joint.parent(place);
            }
        }
        RunAmounts { times, queued, busy, errors, costs, cost, accounts, segments, sites, regions, threads }
    }
}

/// The nearest place at or above a node for which something holds.
fn above(joint: &Joint<'_>, node: JointId, holds: impl Fn(JointId) -> bool) -> Option<JointId> {
    let mut at = Some(node);
    while let Some(place) = at.filter(|&place| !holds(place)) {
        at = joint.parent(place);
    }
    at
}

/// By node, for how long threads were in the run queue, s, in and outside of waits. Of waits it is known by
/// run only.
fn queued(joint: &Joint<'_>, at: usize, run: &Swept) -> Vec<f64> {
    let inclusive = |measure: Measure| joint.amounts(at, measure).inclusive;
    let mut queued = inclusive(Measure::Queued);
    for account in [Account::Barrier, Account::Lock, Account::MpiPartner] {
        for (queued, wait) in queued.iter_mut().zip(inclusive(Measure::Account(account))) {
            *queued += run.queued_in_waits * wait;
        }
    }
    queued
}

/// The mean over so many runs, as all other amounts of a place are: in a run that never reached it it is 0.
/// None where none did.
fn mean_segment<'a>(segments: impl Iterator<Item = &'a Segment>, runs: usize) -> Option<Segment> {
    let mut sum = Segment::default();
    let mut met = false;
    for segment in segments {
        sum += segment;
        met = true;
    }
    let parts = [
        &mut sum.work,
        &mut sum.imbalance,
        &mut sum.latency,
        &mut sum.critical,
        &mut sum.ordered,
        &mut sum.lock,
        &mut sum.runtime,
    ];
    parts.into_iter().for_each(|part| *part = *part / runs.max(1) as f64);
    met.then_some(sum)
}

/// Divides a time among causes as these parts are; all to the first where nothing is known of them.
fn divide(causes: &mut Causes, time: Ns, parts: &[(Cause, Ns)]) {
    let whole: Ns = parts.iter().map(|part| part.1).sum();
    for (at, &(cause, part)) in parts.iter().enumerate() {
        let share = if whole.is_positive() { part / whole } else { f64::from(u8::from(at == 0)) };
        causes[cause] += time * share;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A site that one of two runs reached has half of its time there, as its region has.
    #[test]
    fn runs_that_never_came_by_count_for_the_mean() {
        let there = Segment { work: Ns::new(8), imbalance: Ns::new(2), visits: 5, ..Segment::default() };
        let mean = mean_segment([&there].into_iter(), 2).unwrap();
        assert_eq!((mean.work, mean.imbalance), (Ns::new(4), Ns::new(1)));
        assert!(mean_segment([].into_iter(), 4).is_none());
    }
}
