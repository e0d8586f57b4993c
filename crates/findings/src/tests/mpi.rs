//! Ranks of MPI.

use proust_profile::{CommunicatorInfo, IdealNetwork, MessageQuality, PartnerWaitRow, WaitPattern};

use super::super::Sure;
use super::*;

/// Ranks of one thread each, all in one communicator.
fn ranks(count: u32, end_ms: u64) -> Builder {
    let mut run = Builder::new(count, end_ms);
    let process = run.profile.processes[ProcessId(0)].clone();
    run.profile.processes =
        (0..count).map(|rank| Process { rank: Some(rank), pid: 100 + rank, ..process.clone() }).collect();
    for rank in 0..count {
        run.profile.locations[LocationId(rank)].process = ProcessId(rank);
    }
    run.profile.facts.available_processors = count;
    run.profile.communicators =
        vec![CommunicatorInfo { id: 1, size: count, is_world: true, is_known: true, ..Default::default() }];
    run
}

impl Builder {
    /// A rank waits for another one in all of a call.
    fn waits(
        &mut self,
        (rank, late): (u32, u32),
        path: &str,
        (operation, pattern): (Operation, WaitPattern),
        times: (u64, u64),
    ) -> &mut PartnerWaitRow {
        let event = *self.during(rank, path, operation, times);
        self.profile.partner_waits.push(PartnerWaitRow {
            location: event.location,
            context: event.context,
            operation: event.operation,
            begin_ns: event.begin_ns,
            until_ns: event.end_ns,
            pattern,
            late: LocationId(late),
            late_context: event.context,
            misordered_ns: 0,
            bytes: 0,
        });
        self.profile.partner_waits.last_mut().unwrap()
    }

    fn found(mut self) -> Vec<Finding> {
        self.profile.partner_waits.sort_by_key(|wait| (wait.location, wait.begin_ns));
        self.findings()
    }
}

const RECEIVE: (Operation, WaitPattern) = (Operation::MPI_Recv, WaitPattern::LateSender);
const SEND: (Operation, WaitPattern) = (Operation::MPI_Ssend, WaitPattern::LateReceiver);
const SUM: (Operation, WaitPattern) = (Operation::MPI_Allreduce, WaitPattern::AllToAll);

/// In each of 20 rounds of 20 ms one of two ranks works and the other one waits for it.
fn rounds(how: (Operation, WaitPattern), late: impl Fn(u64) -> u32) -> Vec<Finding> {
    let mut run = ranks(2, 400);
    for round in 0..20 {
        let (times, late) = ((20 * round, 20 * round + 20), late(round));
        run.work(late, "main solve prepare", times);
        run.waits((1 - late, late), "main solve", how, times);
    }
    run.found()
}

#[test]
fn ranks_that_others_wait_for_are_named() {
    for (how, kind, late) in
        [(RECEIVE, Kind::MpiLateSender, 0), (SEND, Kind::MpiLateReceiver, 1), (SUM, Kind::MpiImbalance, 1)]
    {
        let found = rounds(how, |_| late);
        let finding = one(&found, kind);
        near(finding.lost, 0.4);
        assert_eq!(
            (cause(finding), &finding.ranks[..], finding.sure),
            ("prepare", &[late][..], Sure::Likely)
        );
        assert_eq!(finding.victims[0].place.function.as_deref(), Some("solve"));
        // A message might be sent or received otherwise where it is awaited.
        let awaited = finding.awaited.as_ref().and_then(|place| place.function.as_deref());
        assert_eq!(awaited, (kind != Kind::MpiImbalance).then_some("solve"));
        assert!(!has(&found, Kind::MpiSerialChain), "{found:#?}");
    }
}

