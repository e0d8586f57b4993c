//! What a shell completes in the folder of runs, asked as shells ask.

use std::path::Path;

use serde_json::Value;

use crate::command::{proust, run};
use crate::programs::built;
use crate::recording::{list, record};

/// The words that complete the last of these, with what is said of them, as fish asks.
fn completed(folder: &Path, words: &[&str]) -> Vec<(String, String)> {
    let mut command = proust();
    command.current_dir(folder).env("PROUST_COMPLETE", "fish").args(["--", "proust"]).args(words);
    let ended = run(&mut command);
    assert!(ended.status.success(), "{}", ended.said());
    let lines = ended.printed();
    let of = |line: &str| {
        let (word, about) = line.split_once('\t').unwrap_or((line, ""));
        (word.to_owned(), about.to_owned())
    };
    lines.lines().map(of).collect()
}

/// As bash asks, with its own separator and the number of the word.
fn completed_in_bash(folder: &Path, words: &[&str], index: usize) -> Vec<String> {
    let mut command = proust();
    command.current_dir(folder).env("PROUST_COMPLETE", "bash").env("_CLAP_IFS", "|");
    command.env("_CLAP_COMPLETE_INDEX", index.to_string()).env("_CLAP_COMPLETE_COMP_TYPE", "9");
    let ended = run(command.args(["--", "proust"]).args(words));
    assert!(ended.status.success(), "{}", ended.said());
    ended.printed().split('|').map(str::to_owned).collect()
}

#[test]
fn runs_and_their_rows_complete() {
    let Some(program) = built("convoy") else { return };
    let recorded = record(program, &["1"]).succeeded();
    let folder = recorded.dir.parent().unwrap();
    let name = recorded.dir.file_name().unwrap().to_str().unwrap();
    let words = |words: &[&str]| -> Vec<String> {
        completed(folder, words).into_iter().map(|(word, _)| word).collect()
    };
    assert!(words(&["report", ""]).iter().any(|word| word.trim_end_matches('/') == name));
    assert_eq!(words(&["report", name, "timel"]), ["timeline"]);

    // A key of the keyboard starts no analysis.
    assert!(words(&["report", name, "tree", "c"]).is_empty());
    assert!(!recorded.dir.join("profile").exists(), "the run was analysed");

    let tree: Value = recorded.page("tree", &[]);
    let contexts = list(&tree, "/contexts");
    let found = completed(folder, &["report", name, "tree", "c"]);
    assert!(!found.is_empty());
    for (word, about) in &found {
        let id: u64 = word.strip_prefix('c').unwrap().parse().unwrap();
        let context = contexts.iter().find(|context| context["id"] == id).unwrap();
        assert_eq!(context["name"], about.as_str(), "{word}");
    }
    let functions = words(&["report", name, "callers", "mai"]);
    assert_eq!(functions, ["main"]);
    let locks: Value = recorded.page("locks", &[]);
    let handles: Vec<&str> =
        list(&locks, "/locks").iter().filter_map(|lock| lock["handle"].as_str()).collect();
    let completed_locks = words(&["report", name, "locks", ""]);
    assert!(!handles.is_empty() && handles.iter().all(|handle| completed_locks.contains(&(*handle).into())));
    let findings: Value = recorded.page("findings", &[]);
    let count = list(&findings, "/findings").len();
    assert_eq!(words(&["explain", name, "L"]).len(), count);
    // Without the folder, the newest run is meant; what stands behind the cursor does not count.
    assert_eq!(completed_in_bash(folder, &["report", "callers", "mai", "--strict"], 3), ["main"]);
    assert_eq!(
        completed_in_bash(folder, &["report", name, "--define", "'load=cpu_s/wall_s'", "--sort", "loa"], 6),
        ["load"]
    );
}
