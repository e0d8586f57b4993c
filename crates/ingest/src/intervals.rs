//! Marked intervals: what they are, and when threads executed them.

use std::collections::BTreeMap;

use proust_log::records::{
    EXECUTION_CROSSED, EXECUTION_INHERITED, EXECUTION_OPEN, IntervalKind, NO_NUMBER, Subject,
};
use proust_profile::notes::{MarkPlace, RunNote, Which};
use proust_profile::{
    ExecutionEnd, ExecutionRow, ExecutionSumRow, IntervalContext, IntervalId, IntervalInfo, IntervalWork,
    LocationId, Profile,
};
use rustc_hash::FxHashMap;

use super::clock::RunClock;
use super::executed::{Executed, RawInterval};
use super::log::LogHarvest;
use super::paths::Paths;

/// What the collector always records alone is what the analysis takes to be.
const _: () = assert!(proust_log::records::LONG_EXECUTION_NS == proust_profile::LONG_EXECUTION_NS);

/// File and line of marks that name none themselves, by log and the number of the interval or of the mark.
pub(super) type MarkedAt = FxHashMap<(usize, u32), (Option<String>, Option<u32>)>;

/// Intervals in the making.
#[derive(Default)]
pub(super) struct Intervals {
    all: Vec<IntervalInfo>,
    known: FxHashMap<IntervalInfo, IntervalId>,
    /// By log and the process's number.
    ids: FxHashMap<(usize, u32), IntervalId>,
    executions: Vec<ExecutionRow>,
    sums: BTreeMap<(LocationId, IntervalId, u64), ExecutionSumRow>,
    marked_at: MarkedAt,
}

impl Intervals {
    /// Finds the intervals of a log; those around others are first.
    pub(super) fn find(&mut self, paths: &mut Paths<'_>, log_number: usize, log: &LogHarvest) {
        let texts = Named::of(log);
        for lane in &log.lanes {
            let marks = lane.threads.iter().flat_map(|thread| &thread.executed.unmatched);
            for mark in marks.filter(|mark| texts.file(mark.id).is_none()) {
                let raw = RawInterval::of_unmatched(mark);
                let place = paths.place_of_mark(log_number, &lane.nodes, &raw);
                self.marked_at.insert((log_number, mark.id), place);
            }
        }
        let of_lanes = log.lanes.iter().enumerate();
        let mut all: Vec<_> = of_lanes
            .flat_map(|(lane, harvest)| harvest.intervals.iter().map(move |raw| (raw.id, lane, *raw)))
            .collect();
        if all.is_empty() {
            return;
        }
        all.sort_by_key(|&(id, lane, _)| (id, lane));
        all.dedup_by_key(|&mut (id, ..)| id);
        let regions: FxHashMap<u32, u32> = log
            .lanes
            .iter()
            .flat_map(|lane| &lane.regions)
            .map(|region| (region.id, region.interval))
            .collect();
        for (id, lane, raw) in all {
            let Some(harvest) = log.lanes.get(lane) else { continue };
            // A worker's interval is inside of that in which its region was opened.
            let around = match raw.parent {
                0 => regions.get(&raw.region).copied().filter(|&around| around < id).unwrap_or(0),
                parent => parent,
            };
            let (file, line) = match texts.file(id) {
                Some(file) => (Some(file), (raw.line != 0).then_some(raw.line)),
                None => {
                    let place = paths.place_of_mark(log_number, &harvest.nodes, &raw);
                    self.marked_at.insert((log_number, id), place.clone());
                    place
                }
            };
            let info = IntervalInfo {
                parent: self.ids.get(&(log_number, around)).copied(),
                name: texts.name(id),
                number: (raw.number != NO_NUMBER).then_some(raw.number),
                file,
                line,
                work: match raw.kind {
                    IntervalKind::Plain => IntervalWork::Plain,
                    IntervalKind::Parallel => IntervalWork::Parallel,
                    IntervalKind::Replicated => IntervalWork::Replicated,
                },
                degree: (raw.degree != 0).then_some(raw.degree),
                in_region: raw.region != 0,
            };
            let all = &mut self.all;
            let interval = *self.known.entry(info.clone()).or_insert_with(|| {
                all.push(info.clone());
                (all.len() - 1) as IntervalId
            });
            self.ids.insert((log_number, id), interval);
            paths.add_interval(log_number, &raw, (interval, &info));
        }
    }

