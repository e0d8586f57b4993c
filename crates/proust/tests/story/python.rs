//! Functions of Python without any option: their shares by the program's own clock, their lines, and what
//! their waits are for; by every interpreter that is here.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::chance::{Share, assert_shares};
use crate::programs::{built, folder};
use crate::recording::{Recorded, list, number, record, report};

/// Minor versions whose frames are read.
const READ: std::ops::RangeInclusive<u32> = 8..=15;

/// An interpreter, and its minor version.
pub struct Interpreter {
    pub path: PathBuf,
    minor: u32,
}

/// The interpreters here, each version once: the system's, those that `tests/pythons` unpacked, and those of
/// pyenv.
fn interpreters() -> Vec<Interpreter> {
    let mut known = vec![PathBuf::from("/usr/bin/python3"), PathBuf::from("python3")];
    let unpacked = fs::read_dir(folder().join("../target/pythons/usr/bin")).ok();
    known.extend(unpacked.into_iter().flatten().flatten().map(|program| program.path()));
    let root = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let root = root.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".pyenv")));
    let versions = root.and_then(|root| fs::read_dir(root.join("versions")).ok());
    known.extend(versions.into_iter().flatten().flatten().map(|version| version.path().join("bin/python3")));
    let mut found: Vec<Interpreter> = Vec::new();
    for path in known {
        // Which file it is and not a script that looks for one.
        let ask = "import sys; print(sys.version_info[0], sys.version_info[1], sys.executable)";
        let Ok(said) = Command::new(&path).args(["-c", ask]).output() else { continue };
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let mut words = said.split_whitespace();
        let (Some("3"), Some(minor), Some(path)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let Ok(minor) = minor.parse() else { continue };
        if found.iter().all(|known| known.minor != minor) {
            found.push(Interpreter { path: path.into(), minor });
        }
    }
    found
}

/// Those of which functions are read; says so where there are none.
pub fn read_interpreters() -> Vec<Interpreter> {
    let found: Vec<_> = interpreters().into_iter().filter(|one| READ.contains(&one.minor)).collect();
    if found.is_empty() {
        println!("SKIP: no Python 3.8 to 3.15 is installed");
    }
    found
}

/// The system's, the oldest and the newest of them.
pub fn few_interpreters() -> Vec<Interpreter> {
    let mut found = read_interpreters();
    let minors = || found.iter().map(|one| one.minor);
    let chosen: Vec<u32> = minors().take(1).chain(minors().min()).chain(minors().max()).collect();
    found.retain(|one| chosen.contains(&one.minor));
    found
}

pub fn script(name: &str) -> String {
    folder().join("python").join(name).to_str().expect("a path in UTF-8").to_owned()
}

/// `NAME SECONDS` for each line that the program printed.
fn printed(run: &Recorded) -> HashMap<String, f64> {
    let text = String::from_utf8_lossy(&run.ended.stdout);
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.filter_map(|(name, seconds)| Some((name.to_owned(), seconds.parse().ok()?))).collect()
}

/// A function's name as this version has it.
fn shown(name: &str, minor: u32) -> &str {
    match name {
        "step" if minor >= 11 => "Solver.step",
        name => name,
    }
}

