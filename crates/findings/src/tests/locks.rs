//! One kind for each lock: by the work done under it, how long it is held, and how many wait.

use proust_log::operations::Operation;
use proust_profile::{FunctionId, LocationId, Module, ModuleId, Ns, ProcessId};

use super::super::{Amount, FigureId, Finding, Kind, Sure, Whole};
use super::{Builder, MS, cause, has, near, near_number, one};

/// Two threads take turns with a lock for `held_ms` of each 10 ms; `inside` says what the holder does there.
fn turns(held_ms: u64, inside: Option<Operation>) -> Vec<Finding> {
    let mut run = Builder::new(2, 1000);
    for turn in 0..50 {
        let at_ms = turn * 20;
        for (holder, waiter) in [(0, 1), (1, 0)] {
            let at_ms = at_ms + 10 * u64::from(holder);
            let until_ms = at_ms + held_ms;
            let paths = ["main section", "worker section"];
            if let Some(operation) = inside {
                run.during(
                    holder,
                    &format!("{} store", paths[holder as usize]),
                    operation,
                    (at_ms, until_ms),
                );
                run.work(holder, paths[holder as usize], (until_ms, at_ms + 10));
            } else {
                run.work(holder, paths[holder as usize], (at_ms, at_ms + 10));
            }
            if held_ms > 0 {
                run.during(waiter, paths[waiter as usize], Operation::MutexLock, (at_ms, until_ms)).object =
                    0x10;
                run.unlock(holder, paths[holder as usize], 0x10, until_ms, held_ms);
            }
            run.work(waiter, paths[waiter as usize], (until_ms, at_ms + 10));
        }
    }
    run.findings()
}

#[test]
fn what_the_holder_does_meanwhile_comes_first() {
    let found = turns(6, Some(Operation::Write));
    let finding = one(&found, Kind::LockAcrossIo);
    near(finding.lost, 0.6);
    assert_eq!((cause(finding), finding.account.as_str()), ("store", "lock"));
    assert_eq!(finding.victims.iter().map(|victim| victim.threads).sum::<usize>(), 2);
    let found = turns(6, Some(Operation::NanoSleep));
    assert_eq!(cause(one(&found, Kind::LockAcrossSleep)), "store");
    assert!(!has(&found, Kind::LockAcrossIo));
}

/// Each second of every program is lost to something for a few milliseconds.
#[test]
fn a_small_loss_is_possible_at_most_however_exactly_it_was_measured() {
    let sure = |held_ms: u64, rest_ms: u64| {
        let mut run = Builder::new(2, 20 * 50 + rest_ms);
        for turn in 0..50 {
            let at_ms = turn * 20;
            run.work(0, "main section", (at_ms, at_ms + 20));
            run.during(1, "worker section", Operation::MutexLock, (at_ms, at_ms + held_ms)).object = 0x10;
            run.unlock(0, "main section", 0x10, at_ms + held_ms, held_ms);
            run.work(1, "worker section", (at_ms + held_ms, at_ms + 20));
        }
        run.work(0, "main rest", (1000, 1000 + rest_ms)).work(1, "worker rest", (1000, 1000 + rest_ms));
        one(&run.findings(), Kind::LongSection).sure
    };
    assert_eq!(sure(3, 100), Sure::Certain);
    assert_eq!(sure(3, 1000), Sure::Possible, "3.75 % of the run");
}

/// Another program has the processor for most of the time in which one of them holds the lock.
#[test]
fn a_lock_whose_holders_have_no_processor_is_possibly_held_too_long() {
    let sure = |cpu_ms: u64| {
        let mut run = Builder::new(2, 1000);
        for turn in 0..50 {
            let at_ms = turn * 20;
            run.work(0, "main section", (at_ms, at_ms + cpu_ms));
            run.during(1, "worker section", Operation::MutexLock, (at_ms, at_ms + 16)).object = 0x10;
            run.unlock(0, "main section", 0x10, at_ms + 16, 16);
            run.work(1, "worker section", (at_ms + 16, at_ms + 20));
        }
        for row in &mut run.samples {
            row.involuntary_switches = 1;
        }
        run.profile.locations[LocationId(0)].queued = Ns::of((20 - cpu_ms) * 50 * MS);
        let whole = Whole::of(&run.profile(), None).unwrap();
        let finding = one(&whole.findings, Kind::LongSection);
        let is_named = finding.checks.iter().any(|check| check.threshold == "HOLDERS_DISPLACED");
        assert_eq!(is_named, finding.sure == Sure::Certain, "{finding:#?}");
        finding.sure
    };
    assert_eq!((sure(16), sure(4)), (Sure::Certain, Sure::Possible));
}

