//! Who started this process, as its environment tells: `mpirun`, `mpiexec`, `srun`, or nobody in particular.

/// One of several processes that a launcher started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// What started it.
    pub launcher: Launcher,
    /// Number of this process among all, from 0.
    pub number: u32,
    /// How many there are.
    pub processes: u32,
}

/// Programs that start many processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// `mpirun` of Open MPI.
    OpenMpi,
    /// `mpiexec` of MPICH and its relatives (Hydra: Intel MPI, MVAPICH; Cray's).
    Mpich,
    /// `srun`, with what it offers for MPI.
    Slurm(Pmi),
}

/// How `srun` lets an MPI library find the other processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pmi {
    /// `--mpi=none`, or a plugin we don't know.
    None,
    /// `--mpi=pmix`: Open MPI.
    Pmix,
    /// `--mpi=pmi2`: MPICH.
    Pmi2,
}

impl Launch {
    /// What `lookup` (the environment) tells. A process that is alone is not launched in this sense.
    pub fn find(lookup: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| lookup(name)?.trim().parse::<u32>().ok();
        let pair = |rank: &str, size: &str| number(rank).zip(number(size));
        let in_step = || pair("SLURM_PROCID", "SLURM_STEP_NUM_TASKS");
        let (launcher, (number, processes)) = pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
            .map(|found| (Launcher::OpenMpi, found))
            .or_else(|| {
                let pmi = match () {
                    () if lookup("PMIX_RANK").is_some() => Pmi::Pmix,
                    () if lookup("PMI_RANK").is_some() => Pmi::Pmi2,
                    () => Pmi::None,
                };
                // Hydra's processes, too, may run inside of a step: theirs is not srun's number of tasks.
                let of_srun =
                    lookup("PMI_RANK").is_none() || lookup("PMI_SIZE") == lookup("SLURM_STEP_NUM_TASKS");
                in_step().filter(|_| of_srun).map(|found| (Launcher::Slurm(pmi), found))
            })
            .or_else(|| pair("PMI_RANK", "PMI_SIZE").map(|found| (Launcher::Mpich, found)))?;
        (processes > 1 && number < processes).then_some(Self { launcher, number, processes })
    }

    /// What the environment of this process tells.
    pub fn here() -> Option<Self> {
        Self::find(|name| std::env::var(name).ok())
    }
}

impl Launcher {
    /// As people know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI's mpirun",
            Self::Mpich => "MPICH's mpiexec",
            Self::Slurm(_) => "srun",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &str)]) -> Option<Launch> {
        Launch::find(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn launchers_are_known_by_what_they_set() {
        let open_mpi = [("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "3")];
        assert_eq!(find(&open_mpi), Some(Launch { launcher: Launcher::OpenMpi, number: 3, processes: 4 }));
        let hydra = [("PMI_RANK", "0"), ("PMI_SIZE", "2")];
        assert_eq!(find(&hydra), Some(Launch { launcher: Launcher::Mpich, number: 0, processes: 2 }));
        let srun = [("SLURM_PROCID", "1"), ("SLURM_STEP_NUM_TASKS", "2"), ("SLURM_NTASKS", "2")];
        assert_eq!(find(&srun).unwrap().launcher, Launcher::Slurm(Pmi::None));
        assert_eq!(
            find(&[srun.as_slice(), &[("PMIX_RANK", "1")]].concat()).unwrap().launcher,
            Launcher::Slurm(Pmi::Pmix)
        );
        let pmi2 = [srun.as_slice(), &[("PMI_RANK", "1"), ("PMI_SIZE", "2")]].concat();
        assert_eq!(find(&pmi2).unwrap().launcher, Launcher::Slurm(Pmi::Pmi2));
    }

    #[test]
    fn launchers_inside_of_a_slurm_job_win() {
        let step = [("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "2")];
        let open_mpi = [("OMPI_COMM_WORLD_RANK", "7"), ("OMPI_COMM_WORLD_SIZE", "8"), ("PMIX_RANK", "7")];
        assert_eq!(find(&[step, [open_mpi[0], open_mpi[1]]].concat()).unwrap().launcher, Launcher::OpenMpi);
        let hydra = [("PMI_RANK", "7"), ("PMI_SIZE", "8")];
        assert_eq!(
            find(&[step, hydra].concat()),
            Some(Launch { launcher: Launcher::Mpich, number: 7, processes: 8 })
        );
    }

    /// A batch script has SLURM_NTASKS and SLURM_PROCID too, but is one process.
    #[test]
    fn one_process_is_alone() {
        assert_eq!(find(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "64")]), None);
        assert_eq!(find(&[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1")]), None);
        assert_eq!(find(&[("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")]), None);
        assert_eq!(find(&[("OMPI_COMM_WORLD_RANK", "x"), ("OMPI_COMM_WORLD_SIZE", "4")]), None);
        assert_eq!(find(&[]), None);
    }
}
