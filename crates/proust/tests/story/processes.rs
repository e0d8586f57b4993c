//! Children started and ended in every way are in the same run.

use crate::chance::assert_close;
use crate::programs::built;
use crate::recording::{Recorded, empty_folder, list, number, record, report};

#[test]
fn every_child_is_followed() {
    let Some(program) = built("process_tree") else { return };
    let folder = empty_folder();
    let file = folder.path().join("truth");
    let run = record(program, &["3", file.to_str().unwrap()]).succeeded();
    let truth = run.truth();
    let threads = run.threads();
    let children = list(&truth, "/children");
    assert_eq!(children.len(), 10, "{truth:#}");
    for child in children {
        let how = child["how"].as_str().unwrap();
        let found = threads.cpu_of_process(number(child, "/pid") as u64);
        // What it burned is there; its whole clock also has the loading of the program, which nobody can see.
        let (burned, clock) = (number(child, "/cpu_s"), number(child, "/clock_s"));
        assert!(found >= burned * 0.9999 - 0.000_5, "{how}: {found} s found, {burned} s burned");
        assert!(found <= clock * 1.02 + 0.02, "{how}: {found} s found, its clock shows {clock} s");
    }
    let parent = threads.cpu_of_process(number(&truth, "/pid") as u64);
    let (burned, clock) = (number(&truth, "/cpu_s"), number(&truth, "/clock_s"));
    assert!(
        parent >= burned * 0.9999 - 0.000_5 && parent <= clock * 1.02 + 0.02,
        "{parent} of {burned}..{clock}"
    );
    run.assert_trustworthy();
    let summary = run.summary();
    // The shells of system() and popen() are processes too.
    assert!(summary.run.processes >= 11, "{:#?}", summary.run);
    // The first page leads to that of the processes, where there are several.
    let leads_there = |run: &Recorded| {
        let text = report(&run.dir, "summary", &[] as &[&str]).printed();
        text.lines().any(|line| line.contains("which programs ran"))
    };
    assert!(leads_there(&run));
    assert!(!leads_there(&record("true", &[] as &[&str])));
}

#[test]
fn the_threads_of_the_pages_sum_to_the_whole() {
    let Some(program) = built("process_tree") else { return };
    let run = record(program, &["2"]).succeeded();
    let by_thread: f64 = run.threads().locations.iter().map(|location| location.cpu_s).sum();
    let by_function = run.flat().total("cpu_s");
    let root: f64 = run
        .tree()
        .contexts
        .iter()
        .filter(|context| context.parent.is_none())
        .map(|one| one.cpu().inclusive)
        .sum();
    assert_close("functions", by_function, by_thread, 1e-4 * by_thread);
    assert_close("tree", root, by_thread, 1e-4 * by_thread);
}

#[test]
fn a_shell_pipeline_is_one_run() {
    let Some(program) = built("endings") else { return };
    let program = program.display();
    let command = format!("'{program}' 0.3 exit | cat; '{program}' 0.3 _exit | cat");
    let run = record("sh", &["-c", &command]).succeeded();
    let printed = run.ended.printed();
    let threads = run.threads();
    let mut seen = 0;
    for line in printed.lines() {
        let truth: serde_json::Value = serde_json::from_str(line).unwrap();
        let found = threads.cpu_of_process(number(&truth, "/pid") as u64);
        // Measuring begins when the program is loaded.
        let after_loading_s = number(&truth, "/cpu_s") - number(&truth, "/loaded_s");
        assert!(found >= after_loading_s * 0.9999 - 0.001, "{found} of {line}");
        seen += 1;
    }
    assert_eq!(seen, 2);
}

/// A process that executes another program has a second image, with a log of its own: what was recorded is
/// counted in images, as on the page.
#[test]
fn what_was_recorded_is_as_many_images_as_the_page_has() {
    let run = record("sh", &["-c", "ls / > /dev/null; (exec ls / > /dev/null); true"]).succeeded();
    let page: serde_json::Value = run.page("processes", &[]);
    let images = list(&page, "/processes").len();
    assert!(images > run.summary().run.processes as usize, "{page:#}");
    let recorded = format!("recorded {images} process images");
    assert!(run.ended.said().contains(&recorded), "{recorded}: {}", run.ended.said());
}

#[test]
fn what_lives_on_after_the_command_is_named() {
    let Some(program) = built("endings") else { return };
    // The shell ends when the other program is at work, not between its fork and its exec.
    let command = format!("'{}' 2.5 return >/dev/null 2>&1 & sleep 0.7; exit 5", program.display());
    let run = record("sh", &["-c", &command]);
    assert_eq!(run.ended.status.code(), Some(5));
    let said = run.ended.said();
    assert!(said.contains("endings"), "the process that goes on is not named: {said}");
}

/// A loop of short programs is slower when it is recorded, and most of what it uses is loading: the report
/// says how much.
#[test]
fn what_loading_many_programs_took_is_said() {
    let run = record("bash", &["-c", "for n in {1..40}; do grep -q root /etc/passwd; done"]).succeeded();
    let notes = run.summary().quality.notes;
    let note = notes
        .iter()
        .find(|note| note.contains("programs were loaded"))
        .unwrap_or_else(|| panic!("{notes:#?}"));
    assert!(note.starts_with("41 programs were loaded: that took "), "{note}");
    let took: f64 =
        note["41 programs were loaded: that took ".len()..].split(' ').next().unwrap().parse().unwrap();
    // Each of them takes some hundred microseconds at least, and none a second.
    assert!((0.004..40.0).contains(&took), "{note}");
    let alone = record("bash", &["-c", "x=0; for n in {1..100000}; do x=$((x + n)); done"]).succeeded();
    assert!(!alone.summary().quality.notes.iter().any(|note| note.contains("were loaded")));
}

