//! The characteristics of all intervals: from the innermost outwards, since repeated work, parallel parts and
//! iterations of an interval are sums over those inside of it.

use std::collections::BTreeMap;

use proust_account::ledger::Inside;
use proust_profile::{IntervalWork, LocationId, Profile};

use super::{IntervalNode, Kind, OfLocation};
use crate::characteristics::{
    Characterised, CpuTimes, Executing, Executions, Processors, Replication, Sites, characterise, cpu_times,
};

/// What is needed for the characteristics of all intervals.
pub(super) struct Whole<'w> {
    pub profile: &'w Profile,
    pub processors: &'w Processors,
    /// The account of the whole run.
    pub inside: &'w Inside,
    /// Whether all of it is asked for.
    pub is_whole_run: bool,
}

impl Whole<'_> {
    /// Fills the characteristics into the nodes, and returns those of the run.
    pub fn characterise(&self, nodes: &mut [IntervalNode]) -> Option<Characterised> {
        let infos = &self.profile.intervals;
        let sites = Sites::of(self.profile);
        let is_known = !self.profile.regions.is_empty()
            || infos.iter().any(|info| info.work == IntervalWork::Parallel || info.in_region);
        let known = || Replication { is_known, ..Replication::default() };
        // The run itself is the last one.
        let mut replications: Vec<Replication> = vec![known(); nodes.len() + 1];
        let mut iterations: Vec<BTreeMap<LocationId, u64>> = vec![BTreeMap::new(); nodes.len() + 1];
        for at in (0..nodes.len()).rev() {
            let node = &nodes[at];
            let info = &infos[node.id as usize];
            let is_parallel = node.kind == Kind::Parallel;
            for (&location, of) in &node.by_location {
                *iterations[at].entry(location).or_default() += of.iterations;
            }
            let locations = executions(&node.by_location, &iterations[at]);
            let executing = Executing {
                interval: Some(node.id),
                is_parallel,
                locations: &locations,
                inside: &node.inside,
                scale: node.scale(),
                is_whole_run: self.is_whole_run,
            };
            if info.work == IntervalWork::Replicated {
                replications[at].degree = Some(info.degree.unwrap_or(0));
            }
            let found = characterise(&executing, self.processors, &sites, &mut replications[at]);
            let times: CpuTimes = cpu_times(&executing);
            let around = node.parent.unwrap_or(nodes.len());
            let own = std::mem::take(&mut replications[at]);
            replications[around].add(&own, is_parallel, &times);
            for (location, count) in std::mem::take(&mut iterations[at]) {
                *iterations[around].entry(location).or_default() += count;
            }
            nodes[at].characteristics = found;
        }
        let of_roots = self.processors.roots.iter().map(|root| {
            let time_ns = root.window.length_ns();
            (root.location, OfLocation { executions: 1, time_ns, ..OfLocation::default() })
        });
        let locations = executions(&of_roots.collect(), &iterations[nodes.len()]);
        let executing = Executing {
            interval: None,
            is_parallel: false,
            locations: &locations,
            inside: self.inside,
            scale: 1.0,
            is_whole_run: self.is_whole_run,
        };
        characterise(&executing, self.processors, &sites, &mut replications[nodes.len()])
    }
}

fn executions(
    by_location: &BTreeMap<LocationId, OfLocation>,
    iterations: &BTreeMap<LocationId, u64>,
) -> BTreeMap<LocationId, Executions> {
    let mut all: BTreeMap<LocationId, Executions> = BTreeMap::new();
    for (&location, of) in by_location {
        let (count, time_ns) = (of.executions, of.time_ns);
        all.insert(location, Executions { count, time_ns, iterations: 0 });
    }
    for (&location, &count) in iterations {
        all.entry(location).or_default().iterations = count;
    }
    all
}
