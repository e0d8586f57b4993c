//! What a reader of the numbers must know, in words: what is missing, why, and what still holds.

use std::collections::BTreeMap;

use proust_log::layout::Ending;
use proust_log::records::{NoteCode, Subject};
use proust_profile::{Profile, RunFile, SegmentRow};

use proust_words::{count, counted, verb};

use super::clock::RunClock;
use super::gaps::{found_running, missing_children, noted, replaced_unseen, silent_threads};
use super::loading;
use super::log::LogHarvest;
use super::quality::closed;
use super::seconds::seconds;
use super::thread::Closing;
use super::unread::Unread;

/// So many samples at ticks, and such a share of a process's, are worth a word: a thread's first ones are.
const TICK_SAMPLES: u64 = 100;
const TICK_SHARE: f64 = 0.25;

/// All notes. `profile` is finished but for them; its processes are those of `logs`, in their order.
pub(super) fn notes(
    profile: &Profile,
    logs: &[LogHarvest],
    unread: &Unread,
    run: Option<&RunFile>,
    clock: &RunClock,
) -> Vec<String> {
    let mut notes: Vec<String> = run.map(|run| run.notes.clone()).unwrap_or_default();
    about_run(&mut notes, profile, unread, run, clock);
    for (id, (log, process)) in logs.iter().zip(&profile.processes).enumerate() {
        let who = format!("{} (pid {})", process.name, process.pid);
        about_process(&mut notes, log, &who);
        about_records(&mut notes, log, &who);
        about_barriers(&mut notes, profile, id, &who);
    }
    let cpu_s = profile.locations.iter().map(|location| location.cpu_s).sum();
    notes.extend(loading::note(logs.iter().map(|log| &log.header), cpu_s));
    about_children(&mut notes, profile, logs);
    about_images(&mut notes, profile, logs);
    for module in profile.modules.iter().filter(|module| !module.note.is_empty()) {
        let is_program = profile.processes.iter().any(|process| process.executable == module.path);
        // A library without debug information is the rule; it is shown with the module.
        let usual = module.note.contains("no debug information") || module.note.contains("is not a file");
        if is_program || !usual {
            notes.push(module.note.clone());
        }
    }
    notes
}

fn about_run(
    notes: &mut Vec<String>,
    profile: &Profile,
    unread: &Unread,
    run: Option<&RunFile>,
    clock: &RunClock,
) {
    if run.is_some_and(|run| run.finished.is_none()) {
        notes.push(
            "the run was still going on, or `record` itself was killed: how the command ended is not known"
                .into(),
        );
    }
    if unread.missing > 0 {
        notes.push(format!(
            "{} of the run {} gone since the command ended: what {} recorded is missing from all numbers",
            counted(unread.missing, "log"),
            verb(unread.missing, "is", "are"),
            verb(unread.missing, "its process", "their processes"),
        ));
    }
    for log in &unread.refused {
        notes.push(format!(
            "{} was not read ({}): its process is missing from all numbers, the others are complete",
            log.name, log.reason
        ));
    }
    if clock.host_count() > 1 {
        notes.push(format!(
            "the run used {} hosts: their times are aligned by the clocks of day, which may differ by \
             milliseconds; durations on each host are exact",
            clock.host_count()
        ));
    }
    let cpu_s: f64 = profile.locations.iter().map(|location| location.cpu_s).sum();
    if profile.quality.samples == 0 {
        notes.push(format!(
            "no sample was taken in {cpu_s:.3} s of CPU time: the CPU time of every thread is known, where \
             in the program it went is not; a longer run has samples"
        ));
    }
    let quality = &profile.quality;
    if quality.partial_paths > 0 {
        notes.push(format!(
            "{} of {} {} no upper end and {} below [incomplete paths]: functions and lines are exact, callers \
             are not all known",
            count(quality.partial_paths),
            counted(quality.samples, "call path"),
            verb(quality.partial_paths, "has", "have"),
            verb(quality.partial_paths, "stands", "stand")
        ));
    }
    if quality.path_mismatches > 0 {
        notes.push(format!(
            "{} of {} {} from a full unwind: please report this",
            count(quality.path_mismatches),
            counted(quality.paths_compared, "compared call path"),
            verb(quality.path_mismatches, "differs", "differ")
        ));
    }
    if quality.implausible_records > 0 {
        notes.push(format!(
            "the clocks of {} contradict their neighbours and were clamped: the log is damaged there",
            counted(quality.implausible_records, "record")
        ));
    }
}

