//! Two sides with differences that are known.

use proust_profile::{ContextId, LocationId, Ns, ProcessId, Profile};

use super::{profile, profile_from};
use crate::ComparedRun;
use crate::diff::{Caution, Diff, Limit, NotComparable, Sides, Total};
use proust_account::ledger::{Account, Accounts, IoAs, Ledger, LocationAccounts, PassiveTimes, Row};
use proust_findings::{Finding, Kind, Place, Sure};
use proust_query::Measure;
use proust_statistics::{Outcome, Verdict, Why};

const S: u64 = 1_000_000_000;

/// A run of one thread on one processor: CPU time as in the paths, and what it waited for locks in the last
/// of them.
fn run(mut profile: Profile, lock_s: u64, findings: Vec<Finding>) -> ComparedRun {
    let facts = &mut profile.facts;
    (facts.dir, facts.host, facts.outcome) = ("run".into(), "here".into(), "exit 0".into());
    (facts.command, facts.available_processors) = (vec!["./solve".into()], 1);
    profile.processes = vec![proust_profile::Process { name: "solve".into(), ..Default::default() }].into();
    let row = |account, context, ns| Row { location: LocationId(0), account, context, ns };
    let mut ledger = Ledger { processors: 1, ..Ledger::default() };
    for value in profile.values.iter().filter(|value| value.metric == proust_profile::Metric::Cpu) {
        ledger.spent.push(row(Account::Compute, value.context, value.amount));
    }
    let last = profile.contexts.len() as u32 - 1;
    if lock_s > 0 {
        ledger.spent.push(row(Account::Lock, ContextId(last), lock_s * S));
    }
    let mut accounts = Accounts::default();
    for row in &ledger.spent {
        accounts[row.account] += row.ns;
    }
    (ledger.accounts, ledger.total_ns, ledger.wall_ns) = (accounts, accounts.sum_ns(), accounts.sum_ns());
    profile.facts.start_unix_s = accounts.sum_ns() as f64 + f64::from(last);
    ledger.locations = vec![LocationAccounts {
        location: LocationId(0),
        process: ProcessId(0),
        service: false,
        charged: true,
        slots: Some(0),
        wall_ns: accounts.sum_ns(),
        accounts,
        beyond: Accounts::default(),
        passive: PassiveTimes::default(),
    }];
    let measures = [Measure::Active, Measure::Account(Account::Lock)];
    ComparedRun::new(&profile, &ledger, findings, &measures, &[])
}

fn finding(kind: Kind, function: &str, line: u32, seconds: f64) -> Finding {
    let time = Ns::from_seconds(seconds);
    Finding {
        kind,
        account: "lock".into(),
        recoverable: time,
        lost: time,
        burned: Ns::ZERO,
        beside: Ns::ZERO,
        low: Ns::ZERO,
        high: time,
        on_path: None,
        error: Ns::ZERO,
        cause: Place {
            context: None,
            function: Some(function.into()),
            file: Some("/src/a.c".into()),
            line: Some(line),
            ..Place::default()
        },
        victims: Vec::new(),
        evidence: Vec::new(),
        checks: Vec::new(),
        sure: Sure::Certain,
        small: false,
        unnamed: false,
        processes: Vec::new(),
        library: None,
        awaited: None,
        handed_over: None,
        ranks: Vec::new(),
        lock: None,
    }
}

/// Before: 1 s in `prepare`, 6 s in `solve`, 3 s of lock. After, on other lines: `solve` takes 3 s, `pack` 1
/// s.
fn before_and_after() -> (Vec<ComparedRun>, Vec<ComparedRun>) {
    let before = profile("a", &[("main prepare@1 :2", 100.0), ("main solve@3 :4", 600.0)]);
    let after = profile_from(
        "b",
        40,
        &[("main prepare@1 :2", 100.0), ("main solve@3 :4", 300.0), ("main pack@9 :1", 100.0)],
    );
    let found = vec![finding(Kind::Convoy, "solve", 10, 250.0), finding(Kind::TinyIo, "prepare", 12, 50.0)];
    let other =
        vec![finding(Kind::TinyIo, "prepare", 52, 50.0), finding(Kind::SerialPhase, "pack", 60, 100.0)];
    (vec![run(before, 300, found)], vec![run(after, 0, other)])
}

