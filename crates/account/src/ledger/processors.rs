//! How many processors a run really used.

use super::error::LedgerError;
use super::merge::{Lasting, Merge};
use super::owners::{Owner, Owners};
use super::pieces::Pieces;
use super::state::State;
use super::timeline::{Run, Spans, Timeline};
use super::windows::{Stretch, Window, Windows, joined};
use proust_profile::ProcessId;
use proust_profile::processor_set::available;
use std::collections::BTreeMap;

/// The processors of a run: of each rank, or of the process tree as a whole.
///
/// The processors of a process are the largest k such that at least k of its locations were active at once
/// for at least 1 % of its lifetime, but never more than those available to it, and never less than one: a
/// processor that is not there cannot be lost. So a short burst of threads does not make the rest of the run
/// a waste, and threads that only sleep do not count. Time in which recording was switched off is not part of
/// the lifetime. In a job with ranks only ranks have processors, a rank's child processes use its slots, and
/// the run's number is the sum over ranks. Service locations count nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processors(BTreeMap<ProcessId, Used>);

/// Those of one owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Used {
    processors: u32,
    /// None where it is not known.
    available: Option<u32>,
    /// Locations active at once, whether there were processors for them or not.
    active: u32,
}

impl Processors {
    /// Determines the processors from the locations active at once during `windows`; [`Windows::all`] for the
    /// run's.
    pub fn measured<S: Spans>(run: &Run<S>, windows: &Windows) -> Result<Processors, LedgerError> {
        let owners = Owners::new(&run.processes)?;
        let mut members: Vec<Vec<&Timeline<S>>> = vec![Vec::new(); owners.list.len()];
        for timeline in &run.timelines {
            if let Some(owner) = owners.of(timeline.process)?
                && !timeline.service
            {
                members[owner].push(timeline);
            }
        }
        let used = |(index, (owner, members)): (usize, (&Owner, Vec<&Timeline<S>>))| {
            let active = busy_at_once(owner, &members, windows);
            let mine = run.processes.iter().filter(|process| owners.of(process.id) == Ok(Some(index)));
            let sets = mine.filter_map(|process| run.processor_sets.get(process.processor_set?));
            let available = available(sets);
            (owner.process, Used { processors: active.min(available.unwrap_or(u32::MAX)), available, active })
        };
        Ok(Processors(owners.list.iter().zip(members).enumerate().map(used).collect()))
    }

    /// Those of owners: the process that their slots are shown under, their processors, how many are
    /// available to them, and how many locations were active at once.
    pub(super) fn of_owners(owners: impl Iterator<Item = (ProcessId, u32, Option<u32>, u32)>) -> Processors {
        let used =
            |(process, processors, available, active)| (process, Used { processors, available, active });
        Processors(owners.map(used).collect())
    }

    /// `total` processors, as the user asked; shared equally among ranks, the first ranks taking the
    /// remainder.
    pub fn given<S>(run: &Run<S>, total: u32) -> Result<Processors, LedgerError> {
        let owners = Owners::new(&run.processes)?.list;
        let count = u32::try_from(owners.len()).unwrap_or(u32::MAX).max(1);
        let share = |index: usize| total / count + u32::from((index as u64) < u64::from(total % count));
        let used = |index: usize| Used { processors: share(index), available: None, active: share(index) };
        Ok(Processors(owners.iter().enumerate().map(|(index, owner)| (owner.process, used(index))).collect()))
    }

    /// The processors of the run.
    pub fn total(&self) -> u32 {
        self.0.values().map(|used| used.processors).sum()
    }

    /// The processors whose slots are shown under this process: of its rank, or, for the root of a run
    /// without ranks, of the run.
    pub fn of(&self, process: ProcessId) -> Option<u32> {
        self.0.get(&process).map(|used| used.processors)
    }

    /// How many processors this owner may use, as far as that is known.
    pub fn available(&self, process: ProcessId) -> Option<u32> {
        self.0.get(&process)?.available
    }

    /// How many locations of this owner were active at once; where the processors were given, as many as
    /// these.
    pub fn active(&self, process: ProcessId) -> Option<u32> {
        self.0.get(&process).map(|used| used.active)
    }
}

fn busy_at_once<S: Spans>(owner: &Owner, members: &[&Timeline<S>], windows: &Windows) -> u32 {
    let stretches = windows.within(owner.life).cut_by(&owner.paused);
    let lifetime_ns: u64 = stretches.iter().filter(|s| !s.inside).map(|s| s.window.length_ns()).sum();
    // time_ns[k]: how long exactly k locations were active.
    let mut time_ns = vec![0u64; members.len() + 1];
    let mut active = 0;
    let mut since_ns = owner.life.start_ns;
    let mut merge = Merge::new(members.iter().map(|timeline| active_stretches(timeline, &stretches)));
    while let Some(edge) = merge.next() {
        time_ns[active] += edge.at_ns - since_ns;
        since_ns = edge.at_ns;
        active = active + usize::from(edge.began.is_some()) - usize::from(edge.ended.is_some());
    }
    let mut at_least_ns = 0u64;
    for (k, ns) in time_ns.iter().enumerate().skip(1).rev() {
        at_least_ns += ns;
        if at_least_ns > 0 && u128::from(at_least_ns) * 100 >= u128::from(lifetime_ns) {
            return u32::try_from(k).unwrap_or(u32::MAX);
        }
    }
    1
}

/// The stretches in which a location is active within these.
fn active_stretches<S: Spans>(timeline: &Timeline<S>, stretches: &[Stretch]) -> impl Iterator<Item = Window> {
    let pieces = Pieces::new(timeline.spans.spans(), stretches);
    let active = pieces.filter(|piece| !piece.paused && !matches!(piece.span.state, State::Passive(_)));
    joined(active.map(|piece| piece.window))
}

impl Lasting for Window {
    fn window(&self) -> Window {
        *self
    }
}