#[test]
fn a_program_has_the_name_it_was_started_by() {
    let Some(program) = built("cost_by_argument") else { return };
    let folder = empty_folder();
    let link = folder.path().join("another-name");
    std::os::unix::fs::symlink(std::fs::canonicalize(&program).expect("a path"), &link).expect("a link");
    let script = folder.path().join("a-script");
    std::fs::write(&script, format!("#!/bin/sh\n'{}' 0.05\n:\n", link.display())).expect("a script");
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    let names = |command: &std::path::Path, arguments: &[&str]| {
        let run = record(command, arguments).succeeded();
        let mut names: Vec<String> = run.threads().locations.iter().map(|row| row.program.clone()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&program, &["0.05"]), ["cost_by_argument"]);
    assert_eq!(names(&link, &["0.05"]), ["another-name"]);
    // Of a script the interpreter is the program, by the path that the script's first line gives.
    let of_script = names(&script, &[]);
    assert_eq!(of_script.len(), 2, "{of_script:?}");
    assert!(of_script.contains(&"another-name".to_owned()), "{of_script:?}");
    assert!(!of_script.contains(&"a-script".to_owned()), "{of_script:?}");
}

#[test]
fn a_page_is_shown_process_by_process_and_program_by_program() {
    let Some(program) = built("endings") else { return };
    let program = program.display();
    let command = format!("'{program}' 0.2 exit first.txt; '{program}' 0.6 exit second.txt; true");
    let run = record("sh", &["-c", &command]).succeeded();
    let by_process: serde_json::Value = run.page("flat", &["--by", "process", "--groups", "2"]);
    let groups = list(&by_process, "/groups");
    let names: Vec<&str> = groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["endings 0.6 exit second.txt", "endings 0.2 exit first.txt"]);
    for (group, spent_s) in groups.iter().zip([0.6, 0.2]) {
        assert_close("a process", number(group, "/cpu_s"), spent_s, 0.1 * spent_s + 0.05);
        // The page is that of this process alone.
        let total = number(group, "/page/totals/cpu_s/exclusive");
        assert_close("its page", total, number(group, "/cpu_s"), 1e-6);
    }
    assert_eq!(number(&by_process, "/cut/rows"), 1.0, "the shell");
    let by_program: serde_json::Value = run.page("threads", &["--by", "program"]);
    let groups = list(&by_program, "/groups");
    assert_eq!((groups[0]["name"].as_str(), groups[0]["processes"].as_u64()), (Some("endings"), Some(2)));
    assert_eq!(list(&groups[0], "/page/locations").len(), 2);
    let sum: f64 = groups.iter().map(|group| number(group, "/cpu_s")).sum();
    assert_close("all programs", sum, run.flat().total("cpu_s"), 1e-6);
    // In text each begins with a line of its own.
    let text = report(&run.dir, "tree", &["--by", "process"]).printed();
    assert!(text.lines().next().is_some_and(|line| line.contains("endings 0.6 exit second.txt")), "{text}");
}

/// Two runs of one program with one fault, one after the other: one finding, and both are named; a third
/// program is not.
#[test]
fn findings_of_several_processes_are_told_once_and_say_whose_they_are() {
    let (Some(program), Some(other)) = (built("findings"), built("endings")) else { return };
    let case = format!("'{}' 0.5 lock-across-sleep", program.display());
    let command = format!("{case}; {case}; '{}' 0.1 exit; true", other.display());
    let run = record("sh", &["-c", &command]).succeeded();
    let page: serde_json::Value = run.page("findings", &["--by", "program"]);
    let found = list(&page, "/findings");
    let of_kind: Vec<_> = found.iter().filter(|finding| finding["kind"] == "lock-across-sleep").collect();
    let [finding] = of_kind[..] else { panic!("{page:#}") };
    let whose = list(finding, "/processes");
    assert!(whose.len() == 2 && whose.iter().all(|one| one["program"] == "findings"), "{finding:#}");
    // Each finding is in one group.
    let mut grouped: Vec<_> =
        list(&page, "/groups").iter().flat_map(|group| list(group, "/findings")).collect();
    grouped.sort_by_key(|handle| handle.as_str().map(str::to_owned));
    grouped.dedup();
    assert_eq!(grouped.len(), found.len(), "{page:#}");
    let text = report(&run.dir, "findings", &[] as &[&str]).printed();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("in 2 processes of findings"), "{text}");
    // A page of one process has it, that of another program has not.
    let of = |filter: &str| {
        let page: serde_json::Value = run.page("findings", &["--where", filter]);
        list(&page, "/findings").iter().filter(|one| one["kind"] == "lock-across-sleep").count()
    };
    let handle = whose[1]["handle"].as_str().unwrap();
    let counts = [of(&format!("process={handle}")), of("process=findings"), of("process=endings")];
    assert_eq!(counts, [1, 1, 0]);
    let summary = report(&run.dir, "summary", &["--where", &format!("process={handle}")]).printed();
    assert!(summary.contains("lock held while its holder sleeps"), "{summary}");
}
