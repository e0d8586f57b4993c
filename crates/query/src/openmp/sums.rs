//! Regions, their sites, and the threads that were in them.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{
    ContextId, Detail, LocationId, Nature, OperationId, OperationKind, Profile, RegionId, SegmentRow,
};

use super::cost::{Cost, Costs};
use super::queued::Barriers;
use crate::Selection;
use proust_account::ledger::{Account, Ledger};
use proust_profile::event_metrics::Operations;

/// Where the time of threads in regions went that was not work, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Waiting for later arrivals.
    pub imbalance_ns: u64,
    /// Waiting after the last arrival: until the thread knew, and had a processor.
    pub latency_ns: u64,
    /// Waiting for the thread that was in a section, or had a lock.
    pub lock_ns: u64,
    /// From the begin of a region until the thread's own part.
    pub fork_ns: u64,
    /// Asking for iterations; found by some of many requests.
    pub dispatch_ns: u64,
}

impl Lost {
    /// All of it, ns.
    pub fn sum_ns(&self) -> u64 {
        self.imbalance_ns + self.latency_ns + self.lock_ns + self.fork_ns + self.dispatch_ns
    }

    fn add(&mut self, operation: OperationKind, row: &SegmentRow) {
        match operation.nature {
            Nature::Lock => self.lock_ns += row.wait_ns,
            Nature::Barrier => {
                let latency_ns = row.latency_ns.min(row.wait_ns);
                self.latency_ns += latency_ns;
                self.imbalance_ns += row.wait_ns - latency_ns;
            }
            _ if operation.detail == Detail::Fork => self.fork_ns += row.wait_ns,
            _ => self.dispatch_ns += row.wait_ns,
        }
    }

    fn merge(&mut self, other: &Lost) {
        self.imbalance_ns += other.imbalance_ns;
        self.latency_ns += other.latency_ns;
        self.lock_ns += other.lock_ns;
        self.fork_ns += other.fork_ns;
        self.dispatch_ns += other.dispatch_ns;
    }
}

/// A thread's part in a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThreadSum {
    /// Which.
    pub location: LocationId,
    /// Its parts of the region.
    pub executions: u64,
    /// Barriers for which the last arrival of the team is known, and how often it was this thread.
    pub came: Came,
    /// Work, on a processor or not, ns.
    pub work_ns: u64,
    /// Its losses.
    pub lost: Lost,
    /// What measuring took of both.
    pub cost: Cost,
}

impl ThreadSum {
    /// Its time in the region, ns.
    pub fn time_ns(&self) -> u64 {
        self.work_ns + self.lost.sum_ns()
    }
}

/// The work of each thread before a site, ns, and how often it arrived last there.
type CameBy = BTreeMap<LocationId, (u64, Came)>;

/// How often a thread arrived at barriers as the last of its team.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Came {
    /// Barriers of which that is known: where they follow each other closely, some that were drawn by chance.
    pub known: u64,
    /// Of those, how often it did.
    pub last: u64,
}

impl Came {
    fn add(&mut self, row: &SegmentRow) {
        self.known = self.known.saturating_add(row.known);
        self.last = self.last.saturating_add(row.last);
    }
}

/// A site of a region, and the segments of work that ended there.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteSum {
    /// What it is.
    pub operation: OperationId,
    /// Where.
    pub context: ContextId,
    /// How often threads visited it.
    pub executions: u64,
    /// Of these, how many were only counted, and their times estimated.
    pub unmeasured: u64,
    /// Standard error of the waiting, and of the work: at most that, since those of several threads may go
    /// together.
    pub error_ns: u64,
    /// The number of executions with a wait for another thread.
    pub contended: u64,
    /// Work in the segments before it, ns.
    pub work_ns: u64,
    /// Of the thread that worked most, ns.
    pub work_max_ns: u64,
    /// Threads that visited it.
    pub threads: u32,
    /// How often each of them arrived last, where that is known for any barrier.
    pub came: Vec<(LocationId, Came)>,
    /// The losses there.
    pub lost: Lost,
    /// The time of the thread that took longest, up to the site and in it, ns, and what measuring took of
    /// that.
    pub longest: (u64, Cost),
}

