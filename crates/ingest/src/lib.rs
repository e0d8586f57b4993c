//! From the logs of a run to its profile.
//!
//! 1. Log by log and lane by lane the records are read once; each advance of a thread's CPU clock becomes a
//!    row that names a node of its lane, and each operation and release one of its own. Memory grows with
//!    threads, nodes and texts; the rows lie in a spool.
//! 2. The sampled addresses of all processes are resolved together, module by module.
//! 3. Nodes become contexts, shared by all lanes and processes; rows are charged to them and summed up.
//!
//! The amounts of contexts and a thread's CPU time are sums of the same rows: they agree whatever is damaged.
//! Time whose records were lost, or found no room, has rows of its own.

mod brief;
mod clock;
mod error;
mod events;
mod executed;
mod facts;
mod files;
mod foreign;
mod gaps;
mod interpreted;
mod intervals;
mod lane;
mod library_paths;
mod loading;
mod log;
mod made;
mod modules;
mod mpi;
mod nodes;
mod notes;
mod occurring;
mod openmp;
mod operations;
mod outcome;
mod paths;
mod pauses;
mod process;
mod process_samples;
mod progress;
mod quality;
mod rank;
mod raw_rows;
mod regions;
mod releases;
mod texts;
mod thread;
mod unread;
mod values;

use proust_log::LogError;
use proust_profile::notes::RunNote;
use proust_profile::{
    EventsBuilder, InsideRow, Location, LocationId, Ns, OperationId, Paused, ProcessId, Profile,
    ReleasesBuilder, RunFile, SampleRow, SamplesBuilder, SegmentRow, Spool, StayRow,
};
use proust_structure::MadeCode;
use rayon::prelude::*;

pub use error::IngestError;
pub use files::{ingest, processes_in, sources};
pub use modules::{Symbols, from_binaries};
pub use operations::operation_info;
pub use paths::CallPaths;
pub use progress::{Counter, Progress, Stage};

use clock::RunClock;
use facts::facts;
use interpreted::Codes;
use log::LogHarvest;
use made::Makers;
use modules::Modules;
use paths::{LaneContexts, Paths};
use thread::{LOST, NOT_RECORDED};
use unread::{Refused, Unread};
use values::Sums;

/// Changes whenever the same logs would give another profile, or other pages that are kept with it; kept
/// profiles of other versions are made again.
pub const ANALYSIS_VERSION: u32 = 94;

/// Name of the location that stands for threads which ended without room for a record.
pub const UNRECORDED_THREADS: &str = "[threads not recorded]";

/// A log as it was found.
#[derive(Clone, Copy, Debug)]
pub struct LogBytes<'a> {
    /// Name of the file, for notes.
    pub name: &'a str,
    /// Its contents, or why they cannot be had.
    pub bytes: Result<&'a [u8], &'a str>,
    /// The process's map of code that it made at run time, in perf's format; empty: none.
    pub perf_map: &'a [u8],
    /// Its jitdump; empty: none.
    pub jitdump: &'a [u8],
}

impl<'a> LogBytes<'a> {
    /// Of a process that made no code.
    pub fn alone(name: &'a str, bytes: Result<&'a [u8], &'a str>) -> LogBytes<'a> {
        LogBytes { name, bytes, perf_map: &[], jitdump: &[] }
    }
}

/// A log that cannot be read, and its version if that is why.
type Refusal = (Refused, Option<u32>);

/// How a profile is made of logs.
#[derive(Clone, Copy)]
pub struct Making<'m> {
    /// Whether call paths are those that the user knows.
    pub paths: CallPaths,
    /// Where names and lines come from.
    pub symbols: &'m dyn Symbols,
    /// Where the rows go.
    pub spool: &'m Spool,
}

