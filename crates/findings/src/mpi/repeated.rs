//! Calls of MPI that need not be made so often: communicators, windows and files that are made again and
//! again, and questions whether a message has arrived that find nothing.
//!
//! What is lost is the time in these calls without the waits for partners.

use std::collections::BTreeMap;

use proust_profile::{FunctionId, Ns, Profile};

use super::super::facts::Facts;
use super::super::figure::{Figure, FigureId};
use super::super::finding::{Finding, Kind};
use super::super::thresholds::{self as limits, Checks, Threshold};
use super::call_sites::{CallSite, Sum};
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

/// How the names of calls begin that ask whether something has arrived. Those that find nothing are known as
/// sums.
const POLLS: [&str; 6] =
    ["MPI_Improbe", "MPI_Iprobe", "MPI_Parrived", "MPI_Request_get_status", "MPI_Test", "MPI_Win_test"];

/// What a call is to the findings here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Setup,
    Poll,
    Other,
}

/// Calls in one function.
#[derive(Debug, Default)]
struct Calls {
    times: u64,
    spent: Spent,
}

/// All of a run.
#[derive(Debug)]
pub(super) struct Repeated {
    /// By operation.
    what: Vec<What>,
    setups: BTreeMap<Option<FunctionId>, Calls>,
    polls: BTreeMap<Option<FunctionId>, Calls>,
}

impl Repeated {
    pub(super) fn new(profile: &Profile) -> Repeated {
        let what = profile.operations.iter().map(|operation| what(&operation.name)).collect();
        Repeated { what, setups: BTreeMap::new(), polls: BTreeMap::new() }
    }

    /// Adds the calls at a site of a function; of polls those that are known together.
    pub(super) fn add(&mut self, site: &CallSite, function: Option<FunctionId>) {
        let (by_function, single) = match self.what[site.operation.index()] {
            What::Setup => (&mut self.setups, site.single),
            What::Poll if site.summed.events > 0 => (&mut self.polls, Sum::default()),
            What::Poll | What::Other => return,
        };
        let of = by_function.entry(function).or_default();
        of.times += single.calls + site.summed.calls;
        *of.spent.entry((site.location, site.context)).or_default() += single.spent + site.summed.spent;
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

fn what(name: &str) -> What {
    let is_use = |name: &str| !OF_FILES_AND_WINDOWS.iter().any(|part| name.contains(part));
    if SETUPS.iter().any(|setup| name.starts_with(setup) && !(setup.ends_with('_') && is_use(name))) {
        What::Setup
    } else if POLLS.iter().any(|poll| name.starts_with(poll)) {
        What::Poll
    } else {
        What::Other
    }
}

#[cfg(test)]
mod tests {
    use super::{What, what};

    #[test]
    fn what_makes_and_what_uses() {
        let make =
            ["MPI_Comm_split_type", "MPI_File_open", "MPI_Win_allocate_shared", "MPI_Intercomm_create"];
        assert!(make.iter().all(|name| what(name) == What::Setup));
        let ask = ["MPI_Test", "MPI_Testsome", "MPI_Iprobe", "MPI_Win_test", "MPI_Request_get_status_any"];
        assert!(ask.iter().all(|name| what(name) == What::Poll));
        let others = ["MPI_Comm_rank", "MPI_File_write_at", "MPI_Win_fence", "MPI_Send", "open"];
        assert!(others.iter().all(|name| what(name) == What::Other));
    }
}
