//! What a reader of the numbers must know: what is missing, why, and what still holds.

use std::collections::{BTreeMap, BTreeSet};

use proust_log::layout::Ending;
use proust_log::records::{MOST_INTERVALS, MOST_OPEN_INTERVALS, NoteCode, Subject};
use proust_profile::notes::{OtherTool, RunNote, Unfollowed, Unloadable, Which};
use proust_profile::{ClockBasis, ContextId, Metric, ProcessId, Profile, RunFile, SegmentRow};

use super::clock::RunClock;
use super::gaps::{found_running, missing_children, noted, replaced_unseen, silent_threads};
use super::intervals::{self, MarkedAt};
use super::loading;
use super::log::LogHarvest;
use super::paths::OUTSIDE;
use super::quality::closed;
use super::thread::Closing;
use super::unread::Unread;

/// So many samples at ticks, and such a share of a process's, deserve a note: a thread's first ones are.
const TICK_SAMPLES: u64 = 100;
const TICK_SHARE: f64 = 0.25;

/// So many samples in code that was made at run time and has no names, and such a share of a process's.
const UNNAMED_SAMPLES: u64 = 10;
const UNNAMED_SHARE: f64 = 0.1;

/// All notes. `profile` is finished but for them; its processes are those of `logs`, in their order.
pub(super) fn notes(
    profile: &Profile,
    logs: &[LogHarvest],
    unread: &Unread,
    run: Option<&RunFile>,
    clock: &RunClock,
    marked_at: &MarkedAt,
) -> Vec<RunNote> {
    let mut notes: Vec<RunNote> = run.map(|run| run.notes.clone()).unwrap_or_default();
    about_run(&mut notes, profile, unread, run, clock);
    notes.extend(about_ranks(profile));
    about_unnamed_code(&mut notes, profile);
    for (id, (log, process)) in logs.iter().zip(&profile.processes).enumerate() {
        let which = Which { name: process.name.clone(), pid: process.pid };
        about_process(&mut notes, log, &which);
        about_records(&mut notes, log, &which);
        notes.extend(intervals::notes(id, log, &which, marked_at));
        about_barriers(&mut notes, profile, id, &which);
    }
    let cpu = profile.locations.iter().map(|location| location.cpu).sum();
    notes.extend(loading::note(logs.iter().map(|log| &log.header), cpu));
    about_children(&mut notes, profile, logs);
    about_images(&mut notes, profile, logs);
    for module in profile.modules.iter().filter(|module| !module.notes.is_empty()) {
        let is_program = profile.processes.iter().any(|process| process.executable == module.path);
        // A library without debug information is the rule; it is shown with the module.
        if is_program || !module.notes.iter().any(|note| note.is_usual()) {
            notes.push(RunNote::Module { path: module.path.clone(), problems: module.notes.clone() });
        }
    }
    notes
}

fn about_run(
    notes: &mut Vec<RunNote>,
    profile: &Profile,
    unread: &Unread,
    run: Option<&RunFile>,
    clock: &RunClock,
) {
    if run.is_some_and(|run| run.finished.is_none()) {
        notes.push(RunNote::Unfinished {});
    }
    if unread.missing > 0 {
        notes.push(RunNote::LogsGone { logs: unread.missing });
    }
    for log in &unread.refused {
        notes.push(RunNote::LogRefused { log: log.name.clone(), reason: log.reason.clone() });
    }
    let clocks = clock.qualities();
    if !clocks.is_empty() {
        let compared = clocks.iter().filter(|one| one.basis == ClockBasis::Messages).count();
        notes.push(RunNote::SeveralHosts { hosts: clocks.len(), compared });
    }
    let quality = &profile.quality;
    if quality.samples == 0 {
        let cpu = profile.locations.iter().map(|location| location.cpu).sum();
        notes.push(RunNote::NoSamples { cpu });
    }
    if quality.partial_paths > 0 {
        notes.push(RunNote::PartialPaths { paths: quality.partial_paths, of: quality.samples });
    }
    if quality.path_mismatches > 0 {
        notes.push(RunNote::PathMismatches { paths: quality.path_mismatches, of: quality.paths_compared });
    }
    if quality.implausible_records > 0 {
        notes.push(RunNote::ImplausibleRecords { records: quality.implausible_records });
    }
}

