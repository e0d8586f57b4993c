//! Operations between samples, worked out by hand.

use proust_profile::samples::NOT_READ;
use proust_profile::{ContextId, LocationId, SegmentRow};

use super::*;
use crate::accounted::ledger;
use crate::ledger::PartKind;

fn clocked(event: EventRow, cpu_ms: u64) -> EventRow {
    EventRow { cpu_clock_ns: Some(cpu_ms * MS), ..event }
}

fn on(event: EventRow, target: Target) -> EventRow {
    EventRow { target, ..event }
}

fn passive(reason: PassiveReason) -> State {
    State::Passive(reason)
}

#[test]
fn a_mutex_wait_between_two_samples() {
    // 50 ms of which 20 in the lock and 30 on the processor: nothing is left to explain.
    let rows = [row(10, 10), row(60, 30)];
    let lock = event(Operation::MutexLock, 25, 45);
    let spans = spans_within(&location(60, 0), &rows, &[lock]);
    assert_eq!(lengths(&spans), [(10, COMPUTE), (15, COMPUTE), (20, LOCK), (15, COMPUTE)]);
    assert_eq!(spans[2].context, ContextId(1));
    // With its clock read at its end the same follows: 15 ms before it, 15 after.
    assert_eq!(lengths(&spans_within(&location(60, 0), &rows, &[clocked(lock, 25)])), lengths(&spans));
}

#[test]
fn a_clock_tells_on_which_side_of_a_wait_the_processor_time_was() {
    // 60 ms, 20 of them in the lock, 20 on the processor. Without a clock unexplained time is first; the
    // clock shows that all of the processor time was before the wait.
    let rows = [row(60, 20)];
    let lock = event(Operation::MutexLock, 20, 40);
    let without = spans_within(&location(60, 0), &rows, &[lock]);
    assert_eq!(lengths(&without), [(20, UNKNOWN), (20, LOCK), (20, COMPUTE)]);
    let with = spans_within(&location(60, 0), &rows, &[clocked(lock, 20)]);
    assert_eq!(lengths(&with), [(20, COMPUTE), (20, LOCK), (20, UNKNOWN)]);
}

#[test]
fn a_sleep_is_passive_and_what_it_computes_comes_last() {
    // 100 ms: 90 asleep, of which the processor's clock knows 2 ms more than the 10 outside.
    let sleep = event(Operation::Sleep, 5, 95);
    let spans = spans_within(&location(100, 0), &[row(100, 12)], &[sleep]);
    let expected = [(5, COMPUTE), (88, passive(PassiveReason::Sleep)), (2, COMPUTE), (5, COMPUTE)];
    assert_eq!(lengths(&spans), expected);
    assert_eq!((spans[2].context, spans[3].context), (ContextId(1), ContextId(0)));
}

#[test]
fn an_io_call_that_spans_a_sample_counts_in_both_gaps() {
    // write from 8 to 22, a sample inside it at 15.
    let inside = SampleRow { context: ContextId(1), in_operation: true, ..row(15, 10) };
    let after = SampleRow { context: ContextId(2), ..row(30, 15) };
    let write = on(event(Operation::Write, 8, 22), Target::File);
    let spans = spans_within(&location(30, 0), &[inside, after], &[write]);
    assert_eq!(lengths(&spans), [(8, COMPUTE), (7, IO), (7, IO), (8, COMPUTE)]);
    // The computation before the call is not the call site's.
    assert_eq!(
        spans.iter().map(|span| span.context).collect::<Vec<_>>(),
        [ContextId(2), ContextId(1), ContextId(1), ContextId(2)]
    );
}

