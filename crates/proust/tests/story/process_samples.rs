//! What whole processes had used and held: by themselves once a second and at their turning points, and when
//! somebody asks.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::chance::assert_close;
use crate::command::{proust, run, start};
use crate::programs::built;
use crate::recording::{empty_folder, list, number, page_of, record, truth_in};

fn of_reason<'a>(page: &'a Value, reason: &str) -> Vec<&'a Value> {
    list(page, "/samples").iter().filter(|sample| sample["reason"] == reason).collect()
}

#[test]
fn a_process_is_sampled_every_second_and_when_it_is_asked() {
    let Some(program) = built("paused") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("run");
    let mut command = proust();
    command
        .arg("record")
        .arg("-o")
        .arg(&dir)
        .arg("--")
        .arg(program)
        .args(["compute", "1.5"])
        .arg(folder.path());
    let running = start(command.stdin(Stdio::null()));
    let deadline = Instant::now() + Duration::from_secs(60);
    while !running.printed_so_far().contains("ready") {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(1300));
    for label in ["after setup", ""] {
        let asked = run(proust().arg("sample").arg(&dir).args(["--label", label]));
        assert!(asked.status.success(), "{}", asked.said());
    }
    assert!(!run(proust().arg("sample").arg(&dir).args(["--label", &"x".repeat(49)])).status.success());
    assert!(run(proust().arg("pause").arg(&dir)).status.success());
    std::fs::write(folder.path().join("pause"), "").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    std::fs::write(folder.path().join("resume"), "").unwrap();
    assert!(run(proust().arg("resume").arg(&dir)).status.success());
    let ended = running.wait();
    assert!(ended.status.success(), "{}", ended.said());
    let truth = truth_in(&ended);
    let page: Value = page_of(&dir, "samples", &[]);
    let count = |reason: &str| of_reason(&page, reason).len();
    assert_eq!((count("begin"), count("end"), count("pause"), count("resume")), (1, 1, 1, 1), "{page}");
    assert!((2..=30).contains(&count("period")), "{page}");
    let asked = of_reason(&page, "asked");
    let labels: Vec<Option<&str>> = asked.iter().map(|sample| sample["label"].as_str()).collect();
    assert_eq!(labels, [Some("after setup"), None]);
    let end = of_reason(&page, "end")[0];
    let cpu_s = number(&truth, "/wanted_s") + number(&truth, "/unwanted_s");
    assert_close("CPU time at the end", number(end, "/cpu_s"), cpu_s, 0.05);
    assert_eq!(number(end, "/threads"), 1.0);
    let all = list(&page, "/samples");
    for pair in all.windows(2) {
        for field in ["/time_s", "/cpu_s", "/minor_faults", "/peak_resident_bytes", "/voluntary_switches"] {
            assert!(number(&pair[0], field) <= number(&pair[1], field), "{field}: {pair:?}");
        }
    }
    for sample in all.iter().filter(|sample| sample["resident_bytes"].is_number()) {
        let resident = number(sample, "/resident_bytes");
        // The kernel adds up what each processor counted only now and then.
        assert!(resident > 0.0 && resident <= number(sample, "/peak_resident_bytes") + 1e6, "{sample}");
    }
    let first_second = page_of::<Value>(&dir, "samples", &["--where", "time=0s..0.5s"]);
    assert!(list(&first_second, "/samples").iter().all(|sample| number(sample, "/time_s") < 0.5));
    assert!(list(&first_second, "/samples").len() < all.len());
    between_samples(&dir, all);
}

/// What is between two samples is what is in the time from one to the other, on every page.
fn between_samples(dir: &std::path::Path, all: &[Value]) {
    let at = |reason: &str| all.iter().find(|sample| sample["reason"] == reason).unwrap();
    let (pause, resume) = (at("pause"), at("resume"));
    let (from, to) = (number(pause, "/number"), number(resume, "/number"));
    let times = format!("time={}s..{}s", pause["time_s"], resume["time_s"]);
    for page in ["summary", "tree", "flat", "threads", "ledger", "timeline", "samples", "waits", "quality"] {
        let of = |filter: &str| -> Value {
            let mut page = page_of::<Value>(dir, page, &["--where", filter]);
            // The filter itself.
            page.as_object_mut().unwrap().remove("notes");
            page
        };
        let by_time = of(&times);
        for filter in [format!("sample={from}..{to}"), "sample=pause..resume".into()] {
            assert_eq!(of(&filter), by_time, "{page} where {filter}, which is {times}");
        }
    }
    let numbers: Vec<f64> =
        list(&page_of::<Value>(dir, "samples", &["--where", "sample=pause..resume"]), "/samples")
            .iter()
            .map(|sample| number(sample, "/number"))
            .collect();
    assert_eq!((numbers.first(), numbers.last()), (Some(&from), Some(&to)));
    let ledger: Value = page_of(dir, "ledger", &["--where", "sample=pause..resume"]);
    let length_s = number(resume, "/time_s") - number(pause, "/time_s");
    assert_close("between pause and resume", number(&ledger, "/ledger/wall_s"), length_s, 0.001);
    let from_label = page_of::<Value>(dir, "samples", &["--where", "sample=\"after setup\".."]);
    assert_eq!(list(&from_label, "/samples")[0]["label"], "after setup");
    let nothing = run(proust().arg("report").arg(dir).args(["samples", "--where", "sample=after_setup.."]));
    assert!(nothing.said().contains("no sample of this run matches"), "{}", nothing.said());
    assert!(nothing.said().contains("after setup"), "{}", nothing.said());
    let wrong = run(proust().arg("report").arg(dir).args(["samples", "--where", "sample=mark"]));
    assert!(!wrong.status.success() && wrong.said().contains("expected two samples"), "{}", wrong.said());
}