/// Whether what a launcher started as ranks is a job of MPI: every world has one process where the program's
/// MPI does not know the launcher.
fn about_ranks(profile: &Profile) -> Option<RunNote> {
    let ranks = Some(profile.ranks()).filter(|&ranks| ranks > 1)?;
    let calls_mpi = profile.operations.iter().any(|info| info.kind.is_some_and(|kind| kind.is_of_mpi()));
    if !calls_mpi {
        return Some(RunNote::RanksWithoutMpi { ranks });
    }
    let worlds = profile.communicators.iter().filter(|info| info.is_world);
    let largest = worlds.map(|world| world.size).max()?;
    (largest == 1).then_some(RunNote::RanksAlone { ranks })
}

/// Code outside all modules was made at run time: its names are known only if the runtime writes them.
fn about_unnamed_code(notes: &mut Vec<RunNote>, profile: &Profile) {
    let is_outside = |context: ContextId| {
        let function =
            profile.contexts.get(context).and_then(|context| profile.functions.get(context.function?));
        function.is_some_and(|function| function.module.is_none() && function.name == OUTSIDE)
    };
    let mut samples: BTreeMap<ProcessId, (u64, u64)> = BTreeMap::new();
    for value in profile.values.iter().filter(|value| value.metric == Metric::Samples) {
        let (outside, all) = samples.entry(profile.locations[value.location].process).or_default();
        *all += value.amount;
        *outside += if is_outside(value.context) { value.amount } else { 0 };
    }
    for (id, (outside, all)) in samples {
        if outside >= UNNAMED_SAMPLES && outside as f64 >= all as f64 * UNNAMED_SHARE {
            let process = &profile.processes[id];
            notes.push(RunNote::UnnamedCode {
                process: Which { name: process.name.clone(), pid: process.pid },
                samples: outside,
                of: all,
            });
        }
    }
}

fn about_process(notes: &mut Vec<RunNote>, log: &LogHarvest, which: &Which) {
    let header = &log.header;
    let process = || which.clone();
    let values = |code| noted(log, code);
    let first = |code| noted(log, code).first().copied();
    if log.ending() == Ending::Open {
        notes.push(RunNote::OpenEnd { process: process(), threads: closed(log, Closing::LastSeen) });
    }
    let found = found_running(log);
    if found > 0 {
        notes.push(RunNote::FoundRunning { process: process(), threads: found });
    }
    let refused = values(NoteCode::TimerRefused);
    if let Some(&errno) = refused.first() {
        notes.push(RunNote::TimerRefused { process: process(), threads: refused.len(), errno });
    }
    if header.unmeasured_threads > 0 {
        let threads = u64::from(header.unmeasured_threads);
        notes.push(RunNote::UnmeasuredThreads { process: process(), threads });
    }
    if let Some(signal) = first(NoteCode::SignalShared) {
        notes.push(RunNote::SignalShared { process: process(), signal });
    }
    for signal in BTreeSet::from_iter(values(NoteCode::RequestSignalUsed)) {
        notes.push(RunNote::RequestSignalUsed { process: process(), signal });
    }
    if first(NoteCode::SignalGivenUp).is_some() {
        notes.push(RunNote::SignalGivenUp { process: process() });
    }
    if let Some(bytes) = first(NoteCode::SmallSignalStack) {
        notes.push(RunNote::SmallSignalStack { process: process(), bytes });
    }
    if let Some(samples) = first(NoteCode::FilledSignalStack) {
        notes.push(RunNote::FilledSignalStack { process: process(), samples });
    }
    if let Some(signal) = first(NoteCode::HandlerReplaced) {
        notes.push(RunNote::HandlerReplaced { process: process(), signal });
    }
    if header.unfollowed_children > 0 {
        let forks = header.unfollowed_children;
        notes.push(RunNote::ForksWithoutLog { process: process(), forks });
    }
    if first(NoteCode::Confined).is_some() {
        notes.push(RunNote::Confined { process: process() });
    }
    if let Some(how) = first(NoteCode::OtherTool) {
        let tool = match how {
            3 => OtherTool::Both,
            1 => OtherTool::OfProgram,
            _ => OtherTool::OfEnvironment,
        };
        notes.push(RunNote::OtherTool { process: process(), tool });
    }
    if let Some(why) = first(NoteCode::RuntimeInDoubt) {
        notes.push(match why {
            2 => RunNote::RuntimeLoaded { process: process() },
            _ => RunNote::SeveralRuntimes { process: process() },
        });
    }
    if let Some(errno) = first(NoteCode::ExecFailed) {
        notes.push(RunNote::ExecFailed { process: process(), errno });
    }
    if values(NoteCode::EnvironmentMended).contains(&0) {
        notes.push(RunNote::EnvironmentNotMended { process: process() });
    }
}

