//! Which calls of MPI are beside input or output of their process: what it read before them it hands on, and
//! what it got it writes.

use proust_log::operations::Operation;
use proust_messages::call::CallId;
use proust_profile::{EventRow, LocationId, Nature, Profile};
use rustc_hash::FxHashMap;

use super::made::{Calls, Ways};

/// Calls of a process that are beside input and output; empty where it has none.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Behind input, before output.
    calls: FxHashMap<CallId, (bool, bool)>,
}

impl Beside {
    /// Whether the process read something just before a call.
    pub(super) fn is_behind_input(&self, call: CallId) -> bool {
        self.calls.get(&call).is_some_and(|beside| beside.0)
    }

    /// Whether it wrote something just after it.
    pub(super) fn is_before_output(&self, call: CallId) -> bool {
        self.calls.get(&call).is_some_and(|beside| beside.1)
    }
}

/// Input or output beside a call, and what lies between the two.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Near {
    io_ns: u64,
    between_ns: u64,
}

impl Near {
    /// The data are handed on at once: what lies between takes no longer than reading or writing them.
    fn is_beside(self) -> bool {
        self.io_ns > 0 && self.between_ns <= self.io_ns
    }
}

/// Of all calls of a process.
pub(super) fn beside(profile: &Profile, all: &Calls, ways: &Ways) -> Beside {
    let made = all.made(ways);
    let mut of_locations: FxHashMap<LocationId, Vec<CallId>> = FxHashMap::default();
    for (number, one) in (0..).zip(made.iter()) {
        of_locations.entry(one.location).or_default().push(number);
    }
    let mut beside = Beside::default();
    for (location, calls) in of_locations {
        let operation = |call: CallId| made[call as usize].operation;
        let times = |call: CallId| all.times[call as usize];
        let input = Io::of(profile, location, Nature::Read);
        let before = |from: CallId, to: CallId| input.in_front_of(times(from).end_ns, times(to).begin_ns);
        for call in runs(calls.iter().copied(), operation, before) {
            beside.calls.entry(call).or_default().0 = true;
        }
        let output = Io::of(profile, location, Nature::Write);
        let behind = |from: CallId, to: CallId| output.behind(times(to).end_ns, times(from).begin_ns);
        for call in runs(calls.iter().rev().copied(), operation, behind) {
            beside.calls.entry(call).or_default().1 = true;
        }
    }
    beside
}

/// The calls that are beside input or output. `near`: between a call and the one that follows. Calls of the
/// same function that follow one another are taken together, since one process may hand on to each of the
/// others in turn.
fn runs(
    calls: impl Iterator<Item = CallId>,
    operation: impl Fn(CallId) -> Operation,
    near: impl Fn(CallId, CallId) -> Near,
) -> Vec<CallId> {
    let mut sum = Near::default();
    let mut last: Option<CallId> = None;
    let mut all = Vec::new();
    for call in calls {
        if let Some(last) = last {
            let more = near(last, call);
            sum = match operation(last) == operation(call) && more.io_ns == 0 {
                true => Near { between_ns: sum.between_ns + more.between_ns, ..sum },
                false => more,
            };
        }
        if sum.is_beside() {
            all.push(call);
        }
        last = Some(call);
    }
    all
}

/// Input or output of a location outside of MPI, in the order of the ends.
struct Io {
    /// Begin, end, and the time of it and all before.
    all: Vec<(u64, u64, u64)>,
}

impl Io {
    fn of(profile: &Profile, location: LocationId, nature: Nature) -> Io {
        let mut sum_ns = 0;
        let mut all = Vec::new();
        for event in profile.events.of(location) {
            let kind = profile.operations.get(event.operation).and_then(|info| info.kind);
            if kind.is_some_and(|kind| kind.nature == nature && !kind.is_of_mpi()) {
                sum_ns += event.time_ns;
                all.push((begin_ns(&event), event.end_ns, sum_ns));
            }
        }
        Io { all }
    }

    /// What ended in a time, as positions.
    fn within(&self, from_ns: u64, to_ns: u64) -> (usize, usize) {
        let until = |time_ns: u64| self.all.partition_point(|&(_, end_ns, _)| end_ns <= time_ns);
        (until(from_ns), until(to_ns))
    }

    fn time_ns(&self, (from, to): (usize, usize)) -> u64 {
        let until = |at: usize| at.checked_sub(1).map_or(0, |last| self.all[last].2);
        until(to) - until(from)
    }

    /// In a time that ends with a call.
    fn in_front_of(&self, from_ns: u64, to_ns: u64) -> Near {
        let found = self.within(from_ns, to_ns);
        let last_ns = if found.0 < found.1 { self.all[found.1 - 1].1 } else { from_ns };
        Near { io_ns: self.time_ns(found), between_ns: to_ns.saturating_sub(last_ns) }
    }

    /// In a time that begins with the end of a call.
    fn behind(&self, from_ns: u64, to_ns: u64) -> Near {
        let found = self.within(from_ns, to_ns);
        let first_ns = if found.0 < found.1 { self.all[found.0].0 } else { to_ns };
        Near { io_ns: self.time_ns(found), between_ns: first_ns.saturating_sub(from_ns) }
    }
}

/// A sum of short calls may have begun long before they were executed.
fn begin_ns(event: &EventRow) -> u64 {
    if event.summed { event.end_ns.saturating_sub(event.time_ns) } else { event.begin_ns }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_reads_and_hands_on_to_each_of_the_others() {
        // Init, 50 ns of reading, three sends in turn, a reduction.
        let operations = [
            Operation::MPI_Init,
            Operation::MPI_Send,
            Operation::MPI_Send,
            Operation::MPI_Send,
            Operation::MPI_Allreduce,
        ];
        let near = |from: CallId, _| Near { io_ns: if from == 0 { 50 } else { 0 }, between_ns: 20 };
        let found = runs(0..5, |call| operations[call as usize], near);
        // At the third so much was computed in between that it may be something else.
        assert_eq!(found, [1, 2]);
    }

    #[test]
    fn what_lies_between_is_what_counts() {
        let io = Io { all: vec![(100, 150, 50), (200, 260, 110)] };
        assert_eq!(io.in_front_of(50, 300), Near { io_ns: 110, between_ns: 40 });
        assert_eq!(io.behind(50, 300), Near { io_ns: 110, between_ns: 50 });
        assert_eq!(io.in_front_of(150, 199), Near { io_ns: 0, between_ns: 49 });
        assert!(!Near { io_ns: 0, between_ns: 0 }.is_beside());
    }
}
