//! Clocks of several hosts that differ by an offset and in speed: messages between them are where they were.

use crate::synthetic::{LaneBuilder, MS, header, log, noted, profile_of};
use proust_log::layout::FileHeader;
use proust_log::operations::Operation;
use proust_log::records::{
    CLOCK_AT_END, CLOCK_REFERENCE, COMMUNICATOR_WORLD, ClockOffset, Communicator, Envelope, Event, Subject,
};
use proust_profile::{ClockBasis, HostClock, Profile, WaitPattern};

const S: u64 = 1_000_000_000;
/// Rounds, a second each, after the begin of MPI.
const ROUNDS: u64 = 20;
/// How long the receiver waits in each, and how long a message travels.
const WAIT_NS: u64 = 300_000;
const LATENCY_NS: u64 = 5_000;

/// A host's clock: how far it is ahead of the first one's, and how much faster it is.
#[derive(Clone, Copy)]
struct Clock {
    ahead_ns: i64,
    drift: f64,
    /// How far its clock of day is off.
    day_off_ns: i64,
}

impl Clock {
    /// What it shows at a time of the first one.
    fn shows(self, time_ns: u64) -> u64 {
        let drifted = ((time_ns as f64 - S as f64) * self.drift).round() as i64;
        time_ns.checked_add_signed(self.ahead_ns + drifted).unwrap()
    }
}

/// In each round each rank sends to the other one in turn, which waits for it. `round_trips_ns`: how long
/// comparing took at both ends; the answer was read at its begin, which is the worst case.
fn rank(rank: u64, clock: Clock, round_trips_ns: Option<[u64; 2]>) -> Vec<u8> {
    let at = |time_ns: u64| clock.shows(time_ns);
    let mut lane = LaneBuilder::new(0);
    lane.module(1, "m", 7, 0x40_0000).node(1, 0, 1, 0x100);
    lane.text(Subject::Host, 0, if rank == 0 { "near" } else { "far" });
    lane.text(Subject::Variable, 0, format!("OMPI_COMM_WORLD_RANK={rank}"));
    lane.text(Subject::Variable, 1, "OMPI_COMM_WORLD_SIZE=2");
    lane.text(Subject::Variable, 2, "PMIX_NAMESPACE=7");
    lane.begin(9, at(S) / MS, 0);
    let world = Communicator { id: 1, number: 1, rank: rank as u32, size: 2, ..Default::default() };
    lane.push(COMMUNICATOR_WORLD, &world);
    let event = |operation: Operation, (begin_ns, end_ns): (u64, u64), partner: i32| {
        let event = Event {
            begin_ns: at(begin_ns),
            end_ns: at(end_ns),
            object: 1,
            object2: Envelope { partner, tag: 3 }.word(),
            bytes: 8,
            node: 1,
            ..Default::default()
        };
        (operation as u16, event)
    };
    let compare = |lane: &mut LaneBuilder, time_ns: u64, flags: u16| {
        let Some(round_trips_ns) = round_trips_ns else { return };
        let round_trip_ns = round_trips_ns[usize::from(flags & CLOCK_AT_END)];
        let offset = match rank {
            0 => ClockOffset { own_ns: time_ns, reference_ns: time_ns, round_trip_ns: 0 },
            _ => {
                ClockOffset { own_ns: at(time_ns), reference_ns: time_ns + round_trip_ns / 2, round_trip_ns }
            }
        };
        lane.push(if rank == 0 { flags | CLOCK_REFERENCE } else { flags }, &offset);
    };
    compare(&mut lane, 2 * S, 0);
    let (number, init) = event(Operation::MPI_Init, (S + MS, 2 * S), Envelope::NONE);
    lane.push_shaped(number, 0, &init);
    for round in 0..ROUNDS {
        let from_ns = (3 + round) * S;
        let partner = 1 - rank as i32;
        let (number, call) = if round % 2 == rank {
            let begin_ns = from_ns + WAIT_NS;
            event(Operation::MPI_Send, (begin_ns, begin_ns + 1000), partner)
        } else {
            event(Operation::MPI_Recv, (from_ns, from_ns + WAIT_NS + LATENCY_NS), partner)
        };
        lane.push_shaped(number, 0, &call);
    }
    let end_ns = (4 + ROUNDS) * S;
    compare(&mut lane, end_ns, CLOCK_AT_END);
    let (number, finalize) = event(Operation::MPI_Finalize, (end_ns, end_ns + MS), Envelope::NONE);
    lane.push_shaped(number, 0, &finalize);
    lane.end(9, at(end_ns + 2 * MS) / MS + 1, 10);
    let start_ns = at(S);
    let day_ns = header(0).start_unix_ns.checked_add_signed(clock.day_off_ns).unwrap();
    let header = FileHeader {
        start_ns,
        start_unix_ns: day_ns,
        end_ns: at(end_ns + 3 * MS),
        ..header(9 + rank as u32)
    };
    log(header, &[lane])
}