#[test]
fn short_locks_are_waits_and_need_no_place() {
    // 100 ms with 40 on the processor; 50 in short locks, 10 unexplained.
    let locks = sum(Operation::MutexLock, 90, 50);
    let spans = spans_within(&location(100, 0), &[row(100, 40)], &[locks]);
    assert_eq!(lengths(&spans), [(10, UNKNOWN), (50, LOCK), (40, COMPUTE)]);
    // What they have no room for off the processor they spent spinning: it is still waiting.
    let locks = sum(Operation::MutexLock, 90, 70);
    let spans = spans_within(&location(100, 0), &[row(100, 40)], &[locks]);
    assert_eq!(lengths(&spans), [(70, LOCK), (30, COMPUTE)]);
}

#[test]
fn short_spins_and_file_io_take_what_computes_first() {
    let spins = sum(Operation::MutexTryLock, 90, 30);
    let writes = on(sum(Operation::Write, 95, 30), Target::File);
    let spans = spans_within(&location(100, 0), &[uncounted(100, 50)], &[spins, writes]);
    let polling = State::Polling(Wait::Lock);
    assert_eq!(lengths(&spans), [(40, UNKNOWN), (30, polling), (30, IO)]);
}

#[test]
fn who_blocked_and_did_nothing_else_was_in_what_may_block() {
    let spins = sum(Operation::MutexTryLock, 90, 30);
    let writes = on(sum(Operation::Write, 95, 30), Target::File);
    let polling = State::Polling(Wait::Lock);
    let states_with = |blocked, displaced, queued_us| {
        let switched = SampleRow {
            voluntary_switches: blocked,
            involuntary_switches: displaced,
            queued_us,
            ..row(100, 50)
        };
        let queued_ms = if queued_us == NOT_READ { 0 } else { u64::from(queued_us / 1000) };
        let spans = spans_within(&location(100, queued_ms), &[switched], &[spins, writes]);
        let queued: u64 = spans.iter().map(|span| span.parts.get(PartKind::Delayed) / MS).sum();
        (lengths(&spans), queued)
    };
    let states_of = |blocked, displaced| states_with(blocked, displaced, NOT_READ).0;
    // 50 ms off the processor, of which operations that can block explain all: the 50 ms on it were
    // computation but for 10.
    assert_eq!(states_of(4, 0), [(30, polling), (30, IO), (40, COMPUTE)]);
    // Half of the times it was displaced: nothing is known of these 20 ms.
    assert_eq!(states_of(3, 3), [(20, UNKNOWN), (30, polling), (30, IO), (20, COMPUTE)]);
    // Unless the scheduler was asked: it was displaced for 5 ms, and so it slept for the other 15.
    let all = vec![(30, polling), (30, IO), (40, COMPUTE)];
    assert_eq!(states_with(3, 3, 5000), (all.clone(), 5));
    assert_eq!(states_with(3, 3, 0), (all, 0));
    // It never blocked: then it was displaced all that time, whatever was asked.
    assert_eq!(states_with(0, 3, 0).1, 40);
}

#[test]
fn half_of_a_pipe_read_on_the_processor_is_io() {
    // 40 ms in the read, 10 outside; 30 on the processor, so 20 of them inside.
    let read = on(event(Operation::Read, 10, 50), Target::Pipe);
    let spans = spans_within(&location(50, 0), &[row(50, 30)], &[read]);
    assert_eq!(lengths(&spans), [(10, COMPUTE), (20, passive(PassiveReason::Pipe)), (20, IO)]);
    // Short ones: 10 ms of 40 are off the processor.
    let reads = on(sum(Operation::Read, 50, 40), Target::Pipe);
    let spans = spans_within(&location(50, 0), &[row(50, 40)], &[reads]);
    assert_eq!(lengths(&spans), [(10, passive(PassiveReason::Pipe)), (30, IO), (10, COMPUTE)]);
}

#[test]
fn processor_time_inside_operations_is_io_before_a_sleeps_and_that_before_a_locks() {
    // 10 ms each of lock, sleep and pipe read, 10 outside; 25 on the processor: 15 inside.
    let events = [
        event(Operation::MutexLock, 0, 10),
        event(Operation::Sleep, 10, 20),
        on(event(Operation::Read, 20, 30), Target::Pipe),
    ];
    let spans = spans_within(&location(40, 0), &[row(40, 25)], &events);
    let sleep = passive(PassiveReason::Sleep);
    assert_eq!(lengths(&spans), [(10, LOCK), (5, sleep), (5, COMPUTE), (10, IO), (10, COMPUTE)]);
}