    /// Adds what a thread executed.
    pub(super) fn add(&mut self, log: usize, location: LocationId, executed: &Executed, clock: &RunClock) {
        let on_runs_clock = |time_ns| clock.since_start_ns(log, time_ns);
        for (flags, execution) in &executed.executions {
            let Some(&interval) = self.ids.get(&(log, execution.interval)) else { continue };
            let end = match flags {
                flags if flags & EXECUTION_OPEN != 0 => ExecutionEnd::Open,
                flags if flags & EXECUTION_CROSSED != 0 => ExecutionEnd::Crossed,
                _ => ExecutionEnd::Marked,
            };
            let begin_ns = on_runs_clock(execution.begin_ns);
            self.executions.push(ExecutionRow {
                location,
                interval,
                begin_ns,
                end_ns: on_runs_clock(execution.end_ns).max(begin_ns),
                iterations: execution.iterations,
                end,
                inherited: flags & EXECUTION_INHERITED != 0,
            });
        }
        for sum in &executed.sums {
            let Some(&interval) = self.ids.get(&(log, sum.interval)) else { continue };
            let begin_ns = on_runs_clock(sum.since_ns);
            let row = self.sums.entry((location, interval, begin_ns)).or_insert(ExecutionSumRow {
                location,
                interval,
                begin_ns,
                min_ns: u64::MAX,
                ..ExecutionSumRow::default()
            });
            row.end_ns = row.end_ns.max(on_runs_clock(sum.until_ns)).max(begin_ns);
            row.time_ns = row.time_ns.saturating_add(sum.ns);
            row.min_ns = row.min_ns.min(sum.min_ns);
            row.max_ns = row.max_ns.max(sum.max_ns);
            row.executions = row.executions.saturating_add(sum.executions);
            row.iterations = row.iterations.saturating_add(sum.iterations);
        }
    }

    /// Gives what was found to the profile; where marks are that name no place themselves.
    pub(super) fn give_to(mut self, profile: &mut Profile, places: Vec<IntervalContext>) -> MarkedAt {
        self.executions.sort_by_key(|row| (row.location, row.begin_ns, std::cmp::Reverse(row.end_ns)));
        profile.intervals = self.all;
        profile.interval_contexts = places;
        profile.executions = self.executions;
        profile.execution_sums = self.sums.into_values().collect();
        self.marked_at
    }
}

/// Names and files of a log's intervals.
struct Named {
    texts: FxHashMap<(Subject, u32), String>,
}

impl Named {
    fn of(log: &LogHarvest) -> Named {
        let of = |subject| {
            let texts = log.lanes.iter().flat_map(move |lane| lane.texts.of(subject));
            texts.map(move |text| ((subject, text.id), text.text()))
        };
        Named { texts: of(Subject::IntervalName).chain(of(Subject::IntervalFile)).collect() }
    }

    fn name(&self, id: u32) -> String {
        match self.texts.get(&(Subject::IntervalName, id)) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => "[no name]".into(),
        }
    }

    fn file(&self, id: u32) -> Option<String> {
        self.texts.get(&(Subject::IntervalFile, id)).filter(|file| !file.is_empty()).cloned()
    }
}

/// What is wrong with the marks of a process.
pub(super) fn notes(number: usize, log: &LogHarvest, which: &Which, marked_at: &MarkedAt) -> Vec<RunNote> {
    let texts = Named::of(log);
    let intervals: FxHashMap<u32, RawInterval> =
        log.lanes.iter().flat_map(|lane| &lane.intervals).map(|raw| (raw.id, *raw)).collect();
    let place = |id: u32, of_program: i64, line: u32| {
        let found = marked_at.get(&(number, id)).cloned().unwrap_or_default();
        MarkPlace {
            name: texts.name(id),
            number: Some(of_program).filter(|&of_program| of_program != NO_NUMBER),
            file: texts.file(id).or(found.0),
            line: if line == 0 { found.1.unwrap_or(0) } else { line },
            count: 0,
        }
    };
    let mut unmatched: BTreeMap<MarkPlace, u64> = BTreeMap::new();
    let mut others = 0;
    let mut crossed: BTreeMap<MarkPlace, u64> = BTreeMap::new();
    let mut open: BTreeMap<MarkPlace, u64> = BTreeMap::new();
    let is_inherited = |flags: u16| flags & EXECUTION_INHERITED != 0;
    for executed in log.threads().map(|thread| &thread.executed) {
        for mark in &executed.unmatched {
            if mark.id == 0 {
                others += u64::from(mark.count);
                continue;
            }
            *unmatched.entry(place(mark.id, mark.number, mark.line)).or_default() += u64::from(mark.count);
        }
        for (flags, execution) in executed.executions.iter().filter(|(flags, _)| !is_inherited(*flags)) {
            let kind = if flags & EXECUTION_OPEN != 0 {
                &mut open
            } else if flags & EXECUTION_CROSSED != 0 {
                &mut crossed
            } else {
                continue;
            };
            let id = execution.interval;
            let (number, line) = intervals.get(&id).map_or((NO_NUMBER, 0), |raw| (raw.number, raw.line));
            *kind.entry(place(id, number, line)).or_default() += 1;
        }
    }
    let process = || which.clone();
    // Most first.
    let places = |counts: BTreeMap<MarkPlace, u64>| {
        let mut places: Vec<MarkPlace> =
            counts.into_iter().map(|(place, count)| MarkPlace { count, ..place }).collect();
        places.sort_by_key(|place| std::cmp::Reverse(place.count));
        places
    };
    let mut notes = Vec::new();
    if !unmatched.is_empty() {
        notes.push(RunNote::MarksUnmatched { process: process(), places: places(unmatched), others });
    }
    if !crossed.is_empty() {
        notes.push(RunNote::IntervalsCrossed { process: process(), places: places(crossed) });
    }
    if !open.is_empty() {
        notes.push(RunNote::IntervalsOpen { process: process(), places: places(open) });
    }
    notes
}