fn run(clock: Clock, round_trips_ns: Option<[u64; 2]>) -> Profile {
    let near = Clock { ahead_ns: 0, drift: 0.0, day_off_ns: 0 };
    let logs = [rank(0, near, round_trips_ns), rank(1, clock, round_trips_ns)];
    let profile = profile_of(&logs, None);
    assert_eq!(profile.quality.messages.as_ref().unwrap().messages, ROUNDS);
    profile
}

/// The largest error of a wait, ns; each round has one.
fn assert_waits(profile: &Profile, most_ns: u64) {
    let waits = &profile.partner_waits;
    assert_eq!(waits.len() as u64, ROUNDS, "{waits:?}");
    for wait in waits {
        assert_eq!(wait.pattern, WaitPattern::LateSender);
        assert!(wait.length_ns().abs_diff(WAIT_NS) <= most_ns, "{} ns", wait.length_ns());
    }
    let quality = profile.quality.messages.as_ref().unwrap();
    assert_eq!(quality.violations, 0, "{quality:?}");
}

fn clock_of<'p>(profile: &'p Profile, host: &str) -> &'p HostClock {
    profile.quality.clocks.iter().find(|clock| clock.host == host).expect("a clock")
}

const OFFSETS: [i64; 3] = [-700_000_000, 0, 123_456_789_012_345];

#[test]
fn offset_and_drift_are_corrected() {
    for ahead_ns in OFFSETS {
        for drift in [-60e-6, 0.0, 40e-6] {
            let clock = Clock { ahead_ns, drift, day_off_ns: 3 * MS as i64 };
            let profile = run(clock, Some([2_000, 3_000]));
            // Each comparison is off by half of its round trip.
            assert_waits(&profile, 1_600);
            let (near, far) = (clock_of(&profile, "near"), clock_of(&profile, "far"));
            assert_eq!((near.basis, far.basis), (ClockBasis::Reference, ClockBasis::Messages));
            assert!(far.error_ns.is_some_and(|error_ns| error_ns <= 1_500), "{far:?}");
            // The other clock is faster, so less and less is added.
            let off_ppb = far.drift_ppb + (drift * 1e9) as i64;
            assert!(off_ppb.abs() <= 100, "{far:?}");
            assert!(noted(&profile, &["several-hosts", "\"compared\":1"]));
        }
    }
}

#[test]
fn a_slow_comparison_at_the_end_does_not_bend_the_clock() {
    // 8 ms in 22 s would be 180 ppm; so little that only its error tells: both admit that there is no drift.
    let clock = Clock { ahead_ns: 5_000_000, drift: 0.0, day_off_ns: 0 };
    let profile = run(clock, Some([2_000, 8_000_000]));
    assert_waits(&profile, 2_100);
    assert_eq!(clock_of(&profile, "far").drift_ppb, 0);
}

#[test]
fn clocks_that_were_not_compared_are_as_good_as_the_clock_of_day() {
    let clock = Clock { ahead_ns: 77, drift: 0.0, day_off_ns: 0 };
    assert_waits(&run(clock, None), 100);
    // Behind by more than the messages travel: every second one is received before it is sent.
    let off = run(Clock { day_off_ns: -2_000_000, ..clock }, None);
    let quality = off.quality.messages.as_ref().unwrap();
    assert_eq!(quality.violations, ROUNDS / 2, "{quality:?}");
    assert_eq!(quality.largest_violation_ns, 2_000_000 - LATENCY_NS);
    assert_eq!(clock_of(&off, "far").basis, ClockBasis::ClockOfDay);
    assert!(noted(&off, &["several-hosts", "\"compared\":0"]));
}
