//! Threads and tasks that begin with a closure are shown below the function that created them: rayon, oneTBB,
//! threads and futures of the standard libraries of Rust and C++. Of tokio's tasks the runtime is left out.

use serde_json::Value;

use crate::chance::assert_close;
use crate::pages::{Context, Tree};
use crate::programs::built;
use crate::recording::{Recorded, list, number, record};

/// How the names of functions of runtimes begin that no path may have above the program's functions.
const RUNTIMES: [&str; 12] = [
    "rayon",
    "<rayon",
    "tokio",
    "<tokio",
    "tbb::",
    "libtbb",
    "libstdc++",
    "std::thread",
    "std::__",
    "std::panic",
    "clone3",
    "start_thread",
];

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} in {value}"))
}

/// Fails unless the contexts of a function have together what it spent, as near as chance allows: where
/// others have the processors, samples are few.
fn assert_spent(work: &str, contexts: &[&Context], spent_s: f64) {
    let all_s: f64 = contexts.iter().map(|context| context.cpu().inclusive).sum();
    let error_s = contexts.iter().fold(0.0, |error: f64, one| error.hypot(one.cpu().inclusive_error));
    assert_close(work, all_s, spent_s, 0.1 * spent_s + 3.0 * error_s);
}

/// Records the program, and checks for each function of work that all of it is on the paths of its owner.
fn assert_owned(name: &str, not_known: &[&str]) -> Option<(Recorded, Tree)> {
    let run = record(built(name)?, &["0.4"]).succeeded();
    let (truth, tree) = (run.truth(), run.tree());
    let above_of = tree.ancestors();
    for owned in list(&truth, "/owners") {
        let (owner, work, spent_s) = (text(owned, "owner"), text(owned, "work"), number(owned, "/cpu_s"));
        let contexts: Vec<&Context> = tree.of(work);
        assert_spent(work, &contexts, spent_s);
        for context in contexts {
            let above = above_of(context);
            let path: Vec<&str> = above.iter().map(|one| one.name.as_str()).collect();
            let runtime = path.iter().find(|name| RUNTIMES.iter().any(|begin| name.starts_with(begin)));
            assert_eq!(runtime, None, "{work}: {path:?}");
            let is_below = above.iter().any(|one| one.is(owner)) && above.iter().any(|one| one.is("main"));
            assert_eq!(is_below, !not_known.contains(&owner), "{work} below {owner}: {path:?}");
        }
    }
    drop(above_of);
    run.assert_trustworthy();
    Some((run, tree))
}

#[test]
fn tasks_of_rayon_and_threads_of_rust_are_below_their_owners() {
    // Two functions call `shared`: for which of them a worker does its work, no path says.
    let Some((run, tree)) = assert_owned("owners_rust", &["shared"]) else { return };
    // It stays on the worker's path, and nobody is charged with it.
    for caller in ["first", "second"] {
        assert_eq!(tree.cpu_below("common", caller), 0.0, "{caller}");
    }
    // An iterator in a task of another one.
    let above_of = tree.ancestors();
    assert!(tree.of("tile").into_iter().all(|tile| above_of(tile).iter().any(|one| one.is("nested"))));
    // Accounts are not drawn up by what is shown.
    let [user, machine] =
        ["user", "machine"].map(|paths| run.page::<Value>("ledger", &["--paths", paths])["accounts"].clone());
    assert_eq!(user, machine);
}

#[test]
fn tasks_of_tbb_are_below_their_owners() {
    let Some((run, _)) = assert_owned("owners_tbb", &[]) else { return };
    let [user, machine] =
        ["user", "machine"].map(|paths| run.page::<Value>("ledger", &["--paths", paths])["accounts"].clone());
    assert_eq!(user, machine);
}

/// A function that only creates tasks is rarely sampled meanwhile: then a task begins the path, and its name
/// has the function that it is written in.
#[test]
fn tasks_of_tokio_begin_with_what_the_program_wrote() {
    let Some(program) = built("owners_tokio") else { return };
    let run = record(program, &["0.4"]).succeeded();
    let (truth, tree) = (run.truth(), run.tree());
    let above_of = tree.ancestors();
    for owned in list(&truth, "/owners") {
        let (owner, work, spent_s) = (text(owned, "owner"), text(owned, "work"), number(owned, "/cpu_s"));
        let contexts: Vec<&Context> = tree.of(work);
        assert_spent(work, &contexts, spent_s);
        for context in contexts {
            let path: Vec<&str> = above_of(context).iter().map(|one| one.name.as_str()).collect();
            let runtime = path.iter().find(|name| RUNTIMES.iter().any(|begin| name.starts_with(begin)));
            assert_eq!(runtime, None, "{work}: {path:?}");
            let is_owned = |name: &&str| name.starts_with(&format!("owners_tokio::{owner}"));
            assert!(path.iter().any(is_owned), "{work} of {owner}: {path:?}");
        }
    }
    drop(above_of);
    run.assert_trustworthy();
}

#[test]
fn threads_and_futures_of_cpp_are_below_their_owners() {
    // A thread that begins with a function instead of a lambda could be anybody's.
    assert_owned("owners_threads", &["by_name"]);
}

#[test]
fn the_experts_view_has_the_runtimes_functions() {
    let Some(program) = built("owners_rust") else { return };
    let run = record(program, &["0.2"]).succeeded();
    let tree: Tree = run.page("tree", &["--paths", "expert"]);
    let ancestors = tree.ancestors();
    let shade = tree.of("shade");
    assert!(!shade.is_empty());
    for context in shade {
        assert!(ancestors(context).iter().any(|one| one.name.starts_with("rayon_core::")), "{context:?}");
    }
}
