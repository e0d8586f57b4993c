//! Programs of GCC and of Clang on Intel's runtime. It comes by no package of a distribution (`pip install
//! intel-openmp` has it), so where it is not found these stories are skipped.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::chance::assert_close;
use crate::programs::built;
use crate::recording::{Recorded, list, number, record};

/// Where it is looked for, after the file that `INTEL_OPENMP` names.
const PLACES: [&str; 3] = [
    "/usr/local/lib/libiomp5.so",
    "/opt/intel/oneapi/compiler/latest/lib/libiomp5.so",
    "/opt/intel/oneapi/compiler/latest/linux/compiler/lib/intel64_lin/libiomp5.so",
];

/// LLVM's runtime has this name, too, on some systems: only what says that it is Intel's is.
fn intels() -> Option<PathBuf> {
    let named = std::env::var_os("INTEL_OPENMP").map(PathBuf::from);
    let mut all = named.into_iter().chain(PLACES.iter().map(PathBuf::from));
    let found = all.find(|file| {
        let bytes = std::fs::read(file).unwrap_or_default();
        let mark = b"Intel(R) OMP";
        bytes.windows(mark.len()).any(|window| window == mark)
    });
    if found.is_none() {
        println!("SKIP: Intel's runtime of OpenMP (libiomp5.so) is not here");
    }
    found
}

/// Records a program with Intel's runtime in the place of the one that it was linked with. The folder is
/// where the runtime lies until all is reported.
fn on_intels(
    runtime: &Path,
    compiler: &str,
    arguments: &[&str],
    variables: &[String],
) -> Option<(TempDir, Recorded)> {
    let program = built(&format!("openmp-regions-{compiler}"))?;
    let folder = tempfile::tempdir().unwrap();
    let name = if compiler == "gcc" { "libgomp.so.1" } else { "libomp.so.5" };
    std::os::unix::fs::symlink(runtime, folder.path().join(name)).unwrap();
    let path = format!("LD_LIBRARY_PATH={}", folder.path().display());
    let mut all = vec![path.as_str()];
    all.extend(variables.iter().map(String::as_str));
    all.push(program.to_str().unwrap());
    all.extend(arguments);
    let run = record("env", &all).succeeded();
    Some((folder, run))
}

fn by_each(arguments: &[&str], story: impl Fn(&Recorded, &Value)) {
    let Some(runtime) = intels() else { return };
    for compiler in ["gcc", "clang"] {
        let Some((_folder, run)) = on_intels(&runtime, compiler, arguments, &[]) else { continue };
        let page: Value = run.page("openmp", &[]);
        println!("{arguments:?} by {compiler}: {}", run.truth());
        assert!(list(&page, "/regions").iter().all(|region| region["runtime"] == "ompt"), "{page:#}");
        story(&run, &page);
    }
}

fn of_regions(page: &Value, field: &str) -> f64 {
    list(page, "/regions").iter().map(|region| number(region, field)).sum()
}

fn came(page: &Value, construct: &str) -> f64 {
    let sites = list(page, "/regions").iter().flat_map(|region| list(region, "/sites"));
    sites.filter(|site| site["construct"] == construct).map(|site| number(site, "/executions")).sum()
}

fn allowed(run: &Recorded, seconds: f64) -> f64 {
    let ledger = run.summary().ledger;
    0.01 * seconds + 0.01 + 0.1 * (ledger.account_s("preempted") + ledger.account_s("oversubscribed"))
}

#[test]
fn work_and_waits_are_what_the_threads_measured() {
    by_each(&["imbalance", "0.4"], |run, page| {
        let truth = run.truth();
        let (work_s, wait_s) = (number(&truth, "/work_s"), number(&truth, "/wait_s"));
        assert_close("work", of_regions(page, "/work_s"), work_s, allowed(run, work_s));
        let waited_s = of_regions(page, "/imbalance_s") + of_regions(page, "/latency_s");
        assert_close("waits", waited_s, wait_s, allowed(run, wait_s));
        run.assert_trustworthy();
    });
}

#[test]
fn nothing_is_counted_twice() {
    by_each(&["many", "0.05"], |_, page| {
        assert_eq!(of_regions(page, "/executions"), 5_000.0, "{page:#}");
        assert_eq!((came(page, "omp barrier"), came(page, "omp critical")), (10_000.0, 10_000.0), "{page:#}");
    });
}

#[test]
fn tasks_are_counted() {
    by_each(&["tasks", "0.1"], |_, page| assert_eq!(came(page, "omp task"), 100.0, "{page:#}"));
}

#[test]
fn another_tool_is_told_too() {
    let (Some(runtime), Some(tool)) = (intels(), built("libopenmp-tool.so")) else { return };
    for compiler in ["gcc", "clang"] {
        let named = format!("OMP_TOOL_LIBRARIES={}", tool.display());
        let Some((_folder, run)) = on_intels(&runtime, compiler, &["many", "0.02"], &[named]) else {
            continue;
        };
        let said = run.ended.said();
        assert!(said.contains("tool: 2000 regions, 2000 ended,") && said.contains("; 0 wrong"), "{said}");
        let page: Value = run.page("openmp", &[]);
        assert_eq!(of_regions(&page, "/executions"), 2_000.0, "{page:#}");
    }
}