impl SiteSum {
    /// The most that a thread worked, by the mean of all: 1 = all worked the same.
    pub fn imbalance(&self) -> Option<f64> {
        imbalance(self.work_ns, self.work_max_ns, self.threads)
    }
}

/// A parallel region.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionSum {
    /// Which.
    pub region: RegionId,
    /// Its place in the tree of contexts.
    pub context: ContextId,
    /// How often it was executed, by the numbers of its threads.
    pub executions: u64,
    /// Fewest threads of a team; 0 = not known.
    pub team_min: u32,
    /// Most threads of a team.
    pub team_max: u32,
    /// Work of all threads, ns.
    pub work_ns: u64,
    /// Of it, on a processor, ns: by samples.
    pub cpu_ns: u64,
    /// Of it, runnable without a processor, ns.
    pub delayed_ns: u64,
    /// The losses.
    pub lost: Lost,
    /// By time lost and worked, the most first.
    pub sites: Vec<SiteSum>,
    /// By thread.
    pub threads: Vec<ThreadSum>,
}

impl RegionSum {
    /// The time of the thread that was in it longest, ns, and what measuring took of that.
    pub fn longest(&self) -> (u64, Cost) {
        let longest = self.threads.iter().max_by_key(|thread| thread.time_ns());
        longest.map_or((0, Cost::default()), |thread| (thread.time_ns(), thread.cost))
    }

    /// The most that a thread worked, by the mean of all: 1 = all worked the same.
    pub fn imbalance(&self) -> Option<f64> {
        let most_ns = self.threads.iter().map(|thread| thread.work_ns).max()?;
        imbalance(self.work_ns, most_ns, self.threads.len() as u32)
    }
}

fn imbalance(work_ns: u64, most_ns: u64, threads: u32) -> Option<f64> {
    (work_ns > 0 && threads > 0).then(|| most_ns as f64 * f64::from(threads) / work_ns as f64)
}

/// All regions in scope.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegionSums {
    /// By work and what was lost, the most first.
    pub regions: Vec<RegionSum>,
    /// Of the latency of their barriers, time that is on the accounts of processors, ns.
    pub queued_ns: u64,
}

impl RegionSums {
    /// Sums up the rows in scope; `ledger` shows which part of the work was on a processor, if it has rows.
    pub fn of(selection: &Selection<'_>, ledger: &Ledger) -> RegionSums {
        let profile = selection.profile();
        let operations = Operations::of(profile);
        let in_scope = |row: &&SegmentRow| selection.has_segment(row);
        let mut by_region: BTreeMap<RegionId, Vec<&SegmentRow>> = BTreeMap::new();
        for row in profile.segments.iter().filter(in_scope) {
            by_region.entry(row.region).or_default().push(row);
        }
        let costs = Costs::of(profile);
        let sum = |(id, rows): (_, Vec<_>)| region(profile, &operations, &costs, id, &rows);
        let mut regions: Vec<RegionSum> = by_region.into_iter().map(sum).collect();
        let barriers = Barriers::of(ledger);
        give_processor_time(profile, ledger, &barriers, &mut regions);
        regions.sort_by_key(|sum| (std::cmp::Reverse(sum.work_ns + sum.lost.sum_ns()), sum.region));
        let in_scope: BTreeSet<LocationId> = selection.locations().iter().copied().collect();
        let queued =
            ledger.spent.iter().filter(|row| in_scope.contains(&row.location) && barriers.queued(row));
        RegionSums { regions, queued_ns: queued.map(|row| row.ns).sum() }
    }
}

