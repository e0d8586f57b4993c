//! Forked children that have no log of their own: each becomes what its log would have been.

use proust_log::children::{Child, ChildEnd, NOT_READ};
use proust_log::layout::{FileHeader, LaneHeader, Origin};
use proust_log::records::{Subject, ThreadBegin, ThreadEnd};
use proust_log::{Damage, Log};
use proust_structure::MadeCode;

use super::lane::LaneHarvest;
use super::log::LogHarvest;
use super::thread::{Limits, NO_PATH, ThreadMeter, Weights};

/// What a forked child has in common with the process in whose log its slot is.
const INHERITED: [Subject; 5] =
    [Subject::Host, Subject::Executable, Subject::Argument, Subject::WorkingFolder, Subject::MonotonicOffset];

/// The children of `log` that have none of their own; `parent` is what was made of it.
pub(super) fn harvests(log: &Log<'_>, parent: &LogHarvest, limits: Limits<'_>) -> Vec<LogHarvest> {
    let children = log.children.iter().filter(|child| child.begin.time_ns <= limits.latest_ns);
    children.map(|child| harvest(child, parent, limits)).collect()
}

fn harvest(child: &Child, parent: &LogHarvest, limits: Limits<'_>) -> LogHarvest {
    let begin = &child.begin;
    let mut lane = LaneHarvest::default();
    for subject in INHERITED {
        for text in parent.lanes.iter().flat_map(|lane| lane.texts.of(subject)) {
            lane.texts.add(subject, 0, text.id, 0, text.bytes());
        }
    }
    let mut meter = ThreadMeter::begin(
        &ThreadBegin {
            time_ns: begin.time_ns,
            cpu_ns: begin.cpu_ns,
            tid: begin.pid,
            queued_us: begin.queued_us,
            ..ThreadBegin::default()
        },
        false,
        limits,
    );
    let thread = match &child.end {
        Some(end) => {
            meter.name(end.name.split(|&byte| byte == 0).next().unwrap_or(&[]));
            if end.queued_ns != NOT_READ {
                meter.queued(end.time_ns, end.queued_ns);
            }
            if !end.target().is_empty() {
                lane.texts.add(Subject::ExecTarget, 0, begin.pid, 0, end.target());
            }
            meter.end(&last_record(begin.pid, end), false)
        }
        None => {
            let seen = LaneHeader {
                tid: begin.pid,
                last_ns: begin.time_ns,
                last_cpu_ns: begin.cpu_ns,
                ..LaneHeader::default()
            };
            meter.close(&seen, false)
        }
    };
    if !thread.rows.is_empty() {
        lane.sampled.push(NO_PATH);
    }
    let weights = Weights::sum([thread.weights].into_iter());
    lane.threads.push(thread);
    LogHarvest {
        name: parent.name.clone(),
        bytes: 0,
        header: header(child, &parent.header),
        damage: Damage::default(),
        lanes: vec![lane],
        weights,
        paused: Vec::new(),
        paused_cpu_ns: 0,
        made: MadeCode::default(),
    }
}

fn last_record(tid: u32, end: &ChildEnd) -> ThreadEnd {
    ThreadEnd {
        time_ns: end.time_ns,
        cpu_ns: end.cpu_ns,
        own_ns: end.own_ns,
        user_us: end.user_us,
        system_us: end.system_us,
        minor_faults: end.minor_faults,
        major_faults: end.major_faults,
        voluntary_switches: end.voluntary_switches,
        involuntary_switches: end.involuntary_switches,
        tid,
        ..ThreadEnd::default()
    }
}

/// The header that the child's log would have; the machine's description is the parent's.
fn header(child: &Child, parent: &FileHeader) -> FileHeader {
    let begin = &child.begin;
    let since_parent_ns = begin.time_ns.wrapping_sub(parent.start_ns);
    let end = child.end.unwrap_or(ChildEnd::NONE);
    FileHeader {
        pid: begin.pid,
        parent_pid: begin.parent_pid,
        start_ns: begin.time_ns,
        start_unix_ns: parent.start_unix_ns.wrapping_add(since_parent_ns),
        process_cpu_start_ns: begin.process_cpu_ns,
        process_cpu_end_ns: end.process_cpu_ns,
        origin: Origin::Fork as u32,
        user: begin.user,
        ending: child.ending() as u32,
        exit_status: end.exit_status,
        end_ns: end.time_ns,
        tick_ns: parent.tick_ns,
        asked_rate_hz: parent.asked_rate_hz,
        page_bytes: parent.page_bytes,
        available_processors: parent.available_processors,
        online_processors: parent.online_processors,
        sync_threshold_ns: parent.sync_threshold_ns,
        unfollowed_children: u64::from(child.is_unfollowed),
        ..FileHeader::default()
    }
}
