//! Time in calls of MPI: each function's, as the program measures it itself, and on which account it is.

use serde_json::Value;

use crate::chance::assert_close;
use crate::mpi::Mpi;
use crate::pages::{Location, Operations};
use crate::recording::{Recorded, list, number};

fn of_rank(run: &Recorded, rank: u32) -> Location {
    let mut threads = run.threads().locations;
    threads.retain(|one| one.rank == Some(rank.into()) && one.thread == one.process);
    assert_eq!(threads.len(), 1, "{threads:#?}");
    threads.remove(0)
}

fn account_s(location: &Location, name: &str) -> f64 {
    location.accounts.get(name).copied().unwrap_or(0.0)
}

fn waits_are_where_they_were(mpi: Mpi) {
    let Some(run) = mpi.record("timed", &["2"]) else { return };
    let run = run.succeeded();
    let truth: Value = run.truth();
    let (late_s, rounds) = (number(&truth, "/late_s"), number(&truth, "/rounds"));
    let ranks = list(&truth, "/ranks");
    let functions: [&[(&str, u64)]; 2] = [
        &[("MPI_Send", 5), ("MPI_Barrier", 6), ("MPI_Allreduce", 5), ("MPI_Wait", 5), ("MPI_Isend", 10)],
        &[("MPI_Recv", 5), ("MPI_Barrier", 6), ("MPI_Allreduce", 5), ("MPI_Wait", 5), ("MPI_Irecv", 10)],
    ];
    for (rank, functions) in (0_u32..).zip(functions) {
        let own = &ranks[rank as usize];
        let own_s = |name: &str| own[name].as_f64().unwrap_or(0.0);
        let waits: Operations = run.page("waits", &["--where", &format!("rank={rank}")]);
        let mut inside_s = 0.0;
        for &(name, calls) in functions {
            let (found_calls, found_s) = waits.of(name);
            assert_eq!(found_calls, calls, "{name} of rank {rank}");
            if own[name].is_f64() {
                let what = format!("{name} of rank {rank}");
                assert_close(&what, found_s, own_s(name), 0.02 * own_s(name) + 0.01);
                inside_s += own_s(name);
            }
        }
        // Between polls the program computes, if only a test of a flag. How much is estimated from one poll
        // in 64: where others want the processor, some ten turns of theirs decide it.
        let (test_s, polled_s) = (own_s("MPI_Test"), waits.of("MPI_Test").1);
        assert!(polled_s <= 1.02 * test_s + 0.01 && polled_s >= 0.2 * test_s - 0.02, "{polled_s} {test_s}");
        inside_s += test_s;

        let thread = of_rank(&run, rank);
        let account = |name: &str| account_s(&thread, name);
        let others_s = ["preempted", "oversubscribed", "fault"].map(account).iter().sum::<f64>();
        let transfer_s = account("mpi-transfer") + account("mpi-partner");
        // Calls that the program does not time itself: the last one waits for the other rank.
        let untimed_s: f64 =
            ["MPI_Isend", "MPI_Irecv", "MPI_Gather"].map(|name| waits.of(name).1).iter().sum();
        let most_s = 1.05 * inside_s + untimed_s + 0.03;
        assert!(transfer_s <= most_s, "rank {rank}: {transfer_s} of {inside_s}: {thread:#?}");
        assert!(transfer_s + others_s >= 0.6 * inside_s, "rank {rank}: {transfer_s} {inside_s}: {thread:#?}");
        let burned_s = if rank == 0 { 5.0 * rounds * late_s } else { 0.5 * rounds * late_s };
        let computed_s = account("compute");
        assert!(computed_s >= 0.9 * burned_s, "rank {rank}: {computed_s} of {burned_s}: {thread:#?}");
        let most_s = 1.05 * burned_s + 0.8 * test_s + 0.15;
        assert!(computed_s <= most_s, "rank {rank}: {computed_s} of {burned_s}: {thread:#?}");
        // Who is woken and has to wait for a processor is not asleep any more.
        let (slept_s, asked_s) = (thread.passive_s("sleep"), number(&truth, "/asked_s"));
        let most_s = 1.02 * own_s("asleep") + 0.02;
        assert!(slept_s >= 0.98 * asked_s && slept_s <= most_s, "{slept_s} {asked_s} {}", own_s("asleep"));
    }
}

#[test]
fn of_open_mpi_as_the_program_measures_it() {
    waits_are_where_they_were(Mpi::Open);
}

#[test]
fn of_mpich_as_the_program_measures_it() {
    waits_are_where_they_were(Mpi::Mpich);
}