/// In each of 20 rounds of 30 ms the second rank works for 10 and then has no processor, and the first one,
/// which works for `early_ms`, waits for it. Then both work for so long.
fn displaced_rounds(early_ms: u64, then_ms: u64) -> Vec<Finding> {
    let mut run = ranks(2, 600 + then_ms);
    for round in 0..20 {
        let (begin, end) = (30 * round, 30 * round + 30);
        run.work(1, "main solve prepare", (begin, begin + 10));
        if early_ms > 0 {
            run.work(0, "main solve prepare", (begin, begin + early_ms));
        }
        run.waits((0, 1), "main solve", SUM, (begin + early_ms, end));
    }
    if then_ms > 0 {
        run.work(0, "main solve", (600, 600 + then_ms)).work(1, "main solve", (600, 600 + then_ms));
    }
    run.profile.locations[LocationId(1)].queued = Ns::from_seconds(0.4);
    run.found()
}

/// On a busy machine the rank that has more to do is without a processor more often, too.
#[test]
fn a_rank_that_has_more_to_do_is_found_on_a_busy_machine() {
    let found = displaced_rounds(0, 0);
    let finding = one(&found, Kind::MpiImbalance);
    near(finding.lost, 0.2);
    assert_eq!((cause(finding), &finding.ranks[..], finding.sure), ("prepare", &[1][..], Sure::Possible));
    // All have as much to do; and here the rank hardly ever was without a processor but when it was late.
    for found in [displaced_rounds(10, 0), displaced_rounds(0, 800)] {
        assert!(!has(&found, Kind::MpiImbalance), "{found:#?}");
    }
}

/// Each is late as often as the other one: that is what chance does as well.
#[test]
fn ranks_that_are_late_in_turn_are_possible_at_most() {
    // In two rounds in a row, so that none waits for what the other one got just before.
    let found = rounds(SUM, |round| u32::from(round % 4 < 2));
    assert!(found.iter().all(|finding| finding.sure == Sure::Possible), "{found:#?}");
}

#[test]
fn ranks_that_work_one_after_the_other_are_a_chain() {
    let mut run = ranks(3, 600);
    for step in 0..30 {
        let times = (20 * step, 20 * step + 20);
        let working = (step % 3) as u32;
        run.work(working, "main sweep work", times);
        // Each waits for the one before it, from its own step on until that one has worked.
        let (begin, next) = ((20 * step).saturating_sub(20), (working + 1) % 3);
        run.waits((next, working), "main sweep", RECEIVE, (begin, times.1));
    }
    let found = run.found();
    let finding = one(&found, Kind::MpiSerialChain);
    assert_eq!((cause(finding), finding.ranks.len(), finding.sure), ("sweep", 3, Sure::Likely));
    assert!(!has(&found, Kind::MpiLateSender), "{found:#?}");
}

/// Two ranks work by turns, 8 and 12 ms of each 20; the first has to wait by `how`. Each is in a function.
fn by_turns(functions: [&str; 2], how: (Operation, WaitPattern)) -> Vec<Finding> {
    let mut run = ranks(2, 400);
    let [first, second] = functions;
    for round in 0..20 {
        let (begin, middle, end) = (20 * round, 20 * round + 8, 20 * round + 20);
        run.work(0, &format!("main {first} advance"), (begin, middle));
        run.waits((1, 0), &format!("main {second}"), RECEIVE, (begin, middle));
        run.work(1, &format!("main {second} advance"), (middle, end));
        run.waits((0, 1), &format!("main {first}"), how, (middle, end));
    }
    run.found()
}

#[test]
fn ranks_that_take_turns_are_a_chain_wherever_and_however_they_wait() {
    // What one sends when it has worked lets the other one begin, and all meet before the first begins again.
    for (functions, how) in [(["step", "step"], SUM), (["hand_out", "compute"], RECEIVE)] {
        let found = by_turns(functions, how);
        let finding = one(&found, Kind::MpiSerialChain);
        near(finding.lost, 0.4);
        assert_eq!((cause(finding), finding.ranks.len(), finding.sure), (functions[0], 2, Sure::Likely));
        assert!(!has(&found, Kind::MpiImbalance) && !has(&found, Kind::MpiLateSender), "{found:#?}");
    }
}

