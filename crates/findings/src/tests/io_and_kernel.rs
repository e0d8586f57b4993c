//! I/O of a few bytes, synchronisation, system calls.

use proust_account::ledger::Account;
use proust_profile::{LocationId, ModuleId, Ns, ProcessId, ProcessSampleRow, Target};

use super::super::{Finding, Kind, Sure, findings};
use super::{Builder, MS, cause, has, near, one};
use proust_log::operations::Operation;

#[test]
fn calls_that_move_a_few_bytes_are_told() {
    let run = |bytes: u64| {
        let mut run = Builder::new(1, 1000);
        run.work(0, "main make", (0, 1000));
        for at_ms in (0..1000).step_by(20) {
            run.short(0, "main store", Operation::Write, (at_ms, at_ms + 4), (10_000, 10_000 * bytes, 4));
        }
        run.findings()
    };
    let found = run(8);
    let finding = one(&found, Kind::TinyIo);
    near(finding.lost, 0.2);
    assert_eq!((cause(finding), finding.account.as_str(), finding.sure), ("store", "io", Sure::Certain));
    assert!(!has(&run(4096), Kind::TinyIo));
}

/// Reads of a block each, which take so long that they wait for the device.
#[test]
fn blocks_that_are_read_one_by_one_from_a_device() {
    let run = |operation: Operation, bytes: u64, calls: u32| {
        let mut run = Builder::new(1, 1000);
        for at_ms in (0..1000).step_by(20) {
            run.short(0, "main load", operation, (at_ms, at_ms + 10), (calls, bytes * u64::from(calls), 10));
            run.work(0, "main check", (at_ms + 10, at_ms + 20));
        }
        run.findings()
    };
    let found = run(Operation::Read, 4096, 200);
    let finding = one(&found, Kind::TinyIo);
    near(finding.lost, 0.5 * (1.0 - 4096.0 / 65536.0));
    assert_eq!((cause(finding), finding.sure), ("load", Sure::Possible));
    assert!(!has(&run(Operation::Read, 65536, 200), Kind::TinyIo), "large blocks");
    assert!(!has(&run(Operation::Read, 4096, 2000), Kind::TinyIo), "from memory");
    assert!(!has(&run(Operation::Write, 4096, 200), Kind::TinyIo));
}

#[test]
fn files_that_are_opened_and_closed_all_the_time() {
    let run = |opens: u32| {
        let mut run = Builder::new(1, 1000);
        run.work(0, "main make", (0, 1000));
        for at_ms in (0..1000).step_by(20) {
            run.short(0, "main store", Operation::StreamOpen, (at_ms, at_ms + 3), (opens / 50, 0, 3));
            run.short(0, "main store", Operation::StreamClose, (at_ms + 3, at_ms + 6), (opens / 50, 0, 2));
        }
        run.findings()
    };
    let found = run(10_000);
    let finding = one(&found, Kind::FileChurn);
    near(finding.lost, 0.25);
    assert_eq!((cause(finding), finding.account.as_str(), finding.sure), ("store", "io", Sure::Possible));
    assert!(!has(&run(1000), Kind::FileChurn), "a thousand files");
}

#[test]
fn a_file_that_is_read_byte_by_byte_is_told_though_the_last_call_has_none() {
    let mut run = Builder::new(1, 1000);
    run.work(0, "main make", (0, 1000));
    for at_ms in (0..1000).step_by(20) {
        run.short(0, "main load", Operation::Read, (at_ms, at_ms + 4), (10_000, 10_000, 4));
    }
    run.during(0, "main load", Operation::Read, (999, 1000));
    assert_eq!(cause(one(&run.findings(), Kind::TinyIo)), "load");
}

