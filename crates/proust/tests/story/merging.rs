//! Ranks that record to folders of their own, as on discs of their hosts, merged to one run.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::chance::assert_close;
use crate::command::{Ended, proust, run};
use crate::mpi::Mpi;
use crate::recording::{empty_folder, list, number, page_of, truth_in};

/// Two ranks, each with a recorder and a folder named after it; the program's truth. `before` is what the
/// shell of a rank does first, with its number in `rank`.
fn recorded_apart(mpi: Mpi, folder: &Path, before: &str) -> Option<Value> {
    let (launcher, program) = (mpi.launcher()?, mpi.built("late")?);
    let script = format!(
        "rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; {before} \
         exec '{}' record -q -o '{}'/$rank -- '{}' late-sender 0.1",
        env!("CARGO_BIN_EXE_proust"),
        folder.display(),
        program.display()
    );
    let ended = run(Command::new(&launcher[0]).args(&launcher[1..]).args(["sh", "-c", &script]));
    assert!(ended.status.success(), "{}", ended.said());
    Some(truth_in(&ended))
}

fn merge(folder: &Path, output: &str, parts: &[&str]) -> Ended {
    run(proust().current_dir(folder).args(["merge", "-o", output]).args(parts))
}

#[test]
fn folders_of_hosts_are_one_run() {
    for mpi in [Mpi::Open, Mpi::Mpich] {
        let folder = empty_folder();
        let folder = folder.path();
        let Some(truth) = recorded_apart(mpi, folder, "") else { continue };
        let whole = merge(folder, "whole", &["0", "1"]);
        assert!(whole.status.success(), "{}", whole.said());
        assert!(whole.printed().contains("2 logs from 2 folders"), "{}", whole.printed());
        assert!(whole.printed().contains("all 2 ranks have a log"), "{}", whole.printed());
        let page: Value = page_of(&folder.join("whole"), "mpi", &[]);
        assert_eq!((number(&page, "/ranks"), list(&page, "/unmatched").len()), (2.0, 0), "{page:#}");
        let states = list(&page, "/wait_states").iter();
        let waited_s: f64 = states
            .filter(|state| state["pattern"] == "late-sender")
            .map(|state| number(state, "/seconds"))
            .sum();
        let true_s = number(&truth, "/all_s");
        assert_close(mpi.name(), waited_s, true_s, (0.05 * true_s).max(0.02));

        // Of a part it is said which rank is missing.
        let part = merge(folder, "part", &["0"]);
        assert!(part.status.success(), "{}", part.said());
        assert!(part.printed().contains("1 rank of 2 without a log: 1."), "{}", part.printed());
        // Nothing is written over, and nothing of another job is taken.
        let again = merge(folder, "whole", &["0", "1"]);
        assert_eq!(again.status.code(), Some(1));
        let other = empty_folder();
        recorded_apart(mpi, other.path(), "");
        let strange = other.path().join("1").display().to_string();
        let mixed = merge(folder, "mixed", &["0", &strange]);
        assert_eq!(mixed.status.code(), Some(1), "{}", mixed.printed());
        assert!(mixed.said().contains("no parts of one run"), "{}", mixed.said());
        assert!(!folder.join("mixed").exists());
    }
}

/// A rank's host is named where its job's manager has said on which hosts ranks are: two ranks say here that
/// they run on two hosts of Slurm's, and the recorded one is on the first of them.
#[test]
fn a_missing_rank_is_named_with_its_host() {
    let named = fs::read_to_string("/proc/sys/kernel/hostname").expect("a host has a name");
    let here = named.trim();
    for mpi in [Mpi::Open, Mpi::Mpich] {
        let folder = empty_folder();
        let folder = folder.path();
        let before =
            format!("export SLURM_STEP_NODELIST='{here},far[07-08]' SLURM_STEP_TASKS_PER_NODE='1(x3)';");
        if recorded_apart(mpi, folder, &before).is_none() {
            continue;
        }
        let part = merge(folder, "part", &["0"]);
        assert!(part.printed().contains("1 rank of 2 without a log: 1 of host far07."), "{}", part.printed());
        // Rank 1 was recorded on this host, too, which contradicts that.
        let part = merge(folder, "other", &["1"]);
        assert!(part.printed().contains("1 rank of 2 without a log: 0."), "{}", part.printed());
    }
}
