//! Programs whose use of the processors a user can tell at a glance: the account says the same.
//!
//! The truth is when each thread had something to do, by the program's own clock. From that the number of
//! processors follows, and with it every second of the account.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use serde_json::Value;

use crate::chance::assert_close;
use crate::command::run;
use crate::explained::Except;
use crate::pages::{Location, Summary};
use crate::programs::built;
use crate::recording::{Recorded, empty_folder, list, number, record, truth_in};

/// When threads had something to do.
struct Activity {
    times: Vec<(f64, f64)>,
    lifetime_s: f64,
    cpu_s: f64,
}

impl Activity {
    fn of<'t>(truths: impl IntoIterator<Item = &'t Value>, lifetime_s: f64) -> Activity {
        let mut activity = Activity { times: Vec::new(), lifetime_s, cpu_s: 0.0 };
        for truth in truths {
            activity.cpu_s += number(truth, "/cpu_s");
            let times = list(truth, "/active").iter().map(|time| (number(time, "/0"), number(time, "/1")));
            activity.times.extend(times);
        }
        activity
    }

    /// How long so many threads were active, by their number; none of them at 0.
    fn seconds_by_active(&self) -> Vec<f64> {
        let mut steps: Vec<(f64, isize)> =
            self.times.iter().flat_map(|&(begin, end)| [(begin, 1), (end, -1)]).collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut seconds = vec![0.0; self.times.len() + 1];
        let (mut active, mut since) = (0, steps.first().map_or(0.0, |step| step.0));
        for (time, step) in steps {
            seconds[active as usize] += time - since;
            (active, since) = (active + step, time);
        }
        seconds[0] = self.lifetime_s - seconds[1..].iter().sum::<f64>();
        seconds
    }

    /// The largest number of threads that were active at once for this share of the time.
    fn processors(&self, share: f64) -> f64 {
        let seconds = self.seconds_by_active();
        let at_least = |k: usize| seconds[k..].iter().sum::<f64>();
        (1..seconds.len()).rev().find(|&k| at_least(k) >= share * self.lifetime_s).unwrap_or(1) as f64
    }

    /// ∫ of what `of` makes of the number of active threads.
    fn integral(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.seconds_by_active().iter().enumerate().map(|(active, seconds)| of(active as f64) * seconds).sum()
    }
}

/// What of a run's activity the programs do not see: their loading, their threads' begins and ends.
const OF_PROCESS_S: f64 = 0.025;
const OF_THREAD_S: f64 = 0.000_5;
/// And of the time without a processor: on a busy machine it comes anywhere.
const OF_QUEUE: f64 = 0.1;
/// Threads for each processor that are a crowd.
const CROWD: f64 = 8.0;

/// Fails unless the account is that of a program which was active at these times and waited for nobody.
fn assert_account(what: &str, run: &Recorded, truths: &[Value]) -> Summary {
    let summary = run.summary();
    let activity = Activity::of(truths, summary.run.wall_s);
    let (ledger, processors) = (&summary.ledger, summary.run.processors);
    let queued = ledger.account_s("oversubscribed") + ledger.account_s("preempted");
    // Where threads queue they do so at their begins and ends, too, which the program does not see. One more
    // at work for a hundredth of the time is one more processor.
    let threads = summary.run.threads as f64;
    let unseen = if queued > 0.01 * summary.run.wall_s { 1.0 + 0.1 * threads } else { 0.0 };
    // Never more than there are.
    let available = summary.run.available_processors;
    let (least, most) = (activity.processors(0.02), activity.processors(0.005) + unseen);
    let (least, most) = (least.min(available), most.min(available));
    assert!(
        processors >= least && processors <= most,
        "{what}: {processors} processors, {least} to {most} by the program's clock: {summary:#?}"
    );

    let of = |ids: &[&str]| ids.iter().map(|id| ledger.account_s(id)).sum::<f64>();
    let unseen = OF_PROCESS_S * summary.run.processes as f64
        + OF_THREAD_S * summary.run.threads as f64
        + OF_QUEUE * of(&["oversubscribed", "preempted"]);
    let share = 0.03;
    let assert_within = |account: &str, found: f64, truth: f64, allowed: f64| {
        let allowed = share * truth + allowed;
        assert!(
            (found - truth).abs() <= allowed,
            "{what}: {account}: {found:.4} s in the report, {truth:.4} s by the program's clock, \
             {allowed:.4} s allowed: {summary:#?}"
        );
    };
    let assert_near = |account: &str, found: f64, truth: f64, slots: f64| {
        assert_within(account, found, truth, unseen * slots.max(1.0));
    };
    assert_near("total", ledger.total_s, activity.integral(|_| processors), processors);
    let beyond = activity.integral(|active| (active - processors).max(0.0));
    assert_near("beyond", ledger.beyond.values().sum(), beyond, processors);
    assert_near("compute", of(&["compute", "fault", "measurement", "io"]), activity.cpu_s, 1.0);
    let working =
        of(&["compute", "fault", "measurement", "io", "oversubscribed", "preempted", "unattributed"]);
    // In a crowd each thread queues behind all others when it begins and ends: that is most of its queueing.
    let crowded = if threads > CROWD * available { queued } else { 0.0 };
    assert_within("working", working, activity.integral(|active| active), unseen + crowded);
    let serial = activity.integral(|active| if active > 0.0 { (processors - active).max(0.0) } else { 0.0 });
    assert_near("serial", of(&["serial"]), serial, processors);
    let asleep = activity.integral(|active| if active > 0.0 { 0.0 } else { processors });
    assert_near("asleep", of(&["asleep"]), asleep, processors);
    assert_near("lock and barrier", of(&["lock", "barrier"]), 0.0, 1.0);
    summary
}

