//! Logs of any number of ranks on several hosts, whose messages, collectives, imbalance and skewed clocks
//! have an answer that is known exactly.
//!
//! In each round a rank sends to the next one and receives from the one before it; every eighth round all
//! take part in a reduction. Every fourth rank is late in each round, so that the next one waits for its
//! message, and all others wait for it in the reduction. Each host has a clock that is ahead by another time,
//! and was compared with the first one's at the begin and end of MPI.

use std::path::Path;
use std::{fs, io};

use proust_log::layout::{EXTENSION, FileHeader, LOG_FOLDER};
use proust_log::operations::Operation;
use proust_log::records::{
    CLOCK_AT_END, CLOCK_REFERENCE, COMMUNICATOR_WORLD, ClockOffset, Communicator, Envelope, Event, Subject,
};

use proust_profile::RunFile;
use proust_profile::run_file::{Finished, SCHEMA};

use super::{LaneBuilder, MS, header, log};

const S: u64 = 1_000_000_000;
/// A round, how late the late ranks are in it, and how long a call takes that need not wait, ns.
const ROUND_NS: u64 = 100_000;
pub const LATE_NS: u64 = 30_000;
const CALL_NS: u64 = 1_000;
/// From a rank's send to its receive, and until it arrives at the reduction, ns.
const BETWEEN_NS: u64 = 2_000;
const REDUCTION_NS: u64 = 50_000;
/// Rounds from a reduction to the next.
const TOGETHER: u64 = 8;

/// What is played.
#[derive(Clone, Copy, Debug)]
pub struct Ranks {
    /// A multiple of four.
    pub ranks: u32,
    pub rounds: u64,
    /// Ranks of a host.
    pub of_host: u32,
    /// How much each host's clock is ahead of that of the one before it, ns.
    pub ahead_ns: u64,
}

/// What is known of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub messages: u64,
    pub reductions: u64,
    /// Waits for late senders, and how long each is.
    pub late_senders: u64,
    pub late_sender_ns: u64,
    /// Waits in reductions, each as long as ranks are late.
    pub in_reductions: u64,
}

impl Ranks {
    pub fn answer(&self) -> Answer {
        let reductions = self.rounds.div_ceil(TOGETHER);
        let late = u64::from(self.ranks / 4);
        Answer {
            messages: u64::from(self.ranks) * self.rounds,
            reductions,
            late_senders: late * self.rounds,
            late_sender_ns: LATE_NS - BETWEEN_NS,
            in_reductions: (u64::from(self.ranks) - late) * reductions,
        }
    }

    /// Calls of MPI in all logs.
    pub fn calls(&self) -> u64 {
        u64::from(self.ranks) * (2 + 2 * self.rounds + self.rounds.div_ceil(TOGETHER))
    }

    pub fn is_late(rank: u32) -> bool {
        rank % 4 == 3
    }

    /// How long a rank waits for others, ns.
    pub fn waited_ns(&self, rank: u32) -> u64 {
        if Ranks::is_late(rank) {
            return 0;
        }
        let before_is_late = Ranks::is_late((rank + self.ranks - 1) % self.ranks);
        let for_messages_ns = if before_is_late { self.rounds * (LATE_NS - BETWEEN_NS) } else { 0 };
        for_messages_ns + self.rounds.div_ceil(TOGETHER) * LATE_NS
    }

    /// A rank's time outside of MPI between its begin and end, ns.
    pub fn outside_ns(&self, rank: u32) -> u64 {
        let mut in_mpi_ns = 0;
        self.each_call(rank, |_, (begin_ns, end_ns), _| in_mpi_ns += end_ns - begin_ns);
        self.end_ns() - 2 * S - in_mpi_ns
    }

    fn end_ns(&self) -> u64 {
        3 * S + self.rounds * ROUND_NS
    }

    /// The calls between the begin and the end of MPI by the first host's clock: begin, end, partner.
    fn each_call(&self, rank: u32, mut call: impl FnMut(Operation, (u64, u64), i32)) {
        let late = |rank: u32| if Ranks::is_late(rank) { LATE_NS } else { 0 };
        let (next, before) = ((rank + 1) % self.ranks, (rank + self.ranks - 1) % self.ranks);
        for round in 0..self.rounds {
            let from_ns = 3 * S + round * ROUND_NS;
            let sent_ns = from_ns + late(rank);
            call(Operation::MPI_Send, (sent_ns, sent_ns + CALL_NS), next as i32);
            let begin_ns = sent_ns + BETWEEN_NS;
            let comes_ns = begin_ns.max(from_ns + late(before));
            call(Operation::MPI_Recv, (begin_ns, comes_ns + CALL_NS), before as i32);
            if round % TOGETHER == 0 {
                let arrives_ns = from_ns + REDUCTION_NS + late(rank);
                let last_ns = from_ns + REDUCTION_NS + LATE_NS;
                call(Operation::MPI_Allreduce, (arrives_ns, last_ns + CALL_NS), Envelope::NONE);
            }
        }
    }

    /// Writes a run with the logs of all ranks into a folder. Returns how many bytes of logs.
    pub fn write(&self, dir: &Path) -> io::Result<u64> {
        let logs = dir.join(LOG_FOLDER);
        fs::create_dir_all(&logs)?;
        let mut bytes = 0;
        for rank in 0..self.ranks {
            let log = self.log(rank);
            bytes += log.len() as u64;
            let start_ns = S + u64::from(rank / self.of_host) * self.ahead_ns;
            fs::write(logs.join(format!("{}-{start_ns}.{EXTENSION}", Recorded::pid(rank))), log)?;
        }
        let wall_s = self.end_ns() as f64 / 1e9;
        let finished =
            Finished { wall_s, exit_code: Some(0), logs: Some(self.ranks.into()), ..Finished::default() };
        let run = RunFile {
            schema: SCHEMA,
            command: vec!["./synthetic".into()],
            host: "host0".into(),
            finished: Some(finished),
            ..RunFile::default()
        };
        run.write(dir).map_err(io::Error::other)?;
        Ok(bytes)
    }

