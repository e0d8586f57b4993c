//! When processes of a run were stopped: by SIGSTOP, by a terminal (SIGTSTP), or by a tracer.
//!
//! A stopped process notes nothing, so the recorder looks from outside:
//!
//! - The kernel reports when the command itself stops and continues (`waitid`): its stops are exact.
//! - Of all processes that have a log the state in `/proc` is read every [`PERIOD`]: their stops are exact to
//!   a period. A state costs 10 µs, and where there are so many that it would add up, they are read less
//!   often.
//! - A stop of the whole process group (Ctrl-Z) stops the recorder, too. It then finds that it has not looked
//!   for longer than a period, and that the kernel reports the command as continued: the stop lies in
//!   between.
//!
//! A stop therefore has four instants: when the process was last seen running, from when and until when it
//! was certainly stopped, and when it was first seen running again.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use proust_log::control::RUN_VARIABLE;
use proust_log::layout::LOG_FOLDER;
use proust_profile::run_file::Stop;
use rustix::process::{Pid, getpgid, getpgrp};

use crate::clock::{monotonic_ns, of_this_thread_ns};

/// How often states are read.
const PERIOD: Duration = Duration::from_millis(250);
const PERIOD_NS: u64 = PERIOD.as_nanos() as u64;
/// Reading states takes at most one part of so many of a processor.
const PART: u32 = 500;
/// The kernel's report of a stop reaches the recorder within this time, if that has a processor.
const REPORT_NS: u64 = 10_000_000;
/// More are not kept: each is a stretch of its own, at most four a second and process.
const MOST_STOPS: usize = 10_000;
/// Threads of which a tracer's stop is looked at.
const MOST_THREADS: usize = 64;

/// Looks at the processes of a run until it is ended.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    command: u32,
    folder: PathBuf,
    seen: Mutex<Seen>,
    wake: Condvar,
}

/// The stops seen so far.
#[derive(Debug, Default)]
struct Seen {
    stops: Stops,
    has_ended: bool,
}

impl Watch {
    /// Begins to observe `command`, and the processes with a log in the run's `folder`.
    pub fn begin(command: u32, folder: &Path) -> Watch {
        let shared = Arc::new(Shared {
            command,
            folder: folder.to_owned(),
            seen: Mutex::default(),
            wake: Condvar::new(),
        });
        let of_thread = Arc::clone(&shared);
        // Without a thread, the kernel's reports of the command itself are left.
        let thread = std::thread::Builder::new().spawn(move || look_on(&of_thread)).ok();
        Watch { shared, thread }
    }

    /// The kernel reports that the command has stopped.
    pub fn has_stopped(&self) {
        let now_ns = monotonic_ns();
        self.shared.seen().stops.reported(self.shared.command, now_ns);
    }

    /// The kernel reports that the command continues.
    pub fn goes_on(&self) {
        let now_ns = monotonic_ns();
        self.shared.seen().stops.continued(self.shared.command, now_ns);
    }

    /// Ends looking; the stops that were seen, by process and time.
    pub fn end(mut self) -> Vec<Stop> {
        self.shared.seen().has_ended = true;
        self.shared.wake.notify_all();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so; its earlier observations are valid.
            let _ = thread.join();
        }
        std::mem::take(&mut self.shared.seen().stops).conclude(monotonic_ns())
    }
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn look_on(shared: &Shared) {
    let mut processes = Processes::default();
    let mut looked_ns = monotonic_ns();
    let mut wait = PERIOD;
    let mut seen = shared.seen();
    while !seen.has_ended {
        seen = shared.wake.wait_timeout(seen, wait).unwrap_or_else(PoisonError::into_inner).0;
        if seen.has_ended {
            break;
        }
        let now_ns = monotonic_ns();
        if now_ns - looked_ns < wait.as_nanos() as u64 {
            continue;
        }
        // Others may report while this thread reads.
        drop(seen);
        let before_ns = of_this_thread_ns();
        processes.find(&shared.folder);
        let states = processes.states(shared.command, &shared.folder);
        let is_late = now_ns - looked_ns > wait.as_nanos() as u64 + PERIOD_NS;
        let group = if is_late { processes.of_own_group(shared.command) } else { Vec::new() };
        seen = shared.seen();
        if is_late {
            let from_ns = looked_ns;
            seen.stops.pauses.push(Pause { from_ns, to_ns: now_ns, period: wait, group });
        }
        for (pid, state) in states {
            seen.stops.look(pid, state, now_ns);
        }
        looked_ns = now_ns;
        let own_ns = of_this_thread_ns() - before_ns;
        wait = PERIOD.max(Duration::from_nanos(own_ns) * PART);
    }
}

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    GoesOn,
    Stopped,
    Gone,
}

