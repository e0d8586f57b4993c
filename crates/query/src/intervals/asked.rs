//! A question about intervals, and its answer: first what was executed when, so that the sweep of a ledger
//! can be watched for it, then what follows from the account of the time inside.

use std::collections::BTreeMap;

use proust_account::ledger::inside_in_parts;
use proust_account::ledger::{Inside, Insides, LedgerError, Processors, Run, Spans, Window, Windows};
use proust_account::stored::StoredTimelines;
use proust_profile::{ExecutionEnd, IntervalId, LocationId, Profile};
use rustc_hash::FxHashMap;

use super::parts::{Counted, Parts, share_within};
use super::whole::Whole;
use super::{IntervalNode, Intervals, OfLocation, Question};
use super::{contains, in_order, kinds, nodes_level, wanted_ones};
use crate::characteristics::{Processors as ProcessorsOfRun, roots};

/// A question, with the executions that it is about.
#[derive(Debug)]
pub struct Asked<'q> {
    profile: &'q Profile,
    question: &'q Question<'q>,
    windows: Windows,
    by_interval: Vec<BTreeMap<LocationId, OfLocation>>,
    parts: Parts,
}

/// The intervals of a profile in the order of the tree, those around others first.
///
/// # Errors
/// When the profile's processes and locations contradict each other.
pub fn intervals(profile: &Profile, question: &Question<'_>) -> Result<Intervals, LedgerError> {
    intervals_of(profile, &StoredTimelines::of(profile).whole_run(profile), question)
}

/// As [`intervals`], where the timelines of the whole run are there already.
///
/// # Errors
/// As [`intervals`].
pub fn intervals_of(
    profile: &Profile,
    run: &Run<impl Spans>,
    question: &Question<'_>,
) -> Result<Intervals, LedgerError> {
    let asked = Asked::new(profile, run, question);
    let processors = match question.processors {
        Some(total) => Processors::given(run, total)?,
        None => Processors::measured(run, &Windows::all())?,
    };
    let found = inside_in_parts(run, &processors, &asked.windows, &asked.parts.in_parts())?;
    Ok(asked.answer(run, found))
}

impl<'q> Asked<'q> {
    /// Finds the executions.
    pub fn new(profile: &'q Profile, run: &Run<impl Spans>, question: &'q Question<'q>) -> Asked<'q> {
        let infos = &profile.intervals;
        let wanted = wanted_ones(infos, question);
        let is_in_scope = |location: LocationId| question.locations.binary_search(&location).is_ok();
        let windows = match question.wanted.as_ref().filter(|wanted| wanted.execution().is_some()) {
            Some(wanted) => wanted.windows(profile, is_in_scope).intersection(&question.windows),
            None => question.windows.clone(),
        };
        let bounds = match (windows.as_slice().first(), windows.as_slice().last()) {
            (Some(first), Some(last)) => Window::new(first.start_ns, last.end_ns),
            _ => Window::new(0, 0),
        };
        let mut by_interval: Vec<BTreeMap<LocationId, OfLocation>> = vec![BTreeMap::new(); infos.len()];
        for row in &profile.executions {
            let id = row.interval as usize;
            if !wanted[id] || !is_in_scope(row.location) {
                continue;
            }
            let window = Window::new(row.begin_ns.max(bounds.start_ns), row.end_ns.min(bounds.end_ns));
            let within: u64 = match windows.as_slice() {
                [_] => window.length_ns(),
                _ => windows.within(window).length_ns(),
            };
            let is_here = within > 0 || row.begin_ns == row.end_ns && contains(&windows, row.begin_ns);
            if !is_here {
                continue;
            }
            if row.inherited {
                // Its process was forked in it, and the execution is that of the parent.
                continue;
            }
            by_interval[id].entry(row.location).or_default().add(&OfLocation {
                executions: 1,
                time_ns: within,
                min_ns: within,
                max_ns: within,
                iterations: row.iterations,
                recorded: 1,
                unmarked: u64::from(row.end != ExecutionEnd::Marked),
                begin_ns: row.begin_ns,
                end_ns: row.end_ns,
            });
        }
        for row in &profile.execution_sums {
            let id = row.interval as usize;
            if !wanted[id] || !is_in_scope(row.location) {
                continue;
            }
            let share = share_within(&windows, row);
            if share > 0.0 {
                let part = |all: u64| if share == 1.0 { all } else { (all as f64 * share).round() as u64 };
                by_interval[id].entry(row.location).or_default().add(&OfLocation {
                    executions: part(row.executions),
                    time_ns: part(row.time_ns),
                    min_ns: row.min_ns,
                    max_ns: row.max_ns,
                    iterations: part(row.iterations),
                    begin_ns: row.begin_ns,
                    end_ns: row.end_ns,
                    ..OfLocation::default()
                });
            }
        }
        let mut parts = Parts::of(
            infos.len() + 1,
            &Counted {
                profile,
                windows: &windows,
                thing_of: |interval: IntervalId| Some(interval as usize).filter(|&id| wanted[id]),
                has: is_in_scope,
            },
        );
        for root in roots(profile, run, &is_in_scope) {
            parts.push(infos.len(), root.location, root.window);
        }
        parts.without_places(infos.len());
        Asked { profile, question, windows, by_interval, parts }
    }

    /// An observer of the sweep of a ledger of the same time, for the account inside of the executions.
    ///
    /// # Errors
    /// When the profile's processes and locations contradict each other.
    pub fn insides(&self, run: &Run<impl Spans>) -> Result<Insides, LedgerError> {
        Insides::new(run, &self.windows, &self.parts.in_parts())
    }

    /// The answer, from what was found inside of the executions.
    pub fn answer(self, run: &Run<impl Spans>, found: Vec<Inside>) -> Intervals {
        let Asked { profile, question, .. } = self;
        let infos = &profile.intervals;
        let is_in_scope = |location: LocationId| question.locations.binary_search(&location).is_ok();
        let processors_of_run = ProcessorsOfRun::of(profile, run, &is_in_scope);
        let inside = self.parts.accounts(run, &self.windows, found);
        let kinds = kinds(profile);
        let mut nodes = Vec::new();
        let mut position = FxHashMap::default();
        for id in in_order(profile, &self.by_interval) {
            let info = &infos[id];
            let parent = info.parent.and_then(|parent| position.get(&(parent as usize)).copied());
            position.insert(id, nodes.len());
            let mut all = OfLocation::default();
            self.by_interval[id].values().for_each(|of| all.add(of));
            let ranks = self.by_interval[id].keys().filter_map(|&location| {
                let process = profile.locations.get(location)?.process;
                profile.processes.get(process)?.rank
            });
            nodes.push(IntervalNode {
                id: id as IntervalId,
                parent,
                level: parent.map_or(1, |parent: usize| nodes_level(&nodes, parent) + 1),
                kind: kinds[id],
                execution_ns: self.by_interval[id].values().map(|of| of.time_ns).max().unwrap_or(0),
                ranks: ranks.collect(),
                by_location: self.by_interval[id].clone(),
                all,
                inside: inside[id].clone(),
                characteristics: None,
            });
        }
        let is_whole_run = self.windows.as_slice() == Windows::all().as_slice();
        let whole =
            Whole { profile, processors: &processors_of_run, inside: &inside[infos.len()], is_whole_run };
        let run = whole.characterise(&mut nodes);
        Intervals { run, nodes, is_whole_run }
    }
}
