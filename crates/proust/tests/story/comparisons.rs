//! `proust diff`: two versions of a program, whose differences it knows itself; the same program twice, on a
//! busy machine.
//!
//! What is compared is CPU time, since the machine may be loaded: wall time and waits then change by
//! themselves.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::command::{Ended, proust, run};
use crate::load::Load;
use crate::pages::Summary;
use crate::programs::built;
use crate::recording::{empty_folder, list, number, page_of, truth_in};
use crate::tier;

/// How much longer the programs work than they do by themselves.
const SCALE: &str = "3";

/// A folder with recorded runs. The programs in it are all called `solve`, as the versions of one program
/// are.
struct Runs {
    folder: TempDir,
}

impl Runs {
    fn new() -> Runs {
        Runs { folder: empty_folder() }
    }

    fn dir(&self, run: &str) -> PathBuf {
        self.folder.path().join(run)
    }

    /// Records a version of the program; what it says of itself.
    fn record(&self, name: &str, version: &Path) -> Value {
        let own = self.dir(&format!("{name}-program"));
        fs::create_dir_all(&own).unwrap();
        let program = own.join("solve");
        fs::copy(version, &program).unwrap();
        let mut command = proust();
        command.arg("record").arg("-o").arg(self.dir(name)).arg("--").arg(program).arg(SCALE);
        let ended = run(&mut command);
        assert!(ended.status.success(), "{}", ended.said());
        truth_in(&ended)
    }

    /// Records a version until it had a processor for most of the time that it wanted one; None, said as
    /// `SKIP:`, if it never has. What others take from a run makes differences uncertain, and that is said of
    /// them.
    fn record_in_peace(&self, name: &str, version: &Path) -> Option<Value> {
        for _ in 0..4 {
            fs::remove_dir_all(self.dir(name)).ok();
            let truth = self.record(name, version);
            let ledger = page_of::<Summary>(&self.dir(name), "summary", &[]).ledger;
            if ledger.account_s("preempted") < ledger.account_s("compute") {
                return Some(truth);
            }
        }
        println!("SKIP: other programs have the processors most of the time");
        None
    }

    fn diff(&self, a: &str, b: &str, options: &[&str]) -> Ended {
        run(proust().current_dir(self.folder.path()).args(["diff", a, b]).args(options))
    }

    fn page(&self, a: &str, b: &str, options: &[&str]) -> Value {
        let mut all = options.to_vec();
        all.extend(["--format", "json", "--metrics", "cpu_s"]);
        let ended = self.diff(a, b, &all);
        assert!(ended.status.success(), "{}", ended.said());
        serde_json::from_slice(&ended.stdout).unwrap()
    }
}

fn function<'v>(page: &'v Value, name: &str) -> &'v Value {
    let found = list(page, "/functions").iter().find(|row| row["function"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {page:#}"))
}

/// What is said of the exclusive CPU time of a function.
fn cpu<'v>(page: &'v Value, name: &str) -> &'v Value {
    &function(page, name)["metrics"]["cpu_s"]["exclusive"]
}

/// What is the same within the margin, or undecided: nothing that a test may tell apart.
const UNCHANGED: &str = "unchanged";

/// `more`, `less`, or [`UNCHANGED`].
fn verdict_of(change: &Value) -> &str {
    match change["verdict"].as_str() {
        Some("same" | "undecided") => UNCHANGED,
        Some(verdict) => verdict,
        None => panic!("no change: {change:#}"),
    }
}