/// Two ranks work by turns, 10 ms each. Between its message and its wait each works for 5 ms, or uses no
/// processor for so long. All in all each queued for `queued_s`.
fn by_turns_with_gaps(works: bool, queued_s: f64) -> Vec<Finding> {
    let mut run = ranks(2, 600);
    for turn in 0..40 {
        let (rank, begin) = ((turn % 2) as u32, 15 * turn);
        run.work(rank, "main step advance", (begin, begin + 10));
        if works {
            run.work(rank, "main step more", (begin + 10, begin + 15));
        }
        // Until the other one has worked, too.
        run.waits((rank, 1 - rank), "main step", RECEIVE, (begin + 15, (begin + 25).min(600)));
    }
    for rank in 0..2 {
        run.profile.locations[LocationId(rank)].queued = Ns::from_seconds(queued_s);
    }
    run.found()
}

/// On a busy machine a rank may have no processor before it can wait.
#[test]
fn ranks_that_take_turns_are_a_chain_on_a_busy_machine() {
    let found = by_turns_with_gaps(false, 0.1);
    assert_eq!(cause(one(&found, Kind::MpiSerialChain)), "step");
    // It works there; or it does something else than to queue.
    for found in [by_turns_with_gaps(true, 0.1), by_turns_with_gaps(false, 0.0)] {
        assert!(!has(&found, Kind::MpiSerialChain), "{found:#?}");
    }
}

/// Two ranks wait for each other by turns of 20 ms, of which the late one works for so long, and then queues.
fn turns_on_processors(worked_ms: u64) -> Vec<Finding> {
    let mut run = ranks(2, 600);
    for turn in 0..30 {
        let (rank, begin) = ((turn % 2) as u32, 20 * turn);
        run.work(rank, "main step advance", (begin, begin + worked_ms));
        run.waits((1 - rank, rank), "main step", RECEIVE, (begin, begin + 20));
    }
    for rank in 0..2 {
        run.profile.locations[LocationId(rank)].queued = Ns::of(15 * (20 - worked_ms) * MS);
    }
    run.found()
}

#[test]
fn ranks_that_wait_for_a_processor_by_turns_are_no_chain() {
    assert_eq!(cause(one(&turns_on_processors(12), Kind::MpiSerialChain)), "step");
    assert!(!has(&turns_on_processors(3), Kind::MpiSerialChain));
}

/// Where they meet twice in a row, the second wait begins when the first is over, but hardly takes any time.
#[test]
fn a_moment_behind_a_wait_makes_it_no_chain() {
    let mut run = ranks(2, 800);
    for round in 0..20 {
        let (late, at) = ((round % 2) as u32, 40 * round);
        run.work(late, "main step", (at, at + 40));
        run.work(1 - late, "main step", (at, at + 20));
        run.waits((1 - late, late), "main step", SUM, (at + 20, at + 40));
        let wait = run.waits((late, 1 - late), "main step", SUM, (at + 40, at + 41));
        wait.until_ns = wait.begin_ns + MS / 10;
    }
    assert!(!has(&run.found(), Kind::MpiSerialChain));
}

/// A rank receives for 16 ms and works for 4 ms, 20 times, and could have worked in so many of the waits.
fn in_order(misordered: u64) -> Vec<Finding> {
    let mut run = ranks(2, 400);
    for round in 0..20 {
        let begin = 20 * round;
        let wait = run.waits((0, 1), "main take", RECEIVE, (begin, begin + 16));
        wait.misordered_ns = if round < misordered { 4 * MS } else { 0 };
        run.work(0, "main take handle", (begin + 16, begin + 20));
        run.work(1, "main make", (begin, begin + 20));
    }
    run.found()
}

#[test]
fn the_order_of_messages_matters_where_work_could_have_been_done() {
    let found = in_order(20);
    let finding = one(&found, Kind::MpiWrongOrder);
    near(finding.lost, 0.08);
    assert_eq!((cause(finding), &finding.ranks[..], finding.sure), ("take", &[1][..], Sure::Likely));
    assert!(!has(&in_order(5), Kind::MpiWrongOrder));
}