/// A thread of a pool of Python's library and the script's own pass the interpreter's lock to each other, and
/// wait for the mutex that guards it.
#[test]
fn an_interpreters_lock_is_one_finding_where_the_script_waits() {
    let found = {
        let mut run = Builder::new(2, 1000);
        run.profile.modules[ModuleId(0)].path = "/home/me/job.py".into();
        for path in ["/usr/bin/python3.11", "/usr/lib/python3.11/pool.py"] {
            run.profile.modules.push(Module { path: path.into(), ..Module::default() });
        }
        let (script, pool) = ("score take_gil", "bootstrap handle take_gil");
        for turn in 0..50 {
            let at_ms = turn * 20;
            run.work(0, "score", (at_ms, at_ms + 10)).work(1, "bootstrap handle", (at_ms + 10, at_ms + 20));
            for (waiter, path, holder, other, from_ms, to_ms) in
                [(1, pool, 0, script, at_ms, at_ms + 10), (0, script, 1, pool, at_ms + 12, at_ms + 20)]
            {
                run.during(waiter, path, Operation::MutexLock, (from_ms, to_ms)).object = 0x10;
                run.unlock(holder, other, 0x10, to_ms, to_ms - from_ms);
            }
        }
        for (name, module, file) in [
            ("score", 0, Some("/home/me/job.py")),
            ("bootstrap", 3, Some("/usr/lib/python3.11/pool.py")),
            ("handle", 3, Some("/usr/lib/python3.11/pool.py")),
            ("take_gil", 2, None),
        ] {
            let id = FunctionId(run.function(name));
            let function = &mut run.profile.functions[id];
            (function.module, function.file) = (Some(ModuleId(module)), file.map(str::to_owned));
        }
        run.findings()
    };
    assert_eq!(found.iter().filter(|one| one.account.as_str() == "lock").count(), 1, "{found:#?}");
    let finding = one(&found, Kind::InterpreterLock);
    assert_eq!((cause(finding), finding.sure), ("score", Sure::Certain));
}

/// A thread of Python's library works for the script, which calls that library elsewhere.
#[test]
fn what_a_library_of_python_does_is_named_where_the_script_calls_it() {
    let mut run = Builder::new(2, 1000);
    run.profile.modules[ModuleId(0)].path = "/home/me/job.py".into();
    for path in ["/usr/bin/python3.11", "/usr/lib/python3.11/multiprocessing/pool.py"] {
        run.profile.modules.push(Module { path: path.into(), ..Module::default() });
    }
    run.work(0, "main classify next", (0, 1000));
    for at_ms in (0..1000).step_by(100) {
        run.work_with(1, "handle repopulate libc:memset", (at_ms, at_ms + 100), 0, 0);
    }
    for (name, module, file) in [
        ("main", 0, "/home/me/job.py"),
        ("classify", 0, "/home/me/job.py"),
        ("next", 3, "/usr/lib/python3.11/multiprocessing/pool.py"),
        ("handle", 3, "/usr/lib/python3.11/multiprocessing/pool.py"),
        ("repopulate", 3, "/usr/lib/python3.11/multiprocessing/pool.py"),
    ] {
        let id = FunctionId(run.function(name));
        let function = &mut run.profile.functions[id];
        (function.module, function.file) = (Some(ModuleId(module)), Some(file.to_owned()));
    }
    let found = run.findings();
    assert_eq!(cause(one(&found, Kind::MemoryClearing)), "classify", "{found:#?}");
}

#[test]
fn what_has_no_name_is_possible_at_most() {
    let run = |name: &str, file: Option<&str>, beside: Option<&str>| {
        let mut run = Builder::new(2, 1000);
        for turn in 0..50 {
            let at_ms = turn * 20;
            run.work(0, "main", (at_ms, at_ms + 20));
            run.during(1, "main", Operation::MutexLock, (at_ms, at_ms + 10)).object = 0x10;
            run.unlock(0, "main", 0x10, at_ms + 10, 10);
            run.work(1, "main", (at_ms + 10, at_ms + 20));
        }
        if let Some(beside) = beside {
            run.function(beside);
        }
        for function in &mut run.profile.functions {
            function.file = file.map(str::to_owned);
            if function.name == "main" {
                function.name = name.into();
            }
        }
        let found = run.findings();
        let finding = one(&found, Kind::LongSection);
        (finding.sure, finding.unnamed)
    };
    let (sure, not) = ((Sure::Certain, false), (Sure::Possible, true));
    assert_eq!(run("solve+0x1000", None, None), not);
    assert_eq!(run("main", None, None), not);
    // Where other functions have names there are symbols, and main is what does it.
    assert_eq!(run("main", None, Some("step")), sure);
    assert_eq!(run("main", None, Some("solve+0x1000")), not);
    assert_eq!(run("update", None, None), sure);
    assert_eq!(run("main", Some("/src/a.c"), None), sure);
}

