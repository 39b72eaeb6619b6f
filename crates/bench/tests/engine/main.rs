//! The engine with real files: what is on disk and what is in the record after workloads of every kind.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that panics has failed")]

mod barriers;
mod belief;
mod choice;
mod closing;
mod contents;
mod counts;
mod entries;
mod examples;
mod find;
mod hits;
mod ior_data;
mod jobs;
mod lossy;
mod mix;
mod model;
mod mount;
mod named;
mod pacing;
mod run;
mod selection;
mod short;
mod sizes;
mod skew;
mod stop;
mod strategy;
mod streams;
mod surroundings;
mod synchronous;
mod targets;
mod verify;
mod workload_files;