/// Makes a profile of logs in memory, with call paths as the user sees them. `dir` is the run's folder as the
/// profile names it.
///
/// # Errors
/// [`IngestError`] when not a single log can be read; a log that cannot is a note otherwise.
pub fn ingest_logs(
    dir: &str,
    logs: &[LogBytes<'_>],
    run: Option<&RunFile>,
    symbols: &dyn Symbols,
    counter: &Counter,
) -> Result<Profile, IngestError> {
    let spool = Spool::default();
    ingest_logs_by(Making { paths: CallPaths::User, symbols, spool: &spool }, dir, logs, run, counter)
}

/// As [`ingest_logs`], with the call paths and the memory that are wanted.
///
/// # Errors
/// As [`ingest_logs`].
pub fn ingest_logs_by(
    making: Making<'_>,
    dir: &str,
    logs: &[LogBytes<'_>],
    run: Option<&RunFile>,
    counter: &Counter,
) -> Result<Profile, IngestError> {
    let length = |log: &LogBytes<'_>| log.bytes.map_or(0, |bytes| bytes.len() as u64);
    counter.begin(Stage::Reading, logs.iter().map(length).sum());
    let makers = Makers::of(logs);
    let codes = Codes::default();
    let read: Vec<Result<Vec<LogHarvest>, Refusal>> = logs
        .par_iter()
        .map(|log| {
            let name = log.name.to_owned();
            let refuse = |reason: String, version| (Refused { name: name.clone(), reason }, version);
            let bytes = log.bytes.map_err(|reason| refuse(reason.to_owned(), None))?;
            let mut harvest = log::harvest(log.name, bytes, making.spool, &codes).map_err(|error| {
                let version = if let LogError::Version { found } = error { Some(found) } else { None };
                refuse(error.to_string(), version)
            })?;
            counter.add(bytes.len() as u64);
            if let Some(own) = harvest.first_mut() {
                let (perf_map, jitdump) = makers.names(&own.header, (log.perf_map, log.jitdump));
                own.made = MadeCode::read(perf_map, jitdump, &modules::addresses_outside(own));
            }
            let own = harvest.first().filter(|own| !own.damage.header);
            match own.and_then(|own| foreign::owner(log.name, &own.header)) {
                Some(pid) => {
                    let other = format!("by its contents it is the log of another process, {pid}");
                    Err(refuse(other, None))
                }
                None => Ok(harvest),
            }
        })
        .collect();
    let (mut harvests, mut refused, mut other_version) = (Vec::new(), Vec::new(), None);
    for result in read {
        match result {
            Ok(of_one_log) => harvests.extend(of_one_log),
            Err((log, version)) => {
                refused.push(log);
                other_version = version.or(other_version);
            }
        }
    }
    if harvests.is_empty() {
        return Err(match other_version {
            Some(found) => IngestError::OtherVersion { dir: dir.into(), found },
            None => IngestError::nothing_recorded(dir, &refused, logs_noted(run)),
        });
    }
    let other_run = run.filter(|run| foreign::is_of_other_run(run, &harvests));
    let run = run.filter(|_| other_run.is_none());
    let missing = logs_noted(run).saturating_sub(logs.len() as u64);
    let mut profile = analyse(making, dir, harvests, &Unread { refused, missing }, run, counter);
    if other_run.is_some() {
        profile.quality.unfinished = true;
        profile.quality.notes.push(RunNote::ForeignRunFile {});
    }
    Ok(profile)
}

/// Logs that there were when the command had ended.
fn logs_noted(run: Option<&RunFile>) -> u64 {
    run.and_then(|run| run.finished?.logs).unwrap_or(0)
}

fn analyse(
    Making { paths, symbols, spool }: Making<'_>,
    dir: &str,
    mut logs: Vec<LogHarvest>,
    unread: &Unread,
    run: Option<&RunFile>,
    counter: &Counter,
) -> Profile {
    // By time, so that ids, and with them handles in reports, do not depend on file names.
    logs.sort_by(|a, b| (a.start_ns(), a.header.pid, &a.name).cmp(&(b.start_ns(), b.header.pid, &b.name)));
    for log in &mut logs {
        process::apply_texts_of_threads(log);
    }
    let clock = RunClock::of(&logs);
    for (number, log) in logs.iter_mut().enumerate() {
        let of_run = run.filter(|run| run.host == clock.host(number)).map_or(&[][..], |run| &run.pauses);
        let offset_ns = process::monotonic_offset_ns(log);
        let by_log = |time_ns: u64| time_ns.saturating_add_signed(offset_ns);
        let others: Vec<(u64, u64)> = of_run
            .iter()
            .map(|pause| (by_log(pause.begin_ns), pause.end_ns.map_or(u64::MAX, by_log)))
            .collect();
        pauses::cut(log, &others, spool);
    }
    let made = logs.iter_mut().map(|log| std::mem::take(&mut log.made)).collect();
    let modules = Modules::of(&logs, made, symbols, counter);
    let quality = quality::quality(&logs);
    counter.begin(Stage::Contexts, quality.samples);

    let mut profile = Profile { quality, ..Profile::default() };
    for (number, log) in logs.iter().enumerate() {
        let mut process = process::process(log);
        process.host = clock.host(number).into();
        process.start = clock.since_start(number, log.start_ns());
        process.end = clock.since_start(number, log.end_ns());
        profile.processes.push(process);
    }
    profile.quality.clocks = clock.qualities().to_vec();
    profile.facts = facts(dir, &logs, run, &profile, &clock);
    for (number, log) in logs.iter().enumerate() {
        profile.process_samples.extend(process_samples::rows(number, log, &clock));
        let on_runs_clock = |time_ns| clock.since_start_ns(number, time_ns);
        profile.facts.pauses.extend(log.paused.iter().map(|&(from_ns, to_ns)| Paused {
            process: ProcessId::from_index(number),
            begin_ns: on_runs_clock(from_ns),
            end_ns: on_runs_clock(to_ns),
        }));
    }

    let mut filling = Filling {
        paths: Paths::new(&modules, paths),
        sums: Sums::new(),
        locations: Vec::new(),
        samples: SamplesBuilder::new(spool),
        operations: occurring::numbers(&logs),
        events: EventsBuilder::new(spool),
        implausible: 0,
        completed: 0,
        inside: Vec::new(),
        releases: ReleasesBuilder::new(spool),
        regions: regions::Regions::default(),
        intervals: intervals::Intervals::default(),
        places: Vec::new(),
        clock: &clock,
    };
    for (number, log) in logs.iter_mut().enumerate() {
        filling.add_log(number, log, counter);
    }
    profile.locations = filling.locations.into();
    profile.samples = filling.samples.finish();
    let operations = std::mem::take(&mut filling.operations);
    profile.operations = occurring::infos(&operations).into();
    profile.events = filling.events.finish();
    profile.quality.implausible_records += filling.implausible;
    quality::complete(&mut profile.quality, filling.completed);
    profile.releases = filling.releases.finish();
    profile.inside = filling.inside;
    mpi::fill(&mut profile, &mut logs, &filling.places, &operations, &clock, spool);
    filling.regions.give_to(&mut profile);
    profile.values = filling.sums.finish();
    values::add_mpi(&mut profile);
    values::add_readings(&mut profile);
    let tree = filling.paths.finish();
    let marked_at = filling.intervals.give_to(&mut profile, tree.intervals);
    profile.contexts = tree.contexts.into();
    profile.functions = tree.functions.into();
    profile.modules = modules.modules.into();
    gaps::fill(&mut profile, &logs, unread, run);
    profile.quality.notes = notes::notes(&profile, &logs, unread, run, &clock, &marked_at);
    profile
}

/// The part of a profile that is filled log by log.
struct Filling<'p> {
    paths: Paths<'p>,
    sums: Sums,
    locations: Vec<Location>,
    samples: SamplesBuilder,
    /// The profile's number of each of the log's operations.
    operations: Vec<Option<OperationId>>,
    events: EventsBuilder,
    /// Operations that contradict those before them.
    implausible: u64,
    /// Samples whose path ends where, by its name, a path begins.
    completed: u64,
    inside: Vec<InsideRow>,
    releases: ReleasesBuilder,
    regions: regions::Regions,
    intervals: intervals::Intervals,
    /// Per log, which location each of its threads is.
    places: Vec<mpi::Places>,
    clock: &'p RunClock,
}

impl Filling<'_> {
    /// Adds the threads of a log, by the time of their begin, and takes their rows.
    fn add_log(&mut self, number: usize, log: &mut LogHarvest, counter: &Counter) {
        let lost_as =
            match log.is_damaged() || (log.header.budget_exhausted, log.header.storage_failed) == (0, 0) {
                true => LOST,
                false => NOT_RECORDED,
            };
        let unnamed_ns = log.unnamed_cpu_ns();
        let mut order: Vec<(u64, usize, usize)> = Vec::new();
        for (l, lane) in log.lanes.iter().enumerate() {
            order.extend(lane.threads.iter().enumerate().map(|(t, thread)| (thread.begin_ns, l, t)));
        }
        order.sort_unstable();
        let mut contexts: Vec<LaneContexts> = Vec::new();
        contexts.resize_with(log.lanes.len(), LaneContexts::default);
        self.paths.find_owners(number, log);
        self.intervals.find(&mut self.paths, number, log);
        self.regions.find(&mut self.paths, number, log, &mut contexts);
        let mut places = mpi::Places::default();
        for (_, l, t) in order {
            let (Some(lane), Some(contexts)) = (log.lanes.get_mut(l), contexts.get_mut(l)) else { continue };
            let Some(thread) = lane.threads.get_mut(t) else { continue };
            let rows = std::mem::take(&mut thread.rows);
            counter.add(thread.samples);
            let location = LocationId::from_index(self.locations.len());
            places.insert((l, t), location);
            let (mut cpu_ns, mut measurement_ns) = (0, 0);
            let (paths, sums, clock) = (&mut self.paths, &mut self.sums, self.clock);
            let (samples, completed, implausible) =
                (&mut self.samples, &mut self.completed, &mut self.implausible);
            rows.each(|mut row| {
                paths.go_to(contexts, number, row.time_ns);
                let place = row.context.0;
                row.context = paths.charge(contexts, number, &lane.nodes, place, row.partial, lost_as);
                let is_at_work = !row.tail && !row.in_operation;
                row.is_busy_wait = is_at_work && contexts.is_waiting(place);
                row.is_atomic = is_at_work && contexts.is_atomic(place);
                if row.partial && !paths.is_incomplete(row.context) {
                    row.partial = false;
                    *completed += u64::from(!row.tail);
                }
                row.location = location;
                row.time_ns = clock.since_start_ns(number, row.time_ns);
                if samples.push(&row).is_err() {
                    *implausible += 1;
                    return;
                }
                cpu_ns += row.cpu_ns;
                measurement_ns += row.measurement_ns;
                sums.add(&row);
            });
            for event in std::mem::take(&mut thread.events.rows).iter() {
                let (mut row, operation) = (event.row, event.row.operation.index());
                self.paths.go_to(contexts, number, row.begin_ns);
                let Some(id) = self.operations.get(operation).copied().flatten() else { continue };
                let place = row.context.0;
                let context = self.paths.charge(contexts, number, &lane.nodes, place, event.partial, lost_as);
                row.context = self.paths.context_of_call(operation, context);
                row.location = location;
                row.operation = id;
                let is_whole = row.time_ns == row.end_ns.saturating_sub(row.begin_ns);
                row.begin_ns = self.clock.since_start_ns(number, row.begin_ns);
                row.end_ns = self.clock.since_start_ns(number, row.end_ns);
                // Clocks of hosts differ in speed; times before the run's start are cut, by a damaged header.
                let length_ns = row.end_ns - row.begin_ns;
                row.time_ns = if is_whole { length_ns } else { row.time_ns.min(length_ns) };
                if self.events.push(&row).is_err() {
                    self.implausible += 1;
                    continue;
                }
                self.sums.add_event(operations::nature_of(operation), &row);
            }
            for mut row in std::mem::take(&mut thread.events.inside) {
                let number_of = |id: OperationId| self.operations.get(id.index()).copied().flatten();
                let (Some(operation), Some(outer)) = (number_of(row.operation), number_of(row.outer)) else {
                    continue;
                };
                self.paths.go_to(contexts, number, row.begin_ns);
                let context = self.paths.charge(contexts, number, &lane.nodes, row.context.0, false, lost_as);
                row.context = self.paths.context_of_call(row.outer.index(), context);
                (row.location, row.operation, row.outer) = (location, operation, outer);
                row.begin_ns = self.clock.since_start_ns(number, row.begin_ns);
                row.end_ns = self.clock.since_start_ns(number, row.end_ns);
                row.time_ns = row.time_ns.min(row.end_ns - row.begin_ns);
                row.longest_ns = row.longest_ns.min(row.time_ns);
                self.inside.push(row);
            }
            for release in std::mem::take(&mut thread.releases).iter() {
                let mut row = release.row;
                let Some(id) = self.operations.get(row.operation.index()).copied().flatten() else {
                    continue;
                };
                self.paths.go_to(contexts, number, row.time_ns);
                let mut charge = |place, partial| {
                    self.paths.charge(contexts, number, &lane.nodes, place, partial, lost_as)
                };
                row.context = charge(row.context.0, release.partial);
                row.site = row.site.map(|site| charge(site.0, false));
                row.location = location;
                row.operation = id;
                row.time_ns = self.clock.since_start_ns(number, row.time_ns);
                row.since_ns = row.since_ns.map(|since_ns| self.clock.since_start_ns(number, since_ns));
                self.implausible += u64::from(self.releases.push(&row).is_err());
            }
            for raw in std::mem::take(&mut thread.in_regions.segments) {
                let Some(operation) = self.operations.get(raw.row.operation.index()).copied().flatten()
                else {
                    continue;
                };
                let context =
                    self.paths.charge(contexts, number, &lane.nodes, raw.row.context.0, false, lost_as);
                self.regions.segment(number, SegmentRow { location, operation, context, ..raw.row });
            }
            for stay in std::mem::take(&mut thread.in_regions.stays) {
                let [fork_ns, begin_ns, end_ns] = [stay.fork_ns, stay.begin_ns, stay.end_ns]
                    .map(|time_ns| self.clock.since_start_ns(number, time_ns));
                self.regions.stay(number, StayRow { location, fork_ns, begin_ns, end_ns, ..stay });
            }
            self.intervals.add(number, location, &thread.executed, self.clock);
            self.sums.finish_location(location);
            let start = self.clock.since_start(number, thread.begin_ns);
            let end = self.clock.since_start(number, thread.end_ns);
            self.locations.push(Location {
                process: ProcessId::from_index(number),
                tid: thread.tid,
                name: thread.name.clone().unwrap_or_default(),
                start,
                end,
                cpu: Ns::of(cpu_ns),
                // No thread waits longer than it lives.
                queued: Ns::of(thread.queued_ns()).min(end - start),
                measurement: Ns::of(measurement_ns),
                samples: thread.samples,
                service: false,
                processors: std::mem::take(&mut thread.processors),
            });
        }
        self.places.push(places);
        if unnamed_ns > 0 {
            self.add_unrecorded_threads(number, log, unnamed_ns);
        }
    }

    /// The threads of which only their CPU time is known, as one location.
    fn add_unrecorded_threads(&mut self, number: usize, log: &LogHarvest, cpu_ns: u64) {
        let location = LocationId::from_index(self.locations.len());
        let (start, end) = (log.start_ns(), log.end_ns());
        let row = SampleRow {
            location,
            context: self.paths.charge(
                &mut LaneContexts::default(),
                number,
                &nodes::NodeTable::default(),
                NOT_RECORDED,
                false,
                NOT_RECORDED,
            ),
            time_ns: self.clock.since_start_ns(number, end),
            cpu_ns,
            user_ns: cpu_ns,
            processor: u16::MAX,
            tail: true,
            ..SampleRow::default()
        };
        match self.samples.push(&row) {
            Ok(()) => self.sums.add(&row),
            Err(_) => self.implausible += 1,
        }
        self.sums.finish_location(location);
        self.locations.push(Location {
            process: ProcessId::from_index(number),
            name: UNRECORDED_THREADS.into(),
            start: self.clock.since_start(number, start),
            end: self.clock.since_start(number, end),
            cpu: Ns::of(cpu_ns),
            ..Location::default()
        });
    }
}
