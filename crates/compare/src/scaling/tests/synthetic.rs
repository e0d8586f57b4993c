//! Runs whose scaling is known exactly: each class of loss alone, and all of them mixed.

use std::time::Instant;

use proust_profile::{
    Context, ContextId, ContextKind, Function, FunctionId, Location, LocationId, Ns, Process, ProcessId,
    Profile, RegionInfo, SegmentRow,
};

use crate::JointId;
use crate::degradation::{Advice, Assessment, Definition, Limits};
use crate::scaling::Cause;
use crate::scaling::{Ensemble, Kind, Places, Swept};
use proust_account::ledger::{Account, Ledger, Row};
use proust_ingest::operation_info;
use proust_log::operations::Operation;
use proust_statistics::Verdict;

/// Places of the program: main calls `solve`, which opens a region; in it `kernel`, a line of it, and a
/// barrier.
const PLACES: [(Option<u32>, ContextKind, &str); 7] = [
    (None, ContextKind::Program, ""),
    (Some(0), ContextKind::Frame, "main"),
    (Some(1), ContextKind::Frame, "solve"),
    (Some(2), ContextKind::Region, "parallel region"),
    (Some(3), ContextKind::Frame, "kernel"),
    (Some(4), ContextKind::Line, ""),
    (Some(3), ContextKind::Line, ""),
];
const MAIN: u32 = 1;
const REGION: u32 = 3;
const LINE: u32 = 5;
const SITE: u32 = 6;

/// What a thread did: (thread, place, account, seconds).
type Spent = (u32, u32, Account, f64);

struct Made {
    profile: Profile,
    ledger: Ledger,
}

fn ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

fn made(threads: u32, wall_s: f64, available: u32, rows: &[Spent]) -> Made {
    let mut profile = Profile {
        processes: vec![Process { name: "solve".into(), ..Process::default() }].into(),
        locations: (0..threads).map(|_| Location::default()).collect(),
        ..Profile::default()
    };
    (profile.facts.wall, profile.facts.available_processors) = (Ns::from_seconds(wall_s), available);
    for (at, (parent, kind, name)) in PLACES.into_iter().enumerate() {
        let function = (!name.is_empty()).then(|| {
            profile.functions.push(Function { name: name.into(), ..Function::default() });
            profile.functions.len() as u32 - 1
        });
        let line = (kind == ContextKind::Line).then_some(10 * at as u32);
        let file = line.map(|_| "solve.c".to_owned());
        profile.contexts.push(Context {
            parent: parent.map(ContextId),
            kind,
            function: function.map(FunctionId),
            file,
            line,
        });
    }
    let mut ledger = Ledger { processors: threads, wall_ns: ns(wall_s), ..Ledger::default() };
    for &(location, context, account, seconds) in rows {
        let row =
            Row { location: LocationId(location), account, context: ContextId(context), ns: ns(seconds) };
        let is_empty = matches!(account, Account::Serial | Account::Narrow);
        if is_empty {
            ledger.blamed.push(row)
        } else {
            ledger.spent.push(row)
        }
        ledger.accounts[account] += row.ns;
        ledger.total_ns += row.ns;
    }
    Made { profile, ledger }
}

impl Made {
    /// Every thread visited the barrier so often, after so much work and waiting, of which so much was
    /// latency.
    fn with_barrier(mut self, threads: u32, visits: u64, work_s: f64, wait_s: f64, latency_s: f64) -> Made {
        self.profile.operations = vec![operation_info(Operation::OmpBarrier.name())].into();
        self.profile.regions =
            vec![RegionInfo { process: ProcessId(0), context: ContextId(REGION), parent: None, told: false }]
                .into();
        self.profile.segments = (0..threads)
            .map(|location| SegmentRow {
                location: LocationId(location),
                context: ContextId(SITE),
                executions: visits,
                work_ns: ns(work_s),
                wait_ns: ns(wait_s),
                latency_ns: ns(latency_s),
                ..SegmentRow::default()
            })
            .collect();
        self
    }

    fn swept(&self, count: u32) -> Swept {
        Swept::new(count, &count.to_string(), &self.profile, &self.ledger)
    }
}

/// A second of work, divided among the threads, with so much of something else on each of them.
fn with_loss(threads: u32, place: u32, account: Account, each_s: f64) -> Made {
    let work_s = 1.0 / f64::from(threads);
    let rows = (0..threads).flat_map(|thread| {
        [
            (thread, LINE, Account::Compute, work_s),
            (thread, place, account, if threads > 1 { each_s } else { 0.0 }),
        ]
    });
    let extra_s = if threads > 1 { each_s } else { 0.0 };
    made(threads, work_s + extra_s, 4, &rows.collect::<Vec<_>>())
}

fn node(ensemble: &Ensemble<'_>, context: u32) -> JointId {
    let joint = ensemble.joint();
    (0..joint.len() as JointId)
        .find(|&node| joint.context_in(node, 0) == Some(ContextId(context)))
        .expect("the place is there")
}

