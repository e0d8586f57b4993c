//! OpenMP in every way that a measurement must survive, and that must survive being measured.

use serde_json::Value;

use crate::chance::assert_close;
use crate::explained::Except;
use crate::programs::built;
use crate::recording::{list, number, record};

fn survives(name: &str, except: Option<Except>) {
    survives_as("openmp-hostile", &[name], except);
}

fn survives_as(program: &str, arguments: &[&str], except: Option<Except>) {
    for compiler in ["gcc", "clang"] {
        let Some(program) = built(&format!("{program}-{compiler}")) else { continue };
        println!("{arguments:?} by {compiler}");
        let run = record(program, arguments).succeeded();
        if let Some(why) = except {
            run.except(why);
        }
        if arguments != ["exit"] {
            assert_eq!(number(&run.truth(), "/bad"), 0.0);
        }
        let page: Value = run.page("openmp", &[]);
        assert!(!page["regions"].as_array().unwrap().is_empty(), "{page:#}");
        let quality = run.summary().quality;
        assert!(quality.cpu_residual <= 1e-3, "{quality:#?}");
    }
}

#[test]
fn a_fork_inside_a_region() {
    // The child ends by `_exit`.
    survives("fork", Some(Except::Killed));
}

#[test]
fn a_worker_that_ends_the_process() {
    survives("exit", None);
}

#[test]
fn regions_of_several_threads() {
    survives("threads", Some(Except::ManyNewThreads));
}

#[test]
fn teams_of_changing_size() {
    survives("changing", Some(Except::ManyNewThreads));
}

#[test]
fn more_levels_than_are_followed() {
    survives("deep", None);
}

#[test]
fn tasks_of_all_kinds() {
    survives("tasks", None);
}

#[test]
fn all_constructs() {
    survives("constructs", None);
}

/// Tasks that others end, dependences by objects and iterators, loops that wait for iterations, teams,
/// devices.
#[test]
fn newer_constructs() {
    survives_as("openmp-newer", &[], None);
}

/// A runtime gives back what lies in the waiting thread's frame when that has gone on already.
#[test]
fn waits_for_tasks_that_have_only_just_ended() {
    survives_as("openmp-newer", &["waiting-often"], None);
}

#[test]
fn reductions_over_tasks() {
    survives("reductions", None);
}

/// Each thread of a team catches what it throws.
#[test]
fn exceptions_in_regions() {
    for compiler in ["gcc", "clang"] {
        let Some(program) = built(&format!("openmp-exceptions-{compiler}")) else { continue };
        let run = record(program, &[] as &[&str]).succeeded();
        assert_eq!(number(&run.truth(), "/bad"), 0.0);
        let page: Value = run.page("openmp", &[]);
        assert_eq!(executions(&page), 51.0, "{page:#}");
    }
}

/// Tasks are summed up where they are made: ten million take no more room than two.
#[test]
fn very_many_tasks() {
    for compiler in ["gcc", "clang"] {
        let Some(program) = built(&format!("openmp-hostile-{compiler}")) else { continue };
        let run = record(program, &["very-many-tasks", "10000000"]).succeeded();
        let page: Value = run.page("openmp", &[]);
        let sites = list(&page, "/regions").iter().flat_map(|region| list(region, "/sites"));
        let tasks = sites.filter(|site| site["construct"] == "omp task");
        let done: f64 = tasks.map(|site| number(site, "/executions")).sum();
        assert_eq!(done, 1e7, "{page:#}");
        let logs = std::fs::read_dir(run.dir.join("log")).unwrap();
        let bytes: u64 = logs.map(|file| file.unwrap().metadata().unwrap().len()).sum();
        assert!(bytes < 4 << 20, "{bytes} bytes of logs");
    }
}

#[test]
fn cancellation() {
    for compiler in ["gcc", "clang"] {
        let Some(program) = built(&format!("openmp-hostile-{compiler}")) else { continue };
        let arguments = ["OMP_CANCELLATION=true", program.to_str().unwrap(), "constructs"];
        let run = record("env", &arguments).succeeded();
        assert_eq!(number(&run.truth(), "/bad"), 0.0);
    }
}

/// Runtimes that come with a library which is loaded late, for that library alone; of GCC and of LLVM in one
/// process, beside that of the program itself. Each is told apart, and nothing is counted twice.
#[test]
fn runtimes_of_libraries() {
    let libraries: Vec<_> =
        ["gcc", "clang"].iter().filter_map(|of| built(&format!("libopenmp-library-{of}.so"))).collect();
    for loader in ["openmp-loader", "openmp-loader-gcc"] {
        let Some(program) = built(loader) else { continue };
        let mut arguments = vec!["0.1"];
        arguments.extend(libraries.iter().map(|library| library.to_str().unwrap()));
        let run = record(program, &arguments).succeeded();
        let truth = run.truth();
        let page: Value = run.page("openmp", &[]);
        assert_eq!(executions(&page), number(&truth, "/regions"), "{page:#}");
        let cpu_s: f64 = list(&page, "/regions").iter().map(|region| number(region, "/cpu_s")).sum();
        let true_s = number(&truth, "/work_cpu_s");
        // On a busy machine the collector's own pages come late, too.
        let own_s = run.summary().ledger.account_s("measurement");
        assert_close("CPU time of work", cpu_s, true_s, 0.05 * true_s + 0.03 + own_s);
        let runtimes: std::collections::BTreeSet<&str> =
            list(&page, "/regions").iter().filter_map(|region| region["runtime"].as_str()).collect();
        assert_eq!(runtimes.len(), libraries.len(), "{page:#}");
    }
}

/// How often regions were executed.
fn executions(page: &Value) -> f64 {
    list(page, "/regions").iter().map(|region| number(region, "/executions")).sum()
}