#[test]
fn functions_have_the_shares_that_the_program_measured() {
    for python in read_interpreters() {
        let run = record(&python.path, &[script("shares.py")]).succeeded();
        let (truth, flat) = (printed(&run), run.flat());
        assert_eq!(truth.len(), 8, "{truth:?}");
        let total: f64 = truth.values().sum();
        let of = |name: &str| {
            let rows: Vec<_> = flat.functions.iter().filter(|row| row.function == name).collect();
            assert_eq!(rows.len(), 1, "{name} with 3.{}: {rows:?}", python.minor);
            rows[0]
        };
        let shares: Vec<Share> = truth
            .iter()
            .map(|(name, seconds)| Share {
                name: name.clone(),
                found: of(shown(name, python.minor)).amount("cpu_s").inclusive / total,
                truth: seconds / total,
            })
            .collect();
        assert_shares(&format!("Python 3.{}", python.minor), &shares, flat.total("samples"));
        for (name, line) in [("heavy", 27), ("recursive", 58), ("worker", 74)] {
            let row = of(name);
            assert!(row.file.as_deref().is_some_and(|file| file.ends_with("/shares.py")), "{row:?}");
            assert_eq!(row.line, Some(line), "{name}");
        }
        // Objects that were made where others had been freed have names of their own.
        let made = |name| of(name).amount("cpu_s").inclusive;
        let (first, second) = (made("first"), made("second"));
        assert!((first + second - truth["evaluated"]).abs() < 0.1, "{first} and {second}");
        assert!(first > 0.02 && second > 0.02, "{first} and {second}");
        // The evaluation itself is seen only in the few instructions in which it evaluates nothing yet, or
        // nothing any more.
        let bare = flat.functions.iter().filter(|row| row.function == "_PyEval_EvalFrameDefault");
        let bare: f64 = bare.map(|row| row.amount("cpu_s").inclusive).sum();
        assert!(bare < 0.02 * total, "3.{}: {bare} of {total}", python.minor);
    }
}

/// Functions of Python's library are left out above a script's; here is none, and what they call in C is not
/// the script's either.
#[test]
fn threads_that_execute_no_function_of_the_script_show_those_of_the_library() {
    for python in read_interpreters() {
        let run = record(&python.path, &[script("library_threads.py")]).succeeded();
        let (flat, threads) = (run.flat(), run.threads());
        let created = threads.locations.iter().filter(|one| one.thread != one.process);
        let created_s: f64 = created.map(|one| one.cpu_s).sum();
        let name = if python.minor >= 11 { "Thread.run" } else { "run" };
        let row = flat.functions.iter().find(|row| row.function == name);
        let found_s = row.map_or(0.0, |row| row.amount("cpu_s").inclusive);
        assert!(created_s > 0.1, "{threads:#?}");
        // A sample may come while the thread is started or ends.
        assert!(found_s > 0.8 * created_s, "3.{}: {found_s} of {created_s} s", python.minor);
    }
}

#[test]
fn time_is_shown_on_the_lines_that_execute() {
    for python in few_interpreters() {
        let run = record(&python.path, &[script("shares.py")]).succeeded();
        let page: Value = run.page("flat", &["--by", "line"]);
        // The two lines of the inner loop, and the one that asks for the time, with what they call.
        let of_burn: f64 = list(&page, "/rows")
            .iter()
            .filter(|row| row["file"].as_str().is_some_and(|file| file.ends_with("/shares.py")))
            .filter(|row| [17, 18, 19].contains(&row["line"].as_u64().unwrap_or(0)))
            .map(|row| row["metrics"]["cpu_s"]["inclusive"].as_f64().unwrap_or(0.0))
            .sum();
        let total: f64 = printed(&run).values().sum();
        assert!((0.9..1.1).contains(&(of_burn / total)), "3.{}: {of_burn} of {total}", python.minor);
    }
}

#[test]
fn waits_are_for_what_pythons_own_functions_say() {
    for python in read_interpreters() {
        let run = record(&python.path, &[script("waits.py")]).succeeded();
        let truth = printed(&run);
        let page: Value = run.page("waits", &[]);
        let of = |key: &str, id: &str| -> f64 {
            let rows = list(&page, "/operations").iter().filter(|row| row[key] == id);
            rows.map(|row| number(row, "/seconds")).sum()
        };
        for (id, found) in [
            ("lock", of("account", "lock")),
            ("barrier", of("account", "barrier")),
            ("condition", of("passive", "condition")),
            ("queue", of("passive", "queue")),
            ("join", of("passive", "join")),
        ] {
            let true_s = truth[id];
            // A condition and a lock of the library's stand in what else is waited for, if shortly.
            assert!(
                found > 0.9 * true_s && found < 1.5 * true_s,
                "3.{}: {id} {found} of {true_s}: {}",
                python.minor,
                report(&run.dir, "waits", &[] as &[&str]).printed()
            );
        }
    }
}