#[test]
fn each_class_of_loss_is_found_alone() {
    for (account, place, cause) in [
        (Account::Serial, MAIN, Cause::Serial),
        (Account::Narrow, REGION, Cause::Serial),
        (Account::Barrier, SITE, Cause::Imbalance),
        (Account::Lock, LINE, Cause::Lock),
        (Account::Runtime, REGION, Cause::Runtime),
        (Account::Oversubscribed, LINE, Cause::Oversubscription),
        (Account::Preempted, LINE, Cause::Preemption),
        (Account::Fault, LINE, Cause::Faults),
        (Account::Io, LINE, Cause::Io),
        (Account::Compute, LINE, Cause::Work),
        (Account::MpiPartner, LINE, Cause::Messages),
    ] {
        let runs: Vec<Swept> =
            [1, 2, 2, 1].map(|count| with_loss(count, place, account, 0.25).swept(count)).into();
        let ensemble = Ensemble::new(&runs);
        assert_eq!(ensemble.counts(), [1, 2]);
        let places = Places::of(&ensemble, Kind::Strong, 1);
        // Two threads lost a quarter of a second each, of 1.5 s of processor time.
        let program = &places.list[0];
        assert!(
            program.excess == Ns::from_seconds(0.5) && (program.loss - 1.0 / 3.0).abs() < 1e-8,
            "{account}"
        );
        assert_eq!(program.accounts, [(Some(account), program.excess)], "{account}");
        assert_eq!(program.verdict, Verdict::More, "{account}");
        let at = &places.list[node(&ensemble, place) as usize];
        assert_eq!(at.excess, Ns::from_seconds(0.5), "{account} is lost at its place");
        let more = ensemble.causes(0, 1).more_than(&ensemble.causes(0, 0));
        let (largest, time) = more.largest().unwrap();
        assert_eq!(largest, cause, "{account}");
        let half = Ns::from_seconds(0.5);
        assert_eq!((time, more.sum()), (half, half), "{account}: {more:?}");
    }
}

#[test]
fn losses_mixed_add_up_over_accounts_and_over_the_tree() {
    let run = |threads: u32| {
        let n = f64::from(threads);
        let rows: Vec<Spent> = (0..threads)
            .flat_map(|thread| {
                [
                    (thread, LINE, Account::Compute, 1.0 / n + 0.01 * (n - 1.0)),
                    (thread, SITE, Account::Barrier, 0.02 * (n - 1.0)),
                    (thread, LINE, Account::Lock, 0.03 * (n - 1.0)),
                    (thread, MAIN, Account::Serial, 0.1 * (n - 1.0) / n),
                    (thread, REGION, Account::Runtime, 0.005),
                ]
            })
            .collect();
        made(threads, 1.0 / n + 0.2, 4, &rows).swept(threads)
    };
    let runs = [run(1), run(2), run(4)];
    let ensemble = Ensemble::new(&runs);
    for (count, n) in [(1, 2.0), (2, 4.0)] {
        let places = Places::of(&ensemble, Kind::Strong, count).list;
        let of = |account: Account| {
            places[0]
                .accounts
                .iter()
                .find(|(a, _)| *a == Some(account))
                .map_or(0.0, |(_, time)| time.as_seconds())
        };
        let close = |a: f64, b: f64| (a - b).abs() < 1e-6;
        assert!(close(of(Account::Compute), n * 0.01 * (n - 1.0)));
        assert!(close(of(Account::Barrier), n * 0.02 * (n - 1.0)));
        assert!(close(of(Account::Lock), n * 0.03 * (n - 1.0)));
        assert!(close(of(Account::Serial), 0.1 * (n - 1.0)));
        assert!(close(of(Account::Runtime), 0.005 * (n - 1.0)));
        for place in &places {
            let sum: Ns = place.accounts.iter().map(|(_, time)| time).sum();
            assert!(close(sum.as_seconds(), place.excess.as_seconds()));
            // The own of a line is part of its function's.
            let parts = places.iter().filter(|other| {
                ensemble.joint().parent(other.node) == Some(place.node) && !is_line(&ensemble, other.node)
            });
            let parts: Ns = parts.map(|part| part.excess).sum();
            if !is_line(&ensemble, place.node) {
                let sum = place.own_excess + parts;
                assert!(
                    close(sum.as_seconds(), place.excess.as_seconds()),
                    "{place:?} and parts of {parts:?}"
                );
            }
        }
    }
    // A problem that grows with its threads is expected to cost as much more.
    let weak = Places::of(&ensemble, Kind::Weak, 1);
    assert_eq!(weak.list[0].excess, weak.list[0].cost - weak.list[0].first * 2.0);
}

fn is_line(ensemble: &Ensemble<'_>, node: JointId) -> bool {
    ensemble.label(node).kind == ContextKind::Line
}

/// The paper's fault: a barrier after every few microseconds.
fn construct_inside(threads: u32, noise: f64) -> Swept {
    let n = f64::from(threads);
    let wait_s = if threads > 1 { 2.0 * noise } else { 0.0 };
    let rows: Vec<Spent> = (0..threads)
        .flat_map(|t| [(t, LINE, Account::Compute, noise / n), (t, SITE, Account::Barrier, wait_s)])
        .collect();
    let run = made(threads, noise / n + wait_s, 4, &rows);
    run.with_barrier(threads, 100_000, noise / n, wait_s, 0.75 * wait_s).swept(threads)
}