fn about_process(notes: &mut Vec<String>, log: &LogHarvest, who: &str) {
    let header = &log.header;
    if log.ending() == Ending::Open {
        let last_seen = closed(log, Closing::LastSeen);
        notes.push(format!(
            "{who} did not end in order (killed, crashed, or still running): its record ends with the last \
             sample of {}{}; what was recorded is complete",
            if last_seen == 1 { "" } else { "each of " },
            counted(last_seen, "thread")
        ));
    }
    let count = |code| noted(log, code);
    let found = found_running(log);
    if found > 0 {
        notes.push(format!(
            "{} of {who} {} found running: what {} did before is not in the numbers",
            counted(found, "thread"),
            verb(found, "was", "were"),
            verb(found, "it", "they")
        ));
    }
    let refused = count(NoteCode::TimerRefused);
    if let Some(errno) = refused.first() {
        notes.push(format!(
            "{} of {who} got no CPU timer (error {errno}): {} CPU time is known, where it went is not",
            counted(refused.len(), "thread"),
            verb(refused.len(), "its", "their")
        ));
    }
    if header.unmeasured_threads > 0 {
        notes.push(format!(
            "{} of {who} could not be measured at all: {} CPU time is missing",
            counted(header.unmeasured_threads, "thread"),
            verb(header.unmeasured_threads, "its", "their")
        ));
    }
    if let Some(signal) = count(NoteCode::SignalShared).first() {
        notes.push(format!("{who} uses signal {signal} itself, which Proust samples with: both got theirs"));
    }
    if !count(NoteCode::SignalGivenUp).is_empty() {
        notes.push(format!(
            "a thread of {who} blocks both signals that Proust can sample with, or waits for them: while it does it is not \
             sampled, and its CPU time counts where it was last seen"
        ));
    }
    if let Some(bytes) = count(NoteCode::SmallSignalStack).first() {
        notes.push(format!(
            "a thread of {who} has an alternate signal stack of {bytes} bytes, which has no room for a sample: while it \
             has it, it is not sampled, and its CPU time counts where it was last seen"
        ));
    }
    if let Some(&dropped) = count(NoteCode::FilledSignalStack).first() {
        notes.push(format!(
            "{who} uses registers that fill its alternate signal stacks (AMX): {} found no room there and are missing; their \
             CPU time counts at the next ones",
            counted(dropped, "sample")
        ));
    }
    if let Some(&untracked) = count(NoteCode::UntrackedRequests).first() {
        notes.push(format!(
            "{who} had too many requests of MPI under way at once: {} could not be followed to their completion",
            counted(untracked, "request")
        ));
    }
    if let Some(signal) = count(NoteCode::HandlerReplaced).first() {
        notes.push(format!(
            "{who} put a handler of its own in the place of Proust's for signal {signal}, by a system call of its own, as \
             Go's runtime does: samples are missing since, and its CPU time counts where it was last seen"
        ));
    }
    if log.header.unfollowed_children > 0 {
        notes.push(format!(
            "{who} forked {} that could make no log in the run's folder (another user, a full disk or the run's size budget): \
             their time is missing",
            counted(log.header.unfollowed_children, "process")
        ));
    }
    if !count(NoteCode::Confined).is_empty() {
        notes.push(format!(
            "{who} installed a filter of system calls, which the collector's own could have violated: its record ends \
             there, and programs that it started afterwards are not followed"
        ));
    }
    if let Some(how) = count(NoteCode::OtherTool).first() {
        notes.push(match how {
            3 => format!(
                "{who} has another tool for OpenMP, which is told, too: what that one takes counts as the program's own work"
            ),
            _ => format!(
                "{who} has a tool for OpenMP {}, and a runtime tells one tool only: regions of LLVM's runtime are not in the \
                 numbers, its threads are shown as any others",
                if *how == 1 { "of its own" } else { "that was given to it" }
            ),
        });
    }
    if let Some(why) = count(NoteCode::RuntimeInDoubt).first() {
        notes.push(match why {
            2 => format!(
                "{who} asked whether OpenMP's runtime is there, was told so because Proust stands in front of it, and called it: \
                 the system's was loaded for it"
            ),
            _ => format!(
                "{who} has several runtimes of OpenMP, and which one some of its calls belong to is not certain: these were \
                 passed on, and their regions are not in the numbers"
            ),
        });
    }
    if let Some(errno) = count(NoteCode::ExecFailed).first() {
        notes.push(format!("{who} called exec in vain (error {errno}) and was measured further"));
    }
    if count(NoteCode::EnvironmentMended).contains(&0) {
        notes.push(format!(
            "{who} started a program with an environment into which the collector could not be put: that \
             program is missing"
        ));
    }
}

