//! Operations summed up: which operations were called where, how often, and how long they took.

use std::iter::Peekable;

use proust_profile::{ContextId, EventRow, LocationId, OperationId, Profile, RowsOf, SampleRow, Target};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::selection::Selection;
use proust_account::ledger::State;
use proust_account::timelines::OperationStates;
use proust_profile::event_metrics::Operations;
use rustc_hash::{FxHashMap as Map, FxHashSet};

/// The calls of an operation with the same kind of target, counting as the same, at one place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationSum {
    /// The operation.
    pub operation: OperationId,
    /// The target of its descriptor.
    pub target: Target,
    /// What its time counts as while the location has no processor.
    pub state: State,
    /// Whether it is I/O, and not a wait.
    pub is_io: bool,
    /// The caller.
    pub location: LocationId,
    /// From where.
    pub context: ContextId,
    /// How many calls.
    pub calls: u64,
    /// How many of them failed.
    pub errors: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Time in the calls, ns.
    pub time_ns: u64,
    /// The part of it that the location was off the processor, as far as its CPU clock was read, ns.
    pub off_ns: u64,
    /// The longest call that was recorded by itself, ns; None where all were short and are known as sums
    /// only.
    pub longest_ns: Option<u64>,
}

/// What is the same for rows that are one line of a page: operation, target, state.
pub type OperationKey = (OperationId, Target, State);

/// All operations in scope, summed up by place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationSums {
    /// By operation, target, state, location and context, in the order in which they first ended.
    pub rows: Vec<OperationSum>,
    /// What they waited for or used; ascending, each once.
    objects: Vec<(OperationKey, Vec<u64>)>,
}

impl OperationSums {
    /// Sums up the rows in scope.
    pub fn of(selection: &Selection<'_>) -> OperationSums {
        let (profile, scope) = (selection.profile(), selection.scope());
        summed_up(profile, &OperationStates::of(profile), &|event| scope.has_event(event))
    }

    /// Sums up all of a run.
    pub fn of_run(profile: &Profile, states: &OperationStates) -> OperationSums {
        summed_up(profile, states, &|_| true)
    }

    /// Whether these can be those of a profile.
    pub fn fits(&self, profile: &Profile) -> bool {
        self.rows.iter().all(|row| {
            row.operation.index() < profile.operations.len()
                && row.location.index() < profile.locations.len()
                && row.context.index() < profile.contexts.len()
        })
    }

    /// Number of distinct objects that the operations of these keys waited for or used: locks, descriptors,
    /// threads.
    pub fn objects(&self, keys: impl IntoIterator<Item = OperationKey>) -> usize {
        let of_key = |key| self.objects.iter().find(|(known, _)| *known == key).map(|(_, objects)| objects);
        let lists: Vec<&Vec<u64>> = keys.into_iter().filter_map(of_key).collect();
        match &lists[..] {
            [] => 0,
            [only] => only.len(),
            several => several.iter().flat_map(|list| list.iter()).collect::<FxHashSet<_>>().len(),
        }
    }
}

/// The operations of one location.
#[derive(Default)]
struct OfLocation {
    rows: Vec<OperationSum>,
    objects: Map<OperationKey, FxHashSet<u64>>,
}

fn summed_up(
    profile: &Profile,
    states: &OperationStates,
    has_event: &(dyn Fn(&EventRow) -> bool + Sync),
) -> OperationSums {
    let operations = Operations::of(profile);
    let by_location: Vec<OfLocation> = (profile.events.locations().into_par_iter())
        .map(|location| of_location(profile, &operations, states, location, has_event))
        .collect();
    let mut sums = OperationSums::default();
    let mut objects: Map<OperationKey, FxHashSet<u64>> = Map::default();
    for location in by_location {
        sums.rows.extend(location.rows);
        for (key, of_location) in location.objects {
            objects.entry(key).or_default().extend(of_location);
        }
    }
    let sorted = |(key, objects): (OperationKey, FxHashSet<u64>)| {
        let mut objects: Vec<u64> = objects.into_iter().collect();
        objects.sort_unstable();
        (key, objects)
    };
    sums.objects = objects.into_iter().map(sorted).collect();
    // In the order of the rows, so that the same run always gives the same.
    let mut order: Map<OperationKey, usize> = Map::default();
    for row in &sums.rows {
        let next = order.len();
        order.entry(row.key()).or_insert(next);
    }
    sums.objects.sort_unstable_by_key(|(key, _)| order.get(key).copied());
    sums
}

fn of_location(
    profile: &Profile,
    operations: &Operations,
    states: &OperationStates,
    location: LocationId,
    has_event: &(dyn Fn(&EventRow) -> bool + Sync),
) -> OfLocation {
    let mut sums = OfLocation::default();
    let mut known: Map<(OperationKey, ContextId), usize> = Map::default();
    let start_ns = profile.locations[location].start.unsigned();
    let mut clock = Clock {
        samples: profile.samples.of(location).peekable(),
        sampled_ns: 0,
        time_ns: start_ns,
        cpu_ns: 0,
    };
    for event in profile.events.of(location) {
        let event = &event;
        let off_ns = clock.off_processor_ns(event);
        if !has_event(event) {
            continue;
        }
        let key = (event.operation, event.target, states.of_event(event));
        let at = *known.entry((key, event.context)).or_insert_with(|| {
            sums.rows.push(OperationSum {
                operation: event.operation,
                target: event.target,
                state: key.2,
                is_io: operations.nature(event.operation).is_some_and(|nature| nature.is_io()),
                location,
                context: event.context,
                calls: 0,
                errors: 0,
                bytes: 0,
                time_ns: 0,
                off_ns: 0,
                longest_ns: None,
            });
            sums.rows.len() - 1
        });
        sums.rows[at].add(event, off_ns);
        if event.object != 0 {
            sums.objects.entry(key).or_default().insert(event.object);
        }
    }
    sums
}

