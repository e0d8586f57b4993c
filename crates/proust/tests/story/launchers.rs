//! Ranks are known from what a launcher puts into the environment.

use crate::chance::assert_close;
use crate::pages::Flat;
use crate::programs::built;
use crate::recording::record;

fn assert_ranks(rank: &str, size: &str) {
    let Some(program) = built("endings") else { return };
    let program = program.display();
    // Stands for mpirun: starts both ranks at once and waits for them.
    let command = format!(
        "for n in 0 1; do {rank}=$n {size}=2 '{program}' 0.$((n + 3)) return >/dev/null & done; wait"
    );
    let run = record("sh", &["-c", &command]).succeeded();
    assert_eq!(run.summary().run.ranks, 2);
    let threads = run.threads();
    for (number, burned) in [(0, 0.3), (1, 0.4)] {
        let found: f64 =
            threads.locations.iter().filter(|one| one.rank == Some(number)).map(|one| one.cpu_s).sum();
        assert_close(&format!("{rank}={number}"), found, burned, 0.02 * burned + 0.02);
        let flat: Flat = run.page("flat", &["--where", &format!("rank={number}")]);
        assert_close("the rank alone", flat.total("cpu_s"), found, 1e-4);
    }
}

#[test]
fn open_mpi() {
    assert_ranks("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
}

#[test]
fn mpich_and_its_relatives() {
    assert_ranks("PMI_RANK", "PMI_SIZE");
}

#[test]
fn slurm() {
    assert_ranks("SLURM_PROCID", "SLURM_NTASKS");
}
