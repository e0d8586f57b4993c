//! Random legal programs of MPI, played by the rules of the standard: which receive gets which message is
//! decided by queues of posted receives and of messages that have come, not by counting.

mod play;

use std::collections::{BTreeMap, BTreeSet};

use play::{Played, Step, With, play};
use proptest::prelude::*;
use proust_messages::call::{Act, Call, Collective, Mode, Partner, Received, Slots};
use proust_messages::matched::{Matched, matched_from, matched_with};
use proust_messages::merge::AT_ONCE;
use proust_messages::observer::Message;
use proust_messages::replay::{self, Arrival, Dependency, replay};
use proust_messages::requests::Endpoints;
use proust_messages::run::{Communicator, Membership, Process, Run};
use proust_messages::unmatched::Part;
use proust_messages::waits::{Pattern, Times};
use proust_streams::{Budget, Spool};

fn run_of(played: &Played, shift_ns: &[u64]) -> Run {
    let communicators =
        played.sizes.iter().map(|&size| Communicator { size, second_size: 0, is_known: true });
    let processes = (0..played.calls.len()).map(|process| {
        played.process(process, played.calls[process].len(), shift_ns.get(process).copied().unwrap_or(0))
    });
    Run { processes: processes.collect(), communicators: communicators.collect() }
}

const WILDCARDS: With = With { wildcards: true, failures: false, waits: false };

type Pairs = BTreeSet<((u32, u64), (u32, u64))>;

/// Messages by the begins of the calls that started their ends.
fn pairs(run: Run, shift_ns: &[u64]) -> (Pairs, Matched) {
    let begins: Vec<Vec<u64>> = run
        .processes
        .iter()
        .map(|process| process.calls.iter().map(|call| call.begin_ns).collect())
        .collect();
    let at = |(process, call): (u32, u32)| {
        let shift_ns = shift_ns.get(process as usize).copied().unwrap_or(0);
        (process, begins[process as usize][call as usize] - shift_ns)
    };
    let mut pairs = BTreeSet::new();
    let matched = matched_with(run, |Message { sent, received, .. }: Message| {
        assert!(pairs.insert((at(sent.start), at(received.start))), "a message was matched twice");
    });
    (pairs, matched)
}

fn count(matched: &Matched, part: Part) -> u64 {
    matched.unmatched.iter().filter(|((_, of, _), _)| *of == part).map(|(_, count)| count).sum()
}

fn programs() -> impl Strategy<Value = (usize, Vec<Step>)> {
    (2..5_usize, prop::collection::vec(any::<(u8, u8, u8, u8)>(), 0..400))
}

