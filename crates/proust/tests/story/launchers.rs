//! Ranks are known from what a launcher puts into the environment.

use crate::chance::assert_close;
use crate::command::{proust, run};
use crate::pages::Flat;
use crate::programs::built;
use crate::recording::{empty_folder, list, record, report};

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

/// Two ranks, each bound to a processor of its own and recorded by itself, as most launchers do: together
/// they have two processors, nobody is in anybody's way, and the run is not said to want more processors than
/// there are.
#[test]
fn ranks_that_are_bound_apart_have_all_their_processors() {
    let Some(program) = built("endings") else { return };
    let (folder, processors) = (empty_folder(), usable());
    let [first, second] = processors[..] else {
        println!("SKIP: two processors are needed");
        return;
    };
    let dir = folder.path().join("run");
    let (proust_path, program, dir_path) = (proust(), program.display(), dir.display());
    let recorder = proust_path.get_program().to_string_lossy();
    let rank = |number: u32, processor: usize| {
        format!(
            "OMPI_COMM_WORLD_RANK={number} OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE=job@1 taskset -c \
             {processor} '{recorder}' record -o '{dir_path}' -- '{program}' 0.8 return >/dev/null"
        )
    };
    let command = format!("{} & {} & wait", rank(0, first), rank(1, second));
    assert!(run(std::process::Command::new("sh").args(["-c", &command])).status.success());
    let summary: crate::pages::Summary =
        serde_json::from_str(&report(&dir, "summary", &["--format", "json"]).printed()).unwrap();
    assert_eq!((summary.run.ranks, summary.run.available_processors), (2, 2.0), "{summary:#?}");
    assert_eq!(summary.run.processors, 2.0, "{summary:#?}");
    assert!(summary.ledger.account_s("oversubscribed") < 0.02 * summary.ledger.total_s, "{summary:#?}");
    let text = report(&dir, "summary", &[] as &[&str]).printed();
    assert!(!text.contains("more threads than processors"), "{text}");
}

/// Two of the processors that this process may use.
fn usable() -> Vec<usize> {
    // SAFETY: all-zero is a valid set of processors, which is as long as is said.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of_val(&set), &mut set);
        (0..libc::CPU_SETSIZE as usize).filter(|&n| libc::CPU_ISSET(n, &set)).take(2).collect()
    }
}

/// Two jobs after one another in one command: each has a rank 0 and a rank 1, and they are four owners of
/// slots.
#[test]
fn ranks_of_two_jobs_are_not_the_same() {
    let Some(program) = built("endings") else { return };
    let program = program.display();
    let job = |name: &str| {
        format!(
            "for n in 0 1; do OMPI_COMM_WORLD_RANK=$n OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE={name} \
             '{program}' 0.3 return >/dev/null & done; wait; "
        )
    };
    let run = record("sh", &["-c", &(job("a@1") + &job("b@2"))]).succeeded();
    let page = run.page::<serde_json::Value>("ledger", &[]);
    let owners = list(&page, "/owners");
    assert_eq!(owners.len(), 4, "{page:#}");
}
