//! The MPI world rank of a process, from its launcher's environment variables.

/// A launcher's variables: the rank, and the number of ranks without which the rank is not believed.
const LAUNCHERS: [(&str, &[&str]); 4] = [
    ("OMPI_COMM_WORLD_RANK", &["OMPI_COMM_WORLD_SIZE"]),
    // PMIx has no variable for the size; Open MPI's stands beside it.
    ("PMIX_RANK", &[]),
    ("PMI_RANK", &["PMI_SIZE"]),
    ("MV2_COMM_WORLD_RANK", &["MV2_COMM_WORLD_SIZE"]),
];

/// The rank that `variables` (`NAME=value`) name, or None outside a parallel job.
///
/// A rank's child processes inherit its variables, and so its rank.
pub(super) fn rank_of(variables: &[String]) -> Option<u32> {
    let value = |name: &str| {
        variables.iter().find_map(|v| v.split_once('=').filter(|(n, _)| *n == name).map(|(_, value)| value))
    };
    let number = |name: &str| value(name)?.parse::<u32>().ok();
    for (rank, sizes) in LAUNCHERS {
        let sized = sizes.iter().all(|size| number(size).is_some_and(|size| size > 0));
        if let Some(rank) = number(rank).filter(|_| sized) {
            return Some(rank);
        }
    }
    // Slurm sets these for every batch script, too: a rank has others beside it, or was started as a step.
    let tasks = number("SLURM_STEP_NUM_TASKS").or_else(|| number("SLURM_NTASKS")).unwrap_or(0);
    let step = variables.iter().any(|v| v.starts_with("SLURM_STEP"));
    number("SLURM_PROCID").filter(|_| tasks > 1 || (tasks > 0 && step))
}

#[cfg(test)]
mod tests {
    use super::rank_of;

    #[test]
    fn ranks_are_believed_only_inside_a_job() {
        for (variables, rank) in [
            (&[][..], None),
            (&["OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4"], Some(3)),
            (&["OMPI_COMM_WORLD_RANK=3"], None),
            (&["OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=0"], None),
            (&["PMIX_RANK=0"], Some(0)),
            (&["PMIX_RANK=4294967295x"], None),
            (&["PMI_RANK=7", "PMI_SIZE=8"], Some(7)),
            (&["PMI_SIZE=8"], None),
            (&["MV2_COMM_WORLD_SIZE=2", "MV2_COMM_WORLD_RANK=1"], Some(1)),
            (&["SLURM_PROCID=0", "SLURM_NTASKS=1"], None),
            (&["SLURM_PROCID=5", "SLURM_NTASKS=8"], Some(5)),
            (&["SLURM_PROCID=0", "SLURM_NTASKS=1", "SLURM_STEP_ID=0"], Some(0)),
            (&["SLURM_PROCID=0", "SLURM_STEP_ID=0"], None),
        ] {
            let variables: Vec<String> = variables.iter().map(|v| (*v).into()).collect();
            assert_eq!(rank_of(&variables), rank, "{variables:?}");
        }
    }
}
