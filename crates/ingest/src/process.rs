//! The facts of a process: names, arguments, environment, rank, and its threads' names.

use std::collections::BTreeMap;

use proust_log::layout::{Ending, Origin};
use proust_log::records::Subject;
use proust_profile::{Ns, Process};
use rustc_hash::FxHashMap;

use super::log::LogHarvest;
use super::rank::rank_of;

/// The texts of one subject over all lanes, by number; the later lane wins.
fn by_id(log: &LogHarvest, subject: Subject) -> BTreeMap<u32, String> {
    let texts = log.lanes.iter().flat_map(|lane| lane.texts.of(subject));
    texts.map(|text| (text.id, text.text())).collect()
}

fn first(log: &LogHarvest, subject: Subject) -> String {
    by_id(log, subject).into_values().next().unwrap_or_default()
}

/// The host that a log was written on; empty when its record was lost.
pub(super) fn host(log: &LogHarvest) -> String {
    first(log, Subject::Host)
}

/// How far the log's CLOCK_MONOTONIC is ahead of its host's, in nanoseconds.
pub(super) fn monotonic_offset_ns(log: &LogHarvest) -> i64 {
    first(log, Subject::MonotonicOffset).parse().unwrap_or(0)
}

/// Paths of the modules by their numbers in the process.
pub(super) fn module_paths(log: &LogHarvest) -> BTreeMap<u32, String> {
    by_id(log, Subject::ModulePath)
}

/// The process of a log; its times and its host are filled in by the caller, which knows the run's clock.
pub(super) fn process(log: &LogHarvest) -> Process {
    let header = &log.header;
    let executable = first(log, Subject::Executable);
    let arguments: Vec<String> = by_id(log, Subject::Argument).into_values().collect();
    // Variables need no number of their own, so that they are not taken by number.
    let environment: Vec<String> =
        log.lanes.iter().flat_map(|lane| lane.texts.of(Subject::Variable)).map(|text| text.text()).collect();
    let link = first(log, Subject::StartedAs);
    let path = [&link, &executable].into_iter().find(|path| !path.is_empty()).or(arguments.first());
    let name = path.map(|path| path.rsplit('/').next().unwrap_or(path).to_owned());
    let name = name.unwrap_or_else(|| format!("process {}", header.pid));
    Process {
        pid: header.pid,
        parent_pid: header.parent_pid,
        rank: rank_of(&environment),
        host: String::new(),
        name,
        executable,
        arguments,
        environment,
        origin: if header.origin == Origin::Fork as u32 { "fork" } else { "image" }.into(),
        ending: match log.ending() {
            Ending::Open => "open",
            Ending::Exit => "exit",
            Ending::ImmediateExit => "immediate-exit",
            Ending::Exec => "exec",
            Ending::Confined => "confined",
            Ending::Stopped => "stopped",
        }
        .into(),
        start: Ns::ZERO,
        end: Ns::ZERO,
        clock_cpu: log.process_cpu_ns().map(Ns::of),
        available_processors: header.available_processors,
        processors: first(log, Subject::Processors),
        quota_milli: first(log, Subject::ProcessorQuota).parse().ok().filter(|&milli| milli > 0),
        peak_resident_bytes: (header.peak_resident_kib > 0)
            .then(|| header.peak_resident_kib.saturating_mul(1024)),
    }
}

/// Gives threads what their process's lanes say of them: the names that other threads gave them, and the
/// processors that they were bound to.
///
/// Thread ids are used again: a text is about the thread that had the id when it was written. A thread that
/// wrote its own name as it ended keeps that.
pub(super) fn apply_texts_of_threads(log: &mut LogHarvest) {
    const SUBJECTS: [Subject; 2] = [Subject::ThreadName, Subject::ThreadProcessors];
    let of_lanes = |subject| log.lanes.iter().flat_map(move |lane| lane.texts.of(subject));
    let mut texts: Vec<(u64, u32, Subject, String)> = (SUBJECTS.into_iter().flat_map(of_lanes))
        .map(|text| (text.after_ns, text.id, text.subject, text.text()))
        .collect();
    if texts.is_empty() {
        return;
    }
    texts.sort();
    // The threads of each id, by their begin.
    let mut threads: FxHashMap<u32, Vec<(u64, usize, usize)>> = FxHashMap::default();
    for (lane, harvest) in log.lanes.iter().enumerate() {
        for (at, thread) in harvest.threads.iter().enumerate() {
            threads.entry(thread.tid).or_default().push((thread.begin_ns, lane, at));
        }
    }
    threads.values_mut().for_each(|of_one_id| of_one_id.sort_unstable());
    for (time, tid, subject, text) in texts {
        let Some(of_id) = threads.get(&tid) else { continue };
        let begun = of_id.partition_point(|&(begin_ns, ..)| begin_ns <= time);
        let Some(&(_, lane, at)) = of_id.get(begun.saturating_sub(1)) else { continue };
        let thread = log.lanes.get_mut(lane).and_then(|lane| lane.threads.get_mut(at));
        let Some(thread) = thread else { continue };
        match subject {
            Subject::ThreadProcessors => thread.processors = text,
            _ if thread.named_at_end && thread.name.is_some() => {}
            _ => thread.name = Some(text),
        }
    }
}