#[test]
fn two_versions_differ_by_what_was_changed() {
    let (Some(before), Some(after)) = (built("compared"), built("compared-improved")) else { return };
    let runs = Runs::new();
    let Some(truth_a) = runs.record_in_peace("a", &before) else { return };
    let Some(truth_b) = runs.record_in_peace("b", &after) else { return };
    let page = runs.page("a", "b", &["flat"]);
    for (name, verdict) in
        [("solve", "less"), ("store_result", "less"), ("pack_result", "more"), ("prepare", UNCHANGED)]
    {
        let change = cpu(&page, name);
        assert_eq!(verdict_of(change), verdict, "{name}: {change:#}");
        let expected = number(&truth_b, &format!("/{name}")) - number(&truth_a, &format!("/{name}"));
        // The errors of the samples, and what a busy machine does to a clock that is read less often than
        // they.
        let off =
            4.0 * number(change, "/error") + 0.05 * number(change, "/a").max(number(change, "/b")) + 0.01;
        let delta = number(change, "/delta");
        assert!((delta - expected).abs() <= off, "{name}: {delta} is not {expected}, by {off}");
    }
    let (new, gone) = (function(&page, "pack_result"), function(&page, "store_result"));
    assert_eq!((&new["in_a"], &new["in_b"]), (&Value::Bool(false), &Value::Bool(true)));
    assert_eq!((&gone["in_a"], &gone["in_b"]), (&Value::Bool(true), &Value::Bool(false)));
    // The differences of the functions sum up to that of the program.
    let sum: f64 =
        list(&page, "/functions").iter().map(|row| number(row, "/metrics/cpu_s/exclusive/delta")).sum();
    assert!((sum - number(&page, "/totals/cpu_s/delta")).abs() < 1e-6);
    // Beside a third side the second one is as without it; and a run does not differ from itself.
    let options = ["a", "flat", "--format", "json", "--metrics", "cpu_s"];
    let ended = runs.diff("a", "b", &options);
    assert!(ended.status.success(), "{}", ended.said());
    let three: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let [of_b, of_a] = list(&three, "/comparisons") else { panic!("two comparisons: {three:#}") };
    assert_eq!((&of_b["side"], &of_a["side"]), (&"B".into(), &"C".into()));
    assert_eq!(cpu(of_b, "solve"), cpu(&page, "solve"));
    for row in list(of_a, "/functions").iter().filter(|row| row["in_a"] == true) {
        let change = &row["metrics"]["cpu_s"]["exclusive"];
        assert_eq!(number(change, "/delta"), 0.0, "{row:#}");
    }
    // Of the two calls of one function only the second one changed, although both are on other lines.
    let tree = runs.page("a", "b", &["tree"]);
    let mut calls: Vec<&Value> = (list(&tree, "/contexts").iter())
        .filter(|row| row["name"] == "solve" && row["kind"] == "frame")
        .collect();
    calls.sort_by_key(|row| row["line"].as_u64());
    let verdicts: Vec<&str> =
        calls.iter().map(|row| verdict_of(&row["metrics"]["cpu_s"]["inclusive"])).collect();
    assert_eq!(verdicts, [UNCHANGED, "less"], "{calls:#?}");
}

#[test]
fn moved_lines_do_not_differ() {
    let (Some(before), Some(after)) = (built("compared"), built("compared-moved")) else { return };
    let runs = Runs::new();
    runs.record("a", &before);
    runs.record("b", &after);
    let tree = runs.page("a", "b", &["tree"]);
    for row in list(&tree, "/contexts") {
        let change = &row["metrics"]["cpu_s"]["inclusive"];
        // A sample more or less may fall into what takes nearly nothing.
        let largest = number(change, "/a").max(number(change, "/b"));
        if row["kind"] == "frame" && largest > 0.05 {
            assert_eq!(verdict_of(change), UNCHANGED, "{row:#}");
            assert!(row["a"].is_string() && row["b"].is_string(), "{row:#}");
        }
    }
}

#[test]
fn functions_compare_without_debug_information() {
    let (Some(before), Some(after)) = (built("compared-slowed"), built("compared-nodebug")) else { return };
    let runs = Runs::new();
    if runs.record_in_peace("a", &before).is_none() || runs.record_in_peace("b", &after).is_none() {
        return;
    }
    let page = runs.page("a", "b", &["flat"]);
    assert_eq!(cpu(&page, "prepare")["verdict"], "less", "{page:#}");
    for name in ["solve", "store_result"] {
        assert_eq!(verdict_of(cpu(&page, name)), UNCHANGED, "{page:#}");
        assert_eq!(
            (&function(&page, name)["in_a"], &function(&page, name)["in_b"]),
            (&true.into(), &true.into())
        );
    }
    let cautions = list(&page, "/cautions");
    assert!(cautions.iter().any(|caution| caution["id"] == "no-lines"), "{cautions:#?}");
}

#[test]
fn limits_decide_the_exit_code() {
    let (Some(before), Some(after)) = (built("compared"), built("compared-slowed")) else { return };
    let runs = Runs::new();
    if runs.record_in_peace("a", &before).is_none() || runs.record_in_peace("b", &after).is_none() {
        return;
    }
    for (a, b, limit, code) in [
        // A run that takes 11 parts, where it took 8.
        ("a", "b", "cpu>+5%", 4),
        ("b", "a", "cpu>+5%", 0),
        ("b", "a", "cpu<-5%", 4),
        ("a", "b", "compute>+1ms", 4),
        ("a", "b", "compute>+1000s", 0),
        ("a", "a", "cpu>+0%", 0),
        ("a", "b", "compute>+many", 2),
        ("a", "b", "comptue>+5%", 2),
    ] {
        let ended = runs.diff(a, b, &["--fail-if", limit]);
        assert_eq!(ended.status.code(), Some(code), "{a} {b} {limit}: {}{}", ended.printed(), ended.said());
        assert_eq!(ended.said().contains(limit), code != 0, "{limit}: {}", ended.said());
    }
    // Several limits, of which one is exceeded.
    let ended = runs.diff("a", "b", &["--fail-if", "compute>+1000s", "--fail-if", "cpu>+5%"]);
    assert_eq!(ended.status.code(), Some(4), "{}", ended.said());
}

