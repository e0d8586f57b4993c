use super::super::Sure;
use super::*;
use proust_account::ledger::Account;

/// A loop that looks for what is ready every `turn_ms`, and calls what computes for so long.
fn serving(path: &str, (turn_ms, work_ms): (u64, u64)) -> Builder {
    let mut run = Builder::new(1, 1000);
    for at_ms in (0..1000).step_by(turn_ms as usize) {
        let looks = Operation::EpollWait;
        run.during(0, &format!("main {}", path.split(' ').next().unwrap()), looks, (at_ms, at_ms + 2));
        run.work(0, &format!("main {path}"), (at_ms + 2, at_ms + 2 + work_ms));
    }
    run
}

#[test]
fn a_callback_that_computes_for_long_keeps_the_loop() {
    let found = serving("uv_run answer hash", (100, 98)).findings();
    let finding = one(&found, Kind::BlockedLoop);
    assert_eq!((cause(finding), finding.account.as_str()), ("hash", Account::Serial.id()));
    assert_eq!(finding.sure, Sure::Possible);
    near(finding.lost, 0.98);
}

#[test]
fn callbacks_that_are_short_do_not() {
    let found = serving("uv_run answer hash", (6, 4)).findings();
    assert!(!has(&found, Kind::BlockedLoop), "{found:#?}");
}

/// Who looks for what is ready in a function of its own may have nobody else to serve.
#[test]
fn a_program_that_works_between_looks_has_no_loop() {
    let found = serving("serve answer hash", (100, 98)).findings();
    assert!(!has(&found, Kind::BlockedLoop), "{found:#?}");
}

#[test]
fn what_a_callback_waits_for_keeps_the_loop_too() {
    let mut run = serving("uv_run answer", (100, 8));
    for at_ms in (0..1000).step_by(100) {
        run.during(0, "main uv_run answer ask", Operation::NanoSleep, (at_ms + 10, at_ms + 90));
    }
    let found = run.findings();
    let finding = one(&found, Kind::BlockedLoop);
    assert_eq!((cause(finding), finding.account.as_str()), ("ask", Account::Asleep.id()));
    near(finding.lost, 1.6);
}

/// Python's loop is its library's, known by its file.
#[test]
fn a_coroutine_keeps_pythons_loop() {
    let found = |file: &str| {
        let mut run = serving("BaseEventLoop._run_once Server.check", (100, 98));
        let id = FunctionId(run.function("BaseEventLoop._run_once"));
        run.profile.functions[id].file = Some(file.to_owned());
        run.findings()
    };
    let of_library = found("/usr/lib/python3.11/asyncio/base_events.py");
    assert_eq!(cause(one(&of_library, Kind::BlockedLoop)), "Server.check");
    assert!(!has(&found("/src/own.py"), Kind::BlockedLoop));
}

/// A loop that waits for one worker at a time is named where it hands the work over.
#[test]
fn a_loop_that_waits_for_each_is_named_where_it_asks() {
    let mut run = Builder::new(2, 1000);
    for at_ms in (0..1000).step_by(20) {
        run.during(0, "main uv_run", Operation::EpollWait, (at_ms, at_ms + 18));
        run.work(0, "main uv_run answer", (at_ms + 18, at_ms + 20));
        run.unlock(0, "main uv_run answer hand_over", 7, at_ms + 19, 0);
        run.during(1, "begin take", Operation::ConditionWait, (at_ms + 18, at_ms + 20));
        run.work(1, "begin hash", (at_ms, at_ms + 18));
    }
    assert_eq!(cause(one(&run.findings(), Kind::OneAtATime)), "hand_over");
}