#[test]
fn what_system_calls_move_is_there() {
    const BYTES: f64 = 4e9;
    let argument = format!("{BYTES}");
    let run = record("sh", &["-c", &format!("exec head -c {argument} /dev/zero > /dev/null")]).succeeded();
    let page: Value = run.page("samples", &[]);
    let end = of_reason(&page, "end").into_iter().next_back().expect("the end of head");
    if end["read_by_calls_bytes"].is_null() {
        println!("SKIP: head was done in 0.1 s");
        return;
    }
    let moved = number(end, "/read_by_calls_bytes");
    assert!((BYTES..BYTES * 1.01).contains(&moved), "{moved} of {BYTES} bytes: {end}");
    assert_eq!(of_reason(&page, "exec").len(), 1, "{page}");
}

#[test]
fn a_fork_is_a_sample_of_who_forks() {
    let Some(program) = built("process_tree") else { return };
    let run = record(&program, &["0.3"]).succeeded();
    let page: Value = run.page("samples", &[]);
    assert!(!of_reason(&page, "fork").is_empty(), "{page}");
}

/// The lines of the guide: gdb takes a sample each time it stops the program.
#[test]
fn a_debugger_takes_a_sample_when_it_stops_the_program() {
    if !crate::programs::has("gdb") {
        println!("SKIP: gdb is not installed");
        return;
    }
    let Some(program) = built("paused") else { return };
    let guide = include_str!("../../../../docs/pages/samples.md");
    let hook = guide.split("```\n").nth(1).expect("the lines for gdb");
    assert!(hook.starts_with("define hook-stop"), "{hook}");
    let folder = empty_folder();
    let dir = folder.path().join("run");
    let mut command = proust();
    command.arg("record").arg("-o").arg(&dir).arg("--").arg(program).args(["plain", "4"]).arg(folder.path());
    let running = start(command.stdin(Stdio::null()));
    let deadline = Instant::now() + Duration::from_secs(60);
    let pid = loop {
        let children = format!("/proc/{0}/task/{0}/children", running.pid());
        let children = std::fs::read_to_string(children).unwrap_or_default();
        let own = children.split_whitespace().map(str::to_owned).find(|pid| {
            std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe.ends_with("paused"))
        });
        if let Some(pid) = own {
            break pid;
        }
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(5));
    };
    std::thread::sleep(Duration::from_millis(300));
    let tested = proust().get_program().display().to_string();
    let hook =
        hook.replace("shell proust", &format!("shell {tested}")).replace("RUN", &dir.display().to_string());
    // Stops twice in a function that the program calls all the time.
    let stop = "tbreak clock_gettime\ncontinue\n";
    let script = format!("{hook}\n{stop}{stop}detach\nquit\n");
    let file = folder.path().join("script");
    std::fs::write(&file, script).unwrap();
    let mut gdb = std::process::Command::new("gdb");
    gdb.args(["-q", "-nx", "-batch", "-p", &pid, "-x"]).arg(&file).env_remove("LD_PRELOAD");
    let stopped = run(&mut gdb);
    let ended = running.wait();
    assert!(ended.status.success(), "{}", ended.said());
    if stopped.said().contains("ptrace") {
        println!("SKIP: gdb may not attach here: {}", stopped.said());
        return;
    }
    let page: Value = page_of(&dir, "samples", &[]);
    let stops = of_reason(&page, "asked");
    assert!(stops.len() >= 2, "{page}: {} {}", stopped.printed(), stopped.said());
    assert!(stops.iter().all(|sample| sample["label"] == "gdb stop"), "{page}");
}