#[test]
fn the_lock_of_a_library_is_told_with_the_library() {
    let run = |library: &str| {
        let mut run = Builder::new(2, 1000);
        run.profile.modules[ModuleId(1)].path = format!("/usr/lib/{library}");
        for turn in 0..50 {
            let at_ms = turn * 20;
            for (holder, waiter) in [(0, 1), (1, 0)] {
                let at_ms = at_ms + 10 * u64::from(holder);
                run.work(holder, "main product libc:exec_blas", (at_ms, at_ms + 10));
                run.during(waiter, "main product libc:exec_blas", Operation::MutexLock, (at_ms, at_ms + 6))
                    .object = 0x10;
                run.unlock(holder, "main product libc:exec_blas", 0x10, at_ms + 6, 6);
                run.work(waiter, "main product", (at_ms + 6, at_ms + 10));
            }
        }
        run.findings()
    };
    let found = run("openblas-pthread/libopenblas.so.0");
    let finding = one(&found, Kind::LibraryLock);
    assert_eq!((cause(finding), finding.library.as_deref()), ("product", Some("libopenblas.so.0")));
    assert!(has(&run("libc.so.6"), Kind::LongSection));
}

#[test]
fn who_waits_at_a_lock_and_never_holds_it_may_be_parked() {
    let run = |both: bool| {
        let mut run = Builder::new(2, 1000);
        for turn in 0..50 {
            let at_ms = turn * 20;
            run.during(0, "main hold sleep", Operation::NanoSleep, (at_ms, at_ms + 8));
            run.during(1, "worker stop", Operation::MutexLock, (at_ms, at_ms + 8)).object = 0x10;
            run.unlock(0, "main hold", 0x10, at_ms + 8, 8);
            run.work(0, "main use", (at_ms + 8, at_ms + 20)).work(1, "worker use", (at_ms + 8, at_ms + 16));
            if both {
                run.during(0, "main hold", Operation::MutexLock, (at_ms + 16, at_ms + 20)).object = 0x10;
                run.unlock(1, "worker use", 0x10, at_ms + 20, 4);
            }
        }
        run.findings()
    };
    assert_eq!(one(&run(false), Kind::LockAcrossSleep).sure, Sure::Possible);
    assert_eq!(one(&run(true), Kind::LockAcrossSleep).sure, Sure::Certain);
}

#[test]
fn a_finding_and_the_page_of_locks_have_the_same_numbers() {
    let mut run = Builder::new(2, 1000);
    for turn in 0..50 {
        let at_ms = turn * 20;
        run.work(0, "main section", (at_ms, at_ms + 20));
        run.work(1, "worker use", (at_ms, at_ms + 10));
        run.during(1, "worker section", Operation::MutexLock, (at_ms + 10, at_ms + 16)).object = 0x10;
        // Held for longer than another thread waited.
        run.unlock(0, "main section", 0x10, at_ms + 16, 15);
        run.work(1, "worker section", (at_ms + 16, at_ms + 20));
    }
    let whole = Whole::of(&run.profile(), None).unwrap();
    let finding = one(&whole.findings, Kind::LongSection);
    let lock = &whole.blame.locks[finding.lock.unwrap() as usize];
    let figure = |id: FigureId| finding.evidence.iter().find(|figure| figure.id == id).unwrap().amount;
    assert_eq!(figure(FigureId::SectionsWithWaiters), Amount::Count(lock.holds as f64));
    assert_eq!(figure(FigureId::MeanSection), Amount::Time(Ns::of(lock.held_ns) / lock.holds as f64));
    near_number(figure(FigureId::WaitedForLock).in_unit(), 0.3);
}

#[test]
fn a_lock_that_is_held_for_long_is_a_long_section() {
    let found = turns(6, None);
    let finding = one(&found, Kind::LongSection);
    near(finding.lost, 0.6);
    assert_eq!(cause(finding), "section");
    assert!(finding.lock.is_some());
}

#[test]
fn a_lock_that_nobody_waits_for_is_none() {
    assert_eq!(turns(0, None), []);
}

