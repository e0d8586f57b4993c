//! Ranks on several hosts: their clocks are compared by messages, and nobody waits for a rank that is not
//! recorded. A host is a time namespace with a name of its own, in which CLOCK_MONOTONIC counts from another
//! beginning; the launcher's variables say that each has one rank.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use proust_log::layout::FileHeader;
use proust_log::records::{CLOCK_AT_END, CLOCK_REFERENCE, ClockOffset};
use proust_log::{Log, Record};
use serde_json::Value;
use zerocopy::{FromBytes, IntoBytes};

use crate::command::{proust, run};
use crate::mpi::Mpi;
use crate::recording::{empty_folder, list, number, page_of, record};

/// By how many seconds the clock of each host is ahead of that of the one before it.
const AHEAD_S: u64 = 1000;

/// Starts what follows as rank `$R` on a host of its own.
fn on_its_own_host(mpi: Mpi) -> String {
    let variables = match mpi {
        Mpi::Open => "R=$OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1",
        Mpi::Mpich => {
            "R=$PMI_RANK SLURM_PROCID=$PMI_RANK SLURM_LOCALID=0 SLURM_STEP_NUM_NODES=2 SLURM_JOB_ID=77 \
             SLURM_STEP_ID=0"
        }
    };
    let unshare = format!("unshare --time --uts --fork --monotonic $((R * {AHEAD_S}))");
    format!(
        "export {variables}; {unshare} sh -c 'echo host$R > /proc/sys/kernel/hostname; exec \"$@\"' sh \"$@\""
    )
}

fn can_be_simulated() -> bool {
    let set = "echo elsewhere > /proc/sys/kernel/hostname";
    let words = ["--time", "--uts", "--fork", "--monotonic", "1000", "sh", "-c", set];
    let can_be = run(Command::new("unshare").args(words)).status.success();
    if !can_be {
        println!("SKIP: no namespaces of time and host name can be made here");
    }
    can_be
}

/// The comparisons in the logs, by host.
fn comparisons(dir: &Path) -> BTreeMap<String, Vec<(u16, ClockOffset)>> {
    let mut found: BTreeMap<String, Vec<(u16, ClockOffset)>> = BTreeMap::new();
    for log in fs::read_dir(dir.join("log")).unwrap() {
        let bytes = fs::read(log.unwrap().path()).unwrap();
        let log = Log::parse(&bytes).unwrap();
        let (mut host, mut offsets) = (String::new(), Vec::new());
        for record in log.lanes.iter().flat_map(|lane| lane.records()) {
            match record {
                Record::ClockOffset(flags, offset) => offsets.push((flags, offset)),
                Record::Text { subject, text, .. }
                    if subject == proust_log::records::Subject::Host as u16 =>
                {
                    host = String::from_utf8_lossy(text).into_owned();
                }
                _ => {}
            }
        }
        if !offsets.is_empty() {
            found.entry(host).or_default().extend(offsets);
        }
    }
    found
}

/// Says in the logs of a host that its clock of day was so far off.
fn set_clock_of_day(dir: &Path, host: &str, seconds: i64) {
    for log in fs::read_dir(dir.join("log")).unwrap() {
        let path = log.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        if !bytes.windows(host.len()).any(|part| part == host.as_bytes()) {
            continue;
        }
        let (mut header, _) = FileHeader::read_from_prefix(&bytes).unwrap();
        header.start_unix_ns = header.start_unix_ns.checked_add_signed(seconds * 1_000_000_000).unwrap();
        header.check = header.check_of_facts();
        bytes[..size_of::<FileHeader>()].copy_from_slice(header.as_bytes());
        fs::write(path, bytes).unwrap();
    }
}

/// The program's ranks have no common clock: the late one sleeps for so long, or somewhat longer.
const WAITS_S: f64 = 4.0 * 0.2;

fn assert_waits(name: &str, page: &Value) {
    let states = list(page, "/wait_states");
    let late = states.iter().filter(|state| state["pattern"] == "late-sender");
    let found_s: f64 = late.map(|state| number(state, "/seconds")).sum();
    assert!((0.975 * WAITS_S..1.25 * WAITS_S).contains(&found_s), "{name}: {found_s} s: {page:#}");
    assert_eq!(number(page, "/matching/violations"), 0.0, "{name}: {page:#}");
}

