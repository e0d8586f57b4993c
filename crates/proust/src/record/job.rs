//! Which job a process belongs to, from its launcher's variables.
//!
//! `mpirun -n 4 proust record -o run -- ./a.out` starts four recorders with one folder: they have the same
//! key and share the run. A folder with another key is another run and is refused, and so is one that is
//! older than the job's launcher.

use std::env;

use super::launcher::{self, Launcher};

/// Variables that give each rank its number, and those that name its job, by launcher.
const LAUNCHERS: [(&str, &[&str]); 5] = [
    ("OMPI_COMM_WORLD_RANK", &["PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"]),
    ("PMIX_RANK", &["PMIX_NAMESPACE"]),
    ("MV2_COMM_WORLD_RANK", &["PMI_JOBID", "PMI_ID", "SLURM_JOB_ID"]),
    ("PMI_RANK", &["PMI_JOBID", "HYDI_CONTROL_FD", "PMI_PORT", "SLURM_JOB_ID"]),
    ("SLURM_PROCID", &["SLURM_JOB_ID"]),
];

/// The identity of the job this process is a rank of; None outside of a launcher.
pub fn key() -> Option<String> {
    key_from(|name| env::var(name).ok())
}

/// The process that launched this rank; None outside of a launcher, and where that is not known.
pub fn launcher() -> Option<Launcher> {
    let (rank, _) = launcher_from(|name| env::var(name).ok())?;
    launcher::of_rank(rank)
}

fn launcher_from(
    variable: impl Fn(&str) -> Option<String>,
) -> Option<&'static (&'static str, &'static [&'static str])> {
    LAUNCHERS.iter().find(|(rank, _)| match *rank {
        // A batch script and an interactive shell have a number, too, and what they start inherits it.
        "SLURM_PROCID" => {
            let tasks = variable("SLURM_STEP_NUM_TASKS").and_then(|tasks| tasks.parse::<u32>().ok());
            variable(rank).is_some() && tasks.is_some_and(|tasks| tasks > 1)
        }
        rank => variable(rank).is_some(),
    })
}

fn key_from(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let (rank, names) = launcher_from(&variable)?;
    let job = names.iter().find_map(|name| variable(name).map(|value| format!("{name}={value}")));
    let step = variable("SLURM_STEP_ID").map(|step| format!(" step {step}")).unwrap_or_default();
    // A launcher that names no job: its process is the parent of all ranks on a host.
    let job = job.unwrap_or_else(|| format!("launcher {}", std::os::unix::process::parent_id()));
    Some(format!("{rank}: {job}{step}"))
}

#[cfg(test)]
mod tests {
    use super::key_from;

    fn key(variables: &[(&str, &str)]) -> Option<String> {
        key_from(|name| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
    }

    #[test]
    fn ranks_of_one_job_share_a_key_and_other_jobs_do_not() {
        assert_eq!(key(&[("PATH", "/bin")]), None);
        let first = key(&[("OMPI_COMM_WORLD_RANK", "0"), ("PMIX_NAMESPACE", "77@1")]);
        assert_eq!(first, key(&[("OMPI_COMM_WORLD_RANK", "3"), ("PMIX_NAMESPACE", "77@1")]));
        assert_ne!(first, key(&[("OMPI_COMM_WORLD_RANK", "0"), ("PMIX_NAMESPACE", "78@1")]));
        let tasks = ("SLURM_STEP_NUM_TASKS", "4");
        let step = |n| key(&[("SLURM_PROCID", "0"), ("SLURM_JOB_ID", "9"), ("SLURM_STEP_ID", n), tasks]);
        assert!(step("0").is_some());
        assert_ne!(step("0"), step("1"));
    }

    #[test]
    fn what_a_batch_script_starts_is_no_rank() {
        let batch = [("SLURM_PROCID", "0"), ("SLURM_JOB_ID", "9"), ("SLURM_NTASKS", "4")];
        assert_eq!(key(&batch), None);
        let shell = [batch[0], batch[1], ("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "1")];
        assert_eq!(key(&shell), None);
        // Nor does that hide the launcher that the script calls.
        let rank = [batch[0], batch[1], ("PMI_RANK", "1"), ("PMI_JOBID", "a")];
        assert_eq!(key(&rank).as_deref(), Some("PMI_RANK: PMI_JOBID=a"));
    }
}
