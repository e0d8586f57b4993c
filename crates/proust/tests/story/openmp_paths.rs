//! Call paths in parallel regions, in three ways: what they show differs, what they sum up to does not. What
//! is counted belongs to the path that it was done on.

use serde_json::Value;

use crate::chance::assert_close;
use crate::pages::Flat;
use crate::programs::built;
use crate::recording::{Recorded, list, record};

const COMPILERS: [&str; 2] = ["gcc", "clang"];

fn flat(run: &Recorded, paths: &str) -> Flat {
    run.page("flat", &["--paths", paths])
}

/// The most of all CPU time that a thread of the runtime has before its first region: a sample or two.
const BEFORE_REGIONS: f64 = 0.02;

/// Whether CPU time was spent in or below such a function.
fn has(flat: &Flat, is: impl Fn(&str) -> bool) -> bool {
    let all: f64 = flat.functions.iter().map(|row| row.amount("cpu_s").exclusive).sum();
    let least = BEFORE_REGIONS * all;
    flat.functions.iter().any(|row| is(&row.function) && row.amount("cpu_s").inclusive > least)
}

fn names(flat: &Flat) -> Vec<&str> {
    flat.functions.iter().map(|row| row.function.as_str()).collect()
}

fn is_region(name: &str) -> bool {
    name.starts_with("parallel region at ")
}

fn is_made(name: &str) -> bool {
    name.contains("_omp_fn.") || name.contains("omp_outlined")
}

/// Where threads begin in the C library and in a runtime.
fn is_start(name: &str) -> bool {
    ["clone3", "clone", "start_thread", "__clone"].contains(&name)
}

#[test]
fn three_ways_to_show_call_paths_of_regions() {
    for compiler in COMPILERS {
        let Some(program) = built(&format!("openmp-regions-{compiler}")) else { continue };
        let run = record(program, &["imbalance", "0.6"]).succeeded();
        let [user, expert, machine] = ["user", "expert", "machine"].map(|paths| flat(&run, paths));
        let shown = |flat: &Flat| [has(flat, is_region), has(flat, is_made), has(flat, is_start)];
        assert_eq!(shown(&user), [true, false, false], "{:?}", names(&user));
        assert_eq!(shown(&expert), [true, true, false], "{:?}", names(&expert));
        assert_eq!(shown(&machine), [false, true, true], "{:?}", names(&machine));
        let sum =
            |flat: &Flat| -> f64 { flat.functions.iter().map(|row| row.amount("cpu_s").exclusive).sum() };
        assert_close("expert", sum(&expert), sum(&user), 1e-6);
        assert_close("machine", sum(&machine), sum(&user), 1e-6);
        let of = |flat: &Flat, name: &str| -> f64 {
            let rows = flat.functions.iter().filter(|row| row.function == name);
            rows.map(|row| row.amount("cpu_s").inclusive).sum()
        };
        // The program's own functions are the same in all of them.
        for name in ["work_for", "burn_cpu"] {
            assert!(of(&user, name) > 0.5, "{name}: {user:#?}");
            assert_close(name, of(&expert, name), of(&user, name), 1e-6);
            assert_close(name, of(&machine, name), of(&user, name), 1e-6);
        }
        // What the opener's function leads to: in the worker's own stack it is not there.
        let opened = |flat: &Flat| of(flat, "imbalance");
        assert_close("below the opener", opened(&expert), opened(&user), 1e-6);
        assert!(opened(&machine) < opened(&user), "{machine:#?}");
        // Accounts are not drawn up by paths.
        let ledgers = ["user", "expert", "machine"]
            .map(|paths| run.page::<serde_json::Value>("ledger", &["--paths", paths])["accounts"].clone());
        assert!(ledgers.iter().all(|ledger| *ledger == ledgers[0]), "{ledgers:#?}");
        // Regions are said of in the words of the source, whatever is asked for.
        let page = |paths: &str| run.page::<Value>("openmp", &["--paths", paths]);
        assert_eq!(page("machine"), page("user"));
    }
}

/// Two call paths meet at the same barriers: visits that are only counted belong to the path that they were
/// made on, and to the barrier's line.
#[test]
fn barriers_are_counted_at_their_lines_on_both_call_paths() {
    for compiler in COMPILERS {
        let Some(program) = built(&format!("openmp-late-{compiler}")) else { continue };
        let run = record(program, &["barriers", "2"]).succeeded();
        let truth = run.truth();
        let page = run.page::<Value>("openmp", &[]);
        let mut found: Vec<u64> = Vec::new();
        for region in list(&page, "/regions") {
            let sites = || list(region, "/sites").iter().filter(|site| site["construct"] == "omp barrier");
            assert!(sites().all(|site| site["context"] != region["context"]), "{region:#}");
            found.push(sites().map(|site| site["executions"].as_u64().unwrap()).sum());
        }
        // 40 barriers, two threads.
        let opened = |at: usize| 80 * truth["opened"][at].as_u64().unwrap();
        found.sort_unstable();
        assert_eq!(found, [opened(0), opened(1)], "{page:#}");
    }
}