fn hosts_are_compared(mpi: Mpi) {
    let Some(launcher) = mpi.launcher() else { return };
    let Some(program) = mpi.built("late") else { return };
    if !can_be_simulated() {
        return;
    }
    let mut words = launcher;
    words.extend(["sh", "-c"].map(str::to_owned));
    words.push(on_its_own_host(mpi));
    words.extend(["sh".to_owned(), program.display().to_string()]);
    words.extend(["late-sender", "0.2"].map(str::to_owned));
    let recorded = record(&words[0], &words[1..]).succeeded();
    let found = comparisons(&recorded.dir);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["host0", "host1"], "{found:?}");
    let flags = |host: &str| found[host].iter().map(|(flags, _)| *flags).collect::<Vec<_>>();
    assert_eq!(flags("host0"), [CLOCK_REFERENCE, CLOCK_REFERENCE | CLOCK_AT_END]);
    assert_eq!(flags("host1"), [0, CLOCK_AT_END]);
    for (_, offset) in &found["host1"] {
        let ahead_ns = offset.own_ns as i64 - offset.reference_ns as i64;
        let off_ns = (ahead_ns - AHEAD_S as i64 * 1_000_000_000).unsigned_abs();
        assert!(off_ns <= offset.round_trip_ns / 2 + 1000, "{offset:?} is off by {off_ns} ns");
        assert!(offset.round_trip_ns < 20_000_000, "{offset:?}");
    }
    // Nothing is left in the folder, and the waits are those of the program.
    let left = fs::read_dir(&recorded.dir).unwrap().map(|file| file.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with("clocks-")).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_waits("as it was", &recorded.page("mpi", &[]));
    // The clock of day of one of them is wrong.
    let copy = recorded.dir.with_extension("copy");
    assert!(Command::new("cp").arg("-a").arg(&recorded.dir).arg(&copy).status().unwrap().success());
    set_clock_of_day(&copy, "host1", 3);
    let page: Value = page_of(&copy, "mpi", &[]);
    assert_waits("with a wrong clock of day", &page);
    let clock = |host: &str| list(&page, "/clocks").iter().find(|clock| clock["host"] == host).cloned();
    let (reference, compared) = (clock("host0").unwrap(), clock("host1").unwrap());
    assert_eq!((&reference["basis"], &compared["basis"]), (&"reference".into(), &"messages".into()));
    assert!(number(&compared, "/error_s") < 0.01 && number(&compared, "/offset_s").abs() < 0.02, "{page:#}");
    fs::remove_dir_all(copy).unwrap();
}

#[test]
fn hosts_of_open_mpi_are_compared() {
    hosts_are_compared(Mpi::Open);
}

#[test]
fn hosts_of_mpich_are_compared() {
    hosts_are_compared(Mpi::Mpich);
}

/// Only rank 0 is recorded: it must not wait for an answer of the other one.
fn one_rank_is_not_recorded(mpi: Mpi, recorded: u32) {
    let Some(launcher) = mpi.launcher() else { return };
    let Some(program) = mpi.built("late") else { return };
    if !can_be_simulated() {
        return;
    }
    let folder = empty_folder();
    let dir = folder.path().join("run");
    let command = proust();
    let before = format!("'{}' record -o '{}' --", command.get_program().display(), dir.display());
    let ours = on_its_own_host(mpi);
    let script = format!(
        "if [ ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} = {recorded} ]; then set -- {before} \"$@\"; fi; {ours}"
    );
    let mut words = launcher;
    words.extend(["sh".to_owned(), "-c".to_owned(), script, "sh".to_owned(), program.display().to_string()]);
    words.extend(["late-sender", "0.05"].map(str::to_owned));
    let mut command = Command::new("timeout");
    command.arg("60").args(&words).env_remove("PROUST_RUN").env("NO_COLOR", "1");
    let ended = run(&mut command);
    assert!(ended.status.success(), "{:?}: {}", ended.status, ended.said());
    assert_eq!(comparisons(&dir).len(), 0);
    let page: Value = page_of(&dir, "mpi", &[]);
    assert!(list(&page, "/unmatched").iter().all(|row| row["reason"] == "not-recorded"), "{page:#}");
}

#[test]
fn nobody_waits_for_a_rank_that_is_not_recorded() {
    for recorded in [0, 1] {
        one_rank_is_not_recorded(Mpi::Open, recorded);
        one_rank_is_not_recorded(Mpi::Mpich, recorded);
    }
}