proptest! {
    /// Each receive has the send that it got, and nothing else is matched.
    #[test]
    fn messages_are_matched_as_they_were_received((processes, steps) in programs()) {
        let played = play(processes, &steps, WILDCARDS);
        let (found, matched) = pairs(run_of(&played, &[]), &[]);
        let truth: Pairs = played.messages.iter().copied().collect();
        prop_assert_eq!(&found, &truth);
        prop_assert_eq!((matched.violations, matched.contradictions), (0, 0));
        prop_assert_eq!(count(&matched, Part::Collective), 0);
        let instances: u64 = matched.gatherings.values().map(|gathering| gathering.instances).sum();
        prop_assert_eq!(instances, played.instances);
        let messages: u64 = matched.traffic.values().map(|traffic| traffic.messages).sum();
        prop_assert_eq!(messages, truth.len() as u64);
        let bytes: u64 = matched.traffic.values().map(|traffic| traffic.bytes).sum();
        prop_assert_eq!(bytes, played.bytes);
        prop_assert_eq!(count(&matched, Part::Send), played.lost);
    }

    /// The clocks of processes decide nothing about that.
    #[test]
    fn clocks_do_not_matter(
        (processes, steps) in programs(),
        shift_ns in prop::collection::vec(0..1000_u64, 5),
    ) {
        let played = play(processes, &steps, WILDCARDS);
        let (found, _) = pairs(run_of(&played, &shift_ns), &shift_ns);
        let truth: Pairs = played.messages.iter().copied().collect();
        prop_assert_eq!(found, truth);
    }

    /// Receives that failed may have taken messages, and exchanges may have sent some. Nothing is made up of
    /// what came after them, by whatever clocks; and all is matched in channels that no such call names.
    #[test]
    fn failed_calls_concern_their_channels_only(
        (processes, steps) in programs(),
        shift_ns in prop::collection::vec(0..1000_u64, 5),
        wildcards in any::<bool>(),
    ) {
        let played = play(processes, &steps, With { wildcards, failures: true, ..With::default() });
        let (found, matched) = pairs(run_of(&played, &shift_ns), &shift_ns);
        let truth: Pairs = played.messages.iter().copied().collect();
        prop_assert!(found.is_subset(&truth), "made up: {:?}", found.difference(&truth));
        prop_assert_eq!(matched.contradictions, 0);
        for (at, message) in played.messages.iter().enumerate() {
            // Named by none: matched. Named by one: not, whatever it did.
            prop_assert_eq!(found.contains(message), !played.is_named(at), "{:?}", message);
        }
    }

    /// What is under way is all that is kept.
    #[test]
    fn little_is_kept((processes, steps) in programs()) {
        let played = play(processes, &steps, WILDCARDS);
        let (_, matched) = pairs(run_of(&played, &[]), &[]);
        let most = played.most_under_way + AT_ONCE * processes;
        prop_assert!(matched.most_under_way <= most, "{} > {most}", matched.most_under_way);
    }

    /// Records that end early, or are missing, lose messages, and make none up.
    #[test]
    fn damage_loses_messages_and_makes_none_up(
        (processes, steps) in programs(),
        kept in prop::collection::vec(0..=100_usize, 5),
        missing in 0..8_usize,
    ) {
        let played = play(processes, &steps, WILDCARDS);
        let mut run = run_of(&played, &[]);
        for (process, percent) in kept.iter().enumerate().take(processes) {
            let calls = played.calls[process].len();
            let cut = played.process(process, calls * percent / 100, 0);
            run.processes[process] = cut;
            run.processes[process].was_cut_off = *percent < 100;
        }
        if missing < processes {
            run.processes[missing] = Default::default();
        }
        let all: Vec<_> = run.processes.iter().flat_map(|process| process.endpoints.clone()).collect();
        let (found, matched) = pairs(run, &[]);
        let truth: Pairs = played.messages.iter().copied().collect();
        prop_assert!(found.is_subset(&truth), "made up: {:?}", found.difference(&truth));
        use proust_messages::endpoint::{End, Kind};
        let of = |is: fn(Kind) -> bool| {
            all.iter().filter(|one| is(one.kind) && one.end != End::Cancelled).count() as u64
        };
        let sends = of(|kind| matches!(kind, Kind::Send(_)));
        let receives = of(|kind| kind == Kind::Receive);
        prop_assert_eq!(found.len() as u64 + count(&matched, Part::Send), sends);
        prop_assert_eq!(found.len() as u64 + count(&matched, Part::Receive), receives);
    }

    /// Without wildcards a prefix of each record has all messages of which both ends are in it.
    #[test]
    fn prefixes_keep_all_of_their_messages(
        (processes, steps) in programs(),
        kept in prop::collection::vec(0..=100_usize, 5),
    ) {
        let played = play(processes, &steps, With::default());
        let mut run = run_of(&played, &[]);
        for (process, percent) in kept.iter().enumerate().take(processes) {
            run.processes[process] = played.process(process, played.calls[process].len() * percent / 100, 0);
        }
        let begun: BTreeSet<(u32, u64)> = (0..).zip(&run.processes)
            .flat_map(|(process, of)| of.calls.iter().map(move |call| (process, call.begin_ns)))
            .collect();
        let (found, _) = pairs(run, &[]);
        let truth: Pairs = played.messages.iter().copied()
            .filter(|(sent, received)| begun.contains(sent) && begun.contains(received))
            .collect();
        prop_assert_eq!(found, truth);
    }

    /// On an ideal network nothing takes longer, and each process computes as long as it did.
    #[test]
    fn an_ideal_network_is_not_slower((processes, steps) in programs()) {
        let played = play(processes, &steps, With { waits: true, ..WILDCARDS });
        let run = run_of(&played, &[]);
        let calls: Vec<_> = run.processes.iter().map(|process| process.calls.clone()).collect();
        let (_, matched) = pairs(run, &[]);
        let expected_ns = one_by_one(&calls, &matched.dependencies);
        let part = |(calls, of): (&Vec<Times>, &Vec<_>)| {
            let steps: Vec<_> = replay::steps(calls, of, 0..calls.len()).collect();
            replay::Part { steps: steps.into_iter(), ..replay::Part::default() }
        };
        let parts = calls.iter().zip(&matched.dependencies).map(part).collect();
        let (replayed, dropped) = replay(parts, &Spool::default());
        prop_assert_eq!(dropped, 0);
        let found_ns: Vec<u64> = replayed.iter().map(|one| one.ideal_ns).collect();
        prop_assert_eq!(found_ns, expected_ns);
        let begins_ns = calls.iter().flat_map(|calls| calls.iter()).map(|call| call.begin_ns);
        let first_ns = begins_ns.min().unwrap_or(0);
        for (calls, replayed) in calls.iter().zip(replayed) {
            let between_ns: u64 =
                calls.windows(2).map(|two| two[1].begin_ns.saturating_sub(two[0].end_ns)).sum();
            prop_assert_eq!(replayed.outside_ns, between_ns);
            let last_ns = calls.last().map_or(first_ns, |call| call.end_ns);
            prop_assert!(replayed.outside_ns <= replayed.ideal_ns && replayed.ideal_ns <= last_ns - first_ns);
        }
    }

    /// No call waits before it began, after it ended, or for itself; and whom it waits for arrived then.
    #[test]
    fn waits_lie_in_their_calls((processes, steps) in programs()) {
        let played = play(processes, &steps, WILDCARDS);
        let run = run_of(&played, &[]);
        let calls: Vec<_> = run.processes.iter().map(|process| process.calls.clone()).collect();
        let (_, matched) = pairs(run, &[]);
        for (process, waits) in matched.waits.iter().enumerate() {
            prop_assert!(waits.is_sorted_by(|(one, _), (next, _)| one < next), "one wait for each call");
            for (call, wait) in waits {
                let call = calls[process][*call as usize];
                prop_assert!(call.begin_ns < wait.until_ns && wait.until_ns <= call.end_ns);
                prop_assert!(wait.misordered_ns <= wait.until_ns - call.begin_ns);
                let late = calls[wait.late.0 as usize][wait.late.1 as usize];
                prop_assert_eq!(late.begin_ns.min(call.end_ns), wait.until_ns);
            }
        }
    }
}

