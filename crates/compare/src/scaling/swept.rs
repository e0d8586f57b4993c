//! A run of a sweep, as far as others are compared with it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use proust_profile::{Detail, LocationId, Metric, Nature, Ns, Profile, Quality, RunFacts};

use super::own_count::{OwnCount, program};
use crate::{NodeId, Outline, run};
use proust_account::ledger::{Account, Accounts, IoAs, Ledger};
use proust_profile::event_metrics::Operations;
pub(super) use proust_query::ACCOUNTS;
use proust_query::openmp::{Cost, Costs};
use proust_query::{Measure, Selection};

/// Work before sites of parallel regions and waits in them, summed over threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Segment {
    /// Work before the sites, on a processor or not.
    pub work: Ns,
    /// Waiting for later arrivals.
    pub imbalance: Ns,
    /// Waiting after the last arrival.
    pub latency: Ns,
    /// Waiting to enter a critical section.
    pub critical: Ns,
    /// Waiting for one's turn.
    pub ordered: Ns,
    /// Waiting for a lock or an atomic section.
    pub lock: Ns,
    /// Beginning a region, and asking for iterations.
    pub runtime: Ns,
    /// Visits of the thread with the most of them.
    pub visits: u64,
}

impl Segment {
    /// All of the waiting.
    pub fn waits(&self) -> Ns {
        self.imbalance + self.latency + self.critical + self.ordered + self.lock + self.runtime
    }
}

impl AddAssign<&Segment> for Segment {
    fn add_assign(&mut self, other: &Segment) {
        self.work += other.work;
        self.imbalance += other.imbalance;
        self.latency += other.latency;
        self.critical += other.critical;
        self.ordered += other.ordered;
        self.lock += other.lock;
        self.runtime += other.runtime;
        self.visits = self.visits.max(other.visits);
    }
}

/// A run of a sweep.
#[derive(Clone, Debug)]
pub struct Swept {
    /// Threads of all its ranks.
    pub count: u32,
    /// Its ranks and threads by its own data.
    pub own: OwnCount,
    /// How it is named.
    pub name: String,
    /// Its command, host, start and end.
    pub facts: RunFacts,
    /// Wall time.
    pub wall: Ns,
    /// CPU time of all threads.
    pub cpu: Ns,
    /// Processors that it used, P.
    pub processors: u32,
    /// Processors that it could use, C.
    pub available: u32,
    /// Processor time of all accounts.
    pub total: Ns,
    /// Of the whole run.
    pub accounts: Accounts,
    /// Productive by what could have been; None if it only slept.
    pub efficiency: Option<f64>,
    /// Part of its waits for which the waiting threads were in the run queue, from 0 to 1.
    pub(super) queued_in_waits: f64,
    /// Name of the program that it is a run of.
    pub program: String,
    /// Names of all its programs.
    pub programs: Vec<String>,
    /// The largest team of a parallel region; 0 if there was none.
    pub team_max: u32,
    /// Whether any function of its own code has lines.
    pub has_lines: bool,
    /// How far its data can be trusted.
    pub quality: Quality,
    pub(super) outline: Outline,
    /// Work and waits at sites, by node.
    pub(super) segments: BTreeMap<NodeId, Segment>,
    /// The time of the thread that took longest up to a site and in it, by node; not of the ends of regions,
    /// whose time is the region's.
    pub(super) site_times: BTreeMap<NodeId, Ns>,
    /// The nodes that are parallel regions.
    pub(super) regions: BTreeSet<NodeId>,
    /// What measuring took of the time of a node with all below, in the thread in which it took most; of
    /// sites in the thread whose time is the site's.
    pub(super) costs: BTreeMap<NodeId, Cost>,
    /// By region and site what each thread took there, by thread.
    pub(super) threads: BTreeMap<NodeId, Vec<ThreadTime>>,
}

/// What a thread took in a region, or up to a site and in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThreadTime {
    /// Which thread, in its run.
    pub location: LocationId,
    /// Its time.
    pub time: Ns,
    /// The cost of measuring in that.
    pub cost: Cost,
}