fn region(
    profile: &Profile,
    operations: &Operations,
    costs: &Costs,
    id: RegionId,
    rows: &[&SegmentRow],
) -> RegionSum {
    let mut sum = RegionSum {
        region: id,
        context: profile.regions[id].context,
        executions: 0,
        team_min: 0,
        team_max: 0,
        work_ns: 0,
        cpu_ns: 0,
        delayed_ns: 0,
        lost: Lost::default(),
        sites: Vec::new(),
        threads: Vec::new(),
    };
    let mut threads: BTreeMap<LocationId, ThreadSum> = BTreeMap::new();
    let mut sites: BTreeMap<(OperationId, ContextId), (SiteSum, CameBy)> = BTreeMap::new();
    for row in rows {
        let Some(operation) = operations.get(row.operation) else { continue };
        let thread = threads.entry(row.location).or_insert(ThreadSum {
            location: row.location,
            executions: 0,
            came: Came::default(),
            work_ns: 0,
            lost: Lost::default(),
            cost: Cost::default(),
        });
        let cost = costs.of_row(row);
        thread.cost += &cost;
        let (site, works) = sites.entry((row.operation, row.context)).or_insert_with(|| {
            let site = SiteSum {
                operation: row.operation,
                context: row.context,
                executions: 0,
                unmeasured: 0,
                error_ns: 0,
                contended: 0,
                work_ns: 0,
                work_max_ns: 0,
                threads: 0,
                came: Vec::new(),
                lost: Lost::default(),
                longest: (0, Cost::default()),
            };
            (site, BTreeMap::new())
        });
        site.executions += row.executions;
        site.unmeasured += row.unmeasured;
        site.error_ns = site.error_ns.saturating_add(row.error_ns());
        site.contended += row.contended;
        site.work_ns += row.work_ns;
        // Rows are one for each thread and site.
        if row.work_ns + row.wait_ns >= site.longest.0 {
            site.longest = (row.work_ns + row.wait_ns, cost);
        }
        let (work_ns, came) = works.entry(row.location).or_default();
        *work_ns += row.work_ns;
        came.add(row);
        thread.came.add(row);
        site.lost.add(operation, row);
        thread.lost.add(operation, row);
        thread.work_ns += row.work_ns;
        if operation.detail == Detail::RegionEnd {
            thread.executions += row.executions;
            sum.team_min = match (sum.team_min, row.team_min) {
                (0, other) | (other, 0) => other,
                (a, b) => a.min(b),
            };
            sum.team_max = sum.team_max.max(row.team_max);
        }
    }
    sum.threads = threads.into_values().collect();
    for thread in &sum.threads {
        sum.work_ns += thread.work_ns;
        sum.lost.merge(&thread.lost);
    }
    let parts: u64 = sum.threads.iter().map(|thread| thread.executions).sum();
    let most = sum.threads.iter().map(|thread| thread.executions).max().unwrap_or(0);
    sum.executions = match sum.team_max {
        team if team > 0 && team == sum.team_min => parts.div_ceil(team.into()),
        _ => most,
    };
    sum.sites = sites
        .into_values()
        .map(|(site, works)| SiteSum {
            work_max_ns: works.values().map(|(work_ns, _)| *work_ns).max().unwrap_or(0),
            threads: works.len() as u32,
            came: works
                .iter()
                .map(|(&location, (_, came))| (location, *came))
                .filter(|(_, came)| came.known > 0)
                .collect(),
            ..site
        })
        .collect();
    let weight = |site: &SiteSum| std::cmp::Reverse(site.work_ns + site.lost.sum_ns());
    sum.sites.sort_by_key(|site| (weight(site), site.operation, site.context));
    sum
}

/// What of the work was on a processor, and what queued for one: by the rows of the ledger below each region,
/// but for those of regions inside.
fn give_processor_time(profile: &Profile, ledger: &Ledger, barriers: &Barriers, regions: &mut [RegionSum]) {
    let mut of_context: Vec<Option<usize>> = vec![None; profile.contexts.len()];
    for (position, sum) in regions.iter().enumerate() {
        of_context[sum.context.index()] = Some(position);
    }
    for id in 0..profile.contexts.len() {
        if of_context[id].is_none()
            && let Some(parent) = profile.contexts[ContextId::from_index(id)].parent
        {
            of_context[id] = of_context[parent.index()];
        }
    }
    for row in &ledger.spent {
        let Some(sum) =
            of_context.get(row.context.index()).copied().flatten().and_then(|at| regions.get_mut(at))
        else {
            continue;
        };
        match row.account {
            Account::Compute | Account::Fault | Account::Io | Account::Replicated => sum.cpu_ns += row.ns,
            Account::Oversubscribed | Account::Preempted if barriers.queued(row) => {}
            Account::Oversubscribed | Account::Preempted => sum.delayed_ns += row.ns,
            _ => {}
        }
    }
}
