//! Marked intervals that carry the loss of a run, and runs in which none does.

use proust_characteristics::advice::Step;
use proust_characteristics::name::Characteristic;
use proust_characteristics::operation::Operation as Row;
use proust_profile::{ExecutionRow, IntervalContext, IntervalInfo, IntervalWork};

use super::super::Subject;
use super::*;
use crate::intervals::conclusion;

impl Builder {
    /// Both threads execute an interval inside of another one, at these times.
    fn marked(
        &mut self,
        name: &str,
        (parent, work): (Option<u32>, IntervalWork),
        threads: &[(u32, (u64, u64))],
    ) -> u32 {
        let interval = self.profile.intervals.len() as u32;
        self.profile.intervals.push(IntervalInfo {
            parent,
            name: name.into(),
            file: Some("/src/a.c".into()),
            line: Some(10 + interval),
            work,
            ..IntervalInfo::default()
        });
        self.profile.contexts.push(Context {
            parent: Some(ContextId(0)),
            kind: ContextKind::Interval,
            function: None,
            file: None,
            line: None,
        });
        let context = ContextId::from_index(self.profile.contexts.len() - 1);
        self.profile.interval_contexts.push(IntervalContext { context, interval });
        for &(location, (begin_ms, end_ms)) in threads {
            self.profile.executions.push(ExecutionRow {
                location: LocationId(location),
                interval,
                begin_ns: begin_ms * MS,
                end_ns: end_ms * MS,
                ..ExecutionRow::default()
            });
        }
        self.profile.executions.sort_by_key(|row| (row.location, row.begin_ns));
        interval
    }
}

const KINDS: [Kind; 7] = [
    Kind::IntervalSequential,
    Kind::IntervalNarrow,
    Kind::IntervalUneven,
    Kind::IntervalVaried,
    Kind::IntervalCompensated,
    Kind::IntervalIo,
    Kind::IntervalOperations,
];

fn is_silent(found: &[Finding]) -> bool {
    !found.iter().any(|finding| KINDS.contains(&finding.kind))
}

/// Two threads work side by side for 200 ms; then the first works alone for so long.
fn alone(alone_ms: u64, is_marked: bool) -> Vec<Finding> {
    let end_ms = 200 + alone_ms;
    let mut run = Builder::new(2, end_ms);
    run.work(0, "main together", (0, 200));
    run.work(1, "main together", (0, 200));
    if alone_ms > 0 {
        run.work(0, "main last", (200, end_ms));
        run.during(1, "main last", Operation::ConditionWait, (200, end_ms));
    }
    if is_marked {
        let plain = IntervalWork::Plain;
        let all = run.marked("all", (None, plain), &[(0, (0, end_ms))]);
        run.marked("together", (Some(all), plain), &[(0, (0, 200))]);
        run.marked("last", (Some(all), plain), &[(0, (200, end_ms))]);
    }
    run.findings()
}

#[test]
fn the_interval_that_one_thread_executes_alone_is_the_critical_part() {
    let found = alone(300, true);
    let finding = one(&found, Kind::IntervalSequential);
    near(finding.lost, 0.3);
    assert_eq!((cause(finding), finding.cause.line, &*finding.account), ("last", Some(12), "serial"));
    // Level by level, each decision with its numbers.
    let value = |level: usize, name: &str, of: &str| {
        let about = Some(Subject::Interval { level, name: name.into(), of: of.into() });
        let figure = finding.evidence.iter().find(|figure| figure.subject == about);
        figure.unwrap_or_else(|| panic!("{about:?}: {:#?}", finding.evidence)).amount.in_unit()
    };
    near_number(value(2, "last", "Efficiency"), 0.5);
    near_number(value(2, "last", "Total_time"), 0.6);
    near_number(value(1, "all", "Lost_time"), 0.3);
    near_number(value(2, "last", "Insufficient_parallelism_Seq"), 0.3);
    near_number(value(2, "last", "Insufficient_parallelism_Par"), 0.0);
    // A kind that knows the code stands before the interval.
    let serial = found.iter().position(|finding| finding.kind == Kind::SerialPhase);
    let interval = found.iter().position(|finding| finding.kind == Kind::IntervalSequential);
    assert!(serial.is_none() || serial < interval, "{found:#?}");
}

#[test]
fn without_a_loss_or_without_intervals_nothing_is_said_of_them() {
    assert!(is_silent(&alone(0, true)));
    assert!(is_silent(&alone(300, false)));
}

