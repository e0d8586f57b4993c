//! How many messages a second are matched, wait states included: `speed [RANKS] [MESSAGES_EACH]`.
//!
//! The calls are those of a ring: each rank sends to the next one and receives from the one before it, and
//! every 16 rounds all of them take part in a collective. Of each pair of ranks one is late. The answer is
//! known, and compared: how many messages there are, and how long all waited.

use std::time::Instant;

use proust_messages::call::{Act, Call, Collective, Mode, Partner, Slots};
use proust_messages::matched::matched;
use proust_messages::requests::Endpoints;
use proust_messages::run::{Communicator, Membership, Process, Run};
use proust_messages::waits::Times;

/// Rounds between two collectives.
const TOGETHER: u64 = 16;
/// How long a round takes, and by how much odd ranks are late, ns.
const ROUND_NS: u64 = 10_000;
const LATE_NS: u64 = 1_000;

fn process(rank: u32, ranks: u32, rounds: u64) -> Process {
    let (mut endpoints, mut calls) = (Endpoints::default(), Vec::new());
    let mut call = |act: Act, partner: Partner, begin_ns: u64, end_ns: u64| {
        calls.push(Times { begin_ns, end_ns });
        endpoints.take(&Call {
            begin_ns,
            end_ns,
            act,
            operation: 0,
            communicator: 1,
            partner,
            tag: 7,
            bytes: 64,
            slots: Slots::default(),
            received: &[],
        });
    };
    let late_ns = LATE_NS * u64::from(rank % 2);
    let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    for round in 0..rounds {
        let begin_ns = ROUND_NS * round;
        let sent_ns = begin_ns + late_ns;
        call(Act::Send(Mode::Buffered), Partner::Rank(next), sent_ns, sent_ns + 100);
        call(Act::Receive, Partner::Rank(before), sent_ns + 200, begin_ns + LATE_NS + 300);
        if round % TOGETHER == 0 {
            let arrives_ns = begin_ns + 4000 + late_ns;
            let act = Act::Collective(Collective::AllToAll);
            call(act, Partner::None, arrives_ns, begin_ns + 4000 + LATE_NS + 100);
        }
    }
    let membership = Membership { communicator: 0, rank, is_on_second_side: false };
    Process {
        endpoints: endpoints.finish().0,
        calls,
        communicators: [(1, membership)].into_iter().collect(),
        ..Process::default()
    }
}

fn main() {
    let argument = |at: usize, otherwise: u64| {
        std::env::args().nth(at).and_then(|word| word.parse().ok()).unwrap_or(otherwise)
    };
    let (ranks, rounds) = (argument(1, 64) / 2 * 2, argument(2, 20_000));
    let communicator = Communicator { size: ranks as u32, second_size: 0, is_known: true };
    let processes = (0..ranks as u32).map(|rank| process(rank, ranks as u32, rounds)).collect();
    let run = Run { processes, communicators: vec![communicator] };
    let calls: Vec<Vec<Times>> = run.processes.iter().map(|process| process.calls.clone()).collect();

    let begin = Instant::now();
    let mut found = matched(run);
    let matched_s = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let all: Vec<_> = calls.iter().map(|calls| (&calls[..], 0..calls.len())).collect();
    let (_, dropped) = std::mem::take(&mut found.dependencies).replay(&all);
    let replayed_s = begin.elapsed().as_secs_f64();

    let messages: u64 = found.traffic.values().map(|traffic| traffic.messages).sum();
    assert_eq!((messages, dropped), (ranks * rounds, 0));
    let waited = found.waits.iter().zip(&calls).flat_map(|(waits, calls)| {
        let length_ns = |(wait, call): (&Option<_>, &Times)| match wait {
            Some(proust_messages::matched::Wait { until_ns, .. }) => until_ns - call.begin_ns,
            None => 0,
        };
        waits.iter().zip(calls).map(length_ns)
    });
    // Even ranks wait for odd ones: for their message, and where all come together.
    let expected_ns = ranks / 2 * (rounds * (LATE_NS - 200) + rounds.div_ceil(TOGETHER) * LATE_NS);
    assert_eq!(waited.sum::<u64>(), expected_ns);
    println!(
        "{messages} messages of {ranks} ranks: matched {:.2} M/s, with the replay {:.2} M/s",
        messages as f64 / matched_s / 1e6,
        messages as f64 / (matched_s + replayed_s) / 1e6
    );
}