#[test]
fn what_fills_a_buffer_call_by_call_moves_it_at_once() {
    // Of 500 000 calls of 8 bytes that go to the system; the kernel counts what it was given.
    let run = |written_bytes: u64| {
        let mut run = Builder::new(1, 1000);
        for at_ms in (0..1000).step_by(20) {
            run.work_with(0, "main store", (at_ms, at_ms + 16), 50, 0);
            run.short(0, "main store", Operation::StreamWrite, (at_ms, at_ms + 4), (10_000, 80_000, 4));
        }
        run.profile.process_samples = [0, written_bytes]
            .map(|bytes| ProcessSampleRow {
                written_by_calls_bytes: Some(bytes),
                ..ProcessSampleRow::default()
            })
            .to_vec();
        has(&run.findings(), Kind::TinyIo)
    };
    assert!(run(500_000 * 8));
    assert!(!run(500_000 * 4096));
}

#[test]
fn names_of_files_are_no_bytes_and_answers_cannot_be_collected() {
    let run = |operation: Operation, target: Target, answered: bool| {
        let mut run = Builder::new(1, 1000);
        run.work(0, "main make", (0, 1000));
        for at_ms in (0..1000).step_by(20) {
            run.short(0, "main store", operation, (at_ms, at_ms + 4), (10_000, 80_000, 4));
            run.events.last_mut().unwrap().target = target;
            if answered {
                run.short(0, "main store", Operation::Receive, (at_ms, at_ms + 4), (9_000, 0, 1));
                run.events.last_mut().unwrap().target = target;
            }
        }
        has(&run.findings(), Kind::TinyIo)
    };
    assert!(run(Operation::Write, Target::File, false));
    assert!(!run(Operation::ReadDirectory, Target::File, false));
    assert!(!run(Operation::Entropy, Target::None, false));
    // Through a buffer, and hardly any of the time is the kernel's.
    assert!(!run(Operation::StreamLine, Target::File, false));
    assert!(run(Operation::Send, Target::Socket, false));
    assert!(!run(Operation::Send, Target::Socket, true));
}

#[test]
fn the_reference_implementation_of_a_library_is_told() {
    let run = |library: &str| {
        let mut run = Builder::new(1, 1000);
        run.profile.modules[ModuleId(1)].path = library.into();
        run.work(0, "main multiply libc:dgemm_", (0, 600)).work(0, "main use", (600, 1000));
        run.findings()
    };
    let found = run("/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0");
    let finding = one(&found, Kind::SlowLibrary);
    near(finding.lost, 0.42);
    assert_eq!((cause(finding), finding.library.as_deref()), ("multiply", Some("libblas.so.3.11.0")));
    assert!(!has(&run("/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0"), Kind::SlowLibrary));
}

#[test]
fn files_that_are_synchronised_all_the_time_are_told() {
    let run = |times: u64| {
        let mut run = Builder::new(1, 1000);
        let every_ms = 1000 / times;
        for time in 0..times {
            let at_ms = time * every_ms;
            run.work(0, "main make", (at_ms, at_ms + every_ms / 2));
            run.during(0, "main save", Operation::Synchronise, (at_ms + every_ms / 2, at_ms + every_ms));
        }
        run.findings()
    };
    let found = run(50);
    let finding = one(&found, Kind::SyncStorm);
    near(finding.lost, 0.5 * 0.98);
    assert_eq!((cause(finding), finding.account.as_str()), ("save", "io"));
    assert!(!has(&run(4), Kind::SyncStorm));
}

#[test]
fn writes_that_wait_for_the_device_synchronise_their_file() {
    let run = |operation: Operation, bytes: u64| {
        let mut run = Builder::new(1, 1000);
        for at_ms in (0..1000).step_by(10) {
            run.work(0, "main make", (at_ms, at_ms + 5));
            let event = run.during(0, "main note", operation, (at_ms + 5, at_ms + 10));
            (event.bytes, event.target) = (bytes, Target::File);
        }
        run.findings()
    };
    let found = run(Operation::Write, 400);
    let finding = one(&found, Kind::SyncStorm);
    near(finding.lost, 0.5 * 0.99);
    assert_eq!((cause(finding), finding.sure), ("note", Sure::Possible));
    assert!(!has(&run(Operation::Write, 1 << 20), Kind::SyncStorm), "a megabyte takes its time");
    assert!(!has(&run(Operation::Read, 400), Kind::SyncStorm), "a read waits for what it reads");
}

