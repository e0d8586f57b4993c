//! What the critical path does in each function of the program that a finding can name.

use proust_account::ledger::Account;
use proust_profile::{ContextId, FunctionId, Ns, OperationId};
use proust_query::mpi::critical_path::{Activities, CriticalPath, EndWait, PathSum};
use rustc_hash::FxHashMap;

use super::super::facts::Facts;
use super::super::figure::{Figure, FigureId};
use super::super::thresholds as limits;

/// Standard errors that a time on the path may be more than was found.
const SIGMAS: f64 = 2.0;

/// The path by function, without calls of MPI.
#[derive(Debug)]
pub(super) struct OnPath {
    by_function: FxHashMap<FunctionId, PathSum>,
    /// By context the one that names its function.
    of_context: Vec<ContextId>,
    pub ranks: usize,
    /// What ranks wait in the end of MPI, by location.
    pub end_waits: Vec<EndWait>,
}

impl OnPath {
    /// None where none is known for sure, or where ranks wait for nothing that could be worth a finding.
    pub fn of(facts: &Facts<'_>) -> Option<OnPath> {
        let waits = [Account::MpiPartner, Account::Runtime].map(|account| facts.ledger.accounts[account]);
        if Ns::of(waits.iter().sum()) < facts.total * limits::LEAST_SHARE.value {
            return None;
        }
        let profile = facts.profile;
        let mut first: FxHashMap<FunctionId, ContextId> = FxHashMap::default();
        let named = |context: ContextId| {
            let function = facts.places.phase(context).and_then(|phase| profile.contexts[phase].function);
            function.map_or(ContextId::PROGRAM, |function| *first.entry(function).or_insert(context))
        };
        let contexts = profile.contexts.iter_enumerated().map(|(id, _)| id);
        let of_context: Vec<ContextId> = contexts.map(named).collect();
        let is_of_mpi =
            |id| facts.operation(OperationId::from_index(id)).is_some_and(|kind| kind.is_of_mpi());
        let is_apart = (0..profile.operations.len()).map(is_of_mpi).collect();
        let path = CriticalPath::of_activities(profile, &Activities::new(of_context.clone(), is_apart))?;
        if !path.is_complete || path.ranks < 2 {
            return None;
        }
        let own: FxHashMap<ContextId, PathSum> = (path.activities.iter())
            .filter(|sum| sum.activity.1.is_none())
            .map(|sum| (sum.activity.0, *sum))
            .collect();
        let by_function = first.iter().filter_map(|(&id, context)| Some((id, *own.get(context)?))).collect();
        Some(OnPath { by_function, of_context, ranks: path.ranks, end_waits: path.end_waits })
    }

    pub fn get(&self, function: Option<FunctionId>) -> Option<&PathSum> {
        self.by_function.get(&function?)
    }

    /// The contexts of a function.
    pub fn contexts(&self, sum: &PathSum) -> impl Iterator<Item = ContextId> {
        let named = sum.activity.0;
        let all = self.of_context.iter().enumerate();
        all.filter(move |(_, of)| **of == named).map(|(id, _)| ContextId::from_index(id))
    }

    /// All functions on it, in an order that is the same each time.
    pub fn functions(&self) -> Vec<(FunctionId, &PathSum)> {
        let mut all: Vec<(FunctionId, &PathSum)> =
            self.by_function.iter().map(|(&id, of)| (id, of)).collect();
        all.sort_unstable_by_key(|&(id, _)| id);
        all
    }
}

pub(super) fn ns(time: f64) -> Ns {
    Ns::of(time.max(0.0).round() as u64)
}

/// All that leaving it out would take off the path.
pub(super) fn most(sum: &PathSum) -> Ns {
    ns(sum.on_path_ns + SIGMAS * sum.error_ns)
}

/// What ranks spend in it, and what the path does.
pub(super) fn evidence(sum: &PathSum) -> [Figure; 2] {
    [
        Figure::time(FigureId::OnCriticalPath, ns(sum.on_path_ns)),
        Figure::time(FigureId::LongerThanMean, ns(sum.imbalance_ns)),
    ]
}