#[test]
fn queue_delay_is_found_at_the_end_of_a_wait() {
    // 20 ms in the lock, the rest on the processor: the 4 ms in the run queue can only be in the wait.
    let woken = SampleRow { voluntary_switches: 1, ..row(60, 40) };
    let lock = event(Operation::MutexLock, 20, 40);
    let spans = spans_within(&location(60, 4), &[woken], &[lock]);
    assert_eq!(lengths(&spans), [(20, COMPUTE), (16, LOCK), (4, COMPUTE), (20, COMPUTE)]);
    assert_eq!(spans[2].parts.get(PartKind::Delayed), 4 * MS);
    // Where there is anything unexplained, it is there.
    let woken = SampleRow { cpu_ns: 30 * MS, ..woken };
    let spans = spans_within(&location(60, 4), &[woken], &[lock]);
    assert_eq!(lengths(&spans), [(6, UNKNOWN), (14, COMPUTE), (20, LOCK), (20, COMPUTE)]);
    assert_eq!(spans.iter().map(|span| span.parts.get(PartKind::Delayed)).sum::<u64>(), 4 * MS);
}

/// A thread that spins is displaced while it does: only behind the last arrival it has anything to do.
#[test]
fn queue_delay_at_a_barrier_of_openmp_lies_behind_the_last_arrival() {
    let barrier = event(Operation::OmpBarrier, 20, 60);
    let of_site = |context: u32, wait_ms: u64, latency_ms: u64| {
        let mut known = profile(vec![], vec![], vec![]);
        known.contexts[ContextId(1)].line = Some(7);
        known.contexts.push(Context { line: Some(7), ..known.contexts[ContextId(1)].clone() });
        known.segments = vec![SegmentRow {
            operation: barrier.operation,
            context: ContextId(context),
            wait_ns: wait_ms * MS,
            latency_ns: latency_ms * MS,
            ..SegmentRow::default()
        }];
        known
    };
    let barred = State::Polling(Wait::Barrier);
    let spans = |known: &Profile, queued_ms: u64| {
        let displaced = SampleRow { involuntary_switches: 1, ..row(80, 50) };
        lengths(&spans_of_profile(known, &location(80, queued_ms), &[displaced], &[barrier], &[]))
    };
    let whole = [(20, COMPUTE), (40, barred), (20, COMPUTE)];
    // 40 ms in the barrier, 10 of them on the processor. A quarter of the site's waits is behind the last
    // arrival; its path is another one.
    for context in [1, 5] {
        let known = of_site(context, 400, 100);
        assert_eq!(spans(&known, 0), whole);
        let late = |queued_ms| [(20, COMPUTE), (40 - queued_ms, barred), (queued_ms, COMPUTE), (20, COMPUTE)];
        assert_eq!(spans(&known, 6), late(6));
        assert_eq!(spans(&known, 30), late(10));
    }
    // Where it is not known when the last thread arrived, the whole of it is waiting.
    assert_eq!(spans(&of_site(1, 400, 0), 30), whole);
    assert_eq!(spans(&of_site(2, 400, 100), 30), whole);
}

#[test]
fn who_sleeps_as_long_as_he_asked_for_is_not_in_the_queue_meanwhile() {
    // The kernel counts 15 ms in the run queue; all but 2 of the 20 were asked for.
    let woken = SampleRow { voluntary_switches: 1, ..row(60, 40) };
    let delayed = |sleep: EventRow| {
        let spans = spans_within(&location(60, 15), &[woken], &[sleep]);
        spans.iter().map(|span| span.parts.get(PartKind::Delayed)).sum::<u64>()
    };
    let sleep = event(Operation::Sleep, 20, 40);
    assert_eq!(delayed(EventRow { object2: 18 * MS, ..sleep }), 2 * MS);
    assert_eq!(delayed(sleep), 15 * MS);
    assert_eq!(delayed(EventRow { object2: 18 * MS, errors: 1, ..sleep }), 15 * MS);
}