/// Barriers that follow each other so closely that only some visits are measured.
fn about_barriers(notes: &mut Vec<RunNote>, profile: &Profile, process: usize, which: &Which) {
    let of_process = |row: &&SegmentRow| profile.locations[row.location].process.index() == process;
    let rows = profile.segments.iter().filter(of_process).filter(|row| row.unmeasured > 0);
    let (mut visits, mut unmeasured, mut wait_ns, mut error_ns) = (0_u64, 0_u64, 0_u64, 0_u64);
    for row in rows {
        visits = visits.saturating_add(row.executions);
        unmeasured = unmeasured.saturating_add(row.unmeasured);
        wait_ns = wait_ns.saturating_add(row.wait_ns);
        // The same instances are drawn in all threads: their errors may go together.
        error_ns = error_ns.saturating_add(row.error_ns());
    }
    if unmeasured > 0 {
        let measured = visits.saturating_sub(unmeasured);
        notes.push(RunNote::BarriersSampled { process: which.clone(), visits, measured, wait_ns, error_ns });
    }
}

/// What the collector writes where a thread took too long to make the log longer.
const ETIMEDOUT: u32 = 110;

fn about_records(notes: &mut Vec<RunNote>, log: &LogHarvest, which: &Which) {
    let header = &log.header;
    let weights = log.weights;
    let process = || which.clone();
    let samples = log.threads().fold(0_u64, |sum, thread| sum.saturating_add(thread.unrecorded_samples));
    let operations = log.lanes.iter().fold(0_u64, |sum, lane| sum.saturating_add(lane.unrecorded_operations));
    let errno = header.storage_failed;
    // A thread that waited in vain for a longer log may have found room later.
    let is_full = header.budget_exhausted != 0 || errno != 0 && errno != ETIMEDOUT;
    if is_full || samples > 0 || operations > 0 {
        let cpu_ns = weights.unrecorded_ns.saturating_add(log.unnamed_cpu_ns());
        if is_full || samples > 0 {
            notes.push(RunNote::SamplesUnrecorded { process: process(), samples, cpu_ns, errno });
        }
        if operations > 0 {
            let time_ns =
                log.lanes.iter().fold(0_u64, |sum, lane| sum.saturating_add(lane.unrecorded_operation_ns));
            notes.push(RunNote::OperationsUnrecorded { process: process(), operations, time_ns, errno });
        }
    }
    if let Some(&from_ns) = noted(log, NoteCode::CallsSummed).iter().min() {
        let after_ns = from_ns.saturating_sub(header.start_ns);
        notes.push(RunNote::CallsSummed { process: process(), after_ns });
    }
    let of: u64 = log.threads().map(|thread| thread.samples).sum();
    let at_tick: u64 = log.threads().map(|thread| thread.at_tick).sum();
    if at_tick >= TICK_SAMPLES && at_tick as f64 >= TICK_SHARE * of as f64 {
        let tick_ns = u64::from(header.tick_ns);
        notes.push(RunNote::AtTicks { process: process(), samples: at_tick, of, tick_ns });
    }
    if let Some(&below_ns) = noted(log, NoteCode::Coarsened).iter().max() {
        notes.push(RunNote::WaitsInSums { process: process(), below_ns });
    }
    let requests: u64 = noted(log, NoteCode::UntrackedRequests).iter().sum();
    if requests > 0 {
        notes.push(RunNote::RequestsUntracked { process: process(), requests });
    }
    let missed: u64 = noted(log, NoteCode::MarksMissed).iter().sum();
    if missed > 0 {
        notes.push(RunNote::MarksMissed { process: process(), marks: missed });
    }
    let executions: u64 = noted(log, NoteCode::IntervalsTooDeep).iter().sum();
    if executions > 0 {
        let most = MOST_OPEN_INTERVALS as u64;
        notes.push(RunNote::IntervalsTooDeep { process: process(), executions, most });
    }
    let executions: u64 = noted(log, NoteCode::IntervalsTooMany).iter().sum();
    if executions > 0 {
        notes.push(RunNote::IntervalsTooMany { process: process(), executions, most: MOST_INTERVALS as u64 });
    }
    let unloadable = noted(log, NoteCode::Unloadable);
    let reasons = [Unloadable::OtherMachine, Unloadable::OtherLibrary, Unloadable::OtherRoot];
    for (value, reason) in (1..).zip(reasons) {
        let programs = unloadable.iter().filter(|&&reason| reason == value).count() as u64;
        if programs > 0 {
            notes.push(RunNote::WithoutCollector { process: process(), programs, reason });
        }
    }
    if header.lost_thread_ends > 0 {
        let (threads, cpu_ns) = (header.lost_thread_ends, log.unnamed_cpu_ns());
        notes.push(RunNote::ThreadEndsLost { process: process(), threads, cpu_ns });
    }
    if log.damage.header {
        notes.push(RunNote::HeaderDamaged { log: log.name.clone(), process: process() });
    }
    let gaps: u64 = log.lanes.iter().map(|lane| lane.gaps).sum();
    if gaps > 0 || log.damage.chunks > 0 || log.damage.missing_chunks > 0 || log.damage.skipped_bytes > 0 {
        notes.push(RunNote::LogDamaged {
            log: log.name.clone(),
            process: process(),
            bytes: log.damage.skipped_bytes,
            chunks: log.damage.chunks,
            missing_chunks: log.damage.missing_chunks,
            cpu_ns: weights.lost_ns,
        });
    }
    let threads = closed(log, Closing::Lost);
    if threads > 0 {
        notes.push(RunNote::LastRecordsMissing { process: process(), threads });
    }
    let threads = silent_threads(log);
    if threads > 0 {
        notes.push(RunNote::SilentThreads { process: process(), threads });
    }
}

