use proptest::prelude::*;
use proust_account::ledger::{Account, Process, Processors, Span, State, Timeline, Wait, Work};
use proust_profile::{
    Context, ContextKind, EventRow, IntervalContext, IntervalInfo, Location, ProcessId, Profile,
};

use super::*;

/// An execution: how long it computes before a wait, waits, and computes after it, and what lies between it
/// and the next one.
type One = (u64, u64, u64, u64);

const MOST_NS: u64 = 1_000_000;

fn one() -> impl Strategy<Value = One> {
    // One of ten is long.
    let wait = prop_oneof![6 => Just(0_u64), 3 => 1..5_000_u64, 1 => 200_000..900_000_u64];
    (1..1_000_u64, wait, 1..1_000_u64, 1..500_u64)
}

/// Location `id`'s executions, its timeline, and its events.
fn thread(id: u32, all: &[One]) -> (Vec<ExecutionRow>, Timeline<Vec<Span>>, Vec<EventRow>) {
    let location = LocationId(id);
    let (mut executions, mut spans, mut events) = (Vec::new(), Vec::new(), Vec::new());
    let mut at_ns = 1_000;
    for &(before_ns, wait_ns, after_ns, pause_ns) in all {
        let wait = (at_ns + before_ns, at_ns + before_ns + wait_ns);
        let end_ns = wait.1 + after_ns;
        let next_ns = end_ns + pause_ns;
        let compute = |from, to| Span::new(from, to, State::Working(Work::Compute), ContextId(1));
        spans.push(compute(at_ns, wait.0));
        if wait_ns > 0 {
            spans.push(Span::new(wait.0, wait.1, State::Waiting(Wait::Lock), ContextId(2)));
            let (begin_ns, end_ns) = wait;
            let context = ContextId(2);
            events.push(EventRow { location, context, begin_ns, end_ns, ..EventRow::default() });
        }
        spans.push(compute(wait.1, end_ns));
        spans.push(Span::new(end_ns, next_ns, State::Working(Work::Runtime), ContextId(0)));
        let row = ExecutionRow { location, begin_ns: at_ns, end_ns, ..ExecutionRow::default() };
        executions.push(row);
        at_ns = next_ns;
    }
    let process = ProcessId(0);
    (executions, Timeline { location, process, service: false, spans }, events)
}

fn profile(executions: Vec<ExecutionRow>, sums: Vec<ExecutionSumRow>, events: Vec<EventRow>) -> Profile {
    let context = |parent: Option<u32>, kind| Context {
        parent: parent.map(ContextId),
        kind,
        function: None,
        file: None,
        line: None,
    };
    let contexts = vec![
        context(None, ContextKind::Program),
        context(Some(0), ContextKind::Interval),
        context(Some(1), ContextKind::Frame),
    ];
    Profile {
        contexts: contexts.into(),
        locations: vec![Location::default(), Location::default()].into(),
        intervals: vec![IntervalInfo::default()],
        interval_contexts: vec![IntervalContext { context: ContextId(1), interval: 0 }],
        executions,
        execution_sums: sums,
        events: events.into(),
        ..Profile::default()
    }
}

/// Of the short executions only those are recorded of which `is_drawn`, and one of each half second;
/// `in_each` make up a half second.
fn thinned(
    all: &[ExecutionRow],
    is_drawn: &[bool],
    in_each: usize,
) -> (Vec<ExecutionRow>, Vec<ExecutionSumRow>) {
    let (mut kept, mut sums) = (Vec::new(), Vec::new());
    for (half, rows) in all.chunks(in_each).enumerate() {
        let (mut sum, mut has_drawn): (Option<ExecutionSumRow>, bool) = (None, false);
        // A sum begins and ends with an execution that is part of it: those recorded lie between.
        let inner = 1..rows.len().saturating_sub(1);
        for (at, row) in rows.iter().enumerate() {
            let length_ns = row.end_ns - row.begin_ns;
            let is_short = length_ns < LONG_EXECUTION_NS;
            let may_be = is_short && inner.contains(&at);
            let drawn = may_be && (!has_drawn || is_drawn[(half * in_each + at) % is_drawn.len()]);
            has_drawn |= drawn;
            if drawn || !is_short {
                kept.push(*row);
                continue;
            }
            let sum = sum.get_or_insert(ExecutionSumRow {
                location: row.location,
                begin_ns: row.begin_ns,
                min_ns: u64::MAX,
                ..ExecutionSumRow::default()
            });
            sum.end_ns = row.end_ns;
            sum.time_ns += length_ns;
            sum.executions += 1;
            (sum.min_ns, sum.max_ns) = (sum.min_ns.min(length_ns), sum.max_ns.max(length_ns));
        }
        sums.extend(sum);
    }
    (kept, sums)
}