/// From looks and reports to stops.
#[derive(Debug, Default)]
struct Stops {
    /// By process.
    last: HashMap<u32, Last>,
    found: Vec<Stop>,
    /// When the kernel reported that the command continued.
    continued_ns: Vec<u64>,
    pauses: Vec<Pause>,
}

/// The newest that is known of a process.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    /// When it was seen running.
    going_ns: u64,
    /// A stop that is not over.
    stop: Option<Stop>,
}

/// A stretch in which the recorder did not look although it was time.
#[derive(Debug)]
struct Pause {
    from_ns: u64,
    to_ns: u64,
    period: Duration,
    /// The processes of its own group.
    group: Vec<u32>,
}

impl Stops {
    fn look(&mut self, pid: u32, state: State, now_ns: u64) {
        match state {
            State::Stopped => {
                let last = self.last.entry(pid).or_default();
                let before_ns = if last.going_ns == 0 { now_ns } else { last.going_ns };
                let fresh = Stop { pid, before_ns, begin_ns: now_ns, ..Stop::default() };
                let stop = last.stop.get_or_insert(fresh);
                stop.end_ns = now_ns;
            }
            State::GoesOn => self.is_over(pid, now_ns),
            State::Gone => {
                self.is_over(pid, now_ns);
                self.last.remove(&pid);
            }
        }
    }

    fn is_over(&mut self, pid: u32, now_ns: u64) {
        let last = self.last.entry(pid).or_default();
        last.going_ns = now_ns;
        if let Some(stop) = last.stop.take() {
            self.keep(Stop { behind_ns: now_ns, ..stop });
        }
    }

    fn keep(&mut self, stop: Stop) {
        if self.found.len() < MOST_STOPS {
            self.found.push(stop);
        }
    }

    /// The kernel reports a stop just now.
    fn reported(&mut self, pid: u32, now_ns: u64) {
        let last = self.last.entry(pid).or_default();
        last.going_ns = last.going_ns.max(now_ns.saturating_sub(REPORT_NS));
        self.look(pid, State::Stopped, now_ns);
    }

    /// The kernel reports that a process continued just now: until then it was stopped. If the recorder was,
    /// too, the report of the stop may be late.
    fn continued(&mut self, pid: u32, now_ns: u64) {
        self.continued_ns.push(now_ns);
        if self.last.get(&pid).is_some_and(|last| last.stop.is_some()) {
            self.look(pid, State::Stopped, now_ns);
            self.look(pid, State::GoesOn, now_ns);
            return;
        }
        // A look may have preceded the report.
        let before = self.found.iter_mut().rfind(|stop| stop.pid == pid);
        if let Some(stop) = before.filter(|stop| now_ns.saturating_sub(stop.behind_ns) < PERIOD_NS) {
            stop.end_ns = stop.end_ns.max(stop.behind_ns.min(now_ns));
        }
    }

