//! OpenMP in every way that a measurement must survive, and that must survive being measured.

use serde_json::Value;

use crate::explained::Except;
use crate::programs::built;
use crate::recording::{number, record};

fn survives(name: &str, except: Option<Except>) {
    for compiler in ["gcc", "clang"] {
        let Some(program) = built(&format!("openmp-hostile-{compiler}")) else { continue };
        println!("{name} by {compiler}");
        let run = record(program, &[name]).succeeded();
        if let Some(why) = except {
            run.except(why);
        }
        if name != "exit" {
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
