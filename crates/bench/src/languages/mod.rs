//! The field's languages: each turns what people type into a [`crate::Workload`].

pub mod iotest;