/// What a thread queues for a processor when a call is over is no loss of the call: a finding would have more
/// than all I/O.
#[test]
fn synchronised_files_lose_no_more_than_all_io() {
    let mut run = Builder::new(1, 1000);
    for time in 0..50 {
        let at_ms = time * 20;
        run.work(0, "main make", (at_ms, at_ms + 10));
        run.during(0, "main save", Operation::Synchronise, (at_ms + 10, at_ms + 20));
    }
    run.profile.locations[LocationId(0)].queued = Ns::from_seconds(0.4);
    let (ledger, found) = findings(&run.profile(), None).unwrap();
    let finding = one(&found, Kind::SyncStorm);
    let io = Ns::of(ledger.accounts[Account::Io]);
    assert!(io < Ns::from_seconds(0.2), "{io:?}");
    assert!(finding.lost <= io, "{:?} of {io:?}", finding.lost);
}

#[test]
fn memory_that_is_copied_or_allocated_much_is_named_where_it_is() {
    let run = |ms: u64, path: &str| {
        let mut run = Builder::new(1, 1000);
        run.work(0, path, (0, ms)).work(0, "main answer look_up", (ms, 1000));
        run.findings()
    };
    let found = run(300, "main answer pass libc:__memmove_avx512_unaligned_erms");
    let finding = one(&found, Kind::MemoryCopying);
    near(finding.lost, 0.3);
    assert_eq!((cause(finding), finding.sure), ("pass", Sure::Possible));
    assert!(!has(&run(120, "main answer pass libc:memcpy"), Kind::MemoryCopying));
    let found = run(300, "main parse libc:sscanf libc:__rawmemchr_evex");
    let finding = one(&found, Kind::TextScanning);
    near(finding.lost, 0.3);
    assert_eq!((cause(finding), finding.sure), ("parse", Sure::Possible));
    assert!(!has(&run(150, "main parse libc:__strlen_avx2"), Kind::TextScanning));
    let found = run(300, "main accept libc:regcomp libc:re_compile_internal");
    let finding = one(&found, Kind::RepeatedPreparation);
    near(finding.lost, 0.3);
    assert_eq!((cause(finding), finding.sure), ("accept", Sure::Possible));
    assert!(!has(&run(300, "main accept libc:regexec"), Kind::RepeatedPreparation));
    let found = run(300, "main parse libc:__cxa_throw libc:_Unwind_RaiseException libc:uw_update_context");
    let finding = one(&found, Kind::ExceptionChurn);
    near(finding.lost, 0.3);
    assert_eq!((cause(finding), finding.sure), ("parse", Sure::Possible));
    assert!(!has(&run(100, "main parse libc:__cxa_throw"), Kind::ExceptionChurn));
    // Frames on the way go on with it.
    let mut through = Builder::new(1, 1000);
    through.work(0, "main through libc:_Unwind_Resume", (0, 200));
    through.work(0, "main through parse libc:__cxa_throw", (200, 300)).work(0, "main look_up", (300, 1000));
    let found = through.findings();
    let finding = one(&found, Kind::ExceptionChurn);
    near(finding.lost, 0.3);
    assert_eq!(cause(finding), "parse");
    let found = run(300, "main relax libc:GOMP_single_start");
    let finding = one(&found, Kind::OmpHotSingle);
    near(finding.lost, 0.3);
    assert_eq!((cause(finding), finding.sure), ("relax", Sure::Possible));
    let found = run(300, "main answer make libc:malloc libc:sysmalloc");
    let finding = one(&found, Kind::AllocationChurn);
    near(finding.lost, 0.3);
    assert_eq!((cause(finding), finding.sure), ("make", Sure::Possible));
    assert!(!has(&run(150, "main answer make libc:malloc"), Kind::AllocationChurn));
    assert!(!has(&run(300, "main answer make libc:mallopt"), Kind::AllocationChurn));
}

