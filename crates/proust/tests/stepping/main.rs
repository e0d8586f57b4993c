//! At every instruction of the collector, on the way of every kind of call, a signal comes once: its handler
//! returns, jumps out, forks; or the process is killed there. After each of them the same call has to work,
//! and in the end the log has to be readable and the program to be measured as before.
//!
//! As a test it does a part of that: each call in two ways, at so many points, evenly spread. On its own:
//!
//! ```text
//! cargo test --release -p proust --test stepping -- --whole [--how return|jump|fork|kill] [--call NAME] \
//!     [--from CALL:POINT]
//! ```

mod laps;
mod path;
mod remains;
mod tracer;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use laps::Laps;

/// What the handler does.
const WAYS: [&str; 4] = ["return", "jump", "fork", "kill"];

/// Points of each call in a test that is not whole.
const FEW: usize = 3;

/// Lines of a program's errors that are told.
const MOST_ERRORS: usize = 5;

/// What was asked for.
#[derive(Clone, Debug, Default)]
struct Asked {
    how: Option<String>,
    call: Option<String>,
    /// Calls before this one are left out, and points before that one of it.
    from: Option<(String, usize)>,
    whole: bool,
}

impl Asked {
    fn is_whole(&self) -> bool {
        self.whole || self.call.is_some()
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let value = |flag: &str| {
        arguments.iter().position(|argument| argument == flag).and_then(|at| arguments.get(at + 1)).cloned()
    };
    if has("--list") {
        for way in WAYS.iter().filter(|_| !has("--ignored")) {
            println!("{way}: test");
        }
        return ExitCode::SUCCESS;
    }
    if let Some(call) = value("--inside") {
        let number = |flag| value(flag).and_then(|text| text.parse().ok()).unwrap_or(0);
        let program = PathBuf::from(value("--program").unwrap_or_default());
        let laps = Laps {
            program,
            call,
            how: value("--how").unwrap_or_default(),
            first: number("--first"),
            points: number("--points"),
        };
        println!("{}", laps.run().line());
        return ExitCode::SUCCESS;
    }
    let named = arguments.iter().find(|argument| WAYS.contains(&argument.as_str())).cloned();
    let asked = Asked {
        how: value("--how").or(named),
        call: value("--call"),
        from: value("--from").map(|text| match text.split_once(':') {
            Some((call, point)) => (call.to_owned(), point.parse().unwrap_or(0)),
            None => (text, 0),
        }),
        whole: has("--whole"),
    };
    all(&asked)
}

fn all(asked: &Asked) -> ExitCode {
    let Some(program) = built("stepped") else { return ExitCode::SUCCESS };
    let said = Command::new(&program).output().map(|output| output.stdout).unwrap_or_default();
    let mut calls: Vec<String> = String::from_utf8_lossy(&said).lines().map(str::to_owned).collect();
    if let Some((call, _)) = &asked.from {
        calls = calls.into_iter().skip_while(|one| one != call).collect();
    }
    let (mut passed, mut failed) = (0, 0);
    for (place, call) in calls.iter().enumerate() {
        if asked.call.as_ref().is_some_and(|wanted| wanted != call) {
            continue;
        }
        for (way, how) in WAYS.iter().enumerate() {
            let is_wanted = asked.how.as_ref().is_none_or(|wanted| wanted == how);
            // As a test, each call is tried in every other way, and the next call in the others.
            if !is_wanted || !asked.is_whole() && (place + way) % 2 == 1 {
                continue;
            }
            // In a forked child nobody is there to unlock it.
            if *how == "fork" && call == "mutex-held" {
                continue;
            }
            let first = asked.from.as_ref().filter(|(name, _)| name == call).map_or(0, |(_, point)| *point);
            let points = if asked.whole { usize::MAX } else { FEW };
            match one(&program, call, how, (first, points)) {
                Verdict::Skipped(why) => {
                    println!("SKIP: {why}");
                    return ExitCode::SUCCESS;
                }
                Verdict::Passed(said) => {
                    passed += 1;
                    println!("ok      {call} {how}: {said}");
                }
                Verdict::Failed(said) => {
                    failed += 1;
                    println!("FAILED  {call} {how}: {said}");
                }
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

enum Verdict {
    Passed(String),
    Failed(String),
    Skipped(String),
}

/// All laps of one call under one recording, and what the report says of it. `range`: the first point, and
/// how many.
fn one(program: &Path, call: &str, how: &str, range: (usize, usize)) -> Verdict {
    let (first, points) = range;
    let folder = tempfile::Builder::new().prefix("proust-stepping-").tempdir().expect("a temporary folder");
    let run = folder.path().join("run");
    let own = std::env::current_exe().expect("this program has a path");
    let mut record = Command::new(env!("CARGO_BIN_EXE_proust"));
    record.arg("record").arg("-o").arg(&run).arg("--").arg(own);
    record.args(["--inside", call, "--how", how, "--first", &first.to_string()]);
    record.args(["--points", &points.to_string()]);
    record.arg("--program").arg(program);
    let output = record.stdin(std::process::Stdio::null()).output().expect("proust can be started");
    let printed = String::from_utf8_lossy(&output.stdout);
    let Some(found) = printed.lines().rev().find_map(laps::Outcome::of_line) else {
        let said = String::from_utf8_lossy(&output.stderr);
        return Verdict::Failed(format!("no outcome: {printed}{said}"));
    };
    if let Some(why) = found.skipped {
        return Verdict::Skipped(why);
    }
    let mut wrong = found.wrong.clone();
    match report(&run, "quality") {
        None => wrong.push("there is no report".to_owned()),
        Some(page) => {
            let quality = &page["quality"];
            for (name, most) in [("damaged_bytes", 0.0), ("unread_logs", 0.0), ("account_residual", 1e-6)] {
                let seen = quality[name].as_f64().unwrap_or(f64::NAN);
                if seen.is_nan() || seen.abs() > most {
                    wrong.push(format!("{name} is {seen}"));
                }
            }
        }
    }
    if how != "kill" {
        let late_s = report(&run, "flat").map_or(0.0, |page| cpu_of(&page, "late_work"));
        if late_s < 0.7 * found.late_s {
            wrong.push(format!("{late_s} s of {} s of late work found", found.late_s));
        }
    }
    let said = format!("{} of {} points, {} reached", found.tried, found.points, found.reached);
    if found.reached == 0 {
        wrong.push("no point was reached".to_owned());
    }
    if wrong.is_empty() {
        return Verdict::Passed(said);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    wrong.extend(
        errors.lines().filter(|line| !line.starts_with("proust:")).take(MOST_ERRORS).map(str::to_owned),
    );
    let kept = folder.keep();
    Verdict::Failed(format!(
        "{said}\n        {}\n        the run: {}",
        wrong.join("\n        "),
        kept.display()
    ))
}

fn report(run: &Path, page: &str) -> Option<serde_json::Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proust"));
    let output = command.arg("report").arg(run).args([page, "--format", "json"]).output().ok()?;
    serde_json::from_slice(&output.stdout).ok()
}

/// CPU seconds of a function, on the page of functions.
fn cpu_of(page: &serde_json::Value, function: &str) -> f64 {
    let rows = page["functions"].as_array().map_or(&[][..], Vec::as_slice);
    let row = rows.iter().find(|row| row["function"] == function);
    row.and_then(|row| row["metrics"]["cpu_s"]["inclusive"].as_f64()).unwrap_or(0.0)
}

/// The program of that name, up to date; None, said as `SKIP:`, where it cannot be built.
fn built(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let file = folder.join("build").join(name);
    let _ = std::fs::create_dir_all(folder.join("build"));
    let command = format!("flock build/.lock make -s build/{name}");
    let done = Command::new("sh").args(["-c", &command]).current_dir(&folder).status();
    if !done.is_ok_and(|status| status.success()) || !file.exists() {
        println!("SKIP: {name} cannot be built here");
        return None;
    }
    file.canonicalize().ok()
}
