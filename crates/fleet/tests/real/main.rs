//! Real parts: sshd, Open MPI, MPICH and Slurm, on hosts that are namespaces; `examples/meet.rs` is the program they start.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod meeting;
mod over_mpi;
mod over_slurm;
mod over_ssh;