/// Everything that is said of seconds of a page, below a pointer.
fn verdicts(value: &Value) -> Vec<&Value> {
    let mut found = Vec::new();
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        if value.get("verdict").is_some() {
            found.push(value);
        }
        match value {
            Value::Object(map) => stack.extend(map.values()),
            Value::Array(all) => stack.extend(all),
            _ => {}
        }
    }
    found
}

#[test]
fn the_same_program_does_not_change_on_a_busy_machine() {
    let Some(program) = built("compared") else { return };
    let runs = Runs::new();
    let _load = Load::begin(std::thread::available_parallelism().map_or(2, usize::from));
    let pairs = if tier::is_nightly() { 20 } else { 10 };
    let names: Vec<String> = (0..=pairs).map(|n| format!("r{n}")).collect();
    for name in &names {
        runs.record(name, &program);
    }
    for pair in names.windows(2) {
        let ended = runs.diff(&pair[0], &pair[1], &["--format", "json"]);
        assert!(ended.status.success(), "{}", ended.said());
        let page: Value = serde_json::from_slice(&ended.stdout).unwrap();
        for change in verdicts(&page) {
            assert_eq!(verdict_of(change), UNCHANGED, "{pair:?}: {change:#} in {page:#}");
        }
    }
    // Repetitions of the same are the same, too: in turn, since the load of others comes and goes.
    let in_turn = |first: usize| names[first..pairs].iter().step_by(2).cloned().collect::<Vec<_>>().join(",");
    let ended = runs.diff(&in_turn(0), &in_turn(1), &["--format", "json"]);
    let page: Value = serde_json::from_slice(&ended.stdout).unwrap();
    for change in verdicts(&page) {
        assert_eq!(change["certain"], false, "{change:#} in {page:#}");
    }
}

#[test]
fn what_cannot_be_compared_is_told() {
    let Some(program) = built("compared") else { return };
    let runs = Runs::new();
    runs.record("a", &program);
    let folder = runs.folder.path();
    fs::create_dir(folder.join("empty")).unwrap();
    for (words, code, expected) in [
        (&["diff"][..], 2, "name two runs"),
        (&["diff", "a"][..], 2, "compared with nothing"),
        (&["diff", "a", "nowhere"][..], 1, "there is no folder nowhere"),
        (&["diff", "a", "empty"][..], 1, "holds no run"),
        (&["diff", "a,a", "a"][..], 2, "named twice"),
        (&["diff", "a", "a", "trea"][..], 2, "did you mean `tree`?"),
        (&["diff", "a", "a", "callers", "sovle"][..], 2, "did you mean solve"),
        (&["diff", "a", "a", "flat", "--metrics", "beauty"][..], 2, "there is no metric `beauty`"),
        (&["diff", "a", "a", "nowhere"][..], 2, "there is no folder `nowhere`"),
        (&["diff", "a", "a"][..], 0, ""),
    ] {
        let ended = run(proust().current_dir(folder).args(words));
        assert_eq!(ended.status.code(), Some(code), "{words:?}: {}", ended.said());
        assert!(ended.said().contains(expected), "{words:?}: {}", ended.said());
    }
    let itself = run(proust().current_dir(folder).args(["diff", "a", "a"]));
    assert!(itself.printed().contains("is on more than one side"), "{}", itself.printed());
    // A run that lost its logs is compared by its profile; one of which the profile is of another version is
    // made anew.
    let kept = folder.join("a/profile");
    assert!(kept.exists());
    fs::remove_dir_all(kept).unwrap();
    assert!(run(proust().current_dir(folder).args(["diff", "a", "a"])).status.success());
}

