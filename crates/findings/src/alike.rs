//! Which threads are alike: what each was started for, and whether they live one after the other.

use proust_profile::{ContextId, FunctionId, Location, LocationId, Metric, Ns, ProcessId, Profile};
use rustc_hash::FxHashMap;

use super::calls::Calls;
use super::place::Places;

/// The start function of each location: the outermost function of the program on its first call path. The
/// path of a thread that begins with a closure goes on where that is written: then it is the closure.
pub(super) fn starts(profile: &Profile, calls: &[Calls], places: &Places<'_>) -> Vec<Option<FunctionId>> {
    let mut starts = vec![None; profile.locations.len()];
    let mut first: Vec<Option<ContextId>> = vec![None; profile.locations.len()];
    let paths = (profile.samples.iter().map(|row| (row.location, row.context)))
        .chain(calls.iter().map(|call| (call.location, call.context)));
    for (location, context) in paths {
        let start = &mut starts[location.index()];
        if start.is_none() {
            *start = places.start(context);
            first[location.index()] = start.and(Some(context));
        }
    }
    let is_main = |location: &Location| location.tid == profile.processes[location.process].pid;
    let mut of_main: FxHashMap<ProcessId, FunctionId> = FxHashMap::default();
    for (location, start) in profile.locations.iter().zip(&starts) {
        if let Some(start) = start.filter(|_| is_main(location)) {
            of_main.insert(location.process, start);
        }
    }
    for (id, location) in profile.locations.iter_enumerated() {
        let start = &mut starts[id.index()];
        if !is_main(location) && start.is_some() && of_main.get(&location.process) == start.as_ref() {
            let closure = first[id.index()].and_then(|context| places.outermost_called(context, is_closure));
            *start = closure.or(*start);
        }
    }
    starts
}

/// Parts of the names of functions that have none of their own.
const CLOSURES: [&str; 5] = ["{{closure", "{closure", "lambda", "(anonymous class)", "::operator()"];

fn is_closure(name: &str) -> bool {
    CLOSURES.iter().any(|part| name.contains(part))
}

/// Whether each lives in turn, of locations alike.
pub(super) fn lives_in_turn<'a>(
    profile: &Profile,
    alike: impl Iterator<Item = &'a Vec<LocationId>>,
) -> Vec<bool> {
    let mut in_turn = vec![false; profile.locations.len()];
    for group in alike.filter(|group| group.len() >= 2) {
        let mut lives: Vec<(Ns, Ns, LocationId)> =
            group.iter().map(|&id| (profile.locations[id].start, profile.locations[id].end, id)).collect();
        lives.sort_unstable();
        // Until when any of those before lives.
        let mut until = Ns::ZERO;
        for (at, &(start, end, id)) in lives.iter().enumerate() {
            // A thread may still be ending when its result is there.
            let end = end - ((end - start) * 0.2).min(LATE_END);
            let is_before_next = lives.get(at + 1).is_none_or(|&(next, ..)| next >= end);
            in_turn[id.index()] = until <= start && is_before_next;
            until = until.max(end);
        }
    }
    in_turn
}

/// So long the end of a thread may take beside the begin of the next one.
const LATE_END: Ns = Ns::new(300_000);

/// By location the function that it spends most of its processor time in.
pub(super) fn phases(profile: &Profile, places: &Places<'_>) -> Vec<Option<FunctionId>> {
    let mut spent: Vec<FxHashMap<FunctionId, Ns>> = vec![FxHashMap::default(); profile.locations.len()];
    for value in profile.values.iter().filter(|value| value.metric == Metric::Cpu) {
        if let Some(phase) = places.phase(value.context)
            && let Some(function) = profile.contexts[phase].function
        {
            *spent[value.location.index()].entry(function).or_default() += Ns::of(value.amount);
        }
    }
    let most = |by_function: FxHashMap<FunctionId, Ns>| {
        by_function.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0))).map(|(function, _)| function)
    };
    spent.into_iter().map(most).collect()
}

/// By location the function that makes it alike to others. Two closures in one function may do the same or
/// not, so of them it is the function that they spend most of their time in.
pub(super) fn kinds(
    profile: &Profile,
    starts: &[Option<FunctionId>],
    phases: &[Option<FunctionId>],
) -> Vec<Option<FunctionId>> {
    let kind = |(start, phase): (&Option<FunctionId>, &Option<FunctionId>)| match (*start, *phase) {
        (Some(start), Some(phase)) if is_closure(&profile.functions[start].name) => Some(phase),
        (start, _) => start,
    };
    starts.iter().zip(phases).map(kind).collect()
}
