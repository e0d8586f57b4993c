//! Libraries that bring a runtime of their own along, as Python's packages do: each keeps the one that it
//! would have without Proust, and its regions are in the account.
//!
//! The truth is the bare run: what it prints, on how many threads it worked, and what the dynamic linker says
//! it bound (`LD_DEBUG=bindings`) for each library and name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::command::{proust, run};
use crate::explained::Except;
use crate::programs::built;
use crate::recording::{Recorded, empty_folder, list, number, record, report};

/// Regions that the program opens wherever it does all constructs once.
const REGIONS: u64 = 5;

/// (library, function) → library that has it.
type Bindings = BTreeMap<(String, String), String>;

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// What the dynamic linker bound in the bare run; where it bound a name twice, what it bound last.
fn bindings_in(folder: &Path) -> Bindings {
    let mut bindings = Bindings::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        for line in std::fs::read_to_string(entry.unwrap().path()).unwrap().lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let at = words.iter().position(|word| *word == "binding");
            if let Some([_, "file", from, _, "to", to, _, _, "symbol", name, ..]) = at.map(|at| &words[at..])
            {
                let name = name.trim_matches(['`', '\'']).to_owned();
                bindings.insert((file_name(from), name), file_name(to));
            }
        }
    }
    bindings
}

/// What the collector said is behind its hooks.
fn behind_in(said: &str) -> Bindings {
    let lines = said.lines().filter_map(|line| line.strip_prefix("behind "));
    let triples = lines.map(|line| line.split(' ').collect::<Vec<_>>());
    triples.map(|words| ((words[0].into(), words[1].into()), words[2].into())).collect()
}

fn all_built(names: &[&str]) -> Option<PathBuf> {
    let mut folder = None;
    for name in names {
        folder = built(&format!("runtimes/{name}"))?.parent().map(Path::to_owned);
    }
    folder
}

fn in_folder(folder: &Path, program: &str, arguments: &[&str]) -> Vec<String> {
    let file = |argument: &&str| match argument.split_once(':') {
        Some((what, file)) => format!("{what}:{}", folder.join(file).display()),
        None => (*argument).to_owned(),
    };
    std::iter::once(folder.join(program).display().to_string()).chain(arguments.iter().map(file)).collect()
}

/// Runs it bare and recorded, and compares all but what is in the log.
fn same_as_bare(folder: &Path, program: &str, arguments: &[&str]) -> Recorded {
    let words = in_folder(folder, program, arguments);
    let told = empty_folder();
    let mut bare = Command::new(&words[0]);
    bare.args(&words[1..]).env("LD_DEBUG", "bindings").env("LD_DEBUG_OUTPUT", told.path().join("bound"));
    let bare = run(&mut bare);
    assert!(bare.status.success(), "{words:?} bare: {}{}", bare.printed(), bare.said());
    let recorded = record(&words[0], &words[1..]).succeeded();
    assert_eq!(recorded.ended.printed(), bare.printed(), "{words:?}");
    let (bound, behind) = (bindings_in(told.path()), behind_in(&recorded.ended.said()));
    let mut compared = 0;
    for (key, library) in &behind {
        if let Some(truth) = bound.get(key) {
            assert_eq!(library, truth, "{key:?} of {words:?}");
            compared += 1;
        }
    }
    assert!(compared >= 8, "{words:?}: only {compared} of {behind:?} are among what is bound");
    recorded
}

/// The constructs that threads came to, and how often.
fn constructs(run: &Recorded) -> (u64, BTreeMap<String, u64>) {
    let page: Value = run.page("openmp", &[]);
    let mut constructs = BTreeMap::new();
    let mut executions = 0;
    for region in list(&page, "/regions") {
        executions += number(region, "/executions") as u64;
        for site in list(region, "/sites") {
            *constructs.entry(site["construct"].as_str().unwrap().to_owned()).or_default() +=
                number(site, "/executions") as u64;
        }
    }
    (executions, constructs)
}

/// All of `times` rounds of constructs are in the account: regions, tasks, iterations that were handed out.
fn assert_recorded(run: &Recorded, times: u64, more_regions: u64) {
    run.except(Except::ManyNewThreads);
    let (executions, constructs) = constructs(run);
    assert_eq!(executions, times * REGIONS + more_regions, "{constructs:?}");
    assert_eq!(constructs.get("omp task"), Some(&(times * 100)), "{constructs:?}");
    assert!(constructs.get("omp dispatch").is_some_and(|&count| count >= times * 2990), "{constructs:?}");
    assert!(
        constructs.contains_key("omp critical") && constructs.contains_key("omp_set_lock"),
        "{constructs:?}"
    );
}

#[test]
fn a_library_keeps_the_runtime_that_it_brings_along() {
    let Some(folder) = all_built(&["main", "libalt.so"]) else { return };
    assert_recorded(&same_as_bare(&folder, "main", &["local:libalt.so", "run:libalt.so"]), 1, 0);
    assert_recorded(&same_as_bare(&folder, "main", &["lazy:libalt.so", "run:libalt.so"]), 1, 0);
}

