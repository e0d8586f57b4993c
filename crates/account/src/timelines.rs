//! From the samples and operations of a profile to the timelines of states that the ledger is drawn up from.
//!
//! Between two instants at which a thread's CPU clock was read it is known how much wall time and how much
//! processor time passed, and of operations when and how long. The rest follows by rule:
//!
//! 1. `gaps`: the time between two such instants, and its processor time
//! 2. `operations`, `states`: which operations lie in it, and what their time counts as, by themselves and by
//!    the class table
//! 3. `explained`: which processor time lies in them and which outside; what explains the time off the
//!    processor: short operations, the run queue, or nothing. `parts`: where operations lie in gaps
//! 4. `charged`: where the processor time outside operations is charged
//! 5. `spans`: all of it in order
//! 6. `regions`: what of it lies in a parallel region
//! 7. `replicated`: which computation repeats that of others
//!
//! Where the host of a virtual machine took processors away, `stolen` says how much of it may have been
//! whose.
//!
//! Spans of a location follow each other from its begin to its end, without holes and without overlap.

mod at_once;
mod charged;
mod explained;
mod faults;
mod gaps;
mod latency;
mod operations;
mod parts;
mod pauses;
mod regions;
mod replicated;
mod room;
mod shares;
mod spans;
mod states;
mod stolen;
mod stops;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use proust_profile::{
    ContextId, EventRow, Location, LocationId, PartnerWaitRow, ProcessId, Profile, SampleRow, Spool, Stop,
};
use rustc_hash::FxHashMap;

use crate::ledger::{Process, ProcessorSet, Run, Span, State, Timeline, Window};
pub use at_once::AtOnce;
use explained::Explanation;
pub use faults::FaultCost;
use latency::Latencies;
use operations::Reading;
use pauses::Pauses;
use proust_profile::bindings::{self, Bindings};
use replicated::Replicated;
use states::States;
use stops::Stops;

/// The timelines of a profile's locations, all in memory: for small profiles, and as what streams of them are
/// compared with. Everything else asks [`crate::stored`].
pub fn timelines(profile: &Profile) -> Run {
    let Whose { processes, processor_sets, bound } = Whose::of(profile);
    let mut timelines = Vec::with_capacity(profile.locations.len());
    let take = |timeline| {
        timelines.push(timeline);
        Ok::<(), std::convert::Infallible>(())
    };
    let made = |timeline: Timeline<&mut dyn Iterator<Item = Span>>| {
        let Timeline { location, process, service, spans } = timeline;
        Timeline { location, process, service, spans: spans.collect() }
    };
    let Ok(()) = in_order(profile, &processes, AtOnce::default(), made, take);
    Run { processes, timelines, processor_sets, bound }
}

/// So many timelines are in work, or made and not taken yet.
const AHEAD: usize = 64;

/// Makes the timelines of a profile's locations, on all processors, what each is wanted for of its spans as
/// they are made, and hands that to `take` in the order of locations. `processes`: those of [`Whose`].
pub(crate) fn in_order<T: Send, E>(
    profile: &Profile,
    processes: &[Process],
    at_once: AtOnce,
    made_of: impl Fn(Timeline<&mut dyn Iterator<Item = Span>>) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let pauses = Pauses::of(profile);
    let replicated = Replicated::of(profile, |process| processes[process.index()].job);
    let states = States::of(profile);
    let fault = FaultCost::of(profile);
    let stops = Stops::of(profile);
    let latencies = Latencies::of(profile);
    let recorded = |id: LocationId| Recorded {
        fault,
        stops: stops.of_process(profile.locations[id].process),
        pauses: pauses.of_process(profile.locations[id].process),
        location: &profile.locations[id],
        rows: profile.samples.of(id).collect(),
        events: move || profile.events.of(id),
        waits: of_location(&profile.partner_waits, |wait| wait.location, id),
        latencies: &latencies,
        spool: profile.events.spool(),
    };
    let stolen = stolen::by_location(profile, |of_all| {
        at_once.of_each(profile, of_all, |id| recorded(id).explanation(&states, 0).theft())
    });
    let made = |id: LocationId| {
        let &Location { process, service, .. } = &profile.locations[id];
        let stolen_ns = stolen.as_ref().map_or(0, |stolen| stolen[id.index()]);
        recorded(id).with_spans(&states, stolen_ns, |spans| {
            let spans = regions::marked(spans, profile.stays.of(id));
            let mut spans = replicated::divided(spans, replicated.of_location(id));
            made_of(Timeline { location: id, process, service, spans: &mut spans })
        })
    };
    for first in (0..profile.locations.len()).step_by(AHEAD) {
        let some = first..profile.locations.len().min(first + AHEAD);
        at_once.of_each(profile, some, made).into_iter().try_for_each(&mut take)?;
    }
    Ok(())
}

/// Whose timelines a run's are: all of it but the timelines, for which a profile needs no rows.
pub(crate) struct Whose {
    /// The processes, by identifier.
    pub processes: Vec<Process>,
    /// The sets of processors that they, and locations, may use.
    pub processor_sets: Vec<ProcessorSet>,
    /// [`Run::bound`].
    pub bound: BTreeMap<LocationId, usize>,
}

impl Whose {
    pub fn of(profile: &Profile) -> Whose {
        let parents = Parents::of(profile);
        let jobs = bindings::jobs(&profile.processes.raw, |id| parents.of_image(id.into()).map(usize::from));
        let mut bindings = Bindings::of(&profile.processes.raw);
        let mut bound = BTreeMap::new();
        for (id, location) in profile.locations.iter_enumerated().filter(|one| !one.1.processors.is_empty()) {
            bound.extend(Some(id).zip(bindings.of_location(location.process.index(), &location.processors)));
        }
        let pauses = Pauses::of(profile);
        let processes = profile.processes.iter_enumerated().map(|(id, process)| Process {
            parent: parents.of_image(id),
            rank: process.rank,
            job: jobs[id.index()],
            processor_set: bindings.of_processes[id.index()],
            paused: pauses.of_process(id).iter().copied().collect(),
            ..Process::new(id, process.start.unsigned(), process.end.unsigned())
        });
        Whose { processes: processes.collect(), processor_sets: bindings.sets, bound }
    }
}