#[test]
fn known_differences_are_found() {
    let (a, b) = before_and_after();
    let diff = Diff::new(&a, &b, IoAs::Productive).unwrap();
    let (compute, lock) = (diff.account(Account::Compute), diff.account(Account::Lock));
    assert_eq!((compute.a.mean, compute.b.mean, compute.delta), (700.0, 500.0, -200.0));
    assert_eq!((lock.delta, lock.verdict, lock.ratio), (-300.0, Verdict::Less, Some(0.0)));
    assert_eq!(diff.account(Account::Barrier).why, Why::Equal);
    let total = diff.total(Total::Processor);
    assert_eq!((total.a.mean, total.b.mean, total.delta), (1000.0, 500.0, -500.0));
    let accounts: f64 = Account::ALL.into_iter().map(|account| diff.account(account).delta).sum();
    assert_eq!(accounts, total.delta);
    assert_eq!(diff.total(Total::Efficiency).delta, 1.0 - 0.7);

    let names: Vec<&str> = diff.joint().functions().iter().map(|function| function.name.as_str()).collect();
    let position = |name| names.iter().position(|&known| known == name).unwrap();
    let active = diff.functions(Measure::Active);
    let of = |name| active[position(name)].exclusive;
    assert_eq!((of("solve").a.mean, of("solve").b.mean), (900.0, 300.0));
    assert_eq!((of("pack").delta, of("pack").verdict, of("pack").ratio), (100.0, Verdict::More, None));
    assert_eq!((of("prepare").delta, of("prepare").verdict), (0.0, Verdict::Same));
    assert_eq!(active[position("main")].inclusive.delta, -500.0);
    assert_eq!(diff.presence_of_functions()[position("pack")], (false, true));
    // Exclusive differences sum up to that of the whole; lines are part of their functions.
    let contexts = diff.contexts(Measure::Active);
    let calls = (0..diff.joint().len() as u32).filter(|&node| diff.joint().exclusive_of(node) == node);
    let sum: f64 = calls.map(|node| contexts[node as usize].exclusive.delta).sum();
    assert_eq!((sum, contexts[0].inclusive.delta), (-500.0, -500.0));
}

