//! The gaps in the logs, in numbers: processes, threads, ends.

use std::collections::{BTreeMap, BTreeSet};

use proust_log::layout::Ending;
use proust_log::records::NoteCode;
use proust_profile::{Process, Profile, RunFile};

use super::log::LogHarvest;
use super::quality::closed;
use super::thread::Closing;
use super::unread::Unread;

/// Children without a log of their own, by parent. exec keeps the pid: images of one process are one parent.
pub(super) fn missing_children<'p>(
    processes: &'p [Process],
    logs: &[LogHarvest],
) -> BTreeMap<(u32, &'p str), BTreeSet<u32>> {
    let followed: BTreeSet<u32> = processes.iter().map(|process| process.pid).collect();
    let mut missing: BTreeMap<(u32, &str), BTreeSet<u32>> = BTreeMap::new();
    for (log, process) in logs.iter().zip(processes) {
        let children = log.lanes.iter().flat_map(|lane| &lane.children);
        let unknown: BTreeSet<u32> = children.copied().filter(|pid| !followed.contains(pid)).collect();
        if !unknown.is_empty() {
            missing.entry((process.pid, &process.name)).or_default().extend(unknown);
        }
    }
    missing
}

/// Whether another program took the place of this one and wrote no log.
pub(super) fn replaced_unseen(log: &LogHarvest, pid: u32, logs: &[LogHarvest]) -> bool {
    let continued =
        |next: &LogHarvest| next.header.pid == pid && next.start_ns() > log.start_ns() && !next.damage.header;
    log.ending() == Ending::Exec && !logs.iter().any(continued)
}

/// The values that a log's notes of this kind carry.
pub(super) fn noted(log: &LogHarvest, code: NoteCode) -> Vec<u64> {
    let notes = log.lanes.iter().flat_map(|lane| &lane.notes);
    notes.filter(|(noted, _)| *noted == code).map(|&(_, value)| value).collect()
}

/// Threads that were running already when their measurement began.
pub(super) fn found_running(log: &LogHarvest) -> usize {
    log.threads().filter(|thread| thread.found).count()
}

/// Threads that have no record at all.
pub(super) fn silent_threads(log: &LogHarvest) -> usize {
    log.lanes.iter().filter(|lane| lane.thread_without_records.is_some()).count()
}

/// Fills in the quality's numbers of gaps. `profile` has its processes, in the order of `logs`.
pub(super) fn fill(profile: &mut Profile, logs: &[LogHarvest], unread: &Unread, run: Option<&RunFile>) {
    let count = |of: &dyn Fn(&LogHarvest) -> usize| logs.iter().map(of).sum::<usize>() as u64;
    let children: usize = missing_children(&profile.processes.raw, logs).values().map(BTreeSet::len).sum();
    let replaced = logs.iter().zip(&profile.processes);
    let replaced = replaced.filter(|(log, process)| replaced_unseen(log, process.pid, logs)).count();
    // A program that could not be followed because of its environment may be known as a child as well.
    let unmended = count(&|log| noted(log, NoteCode::EnvironmentMended).iter().filter(|n| **n == 0).count());
    let quality = &mut profile.quality;
    quality.unread_logs = unread.refused.len() as u64 + unread.missing;
    let forked = logs.iter().fold(0_u64, |sum, log| sum.saturating_add(log.header.unfollowed_children));
    quality.unfollowed_processes = ((children + replaced) as u64).max(unmended).saturating_add(forked);
    quality.open_processes = count(&|log| usize::from(log.ending() == Ending::Open));
    quality.unmeasured_threads =
        logs.iter().fold(0, |sum, log| sum + u64::from(log.header.unmeasured_threads));
    quality.untimed_threads = count(&|log| noted(log, NoteCode::TimerRefused).len());
    quality.late_threads = count(&found_running);
    quality.threads_without_end = count(&|log| closed(log, Closing::Lost) + silent_threads(log));
    quality.unfinished = run.is_some_and(|run| run.finished.is_none());
}
