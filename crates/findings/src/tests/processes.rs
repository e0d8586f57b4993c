//! Findings in runs of several processes: whose each is, and one for all that lose alike.

use proust_log::operations::Operation;
use proust_profile::{Location, LocationId, Ns, Process, ProcessId};

use super::super::{Amount, Finding, Kind};
use super::{Builder, MS, near, near_number, one};

/// Processes of these programs, each of which makes threads for a moment's work, all at the same time.
fn churning(programs: &[&str]) -> Vec<Finding> {
    const THREADS: u32 = 100;
    let mut run = Builder::new(0, 1000);
    run.profile.facts.available_processors = 8;
    let process = |name: &&str| Process {
        name: (*name).into(),
        end: Ns::of(1000 * MS),
        available_processors: 8,
        ..Process::default()
    };
    run.profile.processes = programs.iter().map(process).collect();
    for n in 0..programs.len() as u32 {
        let process = ProcessId(n);
        let main = run.profile.locations.len() as u32;
        run.profile.locations.push(Location {
            process,
            tid: main,
            end: Ns::of(1000 * MS),
            ..Location::default()
        });
        for thread in 0..THREADS {
            let at_ms = u64::from(thread) * 5;
            run.profile.locations.push(Location {
                process,
                tid: main + 1 + thread,
                start: Ns::of((at_ms + 3) * MS),
                end: Ns::of((at_ms + 4) * MS),
                ..Location::default()
            });
            run.work(main, "main spawn libc:pthread_create", (at_ms, at_ms + 3));
            run.during(main, "main", Operation::Join, (at_ms + 3, at_ms + 5));
            run.work(main + 1 + thread, "task", (at_ms + 3, at_ms + 4));
        }
    }
    run.findings()
}

fn of_churn(found: &[Finding]) -> Vec<(Vec<u32>, Ns)> {
    let found = found.iter().filter(|finding| finding.kind == Kind::ThreadChurn);
    found.map(|one| (one.processes.iter().map(|id| id.0).collect(), one.lost)).collect()
}

#[test]
fn processes_of_a_program_that_lose_alike_are_one_finding() {
    let single = churning(&["cc1"]);
    let [(whose, alone)] = &of_churn(&single)[..] else { panic!("{single:#?}") };
    assert_eq!(*whose, [0]);
    let found = churning(&["cc1", "ld", "cc1", "cc1"]);
    let [(compilers, of_compilers), (linkers, of_linkers)] = &of_churn(&found)[..] else {
        panic!("{found:#?}")
    };
    assert_eq!((&compilers[..], &linkers[..]), (&[0, 2, 3][..], &[1][..]));
    near(*of_compilers, 3.0 * alone.as_seconds());
    near(*of_linkers, alone.as_seconds());
    let evidence = &one(&found, Kind::ThreadChurn).evidence;
    assert_eq!(evidence[0].amount, Amount::Count(3.0));
    near_number(evidence[1].amount.in_unit(), alone.as_seconds());
}

#[test]
fn a_finding_of_the_run_knows_whose_code_it_is_about() {
    let mut run = Builder::new(3, 1000);
    run.profile.processes.push(Process {
        end: Ns::from_seconds(1.0),
        available_processors: 2,
        ..Process::default()
    });
    run.profile.locations[LocationId(0)].process = ProcessId(1);
    run.work(0, "main prepare", (0, 400));
    run.during(0, "main", Operation::Join, (400, 1000));
    run.work(1, "worker solve", (400, 1000)).work(2, "worker solve", (400, 1000));
    assert_eq!(one(&run.findings(), Kind::SerialPhase).processes, [ProcessId(1)]);
}
