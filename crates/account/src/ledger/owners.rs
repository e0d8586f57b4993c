//! The owners of processors: each rank, or else the process tree as a whole.

use super::error::LedgerError;
use super::timeline::Process;
use super::windows::{Window, Windows};
use proust_profile::ProcessId;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The owner of some processors: a rank with its child processes, or, in a run without ranks, all processes.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    /// The process under which its slots are shown: the rank's first process, or the root of the tree.
    pub process: ProcessId,
    pub rank: Option<Rank>,
    /// From its start to its end.
    pub life: Window,
    /// When any of its processes was not recorded.
    pub paused: Windows,
}

/// A rank of a job: one run may have several jobs, after one another or side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Rank {
    pub job: Option<u32>,
    pub rank: u32,
}

impl Rank {
    fn of(process: &Process) -> Option<Rank> {
        process.rank.map(|rank| Rank { job: process.job, rank })
    }
}

/// The owners of a run and the processes that use their slots.
#[derive(Clone, Debug)]
pub(super) struct Owners {
    /// By job and rank.
    pub list: Vec<Owner>,
    /// The run's time: from the first owner's start to the last owner's end.
    pub life: Window,
    of_process: FxHashMap<ProcessId, Option<usize>>,
}

impl Owners {
    pub fn new(processes: &[Process]) -> Result<Owners, LedgerError> {
        let mut by_id = FxHashMap::default();
        for process in processes {
            if by_id.insert(process.id, process).is_some() {
                return Err(LedgerError::DuplicateProcess { process: process.id });
            }
        }
        let mut list = if processes.iter().any(|process| process.rank.is_some()) {
            ranks(processes)
        } else {
            tree(processes, &by_id).into_iter().collect()
        };
        let slot_of_rank: FxHashMap<Option<Rank>, usize> =
            list.iter().enumerate().map(|(index, owner)| (owner.rank, index)).collect();
        let of_process: FxHashMap<ProcessId, Option<usize>> = processes
            .iter()
            .map(|process| (process.id, slot_of_rank.get(&rank_of(process, &by_id)).copied()))
            .collect();
        for (index, owner) in list.iter_mut().enumerate() {
            owner.paused = processes
                .iter()
                .filter(|process| of_process[&process.id] == Some(index))
                .flat_map(|process| process.paused.as_slice().iter().copied())
                .collect();
        }
        let life = span_of(list.iter().map(|owner| owner.life));
        Ok(Owners { list, life, of_process })
    }

    /// The owner whose slots the process uses; `None` for a process outside all ranks, such as the launcher.
    /// An error where the process is not part of the run.
    pub fn of(&self, process: ProcessId) -> Result<Option<usize>, LedgerError> {
        self.of_process.get(&process).copied().ok_or(LedgerError::UnknownProcess { process })
    }
}

fn ranks(processes: &[Process]) -> Vec<Owner> {
    let mut by_rank: BTreeMap<Rank, Vec<&Process>> = BTreeMap::new();
    for process in processes {
        if let Some(rank) = Rank::of(process) {
            by_rank.entry(rank).or_default().push(process);
        }
    }
    by_rank
        .into_iter()
        .filter_map(|(rank, members)| {
            let first = members.iter().min_by_key(|process| (process.start_ns, process.id))?;
            Some(Owner {
                process: first.id,
                rank: Some(rank),
                life: span_of(members.iter().map(|process| Window::new(process.start_ns, process.end_ns))),
                paused: Windows::default(),
            })
        })
        .collect()
}

fn tree(processes: &[Process], by_id: &FxHashMap<ProcessId, &Process>) -> Option<Owner> {
    let is_root = |process: &&Process| process.parent.is_none_or(|parent| !by_id.contains_key(&parent));
    let root = processes
        .iter()
        .filter(is_root)
        .min_by_key(|process| (process.start_ns, process.id))
        .or_else(|| processes.iter().min_by_key(|process| (process.start_ns, process.id)))?;
    Some(Owner {
        process: root.id,
        rank: None,
        life: span_of(processes.iter().map(|process| Window::new(process.start_ns, process.end_ns))),
        paused: Windows::default(),
    })
}

/// The rank of the process or of its nearest ancestor that has one.
fn rank_of(process: &Process, by_id: &FxHashMap<ProcessId, &Process>) -> Option<Rank> {
    let ancestors = std::iter::successors(Some(process), |process| {
        process.parent.and_then(|parent| by_id.get(&parent).copied())
    });
    // A damaged log may make two processes each other's parents: no chain is longer than the run has
    // processes.
    ancestors.take(by_id.len()).find_map(Rank::of)
}

fn span_of(windows: impl Iterator<Item = Window>) -> Window {
    windows
        .reduce(|a, b| Window::new(a.start_ns.min(b.start_ns), a.end_ns.max(b.end_ns)))
        .unwrap_or(Window::new(0, 0))
}