#[test]
fn programs_and_arguments_that_differ_are_told() {
    let (Some(one), Some(other)) = (built("compared"), built("waits")) else { return };
    let folder = empty_folder();
    let record = |dir: &str, program: &Path, argument: &str| {
        let mut command = proust();
        command.current_dir(folder.path()).args(["record", "-o", dir, "--"]).arg(program).arg(argument);
        assert!(run(&mut command).status.success());
    };
    record("a", &one, "0.5");
    record("b", &one, "1");
    record("c", &other, "0.05");
    let cautions = |b: &str| {
        let ended = run(proust().current_dir(folder.path()).args(["diff", "a", b, "--format", "json"]));
        let page: Value = serde_json::from_slice(&ended.stdout).unwrap();
        let ids = list(&page, "/cautions").iter().map(|caution| caution["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<String>>()
    };
    assert!(cautions("b").contains(&"other-arguments".to_owned()), "{:?}", cautions("b"));
    assert!(cautions("c").contains(&"other-program".to_owned()), "{:?}", cautions("c"));
}

/// A folder with two sweeps, `old` and `new`, over one and two threads, each twice.
fn sweeps(before: &Path, after: &Path) -> TempDir {
    let folder = empty_folder();
    for (dir, program) in [("old", before), ("new", after)] {
        let mut command = proust();
        command.current_dir(folder.path()).args([
            "sweep",
            "--threads",
            "1,2",
            "--repeat",
            "2",
            "-o",
            dir,
            "--",
        ]);
        let ended = run(command.arg(program).args(["1", "{n}"]));
        assert!(ended.status.success(), "{}", ended.said());
    }
    folder
}

fn diff_in(folder: &TempDir, options: &[&str]) -> Ended {
    run(proust().current_dir(folder.path()).args(["diff", "old", "new"]).args(options))
}

#[test]
fn the_repetitions_of_a_sweep_are_a_side() {
    let (Some(before), Some(after)) = (built("compared"), built("compared-slowed")) else { return };
    let folder = sweeps(&before, &after);
    let ended = diff_in(&folder, &["flat", "--at", "threads=2", "--format", "json", "--metrics", "cpu_s"]);
    let page: Value = serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.said()));
    assert_eq!(list(&page, "/sides/a/runs").len(), 2, "{page:#}");
    assert_eq!(cpu(&page, "prepare")["verdict"], "more", "{page:#}");
    for (options, expected) in [
        (&["flat", "--at", "threads=8"][..], "has no point"),
        (&["flat", "--at", "cores=8"][..], "has no axis `cores`; it has threads"),
        (&["flat"][..], "--at threads=2"),
        (&["--fail-if", "lost>+5%"][..], "--at threads=2"),
        (&["--at", "threads=2", "--paper"][..], "--paper is for two sweeps"),
        (&["--at", "threads=2", "--svg", "x.svg"][..], "--svg is for two sweeps"),
    ] {
        let wrong = diff_in(&folder, options);
        assert_eq!(wrong.status.code(), Some(2), "{options:?}: {}", wrong.said());
        assert!(wrong.said().contains(expected), "{options:?}: {}", wrong.said());
    }
}

#[test]
fn two_sweeps_are_shown_side_by_side() {
    let (Some(before), Some(after)) = (built("compared"), built("compared-improved")) else { return };
    let folder = sweeps(&before, &after);
    let ended = diff_in(&folder, &["--format", "json"]);
    let page: Value = serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.said()));
    let curve = list(&page, "/curve");
    assert_eq!(curve.iter().map(|row| number(row, "/count")).collect::<Vec<_>>(), [1.0, 2.0]);
    for row in curve {
        let change = &row["wall_s"];
        assert!((number(change, "/b") - number(change, "/a") - number(change, "/delta")).abs() < 1e-9);
    }
    assert_eq!((number(&curve[0], "/a/speedup"), number(&curve[0], "/b/speedup")), (1.0, 1.0));
    let place = |name: &str| {
        let found = list(&page, "/places").iter().find(|row| row["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {page:#}"))
    };
    let (gone, new, both) = (place("store_result"), place("pack_result"), place("prepare"));
    assert!(gone["a"].is_object() && gone["b"].is_null(), "{gone:#}");
    assert!(new["a"].is_null() && new["b"].is_object(), "{new:#}");
    assert!(both["a"].is_object() && both["b"].is_object(), "{both:#}");
    let text = diff_in(&folder, &["--paper"]).printed();
    for word in ["speedup A", "ranks A", "pack_result", "[only in B]"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let drawn = diff_in(&folder, &["--svg", "both.svg"]);
    assert!(drawn.status.success(), "{}", drawn.said());
    let picture = std::fs::read_to_string(folder.path().join("both.svg")).unwrap();
    for word in ["A: old", "B: new", "Speedup in comparison with 1", "Processor time by account"] {
        assert!(picture.contains(word), "{word}: {picture}");
    }
}