#[test]
fn several_in_line_are_a_convoy() {
    let mut run = Builder::new(3, 900);
    run.profile.facts.available_processors = 3;
    run.profile.processes[ProcessId(0)].available_processors = 3;
    let path = "worker section";
    for turn in 0..90_u64 {
        let at_ms = turn * 10;
        let holder = (turn % 3) as u32;
        run.work(holder, path, (at_ms, at_ms + 10));
        run.unlock(holder, path, 0x10, at_ms + 10, 10);
        // Each holds it 10 ms and waits for the two others' 20 ms.
        if turn >= 2 {
            run.during(holder, path, Operation::MutexLock, (at_ms - 20, at_ms)).object = 0x10;
        }
    }
    let found = run.findings();
    let finding = one(&found, Kind::Convoy);
    assert_eq!(cause(finding), "section");
    assert!(finding.lost > Ns::of(1500 * MS), "{finding:#?}");
}

#[test]
fn short_sections_that_are_entered_all_the_time_are_hot() {
    let mut run = Builder::new(2, 1000);
    run.work(0, "main count", (0, 1000)).work(1, "worker count", (0, 1000));
    // Of very many sections of 20 µs a part is recorded; their waits are sums.
    for step in 0..250 {
        run.short(1, "worker count", Operation::MutexLock, (4 * step, 4 * step + 4), (50, 0, 2));
        let release = run.unlock(0, "main count", 0x10, 4 * step + 3, 0);
        (release.held_ns, release.weight_ns) = (20_000, 2_000_000);
    }
    // One wait is recorded by itself, so that it is known to be a lock.
    run.during(1, "worker count", Operation::MutexLock, (999, 1000)).object = 0x10;
    for row in &mut run.samples {
        if row.location == LocationId(1) {
            row.cpu_ns /= 2;
        }
    }
    let found = run.findings();
    let finding = one(&found, Kind::HotSection);
    assert_eq!(cause(finding), "count");
}

#[test]
fn trying_again_and_again_is_spinning() {
    let mut run = Builder::new(2, 1000);
    for turn in 0..100 {
        let at_ms = turn * 10;
        run.work(0, "main section", (at_ms, at_ms + 10));
        run.during(1, "worker section", Operation::SpinLock, (at_ms, at_ms + 6)).object = 0x10;
        run.unlock(0, "main section", 0x10, at_ms + 6, 6);
        run.work(1, "worker section", (at_ms + 6, at_ms + 10));
    }
    let found = run.findings();
    let finding = one(&found, Kind::LockSpin);
    near(finding.lost, 0.6);
    assert!(finding.burned > Ns::of(500 * MS));
}

/// A runtime's threads look again and again whether a lock is free that is no spin lock by its name.
#[test]
fn of_waits_for_a_lock_that_keep_the_processor_all_is_burned() {
    let burned = |is_asleep_ms: u64| {
        let mut run = Builder::new(2, 1000);
        for turn in 0..100 {
            let at_ms = turn * 10;
            run.work(0, "main section", (at_ms, at_ms + 10));
            run.during(1, "worker section", Operation::MutexLock, (at_ms, at_ms + 6)).object = 0x10;
            run.unlock(0, "main section", 0x10, at_ms + 6, 6);
            run.work(1, "worker section", (at_ms + is_asleep_ms, at_ms + 10));
        }
        let found = run.findings();
        let finding = found.iter().find(|one| one.lock.is_some()).expect("the lock").clone();
        near(finding.lost, 0.6);
        finding.burned
    };
    near(burned(0), 0.6);
    // Two thirds of each wait.
    near(burned(2), 0.4);
    // No more than half: they sleep, and what is on a processor is not theirs for sure.
    assert_eq!([burned(4), burned(6)], [Ns::ZERO; 2]);
}

#[test]
fn waits_for_another_lock_at_the_same_place_are_not_this_ones() {
    let mut run = Builder::new(2, 1000);
    for turn in 0..50 {
        let at_ms = turn * 20;
        // A lock is known by where it is first waited for: these are two.
        let second = if turn == 0 { "worker other" } else { "worker section" };
        run.work(0, "main section", (at_ms, at_ms + 20));
        run.during(1, "worker section", Operation::MutexLock, (at_ms, at_ms + 4)).object = 0x10;
        run.unlock(0, "main section", 0x10, at_ms + 4, 4);
        run.during(1, second, Operation::MutexLock, (at_ms + 4, at_ms + 16)).object = 0x20;
        run.unlock(0, "main section", 0x20, at_ms + 16, 12);
        run.work(1, "worker section", (at_ms + 16, at_ms + 20));
    }
    let found = run.findings();
    let evidence = found.iter().filter(|finding| finding.lock.is_some()).flat_map(|one| &one.evidence);
    let shares: Vec<f64> = (evidence.filter(|figure| figure.id == FigureId::ShareOfRunWaited))
        .map(|figure| figure.amount.in_unit())
        .collect();
    assert_eq!(shares.len(), 2, "{found:#?}");
    near_number(shares[0], 0.6);
    near_number(shares[1], 0.2);
}