fn assert_case(arguments: &[&str]) -> Option<(Recorded, Summary)> {
    let run = record(built("ledger")?, arguments).succeeded();
    let summary = assert_account(arguments[1], &run, &[run.truth()]);
    Some((run, summary))
}

#[test]
fn one_busy_thread() {
    let Some((_run, summary)) = assert_case(&["1", "busy"]) else { return };
    assert_eq!(summary.run.processors, 1.0);
}

#[test]
fn a_burst_of_64_threads_too_short_to_count() {
    assert_case(&["4", "burst", "0.004"]);
}

#[test]
fn a_burst_of_64_threads_that_counts() {
    assert_case(&["2", "burst", "0.03"]);
}

#[test]
fn a_pool_of_four_with_main_in_join() {
    let Some((run, summary)) = assert_case(&["1", "pool"]) else { return };
    assert!(summary.run.processors >= summary.run.available_processors.min(4.0), "{summary:#?}");
    let threads = run.threads();
    let main = threads.thread(number(&run.truth(), "/pid") as u64);
    assert!(main.passive_s("join") >= 0.9 * main.wall_s - 0.03, "{main:#?}");
}

#[test]
fn producer_and_consumer() {
    let Some((run, _)) = assert_case(&["1", "producers"]) else { return };
    // The consumer waits for four fifths of the time; the producer never.
    let conditions: f64 = run.threads().locations.iter().map(|one| one.passive_s("condition")).sum();
    let truth = run.truth();
    let wall = number(&truth, "/ended") - number(&truth, "/began");
    assert!(conditions > 0.3 * wall && conditions < wall, "{conditions} s of {wall} s");
}

#[test]
fn a_server_that_is_hardly_busy() {
    let Some((run, _)) = assert_case(&["2", "server", "0.05"]) else { return };
    let threads = run.threads();
    let main = threads.thread(number(&run.truth(), "/pid") as u64);
    // On a busy machine it wakes late.
    let queued = main.account_s("preempted") + main.account_s("oversubscribed");
    assert!(main.passive_s("sleep") + queued >= 0.8 * main.wall_s, "{main:#?}");
}

#[test]
fn many_sleeping_threads() {
    let Some((run, summary)) = assert_case(&["2", "sleepers"]) else { return };
    run.except(Except::ManyNewThreads);
    assert_eq!(summary.run.threads, 201);
    let threads = run.threads();
    let sleepers = threads.locations.iter().filter(|one| one.thread != one.process);
    for sleeper in sleepers {
        // On a busy machine threads wake late, and some begin late: new stacks need a lock of the kernel. How
        // much of that there may be is said for all recordings.
        let queued = sleeper.account_s("preempted") + sleeper.account_s("oversubscribed");
        let asleep = sleeper.passive_s("sleep") + sleeper.passive_s("unknown");
        assert!(asleep + queued >= 0.97 * sleeper.wall_s - 0.01, "{sleeper:#?}");
    }
}

/// The truths in the files of a folder.
fn truths_in(folder: &std::path::Path) -> Vec<Value> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "truth"));
    files.sort();
    files.iter().map(|file| serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()).collect()
}

#[test]
fn two_commands_of_a_shell_at_once() {
    let Some(program) = built("ledger") else { return };
    let (program, folder) = (program.display(), empty_folder());
    let to = folder.path().display();
    let command = format!("'{program}' 1 busy >'{to}/a.truth' & '{program}' 0.5 busy >'{to}/b.truth'; wait");
    let run = record("sh", &["-c", &command]).succeeded();
    let summary = assert_account("sh", &run, &truths_in(folder.path()));
    assert!(summary.run.processors >= 2.0, "{summary:#?}");
    assert_eq!(summary.run.processes, 3);
}

#[test]
fn make_with_a_serial_link_step() {
    let Some(program) = built("ledger") else { return };
    let (program, folder) = (program.display(), empty_folder());
    let compile = |name: &str, seconds: f64| format!("\t'{program}' {seconds} busy >{name}.truth\n");
    let makefile = format!(
        "linked: one two three four\n{}\none two three four:\n{}",
        compile("link", 0.6),
        compile("$@", 0.3)
    );
    fs::write(folder.path().join("Makefile"), makefile).unwrap();
    if run(Command::new("make").arg("--version")).status.code() != Some(0) {
        println!("SKIP: make is not installed");
        return;
    }
    let run = record("make", &["--no-print-directory", "-s", "-j2", "-C", folder.path().to_str().unwrap()])
        .succeeded();
    let truths = truths_in(folder.path());
    assert_eq!(truths.len(), 5);
    let summary = assert_account("make", &run, &truths);
    assert!(summary.run.processors >= 2.0, "{summary:#?}");
    assert!(summary.ledger.account_s("serial") >= 0.55, "the link step: {summary:#?}");
}