/// Children without a log of their own.
fn about_children(notes: &mut Vec<RunNote>, profile: &Profile, logs: &[LogHarvest]) {
    // The image that a vforked child was about to load is in its parent's log.
    let targets: BTreeMap<u32, String> = logs
        .iter()
        .flat_map(|log| &log.lanes)
        .flat_map(|lane| lane.texts.of(Subject::ExecTarget))
        .map(|text| (text.id, text.text()))
        .collect();
    for ((parent, name), pids) in missing_children(&profile.processes.raw, logs) {
        let child = |pid: u32| Unfollowed { pid, program: targets.get(&pid).cloned() };
        notes.push(RunNote::NotFollowed {
            process: Which { name: name.into(), pid: parent },
            children: pids.into_iter().map(child).collect(),
        });
    }
}

/// Programs that took the place of a measured one and wrote no log.
fn about_images(notes: &mut Vec<RunNote>, profile: &Profile, logs: &[LogHarvest]) {
    for (log, process) in logs.iter().zip(&profile.processes) {
        if replaced_unseen(log, process.pid, logs) {
            let targets = log.lanes.iter().flat_map(|lane| lane.texts.of(Subject::ExecTarget));
            notes.push(RunNote::ReplacedUnseen {
                process: Which { name: process.name.clone(), pid: process.pid },
                program: targets.last().map(|text| text.text()),
            });
        }
    }
}