    /// The log of a rank.
    pub fn log(&self, rank: u32) -> Vec<u8> {
        let ends_ns = self.end_ns();
        let host = rank / self.of_host;
        let of =
            Recorded { rank, ranks: self.ranks, host, ahead_ns: u64::from(host) * self.ahead_ns, ends_ns };
        let compares = rank.is_multiple_of(self.of_host);
        of.log(compares, self.outside_ns(rank), |call| self.each_call(rank, call))
    }
}

/// Two ranks: the first one sends, the second one receives, and begins after the last message was sent.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    pub messages: u64,
}

impl Ahead {
    /// From one call's begin to the next one's.
    const STEP_NS: u64 = 2 * CALL_NS;

    /// From the begin of each send to the end of its receive, all together.
    pub fn spans_ns(&self) -> u64 {
        self.messages * (self.messages * Ahead::STEP_NS + CALL_NS)
    }

    pub fn log(&self, rank: u32) -> Vec<u8> {
        let half_ns = self.messages * Ahead::STEP_NS;
        let ends_ns = 3 * S + 2 * half_ns;
        let of = Recorded { rank, ranks: 2, host: 0, ahead_ns: 0, ends_ns };
        let (operation, from_ns) =
            if rank == 0 { (Operation::MPI_Send, 0) } else { (Operation::MPI_Recv, half_ns) };
        let calls = |call: &mut dyn FnMut(Operation, (u64, u64), i32)| {
            for number in 0..self.messages {
                let begin_ns = 3 * S + from_ns + number * Ahead::STEP_NS;
                call(operation, (begin_ns, begin_ns + CALL_NS), 1 - rank as i32);
            }
        };
        of.log(rank == 0, ends_ns - 2 * S - self.messages * CALL_NS, calls)
    }
}

/// A rank whose log is written.
struct Recorded {
    rank: u32,
    ranks: u32,
    host: u32,
    /// How much its clock is ahead of the first host's.
    ahead_ns: u64,
    /// When it begins to end MPI, by the first host's clock.
    ends_ns: u64,
}

impl Recorded {
    fn pid(rank: u32) -> u32 {
        9 + rank
    }

    /// `compares`: its clock is compared with the first one's, and the answer is read in the middle of what
    /// that takes.
    fn log(
        &self,
        compares: bool,
        outside_ns: u64,
        calls: impl FnOnce(&mut dyn FnMut(Operation, (u64, u64), i32)),
    ) -> Vec<u8> {
        let Recorded { rank, ranks, host, ahead_ns, ends_ns: end_ns } = *self;
        let at = |time_ns: u64| time_ns + ahead_ns;
        let mut lane = LaneBuilder::new(0);
        lane.module(1, "m", 7, 0x40_0000).node(1, 0, 1, 0x100).node(2, 1, 1, 0x205).node(3, 1, 1, 0x307);
        lane.text(Subject::Host, 0, format!("host{host}"));
        lane.text(Subject::Variable, 0, format!("OMPI_COMM_WORLD_RANK={rank}"));
        lane.text(Subject::Variable, 1, format!("OMPI_COMM_WORLD_SIZE={ranks}"));
        lane.text(Subject::Variable, 2, "PMIX_NAMESPACE=7");
        let pid = Recorded::pid(rank);
        lane.begin(pid, at(S) / MS, 0);
        let world = Communicator { id: 1, number: 1, rank, size: ranks, ..Default::default() };
        lane.push(COMMUNICATOR_WORLD, &world);
        let compare = |lane: &mut LaneBuilder, time_ns: u64, flags: u16| match rank {
            0 => {
                let own = ClockOffset { own_ns: time_ns, reference_ns: time_ns, round_trip_ns: 0 };
                lane.push(flags | CLOCK_REFERENCE, &own);
            }
            _ if compares => {
                let offset = ClockOffset { own_ns: at(time_ns), reference_ns: time_ns, round_trip_ns: 1_000 };
                lane.push(flags, &offset);
            }
            _ => {}
        };
        compare(&mut lane, 2 * S, 0);
        let push = |lane: &mut LaneBuilder, operation: Operation, (begin_ns, end_ns): (u64, u64), partner| {
            let event = Event {
                begin_ns: at(begin_ns),
                end_ns: at(end_ns),
                object: 1,
                object2: Envelope { partner, tag: 3 }.word(),
                bytes: 8,
                node: if operation == Operation::MPI_Allreduce { 3 } else { 2 },
                ..Default::default()
            };
            lane.push_shaped(operation as u16, 0, &event);
        };
        push(&mut lane, Operation::MPI_Init, (S + MS, 2 * S), Envelope::NONE);
        calls(&mut |operation, times, partner| push(&mut lane, operation, times, partner));
        compare(&mut lane, end_ns, CLOCK_AT_END);
        push(&mut lane, Operation::MPI_Finalize, (end_ns, end_ns + MS), Envelope::NONE);
        lane.end(pid, at(end_ns + 2 * MS).div_ceil(MS), outside_ns / MS);
        let start_ns = at(S);
        log(FileHeader { start_ns, end_ns: at(end_ns + 3 * MS), ..header(pid) }, &[lane])
    }
}