/// When each process reaches its end on an ideal network: what is known of each call is computed again from
/// what is known of the others, until nothing changes.
fn one_by_one(calls: &[Vec<Times>], dependencies: &[Vec<(u32, Dependency)>]) -> Vec<u64> {
    let mut sent: BTreeMap<u64, (usize, u32)> = BTreeMap::new();
    let mut members: BTreeMap<u64, BTreeMap<u32, (usize, u32)>> = BTreeMap::new();
    let mut kinds: BTreeMap<u64, Arrival> = BTreeMap::new();
    let mut roots: BTreeMap<u64, u32> = BTreeMap::new();
    for (process, of) in dependencies.iter().enumerate() {
        for &(call, on) in of {
            match on {
                Dependency::Sends(message) => drop(sent.insert(message, (process, call))),
                Dependency::Arrives(arrival) => {
                    members.entry(arrival.number).or_default().insert(arrival.member, (process, call));
                    kinds.insert(arrival.number, arrival);
                    roots.extend(arrival.is_root.then_some((arrival.number, arrival.member)));
                }
                _ => {}
            }
        }
    }
    let mut begins_ns: Vec<Vec<u64>> = calls.iter().map(|calls| vec![0; calls.len()]).collect();
    loop {
        let (mut ends_ns, before) = (Vec::new(), begins_ns.clone());
        for (process, times) in calls.iter().enumerate() {
            let (mut clock_ns, mut last_ns) = (0, None);
            for (call, one) in times.iter().enumerate() {
                clock_ns += last_ns.map_or(0, |last_ns| one.begin_ns.saturating_sub(last_ns));
                last_ns = last_ns.max(Some(one.end_ns));
                begins_ns[process][call] = clock_ns;
                let begin = |&(process, call): &(usize, u32)| before[process][call as usize];
                for &(_, on) in dependencies[process].iter().filter(|(of, _)| *of as usize == call) {
                    let known_ns = match on {
                        Dependency::Takes(message) => begin(&sent[&message]),
                        Dependency::Meets { number, member } => {
                            let depends = |&(&other, _): &(&u32, _)| match kinds[&number].kind {
                                Collective::OneToAll => Some(other) == roots.get(&number).copied(),
                                Collective::Scan => other < member,
                                _ => true,
                            };
                            members[&number]
                                .iter()
                                .filter(depends)
                                .map(|(_, at)| begin(at))
                                .max()
                                .unwrap_or(0)
                        }
                        Dependency::Sends(_) | Dependency::Arrives(_) => 0,
                    };
                    clock_ns = clock_ns.max(known_ns);
                }
            }
            ends_ns.push(clock_ns);
        }
        if before == begins_ns {
            return ends_ns;
        }
    }
}