    /// All stops by process and time, after the last look.
    fn conclude(mut self, now_ns: u64) -> Vec<Stop> {
        for last in std::mem::take(&mut self.last).into_values() {
            if let Some(stop) = last.stop {
                self.keep(Stop { behind_ns: now_ns, ..stop });
            }
        }
        for continued_ns in std::mem::take(&mut self.continued_ns) {
            let lies_in = |pause: &&Pause| {
                let until_ns = pause.to_ns.saturating_add(2 * PERIOD_NS);
                (pause.from_ns..=until_ns).contains(&continued_ns)
            };
            // The newest one: others may lie before.
            let Some(at) = self.pauses.iter().rposition(|pause| lies_in(&pause)) else { continue };
            let Pause { from_ns, to_ns, period, group } = self.pauses.swap_remove(at);
            let begin_ns = from_ns.saturating_add(period.as_nanos() as u64).min(to_ns);
            for pid in group {
                self.keep(Stop { pid, before_ns: from_ns, begin_ns, end_ns: to_ns, behind_ns: to_ns });
            }
        }
        self.found.sort_by_key(|stop| (stop.pid, stop.before_ns));
        self.found
    }
}

/// The processes of the run that are there.
#[derive(Debug, Default)]
struct Processes {
    pids: HashSet<u32>,
    /// Files in the folder of logs that were looked at.
    known: HashSet<OsString>,
    changed: Option<SystemTime>,
    /// Processes that are certainly of this run.
    own: HashSet<u32>,
}

impl Processes {
    /// Finds those that have a log since.
    fn find(&mut self, folder: &Path) {
        let logs = folder.join(LOG_FOLDER);
        let changed = fs::metadata(&logs).and_then(|metadata| metadata.modified()).ok();
        if changed.is_some() && changed == self.changed {
            return;
        }
        self.changed = changed;
        for entry in fs::read_dir(logs).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if self.known.contains(&name) {
                continue;
            }
            self.pids.extend(pid_of_log(&name.to_string_lossy()));
            self.known.insert(name);
        }
    }

    fn states(&mut self, command: u32, folder: &Path) -> Vec<(u32, State)> {
        self.pids.insert(command);
        let states: Vec<(u32, State)> = self.pids.iter().map(|&pid| (pid, state_of(pid))).collect();
        let mut told = Vec::with_capacity(states.len());
        for (pid, state) in states {
            if state == State::Gone {
                self.pids.remove(&pid);
                self.own.remove(&pid);
            }
            // The number may be another process's by now, or that of another namespace.
            if state == State::Stopped && pid != command && !self.is_own(pid, folder) {
                continue;
            }
            told.push((pid, state));
        }
        told
    }

    fn is_own(&mut self, pid: u32, folder: &Path) -> bool {
        if self.own.contains(&pid) {
            return true;
        }
        let entry = [RUN_VARIABLE.as_bytes(), b"=", folder.as_os_str().as_encoded_bytes()].concat();
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let is_own = environment.split(|&byte| byte == 0).any(|variable| variable == entry);
        if is_own {
            self.own.insert(pid);
        }
        is_own
    }

    /// Those that a stop of the recorder's own group stops.
    fn of_own_group(&self, command: u32) -> Vec<u32> {
        let group_of = |pid: u32| getpgid(Some(Pid::from_raw(pid as i32)?)).ok();
        let own = Some(getpgrp());
        let mut pids: Vec<u32> = self.pids.iter().copied().chain([command]).collect();
        pids.sort_unstable();
        pids.dedup();
        pids.retain(|&pid| group_of(pid) == own);
        pids
    }
}

/// The process of a log called `PID-STAMP.plog`.
fn pid_of_log(name: &str) -> Option<u32> {
    name.split_once('-')?.0.parse().ok()
}

fn state_of(pid: u32) -> State {
    match letter(&format!("/proc/{pid}/stat")) {
        None | Some(b'X') => State::Gone,
        // A signal stops all threads,
        Some(b'T') => State::Stopped,
        // a tracer perhaps one. And a process continues when its first thread has ended.
        Some(b't' | b'Z') => of_all_threads(pid),
        Some(_) => State::GoesOn,
    }
}

