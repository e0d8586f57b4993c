use super::super::Sure;
use super::*;
use proust_profile::notes::RunNote;

/// A process that starts `count` others, each of which lives for `life_ms`; loading a program takes 2 ms.
fn run(count: u32, life_ms: u64) -> Vec<Finding> {
    let mut run = Builder::new(1, 1000);
    run.work(0, "main convert", (0, 1000));
    run.profile.processes[ProcessId(0)].pid = 1;
    run.profile.locations[LocationId(0)].tid = 1;
    for child in 0..count {
        let start = Ns::of(u64::from(child) * 10 * MS);
        let end = start + Ns::of(life_ms * MS);
        run.profile.processes.push(Process {
            pid: 100 + child,
            parent_pid: 1,
            origin: "image".into(),
            executable: "/usr/bin/expr".into(),
            start,
            end,
            available_processors: 2,
            ..Process::default()
        });
        let process = ProcessId(1 + child);
        run.profile.locations.push(Location { process, tid: 100 + child, start, end, ..Location::default() });
        run.during(
            0,
            "main add libc:popen",
            Operation::OpenPipeStream,
            (10 * u64::from(child), 10 * u64::from(child) + 1),
        );
    }
    let before_ns = u64::from(count) * 2 * MS;
    let programs = count as usize;
    run.profile.quality.notes.push(RunNote::ProgramsLoaded {
        programs,
        before_ns,
        share: 0.2,
        beginning_ns: 0,
    });
    run.findings()
}

#[test]
fn processes_that_live_for_a_moment_cost_their_start() {
    let found = run(90, 3);
    let finding = one(&found, Kind::ProcessChurn);
    near(finding.lost, 0.18);
    assert_eq!((cause(finding), finding.sure), ("add", Sure::Likely));
    assert_eq!(finding.cause.processes, [ProcessId(0)]);
    // Few, or such that live on.
    assert!(!has(&run(30, 3), Kind::ProcessChurn));
    assert!(!has(&run(90, 200), Kind::ProcessChurn));
}