/// A command that does nothing but wait: one processor, asleep for all of the time.
fn assert_asleep(command: &str, reasons: &[&str]) {
    let run = record("sh", &["-c", command]).succeeded();
    let summary = run.summary();
    let (ledger, wall) = (&summary.ledger, summary.run.wall_s);
    let processes = OF_PROCESS_S * summary.run.processes as f64;
    assert!(wall >= 1.0, "{summary:#?}");
    // On a busy machine starting alone can mean to queue, two at once, for more than 1 % of the time.
    let queued = ledger.account_s("preempted") + ledger.account_s("oversubscribed");
    let processors = summary.run.processors;
    assert!(processors == 1.0 || processors == 2.0 && queued > 0.005 * wall, "{summary:#?}");
    assert_close("the total is the time", ledger.total_s, processors * wall, 0.01 * wall + processes);
    assert!(
        ledger.account_s("asleep") >= ledger.total_s - processors * (processes + queued + 0.02),
        "{summary:#?}"
    );
    let threads = run.threads();
    for reason in reasons {
        // On a busy machine the processes of a pipeline start late and wake late.
        let in_it = threads.locations.iter().filter(|one| one.passive_s(reason) > 0.0);
        let queued = |one: &Location| one.account_s("preempted") + one.account_s("oversubscribed");
        let seconds: f64 = in_it.map(|one| one.passive_s(reason) + queued(one)).sum();
        assert!(seconds >= 0.8 * wall - processes, "{reason}: {seconds} s of {wall} s: {threads:#?}");
    }
}

#[test]
fn a_shell_that_sleeps() {
    assert_asleep("sleep 1; true", &["sleep", "wait"]);
}

#[test]
fn a_pipeline_that_sleeps() {
    assert_asleep("sleep 1 | cat", &["sleep", "pipe", "wait"]);
}

#[test]
fn a_program_killed_with_parked_workers() {
    let Some(program) = built("hostile_waits") else { return };
    let run = record(program, &["1", "killed"]);
    assert_eq!(run.ended.status.signal(), Some(libc::SIGKILL), "{}", run.ended.said());
    run.except(Except::Killed);
    let summary = run.summary();
    let ledger = &summary.ledger;
    let truth = run.truth();
    let wall = number(&truth, "/wall_s");
    // One thread waits for itself from begin to end, and main works for half of the time.
    assert_eq!(summary.run.processors, 2.0, "{summary:#?}");
    assert_close("the total", ledger.total_s, 2.0 * wall, 0.03 * wall + 0.1);
    let burned = number(&truth, "/cpu_s");
    assert_close("compute", ledger.account_s("compute"), burned, 0.03 * burned + 0.03);
    // While nobody works, the empty slot is charged to the wait.
    let working = burned + ledger.account_s("preempted") + ledger.account_s("oversubscribed");
    assert_close("lock", ledger.account_s("lock"), 2.0 * wall - working, 0.05 * wall + 0.1);
    let conditions: f64 = run.threads().locations.iter().map(|one| one.passive_s("condition")).sum();
    assert_close("conditions", conditions, 8.0 * wall, 0.05 * wall + 0.3);
}

const TWO_PYTHON_THREADS: &str = r#"
import json, threading, time
def work(truth):
    began, cpu = time.monotonic(), time.thread_time()
    x = 1
    while time.monotonic() - began < 1.5:
        for _ in range(1000):
            x = x * 3 % 1000003
    truth.update(tid=threading.get_native_id(), wall_s=time.monotonic() - began)
    truth.update(cpu_s=time.thread_time() - cpu)
truths = [{}, {}]
threads = [threading.Thread(target=work, args=(truth,)) for truth in truths]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps({"threads": truths}))
"#;

#[test]
fn two_threads_of_python_share_its_lock() {
    let found = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let Some(python) = found.ok().filter(|found| found.status.success()) else {
        println!("SKIP: python3 is not installed");
        return;
    };
    let python = String::from_utf8(python.stdout).unwrap();
    let run = record(python.trim(), &["-c", TWO_PYTHON_THREADS]).succeeded();
    let threads = run.threads();
    for thread in list(&truth_in(&run.ended), "/threads") {
        let location = threads.thread(number(thread, "/tid") as u64);
        // What is not on the processor is in the queue for it, or for the lock.
        let off = number(thread, "/wall_s") - number(thread, "/cpu_s");
        let queued = location.account_s("preempted") + location.account_s("oversubscribed");
        let lock = location.account_s("lock");
        assert!(
            lock <= off * 1.02 + 0.02 && lock + queued >= off * 0.95 - 0.02,
            "{off} s off the processor: {location:#?}"
        );
    }
}
