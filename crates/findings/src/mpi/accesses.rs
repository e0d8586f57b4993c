//! Accesses to memory of other ranks and to files: many of them whose cost is that of calling.
//!
//! What is lost is the time in these calls without the waits for partners.

use std::collections::BTreeMap;

use proust_profile::{FunctionId, Ns, Profile};

use super::super::facts::Facts;
use super::super::figure::{Figure, FigureId};
use super::super::finding::{Finding, Kind};
use super::super::thresholds::{self as limits, Checks};
use super::call_sites::CallSite;
use super::spent::{Spent, possible};

/// Calls that access another rank's memory, and how the names of those begin that order such accesses.
const OF_MEMORY: [&str; 10] = [
    "MPI_Accumulate",
    "MPI_Compare_and_swap",
    "MPI_Fetch_and_op",
    "MPI_Get",
    "MPI_Get_accumulate",
    "MPI_Put",
    "MPI_Raccumulate",
    "MPI_Rget",
    "MPI_Rget_accumulate",
    "MPI_Rput",
];
const IN_ORDER: [&str; 9] = [
    "MPI_Win_complete",
    "MPI_Win_fence",
    "MPI_Win_flush",
    "MPI_Win_lock",
    "MPI_Win_post",
    "MPI_Win_start",
    "MPI_Win_sync",
    "MPI_Win_unlock",
    "MPI_Win_wait",
];
/// How the names of those begin that read or write a file.
const OF_FILES: [&str; 5] =
    ["MPI_File_iread", "MPI_File_iwrite", "MPI_File_read", "MPI_File_seek", "MPI_File_write"];

/// Calls in one function.
#[derive(Debug, Default)]
struct Calls {
    times: u64,
    /// Those that are known.
    bytes: u64,
    spent: Spent,
}

/// All of a run.
#[derive(Debug)]
pub(super) struct Accesses {
    /// By operation.
    is_access: Vec<bool>,
    calls: BTreeMap<Option<FunctionId>, Calls>,
}

impl Accesses {
    pub(super) fn new(profile: &Profile) -> Accesses {
        let is_access = profile.operations.iter().map(|operation| is_access(&operation.name)).collect();
        Accesses { is_access, calls: BTreeMap::new() }
    }

    /// Adds the calls at a site of a function.
    pub(super) fn add(&mut self, site: &CallSite, function: Option<FunctionId>) {
        if !self.is_access[site.operation.index()] {
            return;
        }
        let of = self.calls.entry(function).or_default();
        of.times += site.single.calls + site.summed.calls;
        of.bytes += site.single.bytes + site.summed.bytes;
        *of.spent.entry((site.location, site.context)).or_default() += site.single.spent + site.summed.spent;
    }

    pub(super) fn findings(&self, facts: &Facts<'_>) -> Vec<Finding> {
        self.calls.values().filter_map(|calls| calls.finding(facts)).collect()
    }
}

impl Calls {
    fn finding(&self, facts: &Facts<'_>) -> Option<Finding> {
        let lost: Ns = self.spent.values().sum();
        let times = self.times.max(1) as f64;
        let each = lost / times;
        let mut checks = Checks::default();
        if !checks.holds(&limits::ACCESSES, self.times as f64)
            || !checks.holds(&limits::ACCESS_S, each)
            || !checks.holds(&limits::SMALL_MESSAGE_BYTES, self.bytes as f64 / times)
            || !facts.matters(&mut checks, lost, lost)
        {
            return None;
        }
        let evidence = vec![
            Figure::count(FigureId::Calls, self.times as f64),
            Figure::time(FigureId::EachWithoutWaits, each),
            Figure::time(FigureId::CallsWithoutWaits, lost),
        ];
        possible(facts, Kind::MpiSmallAccesses, &self.spent, evidence, checks)
    }
}

fn is_access(name: &str) -> bool {
    OF_MEMORY.contains(&name) || IN_ORDER.iter().chain(&OF_FILES).any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::is_access;

    #[test]
    fn accesses_and_others() {
        let accesses = ["MPI_Get", "MPI_Win_flush_local_all", "MPI_Win_lock_all", "MPI_File_write_at_all"];
        assert!(accesses.iter().all(|name| is_access(name)));
        let others =
            ["MPI_Get_count", "MPI_Get_processor_name", "MPI_Win_create", "MPI_File_open", "MPI_Send"];
        assert!(!others.iter().any(|name| is_access(name)));
    }
}