fn of_all_threads(pid: u32) -> State {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let letters = threads.take(MOST_THREADS).filter_map(|thread| {
        let path = thread.path().join("stat");
        letter(path.to_str()?)
    });
    let (mut stopped, mut going) = (0, 0);
    for letter in letters.filter(|letter| !b"ZX".contains(letter)) {
        if b"tT".contains(&letter) { stopped += 1 } else { going += 1 }
    }
    match (stopped, going) {
        (0, 0) => State::Gone,
        (_, 0) => State::Stopped,
        _ => State::GoesOn,
    }
}

/// The state in a `stat` file: the letter behind the name, which ends with the last bracket.
fn letter(path: &str) -> Option<u8> {
    let mut bytes = [0; 256];
    let length = fs::File::open(path).and_then(|mut file| file.read(&mut bytes)).ok()?;
    let bytes = &bytes[..length];
    let end = bytes.iter().rposition(|&byte| byte == b')')?;
    bytes.get(end + 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn stop(pid: u32, [before, begin, end, behind]: [u64; 4]) -> Stop {
        Stop { pid, before_ns: before * MS, begin_ns: begin * MS, end_ns: end * MS, behind_ns: behind * MS }
    }

    #[test]
    fn looks_bound_a_stop_and_reports_make_it_exact() {
        let mut stops = Stops::default();
        for (time, state) in
            [(250, State::GoesOn), (500, State::Stopped), (750, State::Stopped), (1000, State::GoesOn)]
        {
            stops.look(8, state, time * MS);
        }
        stops.look(7, State::GoesOn, 1000 * MS);
        stops.reported(7, 1100 * MS);
        stops.look(7, State::Stopped, 1250 * MS);
        stops.continued(7, 1300 * MS);
        // One that is stopped when it ends.
        stops.look(9, State::Stopped, 1000 * MS);
        stops.look(9, State::Gone, 1250 * MS);
        let found = stops.conclude(2000 * MS);
        assert_eq!(
            found,
            [
                stop(7, [1090, 1100, 1300, 1300]),
                stop(8, [250, 500, 750, 1000]),
                stop(9, [1000, 1000, 1000, 1250])
            ]
        );
    }

    #[test]
    fn a_look_that_comes_before_the_report_takes_nothing_away() {
        let mut stops = Stops::default();
        stops.reported(7, 1000 * MS);
        stops.look(7, State::GoesOn, 1400 * MS);
        stops.continued(7, 1401 * MS);
        assert_eq!(stops.conclude(2000 * MS), [stop(7, [990, 1000, 1400, 1400])]);
    }

    #[test]
    fn a_stop_of_the_whole_group_is_known_by_what_was_missed_and_the_continuation() {
        let pause = |from: u64, to: u64| Pause {
            from_ns: from * MS,
            to_ns: to * MS,
            period: PERIOD,
            group: vec![7, 8],
        };
        let mut stops = Stops::default();
        stops.pauses.push(pause(1000, 3000));
        stops.continued(7, 2999 * MS);
        // The recorder got no processor for a while, and the command still ran.
        stops.pauses.push(pause(5000, 5600));
        let found = stops.conclude(9000 * MS);
        assert_eq!(found, [stop(7, [1000, 1250, 3000, 3000]), stop(8, [1000, 1250, 3000, 3000])]);
        // The report of the stop itself may arrive when both continue.
        let mut stops = Stops::default();
        stops.reported(7, 2999 * MS);
        stops.continued(7, 3000 * MS);
        stops.pauses.push(pause(1000, 3001));
        let found = stops.conclude(9000 * MS);
        assert_eq!(found[0], stop(7, [1000, 1250, 3001, 3001]));
    }

    #[test]
    fn states_are_read_behind_any_name() {
        let own = std::process::id();
        assert_eq!(state_of(own), State::GoesOn);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stat");
        fs::write(&path, "12 (a) T (b) t 1 12 12 0").unwrap();
        assert_eq!(letter(path.to_str().unwrap()), Some(b't'));
        assert_eq!(pid_of_log("123-456.plog"), Some(123));
        assert_eq!(pid_of_log("other.txt"), None);
    }
}