/// Memory that is given back and touched again is allocated again, too.
#[test]
fn memory_that_is_allocated_for_its_faults_is_one_finding() {
    let mut run = Builder::new(1, 1000);
    for at_ms in (0..1000).step_by(100) {
        run.work_with(0, "main step libc:malloc", (at_ms, at_ms + 50), 40, 20_000);
        run.work(0, "main step", (at_ms + 50, at_ms + 100));
    }
    run.profile.processes[ProcessId(0)].peak_resident_bytes = Some(8 << 20);
    let found = run.findings();
    assert!(has(&found, Kind::FaultChurn) && !has(&found, Kind::AllocationChurn), "{found:#?}");
}

/// A reader that takes all from one process before it turns to the next.
#[test]
fn output_that_is_not_read_while_the_reader_waits_for_another_process() {
    let run = |in_turn: bool| {
        let mut run = Builder::new(3, 1000);
        let process = run.profile.processes[ProcessId(0)].clone();
        run.profile.processes = vec![process; 3].into();
        for (id, location) in run.profile.locations.iter_mut().enumerate() {
            (location.process, location.tid) = (ProcessId(id as u32), id as u32);
        }
        for at_ms in (0..1000).step_by(20) {
            run.during(0, "main collect", Operation::Read, (at_ms, at_ms + 19)).target = Target::Pipe;
            run.work(0, "main collect", (at_ms + 19, at_ms + 20));
        }
        run.during(1, "main search", Operation::Write, (0, 1)).target = Target::Pipe;
        run.work(1, "main search follow", (1, 500)).work(2, "main search follow", (0, 60));
        let blocked = if in_turn { (60, 500) } else { (60, 80) };
        run.during(2, "main search", Operation::Write, blocked).target = Target::Pipe;
        run.work(2, "main search follow", (blocked.1, 1000));
        run.findings()
    };
    let found = run(true);
    let finding = one(&found, Kind::UnreadOutput);
    near(finding.lost, 0.39);
    assert_eq!((cause(finding), finding.sure), ("collect", Sure::Possible));
    assert!(!has(&found, Kind::SerialPhase), "{found:#?}");
    assert!(!has(&run(false), Kind::UnreadOutput));
}

/// The reader waits for something else before and after the writers live.
#[test]
fn output_of_processes_that_live_for_a_moment_is_read() {
    let mut run = Builder::new(3, 1000);
    let process = run.profile.processes[ProcessId(0)].clone();
    run.profile.processes = vec![process; 3].into();
    for (id, location) in run.profile.locations.iter_mut().enumerate() {
        (location.process, location.tid) = (ProcessId(id as u32), id as u32);
    }
    run.during(0, "main collect", Operation::Read, (0, 400)).target = Target::Pipe;
    run.work(0, "main collect", (400, 600));
    run.during(0, "main collect", Operation::Read, (600, 1000)).target = Target::Pipe;
    for id in [1, 2] {
        run.profile.locations[LocationId(id)].start = Ns::of(400 * MS);
        run.profile.locations[LocationId(id)].end = Ns::of(600 * MS);
        run.work(id, "main search", (400, 450));
        run.during(id, "main search", Operation::Write, (450, 600)).target = Target::Pipe;
    }
    assert!(!has(&run.findings(), Kind::UnreadOutput));
}

#[test]
fn memory_that_is_cleared_much_is_told_where_it_is() {
    let run = |cleared_ms: u64, leaf: &str, system_percent: u64| {
        let mut run = Builder::new(1, 1000);
        run.work_with(0, &format!("main answer reset {leaf}"), (0, cleared_ms), system_percent, 0);
        run.work(0, "main answer look_up", (cleared_ms, 1000));
        run.findings()
    };
    let found = run(300, "libc:__memset_avx512_unaligned_erms", 0);
    let finding = one(&found, Kind::MemoryClearing);
    near(finding.lost, 0.3);
    assert_eq!((cause(finding), finding.sure), ("reset", Sure::Possible));
    // Little of it, another function, and memory that the kernel clears when it is touched first.
    assert!(!has(&run(80, "libc:__memset_avx2_unaligned", 0), Kind::MemoryClearing));
    assert!(!has(&run(300, "libc:memsetter", 0), Kind::MemoryClearing));
    assert!(!has(&run(300, "libc:memset", 90), Kind::MemoryClearing));
}