/// A library of an interpreter that is here, of a version that is read.
fn library() -> Option<PathBuf> {
    interpreters().into_iter().filter(|one| READ.contains(&one.minor)).find_map(|one| {
        let ask = "import sysconfig; get = sysconfig.get_config_var; print(get('LIBDIR'), get('LDLIBRARY'))";
        let said = Command::new(one.path).args(["-c", ask]).output().ok()?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let (folder, name) = said.trim().split_once(' ')?;
        let library = PathBuf::from(folder).join(name);
        (name.contains(".so") && library.exists()).then_some(library)
    })
}

/// The interpreter gives its lock back in functions of its own; the finding names what is executed under it.
#[test]
fn the_interpreters_lock_is_found_where_threads_compute() {
    for python in few_interpreters() {
        let run = record(&python.path, &[script("one_lock.py")]).succeeded();
        let page: Value = run.page("findings", &[]);
        let first = &list(&page, "/findings")[0];
        assert_eq!(first["kind"], "interpreter-lock", "3.{}: {first:#}", python.minor);
        assert_eq!(first["cause"]["function"], "collatz", "3.{}: {first:#}", python.minor);
        let line = number(first, "/cause/line");
        assert!((9.0..=12.0).contains(&line), "3.{}: {first:#}", python.minor);
    }
}

/// The program opens it and closes it before it ends: nothing is asked of it afterwards.
#[test]
fn an_interpreter_that_is_opened_and_closed_again() {
    let (Some(library), Some(program)) = (library(), built("embedded")) else {
        println!("SKIP: no library of Python 3.8 to 3.15 is installed");
        return;
    };
    let run = record(program, &[library]).succeeded();
    let (truth, flat) = (run.truth(), run.flat());
    let total = number(&truth, "/embedded") + number(&truth, "/after");
    let shares: Vec<Share> = ["embedded", "after"]
        .into_iter()
        .map(|name| Share {
            name: name.into(),
            found: flat.cpu(name).inclusive / total,
            truth: number(&truth, &format!("/{name}")) / total,
        })
        .collect();
    assert_shares("an embedded interpreter", &shares, flat.total("samples"));
}

/// A greenlet's evaluations stand on the stack of the one that started it, which is not its caller.
#[test]
fn greenlets_have_their_own_functions() {
    let python = folder().parent().expect("the repository").join("target/python-packages/bin/python");
    let has = |what: &str| {
        Command::new(&python).args(["-c", what]).output().is_ok_and(|done| done.status.success())
    };
    // Older ones do not say which of the evaluations on the stack are a greenlet's.
    if !has("import greenlet, sys; sys.exit(sys.version_info < (3, 11))") {
        println!("SKIP: no Python 3.11 or newer with greenlet: tests/all installs it");
        return;
    }
    let run = record(&python, &[script("greenlets.py")]).succeeded();
    let (truth, flat) = (printed(&run), run.flat());
    let total: f64 = truth.values().sum();
    let shares: Vec<Share> = ["left", "right"]
        .into_iter()
        .map(|name| Share {
            name: name.into(),
            found: flat.cpu(name).inclusive / total,
            truth: truth[name] / total,
        })
        .collect();
    assert_shares("greenlets", &shares, flat.total("samples"));
}

/// Other versions are recorded as machine code, and say what they would need.
#[test]
fn other_versions_are_recorded_as_they_are() {
    let Some(python) = interpreters().into_iter().find(|one| !READ.contains(&one.minor)) else {
        println!("SKIP: no Python older than 3.8 or newer than 3.15 is installed");
        return;
    };
    let run = record(&python.path, &[script("shares.py"), "0.2".to_owned()]).succeeded();
    assert_eq!(printed(&run).len(), 8);
    assert!(run.flat().functions.iter().all(|row| row.function != "heavy"));
}