/// Two ranks exchange messages of so many bytes, 10 µs each, to so many others in turn.
fn messages(bytes: u64, partners: u64) -> Vec<Finding> {
    let mut run = ranks(2, 200);
    for rank in 0..2 {
        run.work(rank, "main exchange", (0, 200));
        for at in 0..10_000 {
            let event = run.during(rank, "main exchange", Operation::MPI_Send, (0, 0));
            (event.begin_ns, event.end_ns) = (20_000 * at, 20_000 * at + 10_000);
            (event.time_ns, event.bytes) = (10_000, bytes);
            (event.object, event.object2) = (1, at % partners);
        }
    }
    run.found()
}

#[test]
fn many_small_messages_are_found_and_large_ones_are_not() {
    let found = messages(64, 1);
    let finding = one(&found, Kind::MpiSmallMessages);
    near(finding.lost, 0.2);
    assert_eq!((cause(finding), finding.sure), ("exchange", Sure::Likely));
    assert_eq!(one(&messages(64, 2), Kind::MpiSmallMessages).sure, Sure::Possible);
    assert!(!has(&messages(16_384, 1), Kind::MpiSmallMessages));
}

/// Three sums one after the other, so long apart.
fn sums(apart_ns: u64, communicators: u64) -> Vec<Finding> {
    let mut run = ranks(2, 200);
    for rank in 0..2 {
        run.work(rank, "main sum", (0, 200));
        for at in 0..6_000 {
            let begin_ns = 30_000 * at + (10_000 - apart_ns) * (2 - at % 3);
            let event = run.during(rank, "main sum", Operation::MPI_Allreduce, (0, 0));
            (event.begin_ns, event.end_ns, event.time_ns) = (begin_ns, begin_ns + 20_000, 20_000);
            (event.bytes, event.object) = (8, at % communicators);
        }
    }
    run.found()
}

#[test]
fn collectives_at_once_after_each_other_could_be_one() {
    let found = sums(1000, 1);
    let finding = one(&found, Kind::MpiGroupableCollectives);
    near(finding.lost, 2.0 * 4000.0 * 20e-6);
    assert_eq!((cause(finding), finding.sure), ("sum", Sure::Possible));
    assert!(!has(&sums(10_000, 1), Kind::MpiGroupableCollectives));
    assert!(!has(&sums(1000, 2), Kind::MpiGroupableCollectives));
}

/// Ranks whose critical path is known: they begin MPI at 0 and end it at these times.
fn ranks_with_path(ends_ms: &[u64], end_ms: u64) -> Builder {
    let mut run = ranks(ends_ms.len() as u32, end_ms);
    for (rank, &ends_ms) in (0..).zip(ends_ms) {
        run.during(rank, "main", Operation::MPI_Init, (0, 0));
        run.during(rank, "main", Operation::MPI_Finalize, (ends_ms, end_ms));
    }
    let ideal = Some(IdealNetwork { time_ns: 0, ideal_ns: Some(1), outside: Vec::new() });
    run.profile.quality.messages = Some(MessageQuality { ideal, ..MessageQuality::default() });
    run
}

/// Rank 0 reads for 200 ms while two others wait, who read as long as this before; then all solve.
fn read_by_one(others_ms: u64) -> Vec<Finding> {
    let mut run = ranks_with_path(&[400; 3], 400);
    run.work(0, "main read", (0, 200));
    for rank in 1..3 {
        run.work(rank, "main read", (0, others_ms));
        run.waits((rank, 0), "main", SUM, (others_ms, 200));
    }
    for rank in 0..3 {
        run.work(rank, "main solve", (200, 400));
    }
    run.found()
}

#[test]
fn what_one_rank_does_alone_is_found_though_others_wait_only_once() {
    let found = read_by_one(0);
    let finding = one(&found, Kind::MpiSerialPhase);
    near(finding.lost, 0.4);
    assert_eq!((cause(finding), &finding.ranks[..], finding.sure), ("read", &[0][..], Sure::Likely));
    assert_eq!((finding.account.as_str(), finding.victims[0].threads), ("mpi-partner", 2));
    // It is 0.2 s of the path: more cannot be saved, and hardly less than a half of dividing it by three.
    let on_path = finding.on_path.expect("a path").as_seconds();
    assert!(on_path >= 0.2 && finding.high.as_seconds() <= 0.2 + 1e-9, "{finding:#?}");
    near(finding.low, (0.4 - 2.0 * finding.error.as_seconds()) * 0.5 / 3.0);
    assert!(found.iter().all(|one| one.kind == Kind::MpiSerialPhase), "{found:#?}");
}

