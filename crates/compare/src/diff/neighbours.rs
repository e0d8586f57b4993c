//! A function's callers and callees before and after.

use std::collections::BTreeMap;

use proust_profile::{Metric, Ns, Unit};

use super::super::node::{JointFunctionId, JointId};
use super::{Diff, RowChange};
use crate::sampling::{Sampled, error_of_short, squares_of};
use proust_query::Measure;
use proust_statistics::{Change, Observation};

/// A function between its callers and what it calls.
#[derive(Clone, Debug)]
pub struct NeighbourChanges {
    /// The function itself.
    pub whole: RowChange,
    /// Its callers, with the part of its inclusive amount when called from there.
    pub callers: Vec<NeighbourChange>,
    /// What it calls, with the part of its inclusive amount that goes there.
    pub callees: Vec<NeighbourChange>,
}

/// A caller or callee.
#[derive(Clone, Debug)]
pub struct NeighbourChange {
    /// A position in [`super::super::Joint::functions`]; None for the begin of a thread.
    pub function: Option<JointFunctionId>,
    /// What passes between the two.
    pub inclusive: Change,
}

/// An amount of a run, and the basis of its error.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    amount: u128,
    cpu: Ns,
    queued: Ns,
    squares: f64,
    /// Of short operations the squares of their sums.
    short_squares: f64,
}

/// Amounts by run.
type ByRun = Vec<Sum>;

type Sums = BTreeMap<Option<JointFunctionId>, ByRun>;

impl Diff<'_> {
    /// The change of these functions, taken together as one, and of the amounts between it and others. As in
    /// [`proust_query::Neighbours`] a path belongs to the caller of the outermost call and to the callee of
    /// the innermost.
    pub fn neighbours(&self, wanted: &[JointFunctionId], measure: Measure) -> NeighbourChanges {
        let runs = self.places.len();
        let paths = self.paths_through(wanted);
        let (mut callers, mut callees) = (Sums::new(), Sums::new());
        let (mut inclusive, mut exclusive) = (vec![Sum::default(); runs], vec![Sum::default(); runs]);
        for (run, &place) in self.places.iter().enumerate() {
            let (own, squares) = (self.joint.own(place, measure), self.joint.own_squares(place));
            let (cpu, queued) = (self.joint.own(place, Metric::Cpu), self.joint.own(place, Measure::Queued));
            let short = squares_of(measure).map(|squares| self.joint.own(place, squares));
            let add = |of: &mut ByRun, node: usize| {
                let sum = &mut of[run];
                sum.amount = measure.kind().joined(sum.amount, own[node]);
                sum.cpu += Ns::of_sum(cpu[node]);
                sum.queued += Ns::of_sum(queued[node]);
                sum.squares += squares[node];
                sum.short_squares +=
                    short.as_ref().map_or(0.0, |short| Unit::SECONDS_SQUARED.shown(short[node]));
            };
            for (node, path) in paths.iter().enumerate() {
                let Some((caller, callee)) = *path else { continue };
                add(&mut inclusive, node);
                add(callers.entry(caller).or_insert_with(|| vec![Sum::default(); runs]), node);
                match callee {
                    None => add(&mut exclusive, node),
                    Some(_) => add(callees.entry(callee).or_insert_with(|| vec![Sum::default(); runs]), node),
                }
            }
        }
        let changes = |sums: Sums| {
            let of = sums.into_iter().filter(|(_, of)| of.iter().any(|of| of.amount > 0));
            of.map(|(function, of)| NeighbourChange { function, inclusive: self.sum_change(measure, &of) })
                .collect()
        };
        NeighbourChanges {
            whole: RowChange {
                inclusive: self.sum_change(measure, &inclusive),
                exclusive: self.sum_change(measure, &exclusive),
            },
            callers: changes(callers),
            callees: changes(callees),
        }
    }

    /// For each node that is one of these functions or below it: the caller, and what is called on the way to
    /// the node.
    fn paths_through(
        &self,
        wanted: &[JointFunctionId],
    ) -> Vec<Option<(Option<JointFunctionId>, Option<JointFunctionId>)>> {
        let joint = &self.joint;
        let mut innermost: Vec<Option<JointFunctionId>> = Vec::with_capacity(joint.len());
        let mut paths: Vec<Option<(Option<JointFunctionId>, Option<JointFunctionId>)>> =
            Vec::with_capacity(joint.len());
        for node in 0..joint.len() as JointId {
            let parent = joint.parent(node).map(|parent| parent as usize);
            let caller = parent.and_then(|parent| innermost[parent]);
            let above = parent.and_then(|parent| paths[parent]);
            let function = joint.function_of(node);
            let is_wanted = function.is_some_and(|function| wanted.contains(&function));
            paths.push(match above {
                Some((caller, _)) if is_wanted => Some((caller, None)),
                None if is_wanted => Some((caller, None)),
                Some((caller, callee)) => Some((caller, callee.or(function))),
                None => None,
            });
            innermost.push(function.or(caller));
        }
        paths
    }

    fn sum_change(&self, measure: Measure, by_run: &[Sum]) -> Change {
        let observations: Vec<Observation> = (by_run.iter().zip(self.runs()).zip(&self.disturbances))
            .map(|((sum, run), by)| {
                let error = run.outline.sampling().error(sum.cpu, sum.squares);
                let all = squares_of(measure).map_or(0.0, |squares| run.outline.total(squares));
                let short = error_of_short(sum.short_squares, all);
                let sampled = Sampled { short, ..run.sampled(sum.cpu, error, sum.queued) };
                let value = measure.unit().shown(sum.amount);
                let error = sampled.error(measure, value);
                Observation { value, error, disturbed: by.of_measure(measure, value) }
            })
            .collect();
        let (a, b) = observations.split_at(self.a.len());
        Change::of(a, b, &self.matters_of(&measure.into()))
    }
}