/// The first thread computes for 200 ms before a barrier, the second for so long; ten times.
#[test]
fn an_interval_that_a_thread_leaves_early_for_other_work_loses_nothing() {
    let mut run = Builder::new(2, 200);
    run.work(0, "main first", (0, 100));
    run.work(1, "main first", (0, 50));
    run.work(0, "main second", (100, 200));
    run.work(1, "main second", (50, 200));
    // Other programs have the processors half of the time, so that the run could be faster.
    for row in &mut run.samples {
        (row.cpu_ns, row.user_ns) = (row.cpu_ns / 2, row.user_ns / 2);
        (row.voluntary_switches, row.involuntary_switches) = (0, 1);
    }
    run.marked("first", (None, IntervalWork::Plain), &[(0, (0, 100)), (1, (0, 50))]);
    run.marked("second", (None, IntervalWork::Plain), &[(0, (100, 200)), (1, (50, 200))]);
    let found = run.findings();
    assert!(is_silent(&found), "{found:#?}");
}

fn uneven(second_ms: u64) -> Vec<Finding> {
    let mut run = Builder::new(2, 2_000);
    for step in 0..10 {
        let begin = 200 * step;
        run.work(0, "main sweep", (begin, begin + 200));
        run.work(1, "main sweep", (begin, begin + second_ms));
        run.during(1, "main sweep", Operation::Barrier, (begin + second_ms, begin + 200));
    }
    run.marked("sweep", (None, IntervalWork::Parallel), &[(0, (0, 2_000)), (1, (0, 2_000))]);
    run.findings()
}

#[test]
fn an_interval_whose_processors_wait_for_one_another_is_the_critical_part() {
    let found = uneven(120);
    let finding = found.iter().find(|finding| KINDS.contains(&finding.kind));
    let finding = finding.unwrap_or_else(|| panic!("{found:#?}"));
    near(finding.lost, 0.8);
    assert_eq!((cause(finding), &*finding.account), ("sweep", "barrier"));
    assert!(is_silent(&uneven(196)), "2 % are little");
}

#[test]
fn work_that_both_repeat_can_be_won_though_no_processor_was_empty() {
    let mut run = Builder::new(2, 600);
    for thread in 0..2 {
        run.work(thread, "main repeated", (0, 400));
        run.work(thread, "main together", (400, 600));
    }
    let all = run.marked("all", (None, IntervalWork::Plain), &[(0, (0, 600)), (1, (0, 600))]);
    run.marked("repeated", (Some(all), IntervalWork::Replicated), &[(0, (0, 400)), (1, (0, 400))]);
    let found = run.findings();
    let finding = one(&found, Kind::IntervalSequential);
    near(finding.lost, 0.4);
    near(finding.recoverable, 0.4);
    assert_eq!((cause(finding), &*finding.account), ("repeated", "replicated"));
}

/// Each decision with which a reading can end leads to a kind of its own; where the cause is still open, to
/// none.
#[test]
fn the_last_decision_is_the_kind() {
    let largest = Step::Largest { part: Characteristic::Communication, part_ns: 7, lost_ns: 9 };
    let kind = |last: Step| conclusion(&[largest, last]);
    let (seq_ns, par_ns, imbalance_ns, variation_ns, synchronization_ns, communication_ns) =
        (1, 2, 3, 4, 5, 6);
    let ends = [
        (Step::Sequential { seq_ns, par_ns }, Kind::IntervalSequential),
        (Step::Parallel { seq_ns, par_ns }, Kind::IntervalNarrow),
        (Step::Imbalanced { imbalance_ns, synchronization_ns }, Kind::IntervalUneven),
        (Step::Varied { variation_ns, synchronization_ns }, Kind::IntervalVaried),
        (Step::Compensated { imbalance_ns, synchronization_ns }, Kind::IntervalCompensated),
        (Step::OfIo { io_ns: 6, communication_ns }, Kind::IntervalIo),
        (Step::MostIn { operation: Row::ALL[0], row_ns: 3, count: None }, Kind::IntervalOperations),
    ];
    assert_eq!(ends.each_ref().map(|(_, kind)| *kind), KINDS);
    for (step, expected) in ends {
        assert_eq!(kind(step), Some((expected, 7)), "{step:?}");
        assert_eq!(conclusion(&[step]), None, "without a largest part there is no amount");
    }
    assert_eq!(kind(Step::Unsynchronised { synchronization_ns, communication_ns }), None);
    assert_eq!(conclusion(&[Step::Little { lost_ns: 0, total_ns: 9 }]), None);
}
