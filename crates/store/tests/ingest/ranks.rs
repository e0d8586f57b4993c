//! Messages, collectives, waits and imbalance of ranks on several hosts, whose answer is known exactly.

use crate::synthetic::ranks::{Ahead, Answer, LATE_NS, Ranks};
use crate::synthetic::{profile_of, profile_within};
use proust_account::accounted::blame_within;
use proust_account::ledger::{Account, Windows};
use proust_profile::{Budget, ClockBasis, LocationId, Profile, Spool, WaitPattern};

fn profile(of: Ranks) -> Profile {
    let logs: Vec<Vec<u8>> = (0..of.ranks).map(|rank| of.log(rank)).collect();
    profile_of(&logs, None)
}

fn rank(profile: &Profile, location: LocationId) -> u32 {
    profile.processes[profile.locations[location].process].rank.expect("a rank")
}

/// A shift that is no whole number of microseconds is rounded by a nanosecond at most.
const ROUNDED_NS: u64 = 2;

fn assert_known(of: Ranks) {
    let profile = profile(of);
    let quality = profile.quality.messages.as_ref().expect("messages");
    let count = |pattern: WaitPattern| {
        profile.partner_waits.iter().filter(|wait| wait.pattern == pattern).count() as u64
    };
    let reductions = profile.gatherings.iter().map(|row| row.instances).sum();
    let answer = of.answer();
    let found = Answer {
        messages: quality.messages,
        reductions,
        late_senders: count(WaitPattern::LateSender),
        late_sender_ns: answer.late_sender_ns,
        in_reductions: count(WaitPattern::AllToAll),
    };
    assert_eq!(found, answer, "{of:?}");
    assert_eq!(profile.partner_waits.len() as u64, answer.late_senders + answer.in_reductions, "{of:?}");
    assert_eq!((quality.violations, quality.contradictions, profile.unmatched.len()), (0, 0, 0), "{of:?}");
    for wait in &profile.partner_waits {
        let expected_ns =
            if wait.pattern == WaitPattern::LateSender { answer.late_sender_ns } else { LATE_NS };
        assert!(wait.length_ns().abs_diff(expected_ns) <= ROUNDED_NS, "{of:?}: {wait:?}");
        assert!(Ranks::is_late(rank(&profile, wait.late)), "{of:?}: {wait:?}");
        assert!(!Ranks::is_late(rank(&profile, wait.location)), "{of:?}: {wait:?}");
    }
    let hosts = of.ranks.div_ceil(of.of_host);
    let by_messages =
        profile.quality.clocks.iter().filter(|clock| clock.basis == ClockBasis::Messages).count();
    assert_eq!(by_messages as u32, hosts.saturating_sub(1), "{:?}", profile.quality.clocks);

    let ideal = quality.ideal.as_ref().expect("an ideal network");
    assert!(ideal.ideal_ns.is_some_and(|ns| ns <= ideal.time_ns), "{ideal:?}");
    for &(process, ns) in &ideal.outside {
        let rank = profile.processes[process].rank.expect("a rank");
        let calls = of.calls() / u64::from(of.ranks);
        assert!(ns.abs_diff(of.outside_ns(rank)) <= ROUNDED_NS * calls, "{of:?}: rank {rank}, {ns}");
    }

    // What late ranks computed is the cause of all that others waited.
    let (_, blame) = blame_within(&profile, None, &Windows::all()).expect("an account");
    let rows = || blame.rows.iter().filter(|row| row.account == Account::MpiPartner && !row.slots);
    let all_ns: u64 = rows().map(|row| row.ns).sum();
    let of_late = |location: LocationId| Ranks::is_late(rank(&profile, location));
    let named_ns: u64 = rows().filter(|row| of_late(row.cause.location)).map(|row| row.ns).sum();
    assert!(all_ns > 0 && named_ns as f64 >= 0.99 * all_ns as f64, "{of:?}: {named_ns} of {all_ns}");
}