/// One rank sends everything before the other one receives anything, or does its part of all collectives.
/// What is under way lies in a file, and is matched as it would be in memory.
#[test]
fn a_rank_that_is_far_ahead_is_matched_from_a_file() {
    const AHEAD: u64 = 50_000;
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::new(folder.path(), Budget::new(0));
    for act in [Act::Send(Mode::Buffered), Act::Collective(Collective::OneToAll)] {
        let process = |rank: u32| {
            let (mut endpoints, mut calls) = (Endpoints::default(), Vec::new());
            for at in 0..AHEAD {
                let begin_ns = 10 * at + 10 * AHEAD * u64::from(rank);
                calls.push(Times { begin_ns, end_ns: begin_ns + 5 });
                let is_collective = matches!(act, Act::Collective(_));
                endpoints.take(&Call {
                    begin_ns,
                    end_ns: begin_ns + 5,
                    act: if rank == 1 && !is_collective { Act::Receive } else { act },
                    operation: 0,
                    site: 0,
                    communicator: 1,
                    partner: Partner::Rank(if is_collective { 0 } else { 1 - rank }),
                    tag: 5,
                    bytes: at,
                    slots: Slots::default(),
                    received: &[],
                });
            }
            let member = Membership { communicator: 0, rank, is_on_second_side: false };
            let communicators = [(1, member)].into_iter().collect();
            Process { endpoints: endpoints.finish().0, calls, communicators, ..Process::default() }
        };
        let communicators = vec![Communicator { size: 2, second_size: 0, is_known: true }];
        let mut run = Run { processes: vec![process(0), process(1)], communicators };
        let expected = matched_with(run.clone(), |_| {});
        let endpoints = run.processes.iter_mut().map(|of| std::mem::take(&mut of.endpoints).into_iter());
        let (mut order, endpoints) = (Vec::new(), endpoints.collect());
        let observer = |message: Message| order.push((message.sent.start.1, message.received.start.1));
        let found = matched_from(&run, endpoints, observer, &spool);
        assert!(order.iter().enumerate().all(|(at, of)| *of == (at as u32, at as u32)), "{act:?}");
        assert_eq!(found.traffic, expected.traffic);
        assert_eq!(found.gatherings, expected.gatherings);
        let in_all = found.traffic.values().map(|of| of.messages).sum::<u64>();
        let instances = found.gatherings.values().map(|of| of.instances).sum::<u64>();
        assert_eq!(in_all + instances, AHEAD);
        assert!(found.unmatched.is_empty() && found.most_under_way as u64 >= AHEAD);
        assert!(!spool.is_damaged());
    }
    // At some bytes each.
    assert!(spool.file_bytes() > 10 * AHEAD, "{} bytes", spool.file_bytes());
}

/// Two ranks send to each other and receive in one call, again and again, from begin to end.
fn exchanges(ranks: [(u32, [(u64, u64); 2]); 2]) -> Matched {
    let process = |(rank, calls): (u32, [(u64, u64); 2])| {
        let partner = Partner::Rank(1 - rank);
        let received = Received { slot: None, source: partner, tag: 5, bytes: 8, cancelled: false };
        let mut endpoints = Endpoints::default();
        for (begin_ns, end_ns) in calls {
            endpoints.take(&Call {
                begin_ns,
                end_ns,
                act: Act::SendReceive,
                operation: 0,
                site: 0,
                communicator: 1,
                partner,
                tag: 5,
                bytes: 8,
                slots: Slots { own: (0, 0), more: &[] },
                received: &[received],
            });
        }
        let member = Membership { communicator: 0, rank, is_on_second_side: false };
        Process {
            endpoints: endpoints.finish().0,
            calls: calls.map(|(begin_ns, end_ns)| Times { begin_ns, end_ns }).into(),
            communicators: [(1, member)].into_iter().collect(),
            ..Process::default()
        }
    };
    let communicators = vec![Communicator { size: 2, second_size: 0, is_known: true }];
    matched_with(Run { processes: ranks.map(process).into(), communicators }, |_| {})
}

/// The late one's call sends and receives: that its message had not been sent is certain, while what was sent
/// to it may have been buffered. Which of the two messages is matched first is no matter: that is decided by
/// the rank that began the first exchange, since several calls of a rank are read at once.
#[test]
fn an_exchange_waits_for_the_late_sender() {
    for (early_first_ns, late_first_ns) in [(1, 2), (2, 1)] {
        let early = (0, [(early_first_ns, 5), (10, 120)]);
        let late = (1, [(late_first_ns, 5), (100, 110)]);
        for (at, ranks) in [(0, [early, late]), (1, [late, early])] {
            let second =
                exchanges(ranks).waits[at].iter().find(|(call, _)| *call == 1).map(|(_, wait)| *wait);
            let found = second.map(|wait| (wait.pattern, wait.until_ns));
            assert_eq!(found, Some((Pattern::LateSender, 100)), "{ranks:?}");
        }
    }
}