/// Why a log did not grow, by the errno of the refusal (0 = none), and what can be done.
fn why_not_recorded(errno: u32) -> (&'static str, &'static str) {
    const ENOMEM: u32 = 12;
    const ENFILE: u32 = 23;
    const EMFILE: u32 = 24;
    const EFBIG: u32 = 27;
    const EAGAIN: u32 = 11;
    match errno {
        0 => ("the run's size budget was used up", "a larger --max-size or a lower --rate records all"),
        ENOMEM | EAGAIN => (
            "it had no address space or lockable memory left for more of its log",
            "a larger limit of the address space (ulimit -v) or of locked memory (ulimit -l) records all",
        ),
        ENFILE | EMFILE => (
            "it had no file descriptor left for its log to grow",
            "a larger limit of open files (ulimit -n) records all",
        ),
        EFBIG => (
            "its limit of the size of files is reached",
            "a larger limit of the size of files (ulimit -f) records all",
        ),
        _ => ("the storage took no more (full, gone, or not permitted)", "record to another place"),
    }
}

/// Barriers that follow each other so closely that only some visits are measured.
fn about_barriers(notes: &mut Vec<String>, profile: &Profile, process: usize, who: &str) {
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
        notes.push(format!(
            "{who} came to barriers so often that {} of {} visits were measured, drawn by chance; all were counted, and \
             {:.3} s ± {:.3} were waited there",
            count(visits.saturating_sub(unmeasured)),
            count(visits),
            seconds(wait_ns),
            seconds(error_ns),
        ));
    }
}

fn about_records(notes: &mut Vec<String>, log: &LogHarvest, who: &str) {
    let header = &log.header;
    let weights = log.weights;
    let unrecorded = log.threads().fold(0_u64, |sum, thread| sum.saturating_add(thread.unrecorded_samples));
    let unrecorded_s = seconds(weights.unrecorded_ns.saturating_add(log.unnamed_cpu_ns()));
    let operations = log.lanes.iter().fold(0_u64, |sum, lane| sum.saturating_add(lane.unrecorded_operations));
    if header.budget_exhausted != 0 || header.storage_failed != 0 || unrecorded > 0 || operations > 0 {
        let (why, advice) = why_not_recorded(header.storage_failed);
        notes.push(format!(
            "{who}: {why}: {} with {unrecorded_s:.3} s of CPU time {} not in the log; the time is shown as [not \
             recorded: size budget used up] and all sums still hold; {advice}",
            counted(unrecorded, "sample"),
            verb(unrecorded, "is", "are")
        ));
        if operations > 0 {
            let ns =
                log.lanes.iter().fold(0_u64, |sum, lane| sum.saturating_add(lane.unrecorded_operation_ns));
            notes.push(format!(
                "{who}: {} of {:.3} s together found no room either: what was waited for there is not known, and \
                 the time counts as passive for an unknown reason; {advice}",
                counted(operations, "wait or I/O operation"),
                seconds(ns)
            ));
        }
    }
    let samples: u64 = log.threads().map(|thread| thread.samples).sum();
    let at_tick: u64 = log.threads().map(|thread| thread.at_tick).sum();
    if at_tick >= TICK_SAMPLES && at_tick as f64 >= TICK_SHARE * samples as f64 {
        notes.push(format!(
            "{:.0} % of the samples of {who} came at the kernel's ticks, {} apart: threads that block in calls that \
             no hook sees, or that wait or are displaced very often, get no others; of what repeats in step with \
             the tick the shares may be further off than ± says",
            100.0 * at_tick as f64 / samples as f64,
            duration(u64::from(log.header.tick_ns))
        ));
    }
    if let Some(&limit_ns) = noted(log, NoteCode::Coarsened).iter().max() {
        notes.push(format!(
            "{who} waited so often that waits below {} were not told one by one but in sums: their number and time \
             are exact, their call paths are those of some of them",
            duration(limit_ns)
        ));
    }
    let unloadable = noted(log, NoteCode::Unloadable);
    let reasons = [
        (1, "for another machine"),
        (2, "of another C library than GNU's"),
        (3, "in a root that does not have the collector's file"),
    ];
    for (value, what) in reasons {
        let programs = unloadable.iter().filter(|&&reason| reason == value).count() as u64;
        if programs > 0 {
            notes.push(format!(
                "{who} started {} {what}, without the collector: {} time is missing",
                counted(programs, "program"),
                verb(programs, "its", "their")
            ));
        }
    }
    if header.lost_thread_ends > 0 {
        notes.push(format!(
            "{who}: {} ended without room for {} last record: {:.3} s of {} CPU time are shown as a thread \
             [threads not recorded]",
            counted(header.lost_thread_ends, "thread"),
            verb(header.lost_thread_ends, "its", "their"),
            seconds(log.unnamed_cpu_ns()),
            verb(header.lost_thread_ends, "its", "their")
        ));
    }
    if log.damage.header {
        notes.push(format!(
            "{}: the header is damaged: process id, start and end of {who} may be wrong, samples are not",
            log.name
        ));
    }
    let gaps: u64 = log.lanes.iter().map(|lane| lane.gaps).sum();
    if gaps > 0 || log.damage.chunks > 0 || log.damage.missing_chunks > 0 || log.damage.skipped_bytes > 0 {
        notes.push(format!(
            "{}: damaged: {} skipped, {} and {}; {:.3} s of CPU time of {who} are shown as [lost records], \
             everything else of it is intact",
            log.name,
            counted(log.damage.skipped_bytes, "byte"),
            counted(log.damage.chunks, "unusable chunk"),
            counted(log.damage.missing_chunks, "missing chunk"),
            seconds(weights.lost_ns)
        ));
    }
    let without_end = closed(log, Closing::Lost);
    if without_end > 0 {
        notes.push(format!(
            "{who}: the last {} of {} {} missing: {} where last seen",
            verb(without_end, "record", "records"),
            counted(without_end, "thread"),
            verb(without_end, "is", "are"),
            verb(without_end, "it ends", "they end")
        ));
    }
    let silent = silent_threads(log);
    if silent > 0 {
        notes.push(format!(
            "{who}: {} {} no record at all: only the CPU time since {} began is known",
            counted(silent, "thread"),
            verb(silent, "has", "have"),
            verb(silent, "it", "they")
        ));
    }
}

