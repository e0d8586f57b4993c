//! Which calls of MPI are beside input or output of their process: what it read before them it hands on, and
//! what it got it writes.

use std::collections::HashMap;

use proust_log::operations::Operation;
use proust_messages::call::CallId;
use proust_profile::{LocationId, Profile};

use super::gathered::Gathered;

/// Input and output must take this part of the time between two calls, for the call to be beside it.
const MOST: f64 = 0.5;

/// Calls of a process that are beside input and output; empty where it has none.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Behind it, before it.
    calls: HashMap<CallId, (bool, bool)>,
}

impl Beside {
    /// Whether the time before a call was mostly spent on input or output.
    pub(super) fn is_behind_io(&self, call: CallId) -> bool {
        self.calls.get(&call).is_some_and(|beside| beside.0)
    }

    /// Whether the time after a call was mostly spent so.
    pub(super) fn is_before_io(&self, call: CallId) -> bool {
        self.calls.get(&call).is_some_and(|beside| beside.1)
    }
}

/// Time between calls, and the part of it in input and output.
#[derive(Clone, Copy, Default)]
struct Between {
    all_ns: u64,
    io_ns: u64,
}

impl Between {
    fn is_mostly_io(self) -> bool {
        self.io_ns > 0 && self.io_ns as f64 >= MOST * self.all_ns as f64
    }
}

/// Calls of the same function that follow one another are taken together, since one process may hand on to
/// each of the others in turn.
pub(super) fn beside(profile: &Profile, process: &Gathered) -> Beside {
    let mut of_locations: HashMap<LocationId, Vec<CallId>> = HashMap::new();
    for (number, made) in (0..).zip(&process.made) {
        of_locations.entry(made.location).or_default().push(number);
    }
    let mut beside = Beside::default();
    for (location, calls) in of_locations {
        let io = io_of(profile, location);
        if io.is_empty() {
            continue;
        }
        let until = |time_ns: u64| match io.partition_point(|&(end_ns, _)| end_ns <= time_ns) {
            0 => 0,
            after => io[after - 1].1,
        };
        let operation = |call: CallId| process.made[call as usize].operation;
        let between = |from: CallId, to: CallId| {
            let (from_ns, to_ns) = (process.times[from as usize].end_ns, process.times[to as usize].begin_ns);
            let io_ns = until(to_ns).saturating_sub(until(from_ns));
            Between { all_ns: to_ns.saturating_sub(from_ns), io_ns }
        };
        let behind = runs(calls.iter().copied(), operation, between);
        let before = runs(calls.iter().rev().copied(), operation, |from, to| between(to, from));
        for (call, is_behind) in behind {
            beside.calls.entry(call).or_default().0 = is_behind;
        }
        for (call, is_before) in before {
            beside.calls.entry(call).or_default().1 = is_before;
        }
    }
    beside.calls.retain(|_, beside| *beside != (false, false));
    beside
}

fn runs(
    calls: impl Iterator<Item = CallId>,
    operation: impl Fn(CallId) -> Operation,
    between: impl Fn(CallId, CallId) -> Between,
) -> Vec<(CallId, bool)> {
    let mut sum = Between::default();
    let mut last: Option<CallId> = None;
    let mut all = Vec::new();
    for call in calls {
        if let Some(last) = last {
            let more = between(last, call);
            sum = match operation(last) == operation(call) {
                true => Between { all_ns: sum.all_ns + more.all_ns, io_ns: sum.io_ns + more.io_ns },
                false => more,
            };
        }
        all.push((call, sum.is_mostly_io()));
        last = Some(call);
    }
    all
}

/// Ends of a location's input and output outside of MPI, each with the time in it and all before.
fn io_of(profile: &Profile, location: LocationId) -> Vec<(u64, u64)> {
    let events = &profile.events;
    let first = events.partition_point(|event| event.location < location);
    let mut sum_ns = 0;
    let mut all = Vec::new();
    for event in events[first..].iter().take_while(|event| event.location == location) {
        let kind = profile.operations.get(event.operation).and_then(|info| info.kind);
        if kind.is_some_and(|kind| kind.nature.is_io() && !kind.is_of_mpi()) {
            sum_ns += event.time_ns;
            all.push((event.end_ns, sum_ns));
        }
    }
    all
}
