//! What a launcher says of a job's ranks, in the environment of each.

use core::ffi::CStr;

use crate::path::maps;

/// Variables that have the number of ranks on the rank's own host: of Open MPI, of hydra (MPICH, Intel MPI),
/// of PALS.
const HERE: [&str; 3] = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE"];

/// How many ranks of its job this process's host has, at most; None of a process that no launcher has started
/// as a rank. `value` finds a variable.
pub fn ranks_here<'t>(value: impl Fn(&str) -> Option<&'t CStr>) -> Option<u32> {
    let number = |text: &[u8]| maps::number(text, 10).and_then(|number| u32::try_from(number).ok());
    let stated = HERE.iter().find_map(|name| number(value(name)?.to_bytes()));
    let ranks = stated.or_else(|| {
        // Slurm has the tasks of each of the step's hosts, as in "4(x2),3", and says not which is this one.
        value("SLURM_PROCID")?;
        let hosts = value("SLURM_STEP_TASKS_PER_NODE")?.to_bytes().split(|&byte| byte == b',');
        hosts.filter_map(|host| number(host.split(|&byte| byte == b'(').next()?)).max()
    });
    ranks.filter(|&ranks| ranks != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &'static CStr)]) -> Option<u32> {
        ranks_here(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| *value))
    }

    #[test]
    fn each_launcher_says_how_many_ranks_a_host_has() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("OMPI_COMM_WORLD_LOCAL_SIZE", c"3"), ("OMPI_COMM_WORLD_SIZE", c"12")]), Some(3));
        assert_eq!(of(&[("MPI_LOCALNRANKS", c"2")]), Some(2));
        assert_eq!(of(&[("MPI_LOCALNRANKS", c"0")]), None);
        assert_eq!(of(&[("MPI_LOCALNRANKS", c"many")]), None);
        let slurm = ("SLURM_PROCID", c"7");
        assert_eq!(of(&[slurm, ("SLURM_STEP_TASKS_PER_NODE", c"4(x2),3")]), Some(4));
        assert_eq!(of(&[slurm, ("SLURM_STEP_TASKS_PER_NODE", c"3,12,4(x2)")]), Some(12));
        assert_eq!(of(&[slurm, ("SLURM_STEP_TASKS_PER_NODE", c"")]), None);
        assert_eq!(of(&[("SLURM_STEP_TASKS_PER_NODE", c"4")]), None);
    }
}