#[test]
fn findings_are_gone_new_or_the_same() {
    let (a, b) = before_and_after();
    let diff = Diff::new(&a, &b, IoAs::Productive).unwrap();
    let shown: Vec<_> = (diff.findings().into_iter())
        .map(|change| (change.kind, change.a.is_some(), change.b.is_some(), change.recoverable.verdict))
        .collect();
    let expected = [
        (Kind::Convoy, true, false, Verdict::Less),
        (Kind::SerialPhase, false, true, Verdict::More),
        (Kind::TinyIo, true, true, Verdict::Same),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn callers_and_callees_say_where_it_comes_from() {
    let a = profile("a", &[("main f@1 g@2", 100.0), ("start f@1 h@3", 200.0), ("main f@1", 50.0)]);
    let b = profile("a", &[("main f@1 g@2", 400.0), ("start f@1 h@3 f@7", 200.0), ("main f@1", 50.0)]);
    let (a, b) = ([run(a, 0, vec![])], [run(b, 0, vec![])]);
    let diff = Diff::new(&a, &b, IoAs::Productive).unwrap();
    let names: Vec<&str> = diff.joint().functions().iter().map(|function| function.name.as_str()).collect();
    let f = names.iter().position(|&name| name == "f").unwrap() as u32;
    let found = diff.neighbours(&[f], Measure::Active);
    let shown = |of: Vec<crate::diff::NeighbourChange>| {
        let mut shown: Vec<_> = (of.iter())
            .map(|n| (n.function.map_or("", |id| names[id as usize]), n.inclusive.a.mean, n.inclusive.b.mean))
            .collect();
        shown.sort_by(|x, y| x.0.cmp(y.0));
        shown
    };
    assert_eq!((found.whole.inclusive.a.mean, found.whole.inclusive.b.mean), (350.0, 650.0));
    assert_eq!((found.whole.exclusive.a.mean, found.whole.exclusive.b.mean), (50.0, 250.0));
    assert_eq!(shown(found.callers), [("main", 150.0, 450.0), ("start", 200.0, 200.0)]);
    // Recursion into the function itself is its own.
    assert_eq!(shown(found.callees), [("g", 100.0, 400.0), ("h", 200.0, 0.0)]);
}

#[test]
fn threads_are_matched() {
    let (a, b) = before_and_after();
    let diff = Diff::new(&a, &b, IoAs::Productive).unwrap();
    let threads = diff.threads();
    assert_eq!(threads.len(), 1);
    assert_eq!((threads[0].wall.delta, threads[0].lost.delta), (-500.0, -300.0));
    let sum: f64 = threads[0].accounts.iter().map(|(_, change)| change.delta).sum();
    assert_eq!(sum + threads[0].passive.delta, threads[0].wall.delta);
}

#[test]
fn limits_are_exceeded_by_the_whole_interval() {
    let (a, b) = before_and_after();
    let exceeded = |a: &[ComparedRun], b: &[ComparedRun], text: &str| {
        let diff = Diff::new(a, b, IoAs::Productive).unwrap();
        let found = diff.exceeded(&[Limit::parse(text).unwrap()]);
        found.first().map(|exceeded| exceeded.outcome == Outcome::Exceeded)
    };
    for (text, there, back) in [
        ("lost>+5%", None, Some(true)),
        ("wall>+0.5s", None, Some(true)),
        ("wall<-0.5s", Some(true), None),
        ("lock>10%", None, Some(true)),
        ("compute>+10%", None, Some(true)),
        ("efficiency<-5%", None, Some(true)),
        ("efficiency<0.9", None, Some(true)),
        ("lock>500s", None, None),
        ("serial>+0s", None, None),
    ] {
        assert_eq!(exceeded(&a, &b, text), there, "{text} there");
        assert_eq!(exceeded(&b, &a, text), back, "{text} back");
    }
    let slow = [run(profile("a", &[("main", 100.0)]), 0, vec![])];
    let slower = [run(profile("a", &[("main", 107.0)]), 0, vec![])];
    assert_eq!(exceeded(&slow, &slower, "wall>+5%"), Some(false));
    // Four runs of each side that take 4.7 ± 0.4 % longer: a limit below 5 % is a limit, too.
    let runs = |walls: [f64; 4]| walls.map(|wall_s| run(profile("a", &[("main", wall_s)]), 0, vec![]));
    let (before, after) = (runs([100.0, 100.2, 99.8, 100.1]), runs([104.7, 104.9, 104.5, 104.8]));
    assert_eq!(exceeded(&before, &after, "wall>+2%"), Some(true));
    assert_eq!(exceeded(&before, &after, "wall>+4.5%"), Some(false));
    assert_eq!(exceeded(&before, &after, "wall>+5%"), None);
}

#[test]
fn what_speaks_against_it_is_told() {
    let (a, mut b) = before_and_after();
    let cautions =
        |a: &[ComparedRun], b: &[ComparedRun]| Diff::new(a, b, IoAs::Productive).unwrap().cautions();
    assert_eq!(cautions(&a, &b), [Caution::Single { side: Sides::Both }]);
    assert!(matches!(cautions(&a, &a)[0], Caution::SameRun { .. }));
    b[0].facts.command = vec!["/elsewhere/solve".into(), "--grid".into()];
    assert!(matches!(cautions(&a, &b)[0], Caution::OtherArguments { .. }));
    b[0].facts.command = vec!["./other".into()];
    assert!(matches!(cautions(&a, &b)[0], Caution::OtherProgram { .. }));
    b[0].facts.outcome = "signal 9 (SIGKILL)".into();
    assert!(cautions(&a, &b).iter().any(|caution| matches!(caution, Caution::Failed { .. })));
    b[0].disturbance.share = 0.5;
    assert!(cautions(&a, &b).iter().any(|caution| matches!(caution, Caution::Disturbed { .. })));
    let empty = [run(profile("a", &[]), 0, vec![])];
    assert!(matches!(Diff::new(&a, &empty, IoAs::Productive), Err(NotComparable::Empty { .. })));
    assert!(matches!(Diff::new(&a, &[], IoAs::Productive), Err(NotComparable::NoRun { side: "B" })));
}

#[test]
fn other_counts_of_executions_are_another_input() {
    let with_region = |executions| {
        let mut profile = profile("a", &[("main solve@1", 100.0)]);
        let location = 0;
        profile.segments = vec![proust_profile::SegmentRow {
            location: LocationId(location),
            context: ContextId(2),
            executions,
            ..Default::default()
        }];
        run(profile, 0, vec![])
    };
    let (a, b) = ([with_region(100)], [with_region(200)]);
    let diff = Diff::new(&a, &b, IoAs::Productive).unwrap();
    let expected = Caution::OtherCounts { place: "solve, a.c:1".into(), a: 100, b: 200, places: 1 };
    assert!(diff.cautions().contains(&expected), "{:?}", diff.cautions());
}