impl Swept {
    /// A run with so many threads; the ledger needs its rows.
    pub fn new(count: u32, name: &str, profile: &Profile, ledger: &Ledger) -> Swept {
        let selection = Selection::all(profile).with_rows(ledger);
        let accounts = ACCOUNTS.map(Measure::Account);
        let others = [Measure::Active, Measure::Empty, Measure::Queued];
        let outline = Outline::new(
            &selection,
            accounts.into_iter().chain(others),
            &[Measure::Wall, Measure::Metric(Metric::Cpu)],
        );
        let mut programs: Vec<String> =
            profile.processes.iter().map(|process| process.name.clone()).collect();
        programs.sort();
        programs.dedup();
        let waits = [Account::Barrier, Account::Lock, Account::MpiPartner].map(Measure::Account);
        let waited: f64 = waits.iter().map(|&account| outline.total(account)).sum();
        // Delays outside of waits are known by place, those inside by thread only.
        let queued: Ns = profile.locations.iter().map(|location| location.queued).sum();
        let inside = queued.as_seconds() - outline.total(Measure::Queued);
        let mut swept = Swept {
            count,
            own: OwnCount::of(profile, ledger),
            facts: profile.facts.clone(),
            program: program(profile),
            queued_in_waits: if waited > 0.0 { (inside / waited).clamp(0.0, 1.0) } else { 0.0 },
            name: name.to_owned(),
            wall: profile.facts.wall,
            cpu: Ns::from_seconds(outline.total(Metric::Cpu)),
            processors: ledger.processors,
            available: profile.facts.available_processors,
            total: Ns::of(ledger.total_ns),
            accounts: ledger.accounts,
            efficiency: ledger.efficiency(IoAs::Productive),
            programs,
            team_max: profile.segments.iter().map(|row| row.team_max).max().unwrap_or(0),
            has_lines: run::has_lines(profile),
            quality: profile.quality.clone(),
            outline,
            segments: BTreeMap::new(),
            site_times: BTreeMap::new(),
            regions: BTreeSet::new(),
            costs: BTreeMap::new(),
            threads: BTreeMap::new(),
        };
        let regions = profile.regions.iter().filter_map(|region| swept.outline.node_of(region.context));
        swept.regions = regions.collect();
        swept.enter_segments(profile);
        swept
    }

    /// Its outline.
    pub fn outline(&self) -> &Outline {
        &self.outline
    }

    fn enter_segments(&mut self, profile: &Profile) {
        let operations = Operations::of(profile);
        let costs = Costs::of(profile);
        let mut times: BTreeMap<(NodeId, LocationId), ThreadTime> = BTreeMap::new();
        let mut sites: BTreeSet<NodeId> = BTreeSet::new();
        let mut inclusive: BTreeMap<(NodeId, LocationId), Cost> = BTreeMap::new();
        let mut visits: BTreeMap<(NodeId, LocationId), u64> = BTreeMap::new();
        for row in &profile.segments {
            let Some(operation) = operations.get(row.operation) else { continue };
            let Some(node) = self.outline.node_of(row.context) else { continue };
            let (wait, work) = (Ns::of(row.wait_ns), Ns::of(row.work_ns));
            let segment = self.segments.entry(node).or_default();
            segment.work += work;
            match (operation.nature, operation.detail) {
                (Nature::Lock, Detail::Critical) => segment.critical += wait,
                (Nature::Lock, Detail::Ordered) => segment.ordered += wait,
                (Nature::Lock, _) => segment.lock += wait,
                (Nature::Barrier, _) => {
                    let latency = Ns::of(row.latency_ns).min(wait);
                    segment.latency += latency;
                    segment.imbalance += wait - latency;
                }
                _ => segment.runtime += wait,
            }
            // How often iterations are asked for depends on the number of threads; barriers do not.
            if operation.nature == Nature::Barrier {
                *visits.entry((node, row.location)).or_default() += row.executions;
            }
            let cost = costs.of_row(row);
            let region = self.outline.node_of(profile.regions[row.region].context);
            if region != Some(node) {
                sites.insert(node);
            }
            // A site's time is a part of its region's.
            for place in region.filter(|&region| region != node).into_iter().chain([node]) {
                let time = times.entry((place, row.location)).or_default();
                time.location = row.location;
                time.time += work + wait;
                time.cost += &cost;
            }
            let mut above = Some(node);
            while let Some(place) = above {
                let sum = inclusive.entry((place, row.location)).or_default();
                *sum += &cost;
                // Behind a region is a time of what is around it.
                if place != node {
                    sum.ns += row.added_behind_ns as f64;
                }
                above = self.outline.parent(place);
            }
        }
        for ((node, _), cost) in inclusive {
            let most = self.costs.entry(node).or_default();
            if cost.ns > most.ns {
                *most = cost;
            }
        }
        for ((node, _), visits) in visits {
            if let Some(segment) = self.segments.get_mut(&node) {
                segment.visits = segment.visits.max(visits);
            }
        }
        for ((node, _), time) in times {
            if sites.contains(&node) && time.time >= self.site_times.get(&node).copied().unwrap_or_default() {
                self.site_times.insert(node, time.time);
                self.costs.insert(node, time.cost);
            }
            self.threads.entry(node).or_default().push(time);
        }
    }
}
