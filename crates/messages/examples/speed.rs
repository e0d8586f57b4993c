//! How many messages a second are matched, wait states included: `speed [RANKS] [MESSAGES_EACH]`.
//!
//! The calls are those of a ring: each rank sends to the next one and receives from the one before it, and
//! every 16 rounds all of them take part in a collective. Of each pair of ranks one is late. The answer is
//! known, and compared: how many messages there are, and how long all waited. Prints messages a second of
//! wall time, and of the processor's, which others on a busy machine do not take from it.

use std::fs;
use std::time::Instant;

use proust_messages::call::{Act, Call, Collective, Mode, Partner, Slots};
use proust_messages::matched::matched;
use proust_messages::replay::{Part, replay, steps};
use proust_messages::requests::Endpoints;
use proust_messages::run::{Communicator, Membership, Process, Run};
use proust_messages::waits::Times;
use proust_streams::Spool;

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
            site: 0,
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

/// How long this thread was on a processor, s.
fn processor_s() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|word| word.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
}

/// Wall and processor time of some work, s.
fn timed<R>(work: impl FnOnce() -> R) -> (R, [f64; 2]) {
    let (begin, processor) = (Instant::now(), processor_s());
    let result = work();
    (result, [begin.elapsed().as_secs_f64(), processor_s() - processor])
}

fn main() {
    let argument = |at: usize, otherwise: u64| {
        std::env::args().nth(at).and_then(|word| word.parse().ok()).unwrap_or(otherwise)
    };
    let (ranks, rounds) = (argument(1, 64) / 2 * 2, argument(2, 20_000));
    let communicator = Communicator { size: ranks as u32, second_size: 0, is_known: true };
    let processes = (0..ranks as u32).map(|rank| process(rank, ranks as u32, rounds)).collect();
    let run = Run { processes, communicators: vec![communicator] };
    let calls: Vec<_> = run.processes.iter().map(|process| process.calls.clone()).collect();

    let (found, matched_s) = timed(|| matched(run));
    let ((_, dropped), replayed_s) = timed(|| {
        let all = calls.iter().zip(&found.dependencies);
        let mut parts = Vec::new();
        for (calls, of) in all {
            let steps = steps(calls, of, 0..calls.len());
            parts.push(Part { before_ns: None, after_ns: None, steps });
        }
        replay(parts, &Spool::default())
    });

    let messages: u64 = found.traffic.values().map(|traffic| traffic.messages).sum();
    assert_eq!((messages, dropped), (ranks * rounds, 0));
    let waited = found.waits.iter().zip(&calls).flat_map(|(waits, calls)| {
        waits.iter().map(|(call, wait)| wait.until_ns - calls[*call as usize].begin_ns)
    });
    // Even ranks wait for odd ones: for their message, and where all come together.
    let expected_ns = ranks / 2 * (rounds * (LATE_NS - 200) + rounds.div_ceil(TOGETHER) * LATE_NS);
    assert_eq!(waited.sum::<u64>(), expected_ns);
    let rate = |s: f64| messages as f64 / s / 1e6;
    println!(
        "{messages} messages of {ranks} ranks: matched {:.2} M/s ({:.2} by processor time), with the replay \
         {:.2} M/s ({:.2}); most under way {}",
        rate(matched_s[0]),
        rate(matched_s[1]),
        rate(matched_s[0] + replayed_s[0]),
        rate(matched_s[1] + replayed_s[1]),
        found.most_under_way,
    );
}
