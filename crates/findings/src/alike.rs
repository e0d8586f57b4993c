//! Which threads are alike: what each was started for, and whether they live one after the other.
//!
//! Processes that one process forks and that execute the same program as it are alike as threads are, if they
//! spend most of their time in the same function: pools of processes divide work as pools of threads do.

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

/// What locations have in common that are alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Origin<'p> {
    /// Threads of a process, with what each was started for.
    Thread(ProcessId, FunctionId),
    /// Processes that a process of a host forked, with the function that each spends most of its time in.
    Fork(&'p str, u32, FunctionId),
}

/// The locations of a run by what they were started for.
#[derive(Debug)]
pub(super) struct Alike {
    groups: Vec<Vec<LocationId>>,
    /// The group of each location, if it is known what that was started for.
    of: Vec<Option<usize>>,
    /// Whether none of those alike lives beside a location.
    in_turn: Vec<bool>,
}

impl Alike {
    /// `starts` and `phases`: of each location the start function, and the one that it spends most of its
    /// time in.
    pub(super) fn of(
        profile: &Profile,
        starts: &[Option<FunctionId>],
        phases: &[Option<FunctionId>],
    ) -> Alike {
        let mut known: FxHashMap<Origin<'_>, usize> = FxHashMap::default();
        let mut groups: Vec<Vec<LocationId>> = Vec::new();
        let mut of = vec![None; profile.locations.len()];
        // Threads that are too short for a sample, of which it is not known what they were started for.
        let mut unseen: FxHashMap<ProcessId, Vec<LocationId>> = FxHashMap::default();
        let kinds = kinds(profile, starts, phases);
        for ((id, location), (kind, phase)) in
            profile.locations.iter_enumerated().zip(kinds.iter().zip(phases))
        {
            let process = &profile.processes[location.process];
            let is_fork = process.origin == "fork" && location.tid == process.pid;
            let origin = match (is_fork, *kind, *phase) {
                (true, _, Some(phase)) => Origin::Fork(&process.host, process.parent_pid, phase),
                (_, Some(kind), _) => Origin::Thread(location.process, kind),
                _ => {
                    unseen.entry(location.process).or_default().push(id);
                    continue;
                }
            };
            let group = *known.entry(origin).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(id);
            of[id.index()] = Some(group);
        }
        let in_turn = lives_in_turn(profile, groups.iter().chain(unseen.values()));
        Alike { groups, of, in_turn }
    }

    /// Those that were started for the same as this one, itself included; none if that is not known.
    pub(super) fn to(&self, location: LocationId) -> &[LocationId] {
        self.of[location.index()].map_or(&[], |group| &self.groups[group])
    }

    /// Whether it is one of several that were started for the same, of which each has ended before the next
    /// begins: what they do is serial.
    pub(super) fn lives_in_turn(&self, location: LocationId) -> bool {
        self.in_turn[location.index()]
    }
}

/// Whether each lives in turn, of locations alike.
fn lives_in_turn<'a>(profile: &Profile, alike: impl Iterator<Item = &'a Vec<LocationId>>) -> Vec<bool> {
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
fn kinds(
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
