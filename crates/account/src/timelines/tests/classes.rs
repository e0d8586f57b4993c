//! The classes of functions on a call path take precedence over the operation's own.

use super::*;
use proust_profile::{ContextId, FunctionId};

/// The spans of one location, where the frame of context 1 is the function `waits`, by these rules.
fn spans_by(rules: &str, rows: &[SampleRow], events: &[EventRow]) -> Vec<Span> {
    let mut profile = profile(vec![], vec![], vec![]);
    profile.facts.wait_rules = rules.into();
    profile.functions.push(Function { name: "waits".into(), ..Function::default() });
    profile.contexts[ContextId(1)].function = Some(FunctionId(1));
    let location = location(100, 0);
    let spans = Recorded {
        location: &location,
        rows: rows.to_vec(),
        events: || events.iter().copied(),
        waits: &[],
        spool: Spool::default(),
        latencies: &Latencies::of(&profile),
        stops: &[],
        pauses: &[],
        fault: FaultCost::of(&profile),
    }
    .with_spans(&States::of(&profile), 0, |spans| spans.collect::<Vec<Span>>());
    assert_tiled(&location, &spans);
    spans
}

#[test]
fn a_condition_may_be_a_barrier() {
    let wait = event(Operation::ConditionWait, 10, 90);
    let rows = [row(100, 20)];
    let passive = State::Passive(PassiveReason::Condition);
    assert_eq!(lengths(&spans_by("", &rows, &[wait])), [(10, COMPUTE), (80, passive), (10, COMPUTE)]);
    let barrier = State::Waiting(Wait::Barrier);
    assert_eq!(
        lengths(&spans_by("barrier waits", &rows, &[wait])),
        [(10, COMPUTE), (80, barrier), (10, COMPUTE)]
    );
    // Reading until bytes move may be waiting for a lock; a passive read keeps what it does on the processor.
    let read = EventRow { target: Target::Pipe, ..event(Operation::Read, 10, 90) };
    assert_eq!(lengths(&spans_by("lock waits", &rows, &[read])), [(10, COMPUTE), (80, LOCK), (10, COMPUTE)]);
    let pool = State::Passive(PassiveReason::Pool);
    let spans = spans_by("pool waits", &[row(100, 50)], &[read]);
    assert_eq!(lengths(&spans), [(10, COMPUTE), (50, pool), (30, IO), (10, COMPUTE)]);
}

#[test]
fn processor_time_may_be_waiting() {
    let within = SampleRow { context: ContextId(1), ..uncounted(60, 40) };
    let rows = [within, row(100, 40)];
    let polling = State::Polling(Wait::Barrier);
    assert_eq!(
        lengths(&spans_by("barrier waits", &rows, &[])),
        [(20, UNKNOWN), (40, polling), (40, COMPUTE)]
    );
    let pool = State::Passive(PassiveReason::Pool);
    let spans = spans_by("pool waits", &rows, &[]);
    assert_eq!(lengths(&spans), [(20, UNKNOWN), (40, pool), (40, COMPUTE)]);
    // A thread that looks for work again and again, yielding its processor, has none.
    let yields = event(Operation::Yield, 0, 60);
    let spans = spans_by("pool waits", &[row(60, 30), row(100, 40)], &[yields]);
    assert_eq!(lengths(&spans), [(60, pool), (40, COMPUTE)]);
}

#[test]
fn who_blocked_in_a_runtimes_code_waited_there() {
    let blocked = |voluntary_switches, involuntary_switches| SampleRow {
        context: ContextId(1),
        voluntary_switches,
        involuntary_switches,
        ..row(60, 40)
    };
    let rows = |first| [first, SampleRow { voluntary_switches: 1, ..row(100, 30) }];
    let polling = State::Polling(Wait::Barrier);
    let of = |rules: &str, first| lengths(&spans_by(rules, &rows(first), &[]));
    // For a thread that computes the reason of a block is not known.
    assert_eq!(of("", blocked(2, 0)), [(20, UNKNOWN), (40, COMPUTE), (10, UNKNOWN), (30, COMPUTE)]);
    assert_eq!(of("barrier waits", blocked(2, 0)), [(60, polling), (10, UNKNOWN), (30, COMPUTE)]);
    let runtime = State::Working(Work::Runtime);
    assert_eq!(of("runtime waits", blocked(2, 0)), [(60, runtime), (10, UNKNOWN), (30, COMPUTE)]);
    // Half of the times it was displaced.
    let half = [(10, UNKNOWN), (50, polling), (10, UNKNOWN), (30, COMPUTE)];
    assert_eq!(of("barrier waits", blocked(2, 2)), half);
}
