//! The field's languages: each turns what people type into a [`crate::Workload`].

pub mod grammar;
pub mod io500;
pub mod ior;
pub mod iotest;
pub mod mdtest;
pub mod vdbench;
