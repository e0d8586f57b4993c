//! Processes that are stopped from outside: their time is passive for that reason, and nothing else is.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::chance::assert_close;
use crate::command::{Running, proust, start};
use crate::pages::Threads;
use crate::programs::built;
use crate::recording::{empty_folder, number, page_of, truth_in};

/// How long a process is left stopped.
const STOPPED: Duration = Duration::from_millis(1200);
/// How well the program's own clocks, those of who stops it and the recorder's agree, s; on a busy machine a
/// report waits for a processor.
const APART_S: f64 = 0.3;

/// What came of a program that was stopped while it ran.
struct Stopped {
    threads: Threads,
    truth: Value,
    /// How long it was stopped, by who did it.
    true_s: f64,
}

impl Stopped {
    fn passive_s(&self, reason: &str) -> f64 {
        self.threads.locations.iter().map(|location| location.passive_s(reason)).sum()
    }
}

/// Records a case of the program; `act` stops the process that it names, and what began it, and lets them go
/// on.
fn stopped(case: &str, seconds: &str, act: impl FnOnce(i32, &Running)) -> Option<Stopped> {
    let program = built("stopped")?;
    let folder = empty_folder();
    let dir = folder.path().join("run");
    let mut command = proust();
    command.arg("record").arg("-o").arg(&dir).arg("--").arg(program).args([case, seconds]);
    let running = start(command.stdin(Stdio::null()));
    let pid = first_line(&running).parse().expect("a process id");
    // It is at work, and samples have begun.
    std::thread::sleep(Duration::from_millis(200));
    let begun = Instant::now();
    act(pid, &running);
    let true_s = begun.elapsed().as_secs_f64();
    let ended = running.wait();
    assert!(ended.status.success(), "{:?}: {}", ended.status, ended.said());
    let threads: Threads = page_of(&dir, "threads", &[]);
    Some(Stopped { threads, truth: truth_in(&ended), true_s })
}

fn first_line(running: &Running) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let printed = running.printed_so_far();
        if let Some((line, _)) = printed.split_once('\n') {
            return line.to_owned();
        }
        assert!(Instant::now() < deadline, "it never was ready");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(pid: i32, signal: i32) {
    // SAFETY: a plain system call, to a process of this story's.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0, "{}", std::io::Error::last_os_error());
}

fn stop_for_a_while(pid: i32) {
    signal(pid, libc::SIGSTOP);
    std::thread::sleep(STOPPED);
    signal(pid, libc::SIGCONT);
}

#[test]
fn computing() {
    let Some(run) = stopped("compute", "1.0", |pid, _| stop_for_a_while(pid)) else { return };
    assert_close("stopped", run.passive_s("stopped"), number(&run.truth, "/stopped_s"), APART_S);
    assert_close("unknown", run.passive_s("unknown"), 0.0, 0.1);
}

/// A child that the recorder did not start is looked at now and then.
#[test]
fn a_child_while_its_parent_goes_on() {
    let Some(run) = stopped("child", "1.0", |pid, _| stop_for_a_while(pid)) else { return };
    assert_close("stopped", run.passive_s("stopped"), number(&run.truth, "/stopped_s"), APART_S);
    assert_close("unknown", run.passive_s("unknown"), 0.0, 0.15);
    let with_stops = run.threads.locations.iter().filter(|location| location.passive_s("stopped") > 0.0);
    assert_eq!(with_stops.count(), 1, "only the child was stopped");
}

/// The sleep lasts as long as it was asked to; of that it was stopped for a part.
#[test]
fn in_a_sleep() {
    let Some(run) = stopped("sleep", "2.0", |pid, _| stop_for_a_while(pid)) else { return };
    assert_close("stopped", run.passive_s("stopped"), run.true_s, APART_S);
    assert_close("asleep", run.passive_s("sleep"), 2.0 - run.true_s, APART_S);
}

/// Who waits for a lock of a process that is stopped waits for what stopped it.
#[test]
fn in_a_wait_for_a_lock() {
    let Some(run) = stopped("both", "1.0", |pid, _| stop_for_a_while(pid)) else { return };
    assert_close("both threads", run.passive_s("stopped"), 2.0 * run.true_s, 2.0 * APART_S);
    let lock_s: f64 = run.threads.locations.iter().filter_map(|l| l.accounts.get("lock")).sum();
    let wall_s = run.threads.locations.iter().map(|l| l.wall_s).fold(0.0, f64::max);
    assert_close("lock", lock_s, wall_s - run.true_s, APART_S + 0.1);
}

/// As Ctrl-Z does: who records is stopped, too.
#[test]
fn with_the_recorder() {
    let act = |_: i32, running: &Running| {
        signal(-running.pid(), libc::SIGSTOP);
        std::thread::sleep(STOPPED);
        signal(-running.pid(), libc::SIGCONT);
    };
    let Some(run) = stopped("compute", "1.0", act) else { return };
    assert_close("stopped", run.passive_s("stopped"), number(&run.truth, "/stopped_s"), APART_S);
}

#[test]
fn by_a_tracer() {
    let act = |pid: i32, _: &Running| {
        // SAFETY: plain system calls on a process of this story's; nothing of it is read or written.
        unsafe {
            let none = std::ptr::null_mut::<libc::c_void>();
            if libc::ptrace(libc::PTRACE_SEIZE, pid, none, none) != 0 {
                println!("SKIP: the system lets nobody trace: {}", std::io::Error::last_os_error());
                return;
            }
            assert_eq!(libc::ptrace(libc::PTRACE_INTERRUPT, pid, none, none), 0);
            let mut status = 0;
            assert_eq!(libc::waitpid(pid, &mut status, libc::__WALL), pid);
            std::thread::sleep(STOPPED);
            assert_eq!(libc::ptrace(libc::PTRACE_DETACH, pid, none, none), 0);
        }
    };
    let Some(run) = stopped("compute", "1.0", act) else { return };
    assert_close("stopped", run.passive_s("stopped"), number(&run.truth, "/stopped_s"), APART_S);
}

/// A busy machine keeps a process from running as well: that is no stop.
#[test]
fn nothing_is_stopped_that_only_waits_for_its_turn() {
    let Some(program) = built("stopped") else { return };
    let busy = || std::process::Command::new(&program).args(["compute", "60"]).stdout(Stdio::null()).spawn();
    let others: Vec<_> = (0..4).map(|_| busy().expect("a busy program")).collect();
    let run = stopped("compute", "1.0", |_, _| {});
    for mut other in others {
        let _ = other.kill();
        let _ = other.wait();
    }
    let Some(run) = run else { return };
    assert_close("stopped", run.passive_s("stopped"), 0.0, 1e-9);
}