#[test]
fn what_others_do_as_well_is_no_serial_phase_and_once_is_possible_at_most() {
    let found = read_by_one(100);
    let finding = one(&found, Kind::MpiImbalance);
    near(finding.lost, 0.2);
    assert_eq!((cause(finding), finding.sure), ("read", Sure::Possible));
    assert!(!has(&found, Kind::MpiSerialPhase) && !has(&found, Kind::UnexplainedWait), "{found:#?}");
    // A few waits that are short, too, are not worth a word.
    assert!(!has(&read_by_one(180), Kind::MpiImbalance));
}

/// In rounds of 10 ms rank 0 prepares alone before the others get anything: it is late, again and again.
#[test]
fn parts_too_short_for_a_phase_are_late_messages() {
    let mut run = ranks_with_path(&[400; 2], 400);
    for round in 0..20 {
        let begin = 20 * round;
        run.work(0, "main prepare", (begin, begin + 10)).work(0, "main solve", (begin + 10, begin + 20));
        run.waits((1, 0), "main take", RECEIVE, (begin, begin + 10));
        run.work(1, "main solve", (begin + 10, begin + 20));
    }
    let found = run.found();
    let finding = one(&found, Kind::MpiLateSender);
    near(finding.lost, 0.2);
    assert_eq!((cause(finding), finding.sure), ("prepare", Sure::Likely));
    assert!(finding.high <= finding.on_path.expect("a path"), "{finding:#?}");
    assert!(!has(&found, Kind::MpiSerialPhase), "{found:#?}");
}

#[test]
fn what_the_last_rank_does_before_the_end_of_mpi_is_found() {
    let mut run = ranks_with_path(&[300, 200, 200], 300);
    for rank in 0..3 {
        run.work(rank, "main solve", (0, 200));
    }
    run.work(0, "main write", (200, 300));
    let found = run.found();
    let finding = one(&found, Kind::MpiSerialPhase);
    near(finding.lost, 0.2);
    assert_eq!((cause(finding), &finding.ranks[..], finding.sure), ("write", &[0][..], Sure::Likely));
    assert_eq!((finding.account.as_str(), finding.victims[0].threads), ("runtime", 2));
    // Of code that all execute it is a question of its parts.
    let mut run = ranks_with_path(&[300, 200, 200], 300);
    run.work(0, "main solve", (0, 300)).work(1, "main solve", (0, 200)).work(2, "main solve", (0, 200));
    let found = run.found();
    let finding = one(&found, Kind::MpiImbalance);
    near(finding.lost, 0.2);
    assert_eq!((finding.account.as_str(), finding.sure), ("runtime", Sure::Possible));
}

/// Two ranks work, and each 10 ms one calls so often for 4 ms in all.
fn calling(operation: Operation, calls: u32, is_in_vain: bool) -> Vec<Finding> {
    let mut run = ranks(2, 400);
    for round in 0..40 {
        let at_ms = 10 * round;
        run.work(0, "main solve", (at_ms, at_ms + 10)).work(1, "main solve", (at_ms, at_ms + 6));
        let event = run.during(1, "main solve ask", operation, (at_ms + 6, at_ms + 10));
        (event.calls, event.summed) = (calls, is_in_vain);
    }
    run.found()
}

#[test]
fn communicators_that_are_made_again_and_again() {
    let found = calling(Operation::MPI_Comm_split, 10, false);
    let finding = one(&found, Kind::MpiRepeatedSetup);
    near(finding.lost, 0.16);
    assert_eq!((cause(finding), finding.sure), ("ask", Sure::Possible));
    assert!(!has(&calling(Operation::MPI_Comm_split, 1, false), Kind::MpiRepeatedSetup), "40 of them");
    assert!(!has(&calling(Operation::MPI_Allreduce, 10, false), Kind::MpiRepeatedSetup), "it is used");
}