#[test]
fn a_construct_too_deep_in_the_nest_is_found_at_its_line() {
    let runs: Vec<Swept> =
        [1.0, 1.02, 0.99].iter().flat_map(|&noise| [1, 2, 4].map(|n| construct_inside(n, noise))).collect();
    let ensemble = Ensemble::new(&runs);
    let assessment = Assessment::of(&ensemble, Definition::Robust(Limits::of_program(Ns::from_seconds(1.0))));
    assert_eq!(assessment.places[0].set(), [2, 4]);
    assert_eq!(assessment.places[0].minimal(), Some((2, 1)));
    assert_eq!(assessment.findings.len(), 1, "{:#?}", assessment.findings);
    let finding = &assessment.findings[0];
    let end = ensemble.label(finding.path[finding.path.len() - 1]);
    assert_eq!((end.file, end.line), (Some("solve.c"), Some(60)));
    let named: Vec<&str> = finding.path.iter().map(|&node| ensemble.label(node).name).collect();
    assert_eq!(named, ["program", "main", "solve", "parallel region", ""]);
    assert!(matches!(finding.advice, Some(Advice::MoveOutwards { visits: 100_000, .. })), "{finding:#?}");
    assert!(finding.more[Cause::ReleaseLatency] > finding.more[Cause::Imbalance]);
    assert!(assessment.disagreements.is_empty());
}

#[test]
fn runs_that_did_not_do_the_same_are_told() {
    let run = |threads, visits| {
        with_loss(threads, SITE, Account::Barrier, 3.0).with_barrier(threads, visits, 0.5, 3.0, 0.0)
    };
    let runs = [run(1, 10).swept(1), run(2, 20).swept(2), run(1, 10).swept(1), run(2, 20).swept(2)];
    let ensemble = Ensemble::new(&runs);
    let assessment = Assessment::of(&ensemble, Definition::Robust(Limits::of_program(Ns::from_seconds(1.0))));
    let [only] = assessment.disagreements[..] else { panic!("{:?}", assessment.disagreements) };
    assert_eq!((only.fewest, only.most), ((10, 1), (20, 2)));
    let site = node(&ensemble, SITE) as usize;
    assert!(!assessment.places[site].is_degraded(), "other work is no degradation");
}

#[test]
fn one_count_one_run_or_nothing_are_no_trouble() {
    let runs = [with_loss(2, SITE, Account::Barrier, 0.1).swept(2)];
    let ensemble = Ensemble::new(&runs);
    assert!(Places::of(&ensemble, Kind::Strong, 0).list.is_empty());
    let assessment = Assessment::of(&ensemble, Definition::Paper);
    assert!(assessment.findings.is_empty() && assessment.places[0].set().is_empty());
    let empty = Ensemble::new(&[]);
    assert!(Assessment::of(&empty, Definition::Paper).findings.is_empty());
}

/// Ten runs with 10⁵ contexts each: what it takes is printed, not asserted.
#[test]
#[ignore = "measures: cargo test --release -p proust-analysis ten_runs -- --ignored --nocapture"]
fn ten_runs_of_many_contexts() {
    let wide = |threads: u32| {
        let mut run = with_loss(threads, SITE, Account::Barrier, 0.1);
        let name = run.profile.functions.len() as u32;
        run.profile.functions.push(Function { name: "many".into(), ..Function::default() });
        for n in 0..100_000_u32 {
            let parent = if n < 300 { MAIN } else { 7 + n / 300 };
            let context = Context {
                parent: Some(ContextId(parent)),
                kind: ContextKind::Frame,
                function: Some(FunctionId(name)),
                file: Some("solve.c".into()),
                line: Some(n % 300),
            };
            run.profile.contexts.push(context);
            run.ledger.spent.push(Row {
                location: LocationId(n % threads),
                account: Account::Compute,
                context: ContextId(7 + n),
                ns: 1000,
            });
        }
        run
    };
    let made: Vec<(u32, Made)> = [1, 2, 4, 8, 16, 1, 2, 4, 8, 16].map(|n| (n, wide(n))).into();
    let begun = Instant::now();
    let runs: Vec<Swept> = made.iter().map(|(count, run)| run.swept(*count)).collect();
    let outlined = begun.elapsed();
    let ensemble = Ensemble::new(&runs);
    let laid = begun.elapsed();
    let places = Places::of(&ensemble, Kind::Strong, 4);
    let lost = begun.elapsed();
    let assessment = Assessment::of(&ensemble, Definition::Robust(Limits::of_program(Ns::from_seconds(1.0))));
    println!(
        "{} places: outlined {outlined:?}, laid over each other {laid:?}, losses {lost:?}, degradation \
         {:?}; {} findings",
        places.list.len(),
        begun.elapsed(),
        assessment.findings.len()
    );
}
