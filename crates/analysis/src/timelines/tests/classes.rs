//! What is known of the functions on a call path goes before what the operation says of itself.

use super::*;

/// The spans of one location, where the frame of context 1 is the function `waits`, by these rules.
fn spans_by(rules: &str, rows: &[SampleRow], events: &[EventRow]) -> Vec<Span> {
    let mut profile = profile(vec![], vec![], vec![]);
    profile.facts.wait_rules = rules.into();
    profile.functions.push(Function { name: "waits".into(), ..Function::default() });
    profile.contexts[1].function = Some(1);
    let location = location(100, 0);
    let spans = spans_of(&location, rows, events, &States::of(&profile));
    assert_tiled(&location, &spans);
    spans
}

#[test]
fn a_condition_may_be_a_barrier() {
    let wait = event(Operation::ConditionWait, 10, 90);
    let rows = [row(100, 20)];
    let passive = State::Passive(PassiveReason::Condition);
    assert_eq!(told(&spans_by("", &rows, &[wait])), [(10, COMPUTE), (80, passive), (10, COMPUTE)]);
    let barrier = State::Waiting(Wait::Barrier);
    assert_eq!(
        told(&spans_by("barrier waits", &rows, &[wait])),
        [(10, COMPUTE), (80, barrier), (10, COMPUTE)]
    );
    // Reading until bytes move may be waiting for a lock; a passive read keeps what it does on the processor.
    let read = EventRow { target: Target::Pipe, ..event(Operation::Read, 10, 90) };
    assert_eq!(told(&spans_by("lock waits", &rows, &[read])), [(10, COMPUTE), (80, LOCK), (10, COMPUTE)]);
    let pool = State::Passive(PassiveReason::Pool);
    let spans = spans_by("pool waits", &[row(100, 50)], &[read]);
    assert_eq!(told(&spans), [(10, COMPUTE), (50, pool), (30, IO), (10, COMPUTE)]);
}

#[test]
fn processor_time_may_be_waiting() {
    let within = SampleRow { context: 1, ..row(60, 40) };
    let rows = [within, row(100, 40)];
    let polling = State::Polling(Wait::Barrier);
    assert_eq!(told(&spans_by("barrier waits", &rows, &[])), [(20, UNKNOWN), (40, polling), (40, COMPUTE)]);
    let pool = State::Passive(PassiveReason::Pool);
    let spans = spans_by("pool waits", &rows, &[]);
    assert_eq!(told(&spans), [(20, UNKNOWN), (40, pool), (40, COMPUTE)]);
    // Who looks for work again and again, giving his processor away, has none.
    let yields = event(Operation::Yield, 0, 60);
    let spans = spans_by("pool waits", &[row(60, 30), row(100, 40)], &[yields]);
    assert_eq!(told(&spans), [(60, pool), (40, COMPUTE)]);
}
