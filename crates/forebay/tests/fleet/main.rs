//! The real program over hosts: agents over a real sshd on a real shared file system, real Open MPI and MPICH, real Slurm.
//! docs/SEMANTICS.md says what must hold; each promise names the test that holds it.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod benchmarks;
mod call;
mod over_hosts;
mod parameter_files;
mod under_launchers;