#[test]
fn time_in_system_calls_is_told_where_they_are_called() {
    let run = |system_percent: u64, called: &str| {
        let mut run = Builder::new(1, 1000);
        run.work_with(0, called, (0, 600), system_percent, 0).work(0, "main use", (600, 1000));
        run.findings()
    };
    let found = run(90, "main ask libc:mprotect");
    let finding = one(&found, Kind::SystemStorm);
    near(finding.lost, 0.54);
    assert_eq!(cause(finding), "ask");
    assert!(!has(&run(10, "main ask libc:qsort"), Kind::SystemStorm));
    // I/O has findings of its own.
    assert!(!has(&run(90, "main ask libc:write"), Kind::SystemStorm));
}

/// Of so many calls of poll within 4 ms each takes the longer the fewer they are.
#[test]
fn looking_at_many_descriptors_is_a_storm_of_its_own() {
    let run = |calls: u32| {
        let mut run = Builder::new(1, 1000);
        for at_ms in (0..1000).step_by(20) {
            run.work(0, "main answer", (at_ms, at_ms + 12));
            run.short(0, "main serve libc:__poll", Operation::Poll, (at_ms + 12, at_ms + 20), (calls, 0, 4));
            run.work_with(0, "main serve libc:__poll", (at_ms + 12, at_ms + 20), 90, 0);
        }
        run.findings()
    };
    let found = run(20);
    assert_eq!(cause(one(&found, Kind::SystemStorm)), "serve");
    assert!(!has(&run(4000), Kind::SystemStorm));
}

#[test]
fn a_system_call_of_a_microsecond_is_told_by_its_name() {
    // The kernel charges nothing to it.
    let run = |name: &str| {
        let mut run = Builder::new(1, 1000);
        for at_ms in (0..1000).step_by(20) {
            run.work(0, "main convert", (at_ms, at_ms + 12));
            run.work(0, &format!("main look libc:{name}"), (at_ms + 12, at_ms + 20));
        }
        run.findings()
    };
    let found = run("__GI___fstatat64");
    let finding = one(&found, Kind::SystemStorm);
    near(finding.lost, 0.4);
    assert_eq!((cause(finding), finding.sure), ("look", Sure::Likely));
    assert!(!has(&run("memchr"), Kind::SystemStorm));
    // That of a process takes a system call, others do not.
    let found = run("clock_gettime");
    let finding = one(&found, Kind::SystemStorm);
    assert_eq!((cause(finding), finding.sure), ("look", Sure::Possible));
}

#[test]
fn locks_inside_of_the_c_library_are_told_by_samples_in_them() {
    let run = |threads: u32| {
        let mut run = Builder::new(2, 1000);
        for at_ms in (0..1000).step_by(20) {
            for id in 0..threads {
                run.work(id, "walk libc:random", (at_ms, at_ms + 12));
                run.work(id, "walk libc:random libc:__lll_lock_wait_private", (at_ms + 12, at_ms + 20));
            }
        }
        run.findings()
    };
    let found = run(2);
    let finding = one(&found, Kind::LibraryLock);
    near(finding.lost, 0.8);
    assert_eq!((cause(finding), finding.library.as_deref()), ("walk", Some("libc.so.6")));
    assert!(!has(&run(1), Kind::LibraryLock));
}

