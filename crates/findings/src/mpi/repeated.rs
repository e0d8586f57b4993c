//! Calls of MPI that need not be made so often: communicators, windows and files that are made again and
//! again, and questions whether a message has arrived that find nothing.
//!
//! What is lost is the time in these calls without the waits for partners.

use std::collections::BTreeMap;

use proust_profile::{EventRow, FunctionId, Ns, Profile};

use super::super::facts::Facts;
use super::super::figure::{Figure, FigureId};
use super::super::finding::{Finding, Kind};
use super::super::thresholds::{self as limits, Checks, Threshold};
use super::spent::{Spent, possible};

/// How the names of calls begin that make what communicates, or do away with it.
const SETUPS: [&str; 12] = [
    "MPI_Cart_create",
    "MPI_Cart_sub",
    "MPI_Comm_create",
    "MPI_Comm_dup",
    "MPI_Comm_free",
    "MPI_Comm_idup",
    "MPI_Comm_split",
    "MPI_Dist_graph_create",
    "MPI_File_",
    "MPI_Graph_create",
    "MPI_Intercomm_",
    "MPI_Win_",
];
/// Of files and windows these: the others use them.
const OF_FILES_AND_WINDOWS: [&str; 5] = ["_open", "_close", "_create", "_allocate", "_free"];

/// Calls in one function.
#[derive(Debug, Default)]
struct Calls {
    times: u64,
    spent: Spent,
}

/// All of a run.
#[derive(Debug)]
pub(super) struct Repeated {
    /// By operation: whether it makes what communicates.
    is_setup: Vec<bool>,
    setups: BTreeMap<Option<FunctionId>, Calls>,
    polls: BTreeMap<Option<FunctionId>, Calls>,
}

impl Repeated {
    pub(super) fn new(profile: &Profile) -> Repeated {
        let is_setup = profile.operations.iter().map(|operation| is_setup(&operation.name)).collect();
        Repeated { is_setup, setups: BTreeMap::new(), polls: BTreeMap::new() }
    }

    /// Adds a call, or polls that are known together, of a function; `spent` is without the wait.
    pub(super) fn add(&mut self, event: &EventRow, function: Option<FunctionId>, spent: Ns) {
        let by_function = match event.summed {
            true => &mut self.polls,
            false if self.is_setup[event.operation.index()] => &mut self.setups,
            false => return,
        };
        let of = by_function.entry(function).or_default();
        of.times += u64::from(event.calls);
        *of.spent.entry((event.location, event.context)).or_default() += spent;
    }

    pub(super) fn findings(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let setups = self.setups.values().map(|of| (of, Kind::MpiRepeatedSetup, limits::SETUPS));
        let polls = self.polls.values().map(|of| (of, Kind::MpiPolls, limits::POLLS_IN_VAIN));
        setups.chain(polls).filter_map(|(of, kind, limit)| of.finding(facts, kind, &limit)).collect()
    }
}

impl Calls {
    fn finding(&self, facts: &Facts<'_>, kind: Kind, limit: &Threshold<f64>) -> Option<Finding> {
        let lost: Ns = self.spent.values().sum();
        let mut checks = Checks::default();
        if !checks.holds(limit, self.times as f64) || !facts.matters(&mut checks, lost, lost) {
            return None;
        }
        let evidence = vec![
            Figure::count(FigureId::Calls, self.times as f64),
            Figure::time(FigureId::EachWithoutWaits, lost / self.times.max(1) as f64),
            Figure::time(FigureId::CallsWithoutWaits, lost),
        ];
        possible(facts, kind, &self.spent, evidence, checks)
    }
}

fn is_setup(name: &str) -> bool {
    let is_use = |name: &str| !OF_FILES_AND_WINDOWS.iter().any(|part| name.contains(part));
    SETUPS.iter().any(|setup| name.starts_with(setup) && !(setup.ends_with('_') && is_use(name)))
}

#[cfg(test)]
mod tests {
    use super::is_setup;

    #[test]
    fn what_makes_and_what_uses() {
        let make =
            ["MPI_Comm_split_type", "MPI_File_open", "MPI_Win_allocate_shared", "MPI_Intercomm_create"];
        assert!(make.iter().all(|name| is_setup(name)));
        let others = ["MPI_Comm_rank", "MPI_File_write_at", "MPI_Win_fence", "MPI_Send", "open"];
        assert!(!others.iter().any(|name| is_setup(name)));
    }
}
