//! Marked intervals: the tree of them, their executions, and the account of the time inside each.

use std::collections::{BTreeMap, BTreeSet};

use proust_account::ledger::{Inside, Windows};
use proust_profile::{ContextId, ContextKind, IntervalId, IntervalInfo, IntervalWork, LocationId, Profile};
use rustc_hash::FxHashMap;

use super::characteristics::Characterised;

mod account;
mod asked;
mod caused;
mod parts;
mod spent;
mod whole;
mod windowed;

pub use crate::wanted::Wanted;
pub use account::account_of;
pub use asked::{Asked, intervals, intervals_of};
pub use caused::{CausedIn, caused};
pub use spent::{Spent, spent_by};
pub use windowed::{Windowed, operations_windowed, regions_windowed};

/// Whether the work in an interval is parallel. The names are those of the DVM system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is a parallel one, or inside of one.
    Parallel,
    /// It is none, and nothing in it is.
    Sequential,
    /// It is none, but something in it is.
    Combined,
}

impl Kind {
    /// The stable identifier.
    pub fn id(self) -> &'static str {
        match self {
            Kind::Parallel => "PAR",
            Kind::Sequential => "SEQ",
            Kind::Combined => "COMB",
        }
    }
}

/// A location's executions of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfLocation {
    /// How many.
    pub executions: u64,
    /// How long in all, ns.
    pub time_ns: u64,
    /// The shortest, ns.
    pub min_ns: u64,
    /// The longest, ns.
    pub max_ns: u64,
    /// Iterations that the program counted.
    pub iterations: u64,
    /// Of the executions, so many have a row of their own.
    pub recorded: u64,
    /// Of the executions, how many no mark of their own ended.
    pub unmarked: u64,
    /// Begin of the first, ns since the run's start.
    pub begin_ns: u64,
    /// End of the last.
    pub end_ns: u64,
}

impl OfLocation {
    fn add(&mut self, other: &OfLocation) {
        if other.executions == 0 {
            return;
        }
        self.min_ns = if self.executions == 0 { other.min_ns } else { self.min_ns.min(other.min_ns) };
        self.begin_ns = if self.executions == 0 { other.begin_ns } else { self.begin_ns.min(other.begin_ns) };
        self.end_ns = self.end_ns.max(other.end_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.executions += other.executions;
        self.time_ns += other.time_ns;
        self.iterations = self.iterations.saturating_add(other.iterations);
        self.recorded += other.recorded;
        self.unmarked += other.unmarked;
    }
}

/// An interval, and what is known of it.
#[derive(Clone, Debug)]
pub struct IntervalNode {
    /// Which.
    pub id: IntervalId,
    /// Position of the one around it among the nodes.
    pub parent: Option<usize>,
    /// 1 + how many are around it.
    pub level: usize,
    /// Whether its work is parallel.
    pub kind: Kind,
    /// All executions.
    pub all: OfLocation,
    /// Those of each location.
    pub by_location: BTreeMap<LocationId, OfLocation>,
    /// Execution time: that of the location that takes longest, ns.
    pub execution_ns: u64,
    /// The ranks that execute it.
    pub ranks: BTreeSet<u32>,
    /// The account of the time in it.
    pub inside: Inside,
    /// The characteristics of the DVM system.
    pub characteristics: Option<Characterised>,
}

/// The intervals of a run.
#[derive(Clone, Debug, Default)]
pub struct Intervals {
    /// The characteristics of the whole run.
    pub run: Option<Characterised>,
    /// In the order of the tree, those around others first.
    pub nodes: Vec<IntervalNode>,
    /// Whether they are those of the whole run, and of no range of time or single execution.
    pub is_whole_run: bool,
}

/// What of the intervals is asked for.
#[derive(Clone, Debug)]
pub struct Question<'q> {
    /// Executed by which locations.
    pub locations: &'q [LocationId],
    /// In which time.
    pub windows: Windows,
    /// On how many processors; None = on those that the run used.
    pub processors: Option<u32>,
    /// Only this one, and what is inside of it.
    pub wanted: Option<Wanted>,
    /// Only those for which this is true, and those around them.
    pub in_scope: Vec<bool>,
}

fn nodes_level(nodes: &[IntervalNode], at: usize) -> usize {
    nodes.get(at).map_or(0, |node| node.level)
}