/// A client of one process asks a server of another one, which needs 8 ms for each answer, and works for 2 ms
/// with it.
fn asking(server: Operation, client: Operation, accepts: bool) -> Vec<Finding> {
    let mut run = Builder::new(2, 1000);
    let process = run.profile.processes[ProcessId(0)].clone();
    run.profile.processes = vec![process; 2].into();
    for (id, location) in run.profile.locations.iter_mut().enumerate() {
        (location.process, location.tid) = (ProcessId(id as u32), id as u32);
    }
    run.profile.processes[ProcessId(1)].start = Ns::of(MS / 2);
    if accepts {
        run.during(0, "main serve", Operation::Accept, (0, 1)).target = Target::Socket;
    }
    let sends = |run: &mut Builder, location, path: &str, at_ms| {
        run.short(location, path, Operation::Send, (at_ms, at_ms), (1, 64, 0));
        run.events.last_mut().unwrap().target = Target::Socket;
    };
    for at_ms in (0..1000).step_by(10) {
        sends(&mut run, 1, "main collect fetch", at_ms);
        run.during(1, "main collect", client, (at_ms, at_ms + 8)).target = Target::Socket;
        run.during(0, "main serve", server, (at_ms, at_ms + 8)).target = Target::Socket;
        sends(&mut run, 0, "main serve answer", at_ms + 8);
        run.work(1, "main collect evaluate", (at_ms + 8, at_ms + 10));
    }
    run.findings()
}

#[test]
fn requests_that_are_sent_one_by_one_are_named_where_they_are_sent() {
    // Of the two that was there first, unless it accepts connections.
    for (client, accepts, place) in [
        (Operation::Receive, true, "collect"),
        (Operation::EpollWait, true, "fetch"),
        (Operation::EpollWait, false, "answer"),
    ] {
        let found = asking(Operation::EpollWait, client, accepts);
        let finding = one(&found, Kind::RoundTrips);
        assert_eq!((cause(finding), finding.sure), (place, Sure::Possible));
        assert!(!has(&found, Kind::UnexplainedWait), "{found:#?}");
    }
}

/// Threads that wait for each other need a moment to wake, in which nothing works.
#[test]
fn answers_that_come_as_soon_as_their_thread_is_awake_are_none() {
    let mut run = Builder::new(2, 1000);
    for at_ms in 0..1000 {
        run.short(1, "main fetch", Operation::Send, (at_ms, at_ms), (1, 64, 0));
        run.events.last_mut().unwrap().target = Target::Socket;
        let wait = run.during(1, "main fetch", Operation::Receive, (at_ms, at_ms));
        (wait.target, wait.end_ns, wait.time_ns) = (Target::Socket, at_ms * MS + 300_000, 300_000);
    }
    assert!(!has(&run.findings(), Kind::RoundTrips));
}

#[test]
fn a_service_that_sleeps_is_asked_one_by_one() {
    let found = asking(Operation::NanoSleep, Operation::Receive, true);
    assert_eq!(cause(one(&found, Kind::RoundTrips)), "collect");
    assert!(!has(&found, Kind::SleepPoll), "{found:#?}");
}

/// A shell starts others that print to it, and prints to a pipe itself. Until they are loaded nothing works.
#[test]
fn what_the_commands_of_a_shell_print_is_no_answer() {
    let run = |shells: u32, commands: u64| {
        let mut run = Builder::new(shells, 1000);
        let process = run.profile.processes[ProcessId(0)].clone();
        run.profile.processes = vec![process; shells as usize].into();
        for (id, location) in run.profile.locations.iter_mut().enumerate() {
            (location.process, location.tid) = (ProcessId(id as u32), id as u32);
        }
        for nth in 0..u64::from(shells) * commands {
            let (id, at_ms) = (nth as u32 / commands as u32, nth * 20);
            run.during(id, "main", Operation::Read, (at_ms, at_ms + 15)).target = Target::Pipe;
            run.short(id, "main", Operation::Write, (at_ms + 15, at_ms + 15), (1, 8, 0));
            run.events.last_mut().unwrap().target = Target::Pipe;
            run.work(id, "main", (at_ms + 15, at_ms + 20));
        }
        has(&run.findings(), Kind::RoundTrips)
    };
    assert!(run(1, 40));
    assert!(!run(20, 2));
}