#[test]
fn of_one_host_and_of_several_all_is_known() {
    for (ranks, of_host, ahead_ns) in
        [(4, 4, 0), (8, 2, 7_000_000_000), (12, 5, 123_456_789), (16, 1, 1_000_003), (8, 8, 0)]
    {
        for rounds in [1, 9, 40] {
            assert_known(Ranks { ranks, rounds, of_host, ahead_ns });
        }
    }
}

/// Ten times as many calls of each rank, and then of ten times as many ranks: rows are in proportion.
#[test]
fn what_is_kept_grows_with_calls() {
    let small = Ranks { ranks: 8, rounds: 20, of_host: 8, ahead_ns: 0 };
    for of in [small, Ranks { rounds: 200, ..small }, Ranks { ranks: 80, ..small }] {
        let profile = profile(of);
        assert_eq!(profile.events.len() as u64, of.calls(), "{of:?}");
        // Both ends of each message; the waits are counted above.
        assert_eq!(profile.transfers.len() as u64, 2 * of.answer().messages, "{of:?}");
        // Summed by place, not by call.
        assert!(profile.exchanges.len() <= 8 * of.ranks as usize, "{of:?}: {}", profile.exchanges.len());
    }
}

/// By so many threads, with so many bytes of memory for rows and what is kept of calls; and what was in the
/// spool's file.
fn profile_by(logs: &[Vec<u8>], threads: usize, memory_bytes: u64) -> (Profile, u64) {
    let folder = tempfile::tempdir().unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let spool = Spool::new(folder.path(), Budget::new(memory_bytes));
        let profile = profile_within(logs, None, &spool);
        assert!(!spool.is_damaged());
        (profile, spool.file_bytes())
    })
}

#[test]
fn memory_and_workers_change_nothing() {
    let of = Ranks { ranks: 12, rounds: 300, of_host: 5, ahead_ns: 123_456_789 };
    let logs: Vec<Vec<u8>> = (0..of.ranks).map(|rank| of.log(rank)).collect();
    let (all, in_file) = profile_by(&logs, 1, u64::MAX);
    assert_eq!((in_file, all.events.len() as u64), (0, of.calls()));
    // So many that the array of waits leaves memory.
    assert!(size_of_val(&all.partner_waits[..]) > 1 << 16, "{} waits", all.partner_waits.len());
    let (_, blame) = blame_within(&all, None, &Windows::all()).expect("an account");
    for (threads, memory_bytes) in [(1, 0), (2, 0), (4, 100_000), (2, u64::MAX)] {
        let (profile, in_file) = profile_by(&logs, threads, memory_bytes);
        assert_eq!(in_file > 0, memory_bytes < u64::MAX, "{threads} threads, {memory_bytes} bytes");
        assert!(profile == all, "{threads} threads, {memory_bytes} bytes");
        let (_, again) = blame_within(&profile, None, &Windows::all()).expect("an account");
        assert!(again.rows == blame.rows, "{threads} threads, {memory_bytes} bytes");
    }
}

/// The receiver starts when the sender is done, so that all messages are under way at once.
#[test]
fn a_sender_may_be_a_million_messages_ahead() {
    let of = Ahead { messages: 1_000_000 };
    let logs = [of.log(0), of.log(1)];
    let (all, _) = profile_by(&logs, 2, u64::MAX);
    let quality = all.quality.messages.as_ref().expect("messages");
    assert_eq!((quality.messages, quality.violations, all.unmatched.len()), (of.messages, 0, 0));
    assert_eq!((all.transfers.len() as u64, all.partner_waits.len()), (2 * of.messages, 0));
    // From the begin of each send to the end of its receive.
    let spans_ns: f64 = all.exchanges.iter().map(|row| row.spans_ns).sum();
    assert!((spans_ns - of.spans_ns() as f64).abs() <= 1e-9 * spans_ns, "{spans_ns}");
    let (within, in_file) = profile_by(&logs, 2, 1_000_000);
    assert!(in_file > 1_000_000, "{in_file}");
    assert!(within == all);
}