#[test]
fn polls_that_find_nothing() {
    let found = calling(Operation::MPI_Iprobe, 1000, true);
    let finding = one(&found, Kind::MpiPolls);
    near(finding.lost, 0.16);
    assert_eq!((cause(finding), finding.sure), ("ask", Sure::Possible));
    assert!(!has(&calling(Operation::MPI_Iprobe, 100, true), Kind::MpiPolls), "4000 polls");
}

/// Rank 0 waits for 19 of 20 ms until rank 1 has done its part, and gives it the next one.
#[test]
fn a_rank_that_only_hands_out_work_is_idle() {
    let run = |operation: Operation, works_ms: u64| {
        let mut run = ranks(2, 400);
        for round in 0..20 {
            let (begin, end) = (20 * round, 20 * round + 20);
            run.waits((0, 1), "main hand_out", RECEIVE, (begin, end - works_ms));
            run.work(0, "main hand_out", (end - works_ms, end));
            run.during(0, "main hand_out", operation, (end, end));
            run.work(1, "main fit", (begin, end));
            run.during(1, "main ask", Operation::MPI_Send, (end, end));
        }
        run.found()
    };
    let found = run(Operation::MPI_Send, 1);
    let finding = one(&found, Kind::MpiIdleRank);
    near(finding.lost, 0.38);
    assert_eq!((cause(finding), &finding.ranks[..], finding.sure), ("hand_out", &[0][..], Sure::Possible));
    assert!(!has(&found, Kind::MpiLateSender), "{found:#?}");
    // Who only takes waits for a late sender; who works as well is not idle.
    let found = run(Operation::Write, 1);
    assert!(has(&found, Kind::MpiLateSender) && !has(&found, Kind::MpiIdleRank), "{found:#?}");
    assert!(!has(&run(Operation::MPI_Send, 10), Kind::MpiIdleRank));
}

#[test]
fn many_small_accesses() {
    let found = calling(Operation::MPI_Put, 200, true);
    let finding = one(&found, Kind::MpiSmallAccesses);
    near(finding.lost, 0.16);
    assert_eq!((cause(finding), finding.sure), ("ask", Sure::Possible));
    assert!(!has(&calling(Operation::MPI_Put, 20, true), Kind::MpiSmallAccesses), "800 of them");
    assert!(!has(&calling(Operation::MPI_Win_create, 200, true), Kind::MpiSmallAccesses));
}

#[test]
fn much_data_that_takes_long() {
    let run = |operation: Operation, bytes: u64, end_ms: u64| {
        let mut run = ranks(2, 10 * end_ms);
        for round in 0..end_ms {
            let at_ms = 10 * round;
            run.work(0, "main solve", (at_ms, at_ms + 10)).work(1, "main solve", (at_ms, at_ms + 5));
            run.during(1, "main exchange", operation, (at_ms + 5, at_ms + 10)).bytes = bytes;
        }
        run.found()
    };
    for operation in [Operation::MPI_Allgather, Operation::MPI_Send] {
        let found = run(operation, 1 << 20, 40);
        let finding = one(&found, Kind::MpiMuchData);
        near(finding.lost, 0.2);
        assert_eq!((cause(finding), finding.sure), ("exchange", Sure::Possible));
        assert!(!has(&run(operation, 1 << 12, 40), Kind::MpiMuchData), "small ones");
        assert!(!has(&run(operation, 1 << 20, 5), Kind::MpiMuchData), "a few");
    }
}

/// Who asks until something has come waits for it, and that is no matter of asking.
#[test]
fn polls_until_a_partner_arrives_are_waits() {
    let mut run = ranks(2, 400);
    for round in 0..20 {
        let times = (20 * round, 20 * round + 20);
        run.work(0, "main solve prepare", times);
        run.waits((1, 0), "main solve ask", (Operation::MPI_Iprobe, WaitPattern::LateSender), times);
        let event = run.events.last_mut().unwrap();
        (event.calls, event.summed) = (1000, true);
    }
    let found = run.found();
    assert!(!has(&found, Kind::MpiPolls), "{found:#?}");
}
