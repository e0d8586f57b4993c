//! What runtimes of OpenMP report of loops and barriers, as characteristics: iterations of each thread, and
//! by how much later the last thread leaves a barrier.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::programs::{built, folder};
use crate::recording::{Recorded, list, number, record};

/// A version of LLVM's runtime that reports chunks of loops. 14 to 16 do not.
const LLVM_WITH_CHUNKS: u32 = 19;

/// A folder with a runtime of LLVM of that version, beside the one that programs are linked with.
fn newer_llvm() -> Option<PathBuf> {
    let version = format!("usr/lib/llvm-{LLVM_WITH_CHUNKS}/lib");
    let places = [folder().join("../target/llvm-openmp").join(&version), Path::new("/").join(&version)];
    let found = places.into_iter().find(|place| place.join("libomp.so.5").exists());
    if found.is_none() {
        println!(
            "SKIP: LLVM's runtime of OpenMP {LLVM_WITH_CHUNKS} is not in target/llvm-openmp (tests/all does \
             that, on Debian)"
        );
    }
    found.and_then(|place| place.canonicalize().ok())
}

/// The version of LLVM's runtime that the program is linked with, by the file's name (`libomp-14.so.5`);
/// None where it cannot be seen.
fn llvm_version(program: &Path) -> Option<u32> {
    let said = std::process::Command::new("ldd").arg(program).output().ok()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let line = said.lines().find(|line| line.contains("libomp"))?;
    let path = std::fs::canonicalize(line.split_whitespace().nth(2)?).ok()?;
    let version: String =
        path.to_str()?.rsplit("llvm-").next()?.chars().take_while(char::is_ascii_digit).collect();
    version.parse().ok()
}

const DYNAMIC: [&str; 11] = [
    "combined",
    "combined_down",
    "guided",
    "separate",
    "unsigned_down",
    "in_order",
    "at_run_time",
    "across",
    "with_tasks",
    "tasks",
    "tasks_unsigned",
];

#[test]
fn each_thread_has_the_iterations_that_it_counts_itself() {
    for compiler in ["gcc", "clang"] {
        let Some(program) = built(&format!("iterations-{compiler}")) else { continue };
        let reports = compiler == "gcc" || llvm_version(&program) >= Some(LLVM_WITH_CHUNKS);
        assert_iterations(&record(&program, &[] as &[&str]).succeeded(), compiler, reports);
    }
}

#[test]
fn so_it_is_with_a_newer_runtime_of_llvm() {
    let (Some(program), Some(runtime)) = (built("iterations-clang"), newer_llvm()) else { return };
    let path = format!("LD_LIBRARY_PATH={}", runtime.display());
    let run = record("env", &[path.as_str(), program.to_str().unwrap()]).succeeded();
    assert_iterations(&run, "clang", true);
}

fn assert_iterations(run: &Recorded, compiler: &str, reports: bool) {
    let (truth, page): (Value, Value) = (run.truth(), run.page("intervals", &[]));
    let of = |name: &str| {
        let found = list(&page, "/intervals").iter().find(|one| one["name"] == name);
        found.unwrap_or_else(|| panic!("no interval {name}: {page}"))["dvm"].clone()
    };
    let of_threads = |dvm: &Value| -> Vec<Option<f64>> {
        list(dvm, "/each").iter().map(|one| one["iterations"].as_f64()).collect()
    };
    let mut all = 0.0;
    for name in DYNAMIC {
        let counted: Vec<Option<f64>> = list(&truth, &format!("/{name}")).iter().map(Value::as_f64).collect();
        let sum: f64 = counted.iter().flatten().sum();
        let dvm = of(name);
        if reports {
            assert_eq!(of_threads(&dvm), counted, "{compiler} {name}: {truth}");
            assert_eq!(dvm["iterations"].as_f64(), Some(sum), "{compiler} {name}");
            let over = &dvm["comparative"]["iterations"];
            assert_eq!(number(over, "/mean") * 2.0, sum, "{over}");
            all += sum;
        } else {
            assert!(dvm["iterations"].is_null(), "{compiler} {name} reports nothing: {dvm:#}");
        }
    }
    // A static loop of GCC calls nothing.
    if compiler == "gcc" {
        assert!(of("at_once")["iterations"].is_null());
    }
    // What the program counts itself is not counted again.
    let counted = 10.0 * number(&truth, "/count");
    assert_eq!(of("counted")["iterations"].as_f64(), Some(counted));
    let at_once = of("at_once")["iterations"].as_f64().unwrap_or(0.0);
    let of_run = &list(&page, "/intervals")[0]["dvm"];
    assert_eq!(of_run["iterations"].as_f64(), Some(all + counted + at_once), "{compiler}");
}

/// What lies between the program's clock and the runtime's where others want the processor, in seconds.
const TURNS_S: f64 = 0.1;

#[test]
fn the_last_thread_leaves_a_barrier_as_late_as_the_program_measures() {
    for compiler in ["gcc", "clang"] {
        let Some(program) = built(&format!("jacobi-{compiler}")) else { continue };
        // A thread is kept at each of ten barriers for 50 ms.
        let run = record(&program, &["0.5", "0.05"]).succeeded();
        let (truth, page): (Value, Value) = (run.truth(), run.page("intervals", &[]));
        let found = list(&page, "/intervals").iter().find(|one| one["name"] == "iterate").expect("iterate");
        let spread_s = number(&truth, "/variation_s");
        // Where others want the processors, the other thread leaves late, too, and for less time alone.
        let kept_s = spread_s.min(10.0 * 0.05);
        assert!(kept_s > 3.0 * TURNS_S, "{truth}");
        // A thread may lose its processor between the runtime's clock and its own: not less than it was kept
        // for, and not more than it measures.
        let between = |what: &str, path: &str, least_s: f64, truth_s: f64| {
            let found_s = number(found, path);
            let is_right = (least_s..=1.1 * truth_s + TURNS_S).contains(&found_s);
            assert!(is_right, "{compiler} {what}: {found_s}, at least {least_s}, at most {truth_s}: {truth}");
        };
        let least_s = 0.9 * kept_s - TURNS_S;
        between("Time_variation", "/dvm/time_variation_s", least_s, spread_s);
        between("its row", "/dvm/operations/team_barrier/variation_s", least_s, spread_s);
        let potential_s = number(&truth, "/synchronization_s");
        between("Synchronization", "/dvm/synchronization_s", 0.5 * potential_s - TURNS_S, potential_s);
        // The thread that leaves first has it, and the one that is kept has none of it.
        let each: Vec<f64> =
            list(found, "/dvm/each").iter().map(|one| number(one, "/time_variation_s")).collect();
        assert!(each[0] > least_s && each[1] < each[0] / 2.0, "{each:?} {truth}");
        // All threads end a region at once, sections are left one after the other, and nothing in OpenMP is
        // begun and waited for apart.
        let row = |row: &str, column: &str| &found["dvm"]["operations"][row][column];
        assert!(row("region_end", "variation_s").is_null() && row("critical", "variation_s").is_null());
        assert!(found["dvm"]["overlap_s"].is_null(), "{found:#}");
    }
}
