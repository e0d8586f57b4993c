//! A run of a sweep, as far as others are compared with it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use proust_profile::{Detail, LocationId, Metric, Nature, Profile, Quality, RunFacts};

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
    /// Work before the sites, on a processor or not, s.
    pub work_s: f64,
    /// Waiting for later arrivals, s.
    pub imbalance_s: f64,
    /// Waiting after the last arrival, s.
    pub latency_s: f64,
    /// Waiting to enter a critical section, s.
    pub critical_s: f64,
    /// Waiting for one's turn, s.
    pub ordered_s: f64,
    /// Waiting for a lock or an atomic section, s.
    pub lock_s: f64,
    /// Beginning a region, and asking for iterations, s.
    pub runtime_s: f64,
    /// Visits of the thread with the most of them.
    pub visits: u64,
}

impl Segment {
    /// All of the waiting, s.
    pub fn waits_s(&self) -> f64 {
        self.imbalance_s + self.latency_s + self.critical_s + self.ordered_s + self.lock_s + self.runtime_s
    }
}

impl AddAssign<&Segment> for Segment {
    fn add_assign(&mut self, other: &Segment) {
        self.work_s += other.work_s;
        self.imbalance_s += other.imbalance_s;
        self.latency_s += other.latency_s;
        self.critical_s += other.critical_s;
        self.ordered_s += other.ordered_s;
        self.lock_s += other.lock_s;
        self.runtime_s += other.runtime_s;
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
    /// Wall time, s.
    pub wall_s: f64,
    /// CPU time of all threads, s.
    pub cpu_s: f64,
    /// Processors that it used, P.
    pub processors: u32,
    /// Processors that it could use, C.
    pub available: u32,
    /// Processor time of all accounts, s.
    pub total_s: f64,
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
    pub(super) site_times_s: BTreeMap<NodeId, f64>,
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
    /// Its time, s.
    pub time_s: f64,
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
        let waits_s: f64 = waits.iter().map(|&account| outline.total(account)).sum();
        // Delays outside of waits are known by place, those inside by thread only.
        let queued_s: f64 = profile.locations.iter().map(|location| location.queued.as_seconds()).sum();
        let inside_s = queued_s - outline.total(Measure::Queued);
        let mut swept = Swept {
            count,
            own: OwnCount::of(profile, ledger),
            facts: profile.facts.clone(),
            program: program(profile),
            queued_in_waits: if waits_s > 0.0 { (inside_s / waits_s).clamp(0.0, 1.0) } else { 0.0 },
            name: name.to_owned(),
            wall_s: profile.facts.wall.as_seconds(),
            cpu_s: outline.total(Metric::Cpu),
            processors: ledger.processors,
            available: profile.facts.available_processors,
            total_s: ledger.total_ns as f64 / 1e9,
            accounts: ledger.accounts,
            efficiency: ledger.efficiency(IoAs::Productive),
            programs,
            team_max: profile.segments.iter().map(|row| row.team_max).max().unwrap_or(0),
            has_lines: run::has_lines(profile),
            quality: profile.quality.clone(),
            outline,
            segments: BTreeMap::new(),
            site_times_s: BTreeMap::new(),
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
            let seconds = |ns: u64| ns as f64 / 1e9;
            let (wait_s, work_s) = (seconds(row.wait_ns), seconds(row.work_ns));
            let segment = self.segments.entry(node).or_default();
            segment.work_s += work_s;
            match (operation.nature, operation.detail) {
                (Nature::Lock, Detail::Critical) => segment.critical_s += wait_s,
                (Nature::Lock, Detail::Ordered) => segment.ordered_s += wait_s,
                (Nature::Lock, _) => segment.lock_s += wait_s,
                (Nature::Barrier, _) => {
                    let latency_s = seconds(row.latency_ns.min(row.wait_ns));
                    segment.latency_s += latency_s;
                    segment.imbalance_s += wait_s - latency_s;
                }
                _ => segment.runtime_s += wait_s,
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
                time.time_s += work_s + wait_s;
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
            if sites.contains(&node) && time.time_s >= self.site_times_s.get(&node).copied().unwrap_or(0.0) {
                self.site_times_s.insert(node, time.time_s);
                self.costs.insert(node, time.cost);
            }
            self.threads.entry(node).or_default().push(time);
        }
    }
}