fn contains(windows: &Windows, at_ns: u64) -> bool {
    windows.as_slice().iter().any(|window| (window.start_ns..window.end_ns).contains(&at_ns))
}

/// Whether each interval is asked for: what is wanted and what is inside of it, as far as it is in scope.
fn wanted_ones(infos: &[IntervalInfo], question: &Question<'_>) -> Vec<bool> {
    let mut wanted: Vec<bool> = Vec::with_capacity(infos.len());
    for (id, info) in infos.iter().enumerate() {
        let around = info.parent.is_some_and(|parent| wanted[parent as usize]);
        let is_it = question.wanted.as_ref().is_none_or(|wanted| wanted.is(info));
        wanted.push((around || is_it) && question.in_scope.get(id).copied().unwrap_or(true));
    }
    wanted
}

/// The intervals that were executed, and those around them: each after the one around it, and siblings by
/// their first execution.
fn in_order(profile: &Profile, by_interval: &[BTreeMap<LocationId, OfLocation>]) -> Vec<usize> {
    let infos = &profile.intervals;
    let mut first = vec![u64::MAX; infos.len()];
    for row in &profile.executions {
        let first = &mut first[row.interval as usize];
        *first = (*first).min(row.begin_ns);
    }
    let mut children: BTreeMap<Option<IntervalId>, Vec<usize>> = BTreeMap::new();
    let is_shown = |id: usize| !by_interval[id].is_empty();
    for (id, info) in infos.iter().enumerate() {
        if is_shown(id) {
            // Where the one around it is not asked for it is the outermost.
            let parent = info.parent.filter(|&parent| is_shown(parent as usize));
            children.entry(parent).or_default().push(id);
        }
    }
    for siblings in children.values_mut() {
        siblings.sort_by_key(|&id| (first[id], id));
    }
    let mut order = Vec::new();
    let mut stack: Vec<usize> = children.get(&None).into_iter().flatten().rev().copied().collect();
    while let Some(id) = stack.pop() {
        order.push(id);
        stack.extend(children.get(&Some(id as IntervalId)).into_iter().flatten().rev());
    }
    order
}

/// What each interval is. One is parallel if it is marked so, was begun in a parallel region, or is inside of
/// a parallel one.
fn kinds(profile: &Profile) -> Vec<Kind> {
    let infos = &profile.intervals;
    let mut parallel = vec![false; infos.len()];
    for (id, info) in infos.iter().enumerate() {
        let around = info.parent.is_some_and(|parent| parallel[parent as usize]);
        parallel[id] = around || info.work == IntervalWork::Parallel || info.in_region;
    }
    let mut has_parallel = vec![false; infos.len()];
    let of_context: FxHashMap<ContextId, IntervalId> =
        profile.interval_contexts.iter().map(|place| (place.context, place.interval)).collect();
    for region in &profile.regions {
        let mut context = Some(region.context);
        while let Some(id) = context {
            let at = &profile.contexts[id];
            if at.kind == ContextKind::Interval
                && let Some(&interval) = of_context.get(&id)
            {
                has_parallel[interval as usize] = true;
                break;
            }
            context = at.parent;
        }
    }
    // Those around others come first.
    for id in (0..infos.len()).rev() {
        if (parallel[id] || has_parallel[id])
            && let Some(parent) = infos[id].parent
        {
            has_parallel[parent as usize] = true;
        }
    }
    let kind = |(&parallel, &inside): (&bool, &bool)| match (parallel, inside) {
        (true, _) => Kind::Parallel,
        (false, true) => Kind::Combined,
        (false, false) => Kind::Sequential,
    };
    parallel.iter().zip(&has_parallel).map(kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str, number: Option<i64>, parent: Option<u32>) -> IntervalInfo {
        IntervalInfo { name: name.into(), number, parent, ..IntervalInfo::default() }
    }

    #[test]
    fn what_is_in_a_parallel_interval_is_parallel_and_what_is_around_it_combined() {
        let mut infos = vec![
            info("run", None, None),
            info("step", None, Some(0)),
            info("sweep", None, Some(1)),
            info("setup", None, Some(0)),
        ];
        infos[1].work = IntervalWork::Parallel;
        let profile = Profile { intervals: infos, ..Profile::default() };
        let kinds: Vec<&str> = kinds(&profile).into_iter().map(Kind::id).collect();
        assert_eq!(kinds, ["COMB", "PAR", "PAR", "SEQ"]);
    }
}
