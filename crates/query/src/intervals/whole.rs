//! The characteristics of all intervals: from the innermost outwards, since repeated work, parallel parts and
//! iterations of an interval are sums over those inside of it.

use std::collections::BTreeMap;

use proust_account::ledger::Inside;
use proust_profile::{IntervalId, IntervalWork, LocationId, Profile};

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
        let mut iterations: Vec<Iterations> = vec![Iterations::default(); nodes.len() + 1];
        for at in (0..nodes.len()).rev() {
            let node = &nodes[at];
            let info = &infos[node.id as usize];
            let is_parallel = node.kind == Kind::Parallel;
            let counted = node.by_location.iter().map(|(&location, of)| (location, of.iterations));
            iterations[at].add_own(counted, || self.loops(&sites, Some(node.id)));
            let locations = executions(&node.by_location, &iterations[at].by_location);
            let executing = Executing {
                interval: Some(node.id),
                is_parallel,
                locations: &locations,
                inside: &node.inside,
                has_loops: iterations[at].has_loops,
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
            let own = std::mem::take(&mut iterations[at]);
            iterations[around].add(own);
            nodes[at].characteristics = found;
        }
        let of_roots = self.processors.roots.iter().map(|root| {
            let time_ns = root.window.length_ns();
            (root.location, OfLocation { executions: 1, time_ns, ..OfLocation::default() })
        });
        let of_run = &mut iterations[nodes.len()];
        of_run.add_own(std::iter::empty(), || self.loops(&sites, None));
        let locations = executions(&of_roots.collect(), &of_run.by_location);
        let executing = Executing {
            interval: None,
            is_parallel: false,
            locations: &locations,
            inside: self.inside,
            has_loops: of_run.has_loops,
            is_whole_run: self.is_whole_run,
        };
        characterise(&executing, self.processors, &sites, &mut replications[nodes.len()])
    }

    /// Iterations of loops in an interval and in none inside of it; sums over the whole run, so that they say
    /// nothing of a part of it.
    fn loops(&self, sites: &Sites, interval: Option<IntervalId>) -> BTreeMap<LocationId, u64> {
        if self.is_whole_run { sites.iterations(interval) } else { BTreeMap::new() }
    }
}

/// Iterations of an interval, those in intervals inside of it included.
#[derive(Clone, Debug, Default)]
struct Iterations {
    by_location: BTreeMap<LocationId, u64>,
    /// Whether some are those of loops that a runtime reports.
    has_loops: bool,
}

impl Iterations {
    fn add(&mut self, inner: Iterations) {
        self.has_loops |= inner.has_loops;
        for (location, count) in inner.by_location {
            *self.by_location.entry(location).or_default() += count;
        }
    }

    /// Those of the interval itself: what the program counted there; where it counted nothing, loops'.
    fn add_own(
        &mut self,
        counted: impl Iterator<Item = (LocationId, u64)>,
        loops: impl FnOnce() -> BTreeMap<LocationId, u64>,
    ) {
        let counted: BTreeMap<LocationId, u64> = counted.filter(|(_, count)| *count > 0).collect();
        let own = match counted.is_empty() {
            false => Iterations { by_location: counted, has_loops: false },
            true => {
                let loops = loops();
                Iterations { has_loops: !loops.is_empty(), by_location: loops }
            }
        };
        self.add(own);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_counts_is_not_counted_again_from_its_loops() {
        let loops = || BTreeMap::from([(LocationId(0), 7), (LocationId(1), 3)]);
        let (mut inner, mut outer) = (Iterations::default(), Iterations::default());
        inner.add_own([(LocationId(0), 100), (LocationId(1), 0)].into_iter(), loops);
        assert_eq!((&inner.by_location, inner.has_loops), (&BTreeMap::from([(LocationId(0), 100)]), false));
        outer.add(inner);
        outer.add_own(std::iter::empty(), loops);
        assert_eq!(outer.by_location, BTreeMap::from([(LocationId(0), 107), (LocationId(1), 3)]));
        assert!(outer.has_loops);
    }
}