#[test]
fn what_is_bound_stays_although_another_runtime_is_opened_for_all() {
    let Some(folder) = all_built(&["main", "libalt.so", "libgtwo.so.1"]) else { return };
    let before = ["local:libalt.so", "global:libgtwo.so.1", "run:libalt.so"];
    assert_recorded(&same_as_bare(&folder, "main", &before), 1, 0);
    let lazily = ["lazy:libalt.so", "global:libgtwo.so.1", "run:libalt.so"];
    assert_recorded(&same_as_bare(&folder, "main", &lazily), 1, 0);
    let behind = ["global:libgtwo.so.1", "local:libalt.so", "run:libalt.so"];
    assert_recorded(&same_as_bare(&folder, "main", &behind), 1, 0);
}

#[test]
fn a_library_that_needs_no_runtime_has_that_of_who_loads_it() {
    let Some(folder) = all_built(&["main", "libroot.so", "libtwo.so"]) else { return };
    assert_recorded(&same_as_bare(&folder, "main", &["local:libroot.so", "run:libroot.so"]), 2, 0);
    let beside = ["local:libtwo.so", "run:libtwo.so", "local:libroot.so", "run:libroot.so"];
    assert_recorded(&same_as_bare(&folder, "main", &beside), 3, 0);
}

#[test]
fn runtimes_without_versions_are_found() {
    let Some(folder) = all_built(&["main", "libplain.so", "libunversioned.so", "libalt.so"]) else { return };
    for library in ["libplain.so", "libunversioned.so"] {
        let (open, work) = (format!("local:{library}"), format!("run:{library}"));
        assert_recorded(&same_as_bare(&folder, "main", &[&open, &work]), 1, 0);
        let beside = ["local:libalt.so", &open, &work, "run:libalt.so"];
        assert_recorded(&same_as_bare(&folder, "main", &beside), 2, 0);
    }
}

#[test]
fn two_runtimes_of_one_kind_are_kept_apart() {
    let Some(folder) = all_built(&["main", "main-gcc", "libalt.so", "libtwo.so", "libsystem.so"]) else {
        return;
    };
    let both = ["local:libalt.so", "local:libtwo.so", "run:libalt.so", "run:libtwo.so", "run:libalt.so"];
    assert_recorded(&same_as_bare(&folder, "main", &both), 3, 0);
    let beside_the_systems = ["local:libsystem.so", "local:libalt.so", "run:libalt.so", "run:libsystem.so"];
    assert_recorded(&same_as_bare(&folder, "main", &beside_the_systems), 2, 0);
    // The program's own runtime is everybody's.
    let own = ["own", "local:libalt.so", "run:libalt.so", "own"];
    assert_recorded(&same_as_bare(&folder, "main-gcc", &own), 3, 0);
}

/// There the library finds its own runtime before anything that is preloaded: nobody stands in front of it.
#[test]
fn a_library_that_prefers_its_own_is_left_alone() {
    let Some(folder) = all_built(&["main-gcc", "libalt.so"]) else { return };
    let words = ["deep:libalt.so", "run:libalt.so", "own"];
    assert_recorded(&same_as_bare(&folder, "main-gcc", &words), 1, 0);
}

#[test]
fn functions_of_a_librarys_own_under_the_runtimes_names_are_called() {
    let Some(folder) = all_built(&["main", "libmine.so", "libsymbolic.so"]) else { return };
    let run = same_as_bare(&folder, "main", &["local:libmine.so", "run:libmine.so"]);
    assert_recorded(&run, 1, 0);
    let run = same_as_bare(&folder, "main", &["local:libsymbolic.so", "run:libsymbolic.so"]);
    run.except(Except::ManyNewThreads);
    assert_eq!(constructs(&run).0, REGIONS);
}

#[test]
fn a_library_that_is_loaded_where_another_one_was_has_its_own() {
    let Some(folder) = all_built(&["main", "libalt.so", "libtwo.so"]) else { return };
    // The runtimes stay: their threads do.
    let mut words = vec!["local:libgalt.so.1", "local:libgtwo.so.1"];
    for _ in 0..5 {
        words.extend(["local:libalt.so", "run:libalt.so", "close:libalt.so"]);
        words.extend(["local:libtwo.so", "run:libtwo.so", "close:libtwo.so"]);
    }
    assert_recorded(&same_as_bare(&folder, "main", &words), 10, 0);
}