fn account(profile: &Profile, run: &Run) -> Inside {
    let windows = Windows::all();
    let counted = Counted { profile, windows: &windows, thing_of: |id| Some(id as usize), has: |_| true };
    let parts = Parts::of(1, &counted);
    let processors = Processors::measured(run, &windows).unwrap();
    parts.inside(run, &processors, &windows).unwrap().remove(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Between operations these executions only compute: then the account of those that are recorded, with
    /// what is known of the others, is that of all, to the ns of each rounding.
    #[test]
    fn the_account_of_thinned_executions_is_that_of_all(
        of_threads in prop::collection::vec(prop::collection::vec(one(), 20..200), 1..=2),
        is_drawn in prop::collection::vec(prop::bool::weighted(0.2), 1..50),
        in_each in 20..60_usize,
    ) {
        let mut all = (Vec::new(), Vec::new());
        let mut few = (Vec::new(), Vec::new());
        let mut timelines = Vec::new();
        for (id, of_thread) in of_threads.iter().enumerate() {
            let (executions, timeline, events) = thread(id as u32, of_thread);
            let (kept, sums) = thinned(&executions, &is_drawn, in_each);
            few.0.extend(kept);
            few.1.extend(sums);
            all.0.extend(executions);
            all.1.extend(events);
            timelines.push(timeline);
        }
        let processes = vec![Process::new(ProcessId(0), 0, 1_000 * MOST_NS)];
        let run = Run { processes, timelines, processor_sets: Vec::new(), bound: Default::default() };
        let exact = account(&profile(all.0, Vec::new(), all.1.clone()), &run);
        let found = account(&profile(few.0, few.1, all.1), &run);
        prop_assert_eq!(found.alone, exact.alone);
        prop_assert_eq!(found.accounts.sum_ns(), found.total_ns);
        let allowed_ns = 100;
        for account in Account::ALL {
            let (found_ns, exact_ns) = (found.accounts[account], exact.accounts[account]);
            prop_assert!(found_ns.abs_diff(exact_ns) <= allowed_ns, "{account}: {found_ns}, {exact_ns}");
        }
        if exact.alone {
            // How often threads execute it at once is not known.
            let spans = run.timelines.iter().map(|timeline| timeline.spans.last().unwrap().end_ns - 1_000);
            prop_assert!(found.wall_ns <= spans.max().unwrap());
        } else {
            prop_assert!(found.wall_ns.abs_diff(exact.wall_ns) <= allowed_ns);
        }
        for (location, (accounts, _)) in &exact.locations {
            let own = found.locations[location].0;
            prop_assert!(own.sum_ns().abs_diff(accounts.sum_ns()) <= allowed_ns);
        }
        let of_locks = found.lost.iter().filter(|row| row.account == Account::Lock);
        let lost_ns: u64 = of_locks.map(|row| row.ns).sum();
        prop_assert_eq!(lost_ns, found.accounts[Account::Lock]);
    }
}

/// Of a thread's executions none may be recorded: then those of others stand for them.
#[test]
fn what_nothing_of_its_thread_stands_for_others_do() {
    let (executions, timeline, _) = thread(0, &[(500, 0, 500, 100); 40]);
    let (kept, mut sums) = thinned(&executions, &[false], 40);
    let (_, other, _) = thread(1, &[(500, 0, 500, 100); 40]);
    sums.push(ExecutionSumRow { location: LocationId(1), ..sums[0] });
    let processes = vec![Process::new(ProcessId(0), 0, MOST_NS)];
    let run = Run {
        processes,
        timelines: vec![timeline, other],
        processor_sets: Vec::new(),
        bound: Default::default(),
    };
    let found = account(&profile(kept.clone(), sums.clone(), Vec::new()), &run);
    assert!(found.alone, "both execute it in the same half second");
    let all_ns = sums.iter().map(|sum| sum.time_ns).sum::<u64>() + kept.len() as u64 * 1_000;
    assert!(found.total_ns.abs_diff(all_ns) <= 1, "{}: {all_ns}", found.total_ns);
}

#[test]
fn of_a_sum_that_a_window_cuts_the_part_within_counts() {
    let row = ExecutionSumRow { begin_ns: 100, end_ns: 200, ..ExecutionSumRow::default() };
    let share = |from, to| share_within(&Windows::between(from, to), &row);
    assert_eq!((share(0, 100), share(0, 150), share(0, 200), share(175, 1000)), (0.0, 0.5, 1.0, 0.25));
    let at_once = ExecutionSumRow { begin_ns: 100, end_ns: 100, ..row };
    assert_eq!(share_within(&Windows::between(50, 150), &at_once), 1.0);
}