/// How the time in the operations of a profile counts.
#[derive(Debug)]
pub struct OperationStates(States);

impl OperationStates {
    /// Those of a profile.
    pub fn of(profile: &Profile) -> OperationStates {
        OperationStates(States::of(profile))
    }

    /// What the location does in this operation while it has no processor. With one it may compute, or do
    /// I/O.
    pub fn of_event(&self, event: &EventRow) -> State {
        self.0.of_event(event).off_processor()
    }

    /// How processor time in this context counts.
    pub fn of_processor_time(&self, context: ContextId) -> State {
        self.0.of_processor_time(context)
    }
}

/// The rows of one location; they are sorted by location.
fn of_location<T>(rows: &[T], location_of: impl Fn(&T) -> LocationId, location: LocationId) -> &[T] {
    let from = rows.partition_point(|row| location_of(row) < location);
    let to = rows.partition_point(|row| location_of(row) <= location);
    &rows[from..to]
}

/// Which location started which.
struct Parents<'a> {
    profile: &'a Profile,
    /// The images of each process id of a host, by their start.
    images: FxHashMap<(&'a str, u32), Vec<ProcessId>>,
}

impl<'a> Parents<'a> {
    fn of(profile: &'a Profile) -> Parents<'a> {
        let mut images: FxHashMap<_, Vec<ProcessId>> = FxHashMap::default();
        for (id, process) in profile.processes.iter_enumerated() {
            images.entry((process.host.as_str(), process.pid)).or_default().push(id);
        }
        let start = |id: &ProcessId| profile.processes[*id].start;
        for images in images.values_mut() {
            images.sort_by_key(|id| (start(id), *id));
        }
        Parents { profile, images }
    }

    /// The process image that a process was started by: the last one of that number that began before it. An
    /// image that began by exec continues the image with its own number.
    fn of_image(&self, id: ProcessId) -> Option<ProcessId> {
        let processes = &self.profile.processes;
        let child = &processes[id];
        let last_before = |pid: u32| {
            let images = self.images.get(&(child.host.as_str(), pid))?;
            let is_before = |&other: &ProcessId| (processes[other].start, other) < (child.start, id);
            images[..images.partition_point(is_before)].last().copied()
        };
        last_before(child.pid).or_else(|| last_before(child.parent_pid))
    }
}

/// The data of one location.
struct Recorded<'a, E> {
    location: &'a Location,
    rows: Vec<SampleRow>,
    /// Reads its operations, in the order of their ends.
    events: E,
    /// Which parts of its calls of MPI were waits for partners.
    waits: &'a [PartnerWaitRow],
    /// Which parts of its waits at barriers lie behind the last arrival.
    latencies: &'a Latencies<'a>,
    /// When its process was stopped.
    stops: &'a [Stop],
    /// When recording was off in its process.
    pauses: &'a [Window],
    /// The cost of a page fault in this run.
    fault: FaultCost,
    /// Where the parts of its operations are meanwhile.
    spool: Spool,
}

impl<E: Fn() -> I, I: Iterator<Item = EventRow>> Recorded<'_, E> {
    fn charged(&self, states: &States) -> Vec<ContextId> {
        charged::charged(&self.rows, |row| states.is_lost(row.context))
    }

    /// `stolen_ns`: the time that may have been stolen from it beyond the certain part.
    fn explanation(&self, states: &States, stolen_ns: u64) -> Explanation {
        self.explained(states, &self.charged(states), stolen_ns)
    }

    fn explained(&self, states: &States, charged: &[ContextId], stolen_ns: u64) -> Explanation {
        let start_ns = self.location.start.unsigned();
        let end_ns = self.location.end.unsigned().max(start_ns);
        let life = (start_ns, end_ns);
        let reading = Reading::new(life, (self.events)(), self.waits, states, self.latencies);
        let gaps = gaps::gaps(start_ns, end_ns, &self.rows, (self.events)());
        let (mut explanation, operations);
        if self.stops.is_empty() && self.pauses.is_empty() {
            let mut reading = reading;
            explanation = Explanation::divided(&gaps, &mut reading, self.spool.clone());
            operations = reading.sums();
        } else {
            let mut all = reading.all();
            all.stop(self.stops, life, |time_ns| {
                let row = self.rows.partition_point(|row| row.time_ns <= time_ns);
                charged.get(row).copied().unwrap_or(ContextId(0))
            });
            all.pause(self.pauses, life);
            let singles = std::mem::take(&mut all.singles);
            explanation = Explanation::divided(&gaps, singles.into_iter(), self.spool.clone());
            operations = all;
        }
        let waits = |row: usize| charged.get(row).is_some_and(|&context| states.waits(context));
        explanation.explain(self.location, &self.rows, &operations, waits, stolen_ns, self.fault);
        explanation
    }

    /// Hands its spans over as they are made: they take more room than all that they follow from.
    fn with_spans<T>(
        &self,
        states: &States,
        stolen_ns: u64,
        take: impl FnOnce(&mut dyn Iterator<Item = Span>) -> T,
    ) -> T {
        let charged = self.charged(states);
        let explanation = self.explained(states, &charged, stolen_ns);
        take(&mut spans::spans(&explanation, &charged, |context| states.of_processor_time(context)))
    }
}