/// A duration in the unit that suits it.
fn duration(ns: u64) -> String {
    match ns {
        0..1_000_000 => format!("{} µs", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{} ms", ns as f64 / 1e6),
        _ => format!("{} s", ns as f64 / 1e9),
    }
}

/// Children without a log of their own.
fn about_children(notes: &mut Vec<String>, profile: &Profile, logs: &[LogHarvest]) {
    // The image that a vforked child was about to load is in its parent's log.
    let targets: BTreeMap<u32, String> = logs
        .iter()
        .flat_map(|log| &log.lanes)
        .flat_map(|lane| lane.texts.of(Subject::ExecTarget))
        .map(|text| (text.id, text.text()))
        .collect();
    for ((parent, name), pids) in missing_children(&profile.processes.raw, logs) {
        const SHOWN: usize = 5;
        let named =
            |pid: &u32| targets.get(pid).map_or(pid.to_string(), |target| format!("{pid} ({target})"));
        let shown: Vec<String> = pids.iter().take(SHOWN).map(named).collect();
        let more = if pids.len() > SHOWN { ", …" } else { "" };
        let what = if pids.len() == 1 { "process".into() } else { counted(pids.len(), "process") };
        notes.push(format!(
            "{what} {}{more} started by {name} (pid {parent}) {} not followed (static or setuid program, another C library or root, cleared \
             environment, or ended before {} measurement began): {} time is missing",
            shown.join(", "),
            verb(pids.len(), "was", "were"),
            verb(pids.len(), "its", "their"),
            verb(pids.len(), "its", "their")
        ));
    }
}

/// Programs that took the place of a measured one and wrote no log.
fn about_images(notes: &mut Vec<String>, profile: &Profile, logs: &[LogHarvest]) {
    for (log, process) in logs.iter().zip(&profile.processes) {
        if replaced_unseen(log, process.pid, logs) {
            let targets = log.lanes.iter().flat_map(|lane| lane.texts.of(Subject::ExecTarget));
            let target = targets.last().map_or_else(|| "another program".into(), |text| text.text());
            notes.push(format!(
                "{} (pid {}) was replaced by {target}, which was not followed (static or setuid program, another C library or root, or \
                 cleared environment): its time is missing",
                process.name, process.pid
            ));
        }
    }
}