impl OperationSum {
    /// What it is summed up by on a page.
    pub fn key(&self) -> OperationKey {
        (self.operation, self.target, self.state)
    }

    /// Takes in what another one has, whatever it is of.
    pub fn merge(&mut self, other: &OperationSum) {
        self.calls += other.calls;
        self.errors += other.errors;
        self.bytes += other.bytes;
        self.time_ns += other.time_ns;
        self.off_ns += other.off_ns;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }

    fn add(&mut self, event: &EventRow, off_ns: u64) {
        self.calls += u64::from(event.calls);
        self.errors += u64::from(event.errors);
        self.bytes += event.bytes;
        self.time_ns += event.time_ns;
        self.off_ns += off_ns;
        if !event.summed {
            self.longest_ns = self.longest_ns.max(Some(event.time_ns));
        }
    }
}

/// The CPU clock of a location, from its samples and operations.
struct Clock<'p> {
    /// The remaining ones.
    samples: Peekable<RowsOf<'p, SampleRow>>,
    /// CPU time of the samples that have passed.
    sampled_ns: u64,
    /// When the clock was last read, and its value.
    time_ns: u64,
    cpu_ns: u64,
}

impl Clock<'_> {
    /// How long the location had no processor since the clock was last read: in this operation, as far as it
    /// lasted.
    fn off_processor_ns(&mut self, event: &EventRow) -> u64 {
        while let Some(row) = self.samples.next_if(|row| row.time_ns <= event.end_ns) {
            self.sampled_ns += row.cpu_ns;
            if row.time_ns >= self.time_ns {
                (self.time_ns, self.cpu_ns) = (row.time_ns, self.sampled_ns.max(self.cpu_ns));
            }
        }
        let Some(clock_ns) = event.cpu_clock_ns else { return 0 };
        let wall_ns = event.end_ns.saturating_sub(self.time_ns);
        let off_ns = wall_ns.saturating_sub(clock_ns.saturating_sub(self.cpu_ns));
        (self.time_ns, self.cpu_ns) = (event.end_ns.max(self.time_ns), clock_ns.max(self.cpu_ns));
        off_ns.min(event.time_ns)
    }
}

#[cfg(test)]
mod tests {
    use proust_profile::{Context, ContextKind, Location, Ns};

    use super::*;
    use crate::Filter;
    use proust_account::ledger::{PassiveReason, Wait, Work};
    use proust_ingest::operation_info;

    const MS: u64 = 1_000_000;

    /// A thread that computes 10 ms, reads a file in 5 ms of which 4 ms on the processor, waits 20 ms for a
    /// lock and 30 ms for another, and reads ten times shortly, failing once.
    fn profile() -> Profile {
        let program =
            Context { parent: None, kind: ContextKind::Program, function: None, file: None, line: None };
        let event = |operation, target, begin_ms: u64, end_ms: u64, clock_ms: u64, object| EventRow {
            operation,
            target,
            begin_ns: begin_ms * MS,
            end_ns: end_ms * MS,
            time_ns: (end_ms - begin_ms) * MS,
            calls: 1,
            bytes: 100,
            cpu_clock_ns: Some(clock_ms * MS),
            object,
            ..EventRow::default()
        };
        let short = EventRow {
            calls: 10,
            errors: 1,
            time_ns: MS,
            cpu_clock_ns: None,
            summed: true,
            ..event(OperationId(0), Target::Pipe, 65, 70, 0, 4)
        };
        Profile {
            processes: vec![Default::default()].into(),
            locations: vec![Location { end: Ns::of(100_000_000), ..Location::default() }].into(),
            contexts: vec![program].into(),
            samples: vec![SampleRow { time_ns: 10 * MS, cpu_ns: 10 * MS, ..SampleRow::default() }].into(),
            operations: ["read", "pthread_mutex_lock"].map(operation_info).to_vec().into(),
            events: vec![
                event(OperationId(0), Target::File, 10, 15, 14, 3),
                event(OperationId(1), Target::None, 15, 35, 14, 0x10),
                event(OperationId(1), Target::None, 35, 65, 14, 0x20),
                short,
            ]
            .into(),
            ..Profile::default()
        }
    }

    #[test]
    fn calls_are_summed_up_by_what_they_count_as() {
        let profile = profile();
        let sums = OperationSums::of(&Selection::all(&profile));
        let shown: Vec<_> =
            sums.rows.iter().map(|row| (row.state, row.calls, row.time_ns / MS, row.off_ns / MS)).collect();
        let expected = [
            (State::Working(Work::Io), 1, 5, 1),
            (State::Waiting(Wait::Lock), 2, 50, 50),
            (State::Passive(PassiveReason::Pipe), 10, 1, 0),
        ];
        assert_eq!(shown, expected);
        assert_eq!(sums.rows[1].longest_ns, Some(30 * MS));
        assert_eq!((sums.rows[2].longest_ns, sums.rows[2].errors, sums.rows[2].is_io), (None, 1, true));
        assert_eq!(sums.objects([sums.rows[1].key()]), 2);
        assert_eq!(sums.objects(sums.rows.iter().map(OperationSum::key)), 4);
    }

    #[test]
    fn only_what_ended_in_the_range_is_summed_up() {
        let profile = profile();
        let filter = Filter::parse(&["time=20ms..40ms"]).unwrap();
        let sums = OperationSums::of(&Selection::new(&profile, &filter));
        assert_eq!(sums.rows.len(), 1);
        assert_eq!((sums.rows[0].time_ns / MS, sums.rows[0].off_ns / MS), (20, 20));
        assert_eq!(sums.objects([sums.rows[0].key()]), 1);
    }
}