/// The constructor waits for a region's threads, and for a thread of its own that opens one: with the dynamic
/// linker's lock.
#[test]
fn a_constructor_may_wait_for_threads_that_work() {
    let needed = ["main", "libeager.so", "libthreadfirst.so", "libtwo.so"];
    let Some(folder) = all_built(&needed) else { return };
    let first = ["local:libtwo.so", "run:libtwo.so", "local:libthreadfirst.so", "run:libthreadfirst.so"];
    assert_recorded(&same_as_bare(&folder, "main", &first), 4, 0);
    assert_recorded(&same_as_bare(&folder, "main", &["local:libeager.so", "run:libeager.so"]), 3, 0);
    let beside = ["local:libtwo.so", "run:libtwo.so", "local:libeager.so", "run:libeager.so"];
    assert_recorded(&same_as_bare(&folder, "main", &beside), 4, 0);
}

#[test]
fn llvms_runtime_beside_gccs_is_told_of_once() {
    let Some(folder) = all_built(&["main", "libllvm.so", "libalt.so"]) else { return };
    let words = ["local:libllvm.so", "run:libllvm.so", "local:libalt.so", "run:libalt.so", "run:libllvm.so"];
    let run = same_as_bare(&folder, "main", &words);
    run.except(Except::ManyNewThreads);
    assert_eq!(constructs(&run).0, 3 * REGIONS);
}

/// The two kinds have the same names, in two versions, and are of different size.
#[test]
fn locks_are_of_the_version_that_was_asked_for() {
    let Some(folder) = all_built(&["main", "liboldlocks.so"]) else { return };
    let run = same_as_bare(&folder, "main", &["local:liboldlocks.so", "run:liboldlocks.so"]);
    assert_recorded(&run, 1, 1);
}

/// A program that refers to the runtime weakly does without where there is none, whatever else is called like
/// a runtime in the folders that its environment names.
#[test]
fn who_asks_for_a_runtime_that_is_not_there_does_without() {
    let Some(program) = built("runtimes/weak") else { return };
    let Some(plugin) = built("libplugin_a.so") else { return };
    let library = std::fs::read(plugin).unwrap();
    let mut other_machine = library.clone();
    other_machine[18] = 183;
    let bad: [&[u8]; 5] = [b"", b"no library\n", &library, &library[..400], &other_machine];
    let mut folders: Vec<_> = bad.iter().map(|_| empty_folder()).collect();
    for (folder, bytes) in folders.iter().zip(bad) {
        for name in ["libgomp.so.1", "libomp.so", "libomp.so.5", "libiomp5.so"] {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
    }
    folders.push(empty_folder());
    for folder in folders {
        let searched = ("LD_LIBRARY_PATH", folder.path());
        let bare = run(Command::new(&program).env(searched.0, searched.1));
        assert!(bare.status.success() && bare.printed().starts_with("3\n0 "), "{}", bare.printed());
        let dir = empty_folder();
        let recorded = run(proust()
            .env(searched.0, searched.1)
            .args(["record", "-o"])
            .arg(dir.path().join("run"))
            .arg("--")
            .arg(&program));
        assert_eq!(recorded.status.code(), bare.status.code(), "{}", recorded.said());
        assert_eq!(recorded.printed(), bare.printed());
    }
}

/// Where there is one, the same program works with it.
#[test]
fn who_asks_for_a_runtime_that_is_there_has_it() {
    let Some(program) = built("runtimes/weak") else { return };
    let preloaded = ("LD_PRELOAD", "libgomp.so.1");
    let bare = run(Command::new(&program).env(preloaded.0, preloaded.1));
    if !bare.printed().starts_with("3\n3 ") {
        println!("SKIP: this machine has no libgomp.so.1, or another one: {}", bare.said());
        return;
    }
    let dir = empty_folder();
    let mut command = proust();
    command.env(preloaded.0, preloaded.1).args(["record", "-o"]).arg(dir.path().join("run"));
    let recorded = run(command.arg("--").arg(&program));
    assert!(recorded.status.success(), "{}", recorded.said());
    assert_eq!(recorded.printed(), bare.printed());
}

/// Code that was made at run time calls the runtime, and two are loaded: whose functions it would have is not
/// certain. The calls are passed on, nothing is recorded of them, and that is said; with one runtime there is
/// no doubt.
#[test]
fn what_is_in_doubt_is_passed_on_and_said() {
    let names = ["nobody", "libgalt.so.1", "libgtwo.so.1"];
    let Some(folder) = all_built(&names) else { return };
    let files = names[1..].iter().map(|name| folder.join(name)).collect::<Vec<_>>();
    for count in [1, 2] {
        let bare = run(Command::new(folder.join("nobody")).args(&files[..count]));
        assert!(bare.status.success(), "{}{}", bare.printed(), bare.said());
        let recorded = record(folder.join("nobody"), &files[..count]).succeeded();
        assert_eq!(recorded.ended.printed(), bare.printed());
        let quality = report(&recorded.dir, "quality", &[] as &[&str]).printed();
        let is_said =
            quality.contains("has several runtimes of OpenMP, and which one some of its calls belong to");
        assert_eq!(is_said, count == 2, "{count}: {quality}");
    }
}
