//! How many ranks and threads a run had, by its own data: of runs that were recorded one by one nothing else
//! says it.

use proust_account::ledger::Ledger;
use proust_profile::{Ns, Profile};

/// The ranks of a run, and the threads of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnCount {
    /// Ranks of its jobs; 0 for a run without ranks.
    pub ranks: u32,
    /// Threads of a rank, or of a run without ranks; at least 1. The size of the largest team of a parallel
    /// region, if one had two threads or more. Else the largest number of threads that were active at once
    /// for 1 % of the time or more, whether there were processors for them or not; of several ranks their
    /// mean, rounded up.
    pub threads: u32,
}

impl OwnCount {
    /// Counts the ranks and threads of a run.
    pub fn of(profile: &Profile, ledger: &Ledger) -> OwnCount {
        let ranks = ledger.slots.iter().filter(|slots| slots.rank.is_some()).count();
        let ranks = u32::try_from(ranks).unwrap_or(u32::MAX);
        let team = profile.segments.iter().map(|row| row.team_max).max().unwrap_or(0);
        let threads = if team > 1 { team } else { ledger.active.div_ceil(ranks.max(1)) };
        OwnCount { ranks, threads: threads.max(1) }
    }
}

/// The program of a run: the process with a rank, or in a run without ranks any process, that used most CPU
/// time. Launchers and shells around it are not meant.
pub fn program(profile: &Profile) -> String {
    let has_ranks = profile.processes.iter().any(|process| process.rank.is_some());
    let mut cpu = vec![Ns::ZERO; profile.processes.len()];
    for location in &profile.locations {
        if let Some(sum) = cpu.get_mut(location.process.index()) {
            *sum += location.cpu;
        }
    }
    let candidates = profile.processes.iter().zip(cpu);
    let candidates = candidates.filter(|(process, _)| !has_ranks || process.rank.is_some());
    // Of equals the first.
    let most = candidates.reduce(|most, next| if next.1 > most.1 { next } else { most });
    most.map(|(process, _)| process.name.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proust_account::ledger::SlotAccounts;
    use proust_profile::{Location, LocationId, Process, ProcessId, SegmentRow};

    use super::*;

    fn slots(rank: Option<u32>) -> SlotAccounts {
        SlotAccounts {
            process: ProcessId(0),
            rank,
            job: None,
            available: None,
            processors: 1,
            active: 1,
            total_ns: 0,
            beyond_ns: 0,
            accounts: Default::default(),
        }
    }

    fn counted(ranks: u32, team: u32, active: u32) -> OwnCount {
        let segments = vec![SegmentRow { team_max: team, ..SegmentRow::default() }];
        let profile = Profile { segments, ..Profile::default() };
        let of_ranks = (0..ranks).map(|rank| slots(Some(rank)));
        let slots = if ranks > 0 { of_ranks.collect() } else { vec![slots(None)] };
        OwnCount::of(&profile, &Ledger { active, slots, ..Ledger::default() })
    }

    #[test]
    fn threads_are_those_of_a_team_or_else_those_active_at_once() {
        assert_eq!(counted(0, 4, 9), OwnCount { ranks: 0, threads: 4 });
        assert_eq!(counted(0, 1, 3), OwnCount { ranks: 0, threads: 3 });
        assert_eq!(counted(0, 0, 0), OwnCount { ranks: 0, threads: 1 });
        assert_eq!(counted(256, 0, 256), OwnCount { ranks: 256, threads: 1 });
        assert_eq!(counted(2, 0, 7), OwnCount { ranks: 2, threads: 4 });
        assert_eq!(counted(2, 3, 7), OwnCount { ranks: 2, threads: 3 });
    }

    #[test]
    fn launchers_are_not_the_program() {
        let process = |name: &str, rank| Process { name: name.into(), rank, ..Process::default() };
        let location =
            |process, cpu| Location { process: ProcessId(process), cpu: Ns::new(cpu), ..Location::default() };
        let mut profile = Profile {
            processes: vec![process("sh", None), process("mpirun", None), process("solve", Some(0))].into(),
            locations: vec![location(0, 1), location(1, 50), location(2, 10), location(2, 10)].into(),
            ..Profile::default()
        };
        assert_eq!(program(&profile), "solve");
        profile.processes[ProcessId(2)].rank = None;
        assert_eq!(program(&profile), "mpirun");
        profile.locations[LocationId(1)].cpu = Ns::new(5);
        assert_eq!(program(&profile), "solve");
        assert_eq!(program(&Profile::default()), "");
    }
}