#[test]
fn who_yields_is_delayed_and_that_is_part_of_the_queue() {
    // 30 ms yielding, 10 of them on the processor; all 20 of the run queue are there.
    let yields = event(Operation::Yield, 10, 40);
    let woken = SampleRow { voluntary_switches: 9, ..row(50, 30) };
    let spans = spans_within(&location(50, 20), &[woken], &[yields]);
    assert_eq!(lengths(&spans), [(10, COMPUTE), (20, COMPUTE), (10, COMPUTE), (10, COMPUTE)]);
    assert_eq!(spans[1].parts.get(PartKind::Delayed), 20 * MS);
    assert_eq!(spans.iter().map(|span| span.parts.get(PartKind::Delayed)).sum::<u64>(), 20 * MS);
}

#[test]
fn a_wait_that_was_open_when_the_process_was_killed() {
    let open = EventRow { open: true, ..event(Operation::ConditionWait, 12, 500) };
    let spans = spans_within(&location(500, 0), &[row(10, 10)], &[open]);
    let condition = passive(PassiveReason::Condition);
    assert_eq!(lengths(&spans), [(10, COMPUTE), (2, UNKNOWN), (488, condition)]);
}

#[test]
fn what_each_operation_counts_as() {
    let of = |operation, target, cpu_ms| {
        let row = row(10, cpu_ms);
        let spans = spans_within(&location(10, 0), &[row], &[on(event(operation, 0, 10), target)]);
        lengths(&spans)
    };
    let connecting = passive(PassiveReason::Socket);
    assert_eq!(of(Operation::Barrier, Target::None, 5), [(10, State::Waiting(Wait::Barrier))]);
    assert_eq!(of(Operation::MutexTryLock, Target::None, 0), [(10, State::Polling(Wait::Lock))]);
    assert_eq!(of(Operation::Connect, Target::Socket, 1), [(9, connecting), (1, IO)]);
    assert_eq!(of(Operation::Close, Target::Socket, 1), [(10, IO)]);
    assert_eq!(of(Operation::Read, Target::Device, 1), [(10, IO)]);
    assert_eq!(of(Operation::Read, Target::Terminal, 0), [(10, passive(PassiveReason::Terminal))]);
}

#[test]
fn measurement_is_spent_outside_operations_and_no_sum_takes_it() {
    let measured = SampleRow { measurement_ns: 2 * MS, ..uncounted(50, 20) };
    let writes = on(sum(Operation::Write, 50, 45), Target::File);
    let spans = spans_within(&location(50, 0), &[measured], &[writes]);
    assert_eq!(lengths(&spans), [(3, UNKNOWN), (45, IO), (2, COMPUTE)]);
    assert_eq!(spans[2].parts.get(PartKind::Measurement), 2 * MS);
}

#[test]
fn the_account_of_a_lock_and_its_holder_closes() {
    // The first thread computes; the second waits 600 ms for its lock and computes then.
    let at = |location, time_ms, cpu_ms| SampleRow { location, ..row(time_ms, cpu_ms) };
    let lock = EventRow { location: LocationId(1), ..event(Operation::MutexLock, 0, 600) };
    let thread = |tid| Location { tid, ..location(1000, 0) };
    let profile = profile(
        vec![thread(1), thread(2)],
        vec![at(LocationId(0), 1000, 1000), at(LocationId(1), 1000, 400)],
        vec![lock],
    );
    let ledger = ledger(&profile).unwrap();
    let ms = |account| ledger.accounts[account] / MS;
    assert_eq!((ledger.total_ns / MS, ledger.residual_ns()), (2000, 0));
    assert_eq!((ms(Account::Compute), ms(Account::Lock), ms(Account::Serial)), (1400, 600, 0));
}
