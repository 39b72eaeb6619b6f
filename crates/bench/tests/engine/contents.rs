//! Random workloads against the model: what is on disk, and what reads back.

use bench::Workload;
use bench::workload::{Activity, PREPARE, Transfer};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use units::Bytes;

use super::model::{reachable, written_units};
use super::run::{Done, data_files, disk, keep, memory};
use super::strategy::write_then_read;

fn transfer_of(workload: &Workload, phase: usize) -> &Transfer {
    match &workload.phases[phase].jobs[0].activity {
        Activity::Transfer(transfer) => transfer,
        Activity::Entries(_) => unreachable!("these workloads have transfers only"),
    }
}

/// What is on disk after the write alone.
fn check_write(target: &std::path::Path, workload: &Workload) -> TestCaseResult {
    let only = Workload { phases: workload.phases[..1].to_vec(), ..workload.clone() };
    let (done, directory) = keep(target, &only);
    let done = done.expect();
    let files = data_files(&directory);
    std::fs::remove_dir_all(&directory).unwrap();
    let transfer = transfer_of(workload, 0);
    let found = written_units(workload, transfer, &files).map_err(TestCaseError::fail)?;
    let stop = workload.phases[0].stop;
    let phase = done.phase("write");
    let units: u64 = found.values().map(|units| units.len() as u64).sum();
    let unit = transfer.transfer_size.unit().get();
    if stop.time.is_none() && stop.operations.is_none() {
        prop_assert_eq!(&found, &reachable(workload, transfer).may, "all of it");
        prop_assert_eq!(phase.bytes().get(), units * unit);
    } else if stop.wear_out {
        // Ranks may begin again to do as much as the furthest.
        prop_assert!(phase.bytes().get() >= units * unit);
    } else {
        prop_assert_eq!(phase.bytes().get(), units * unit, "a stopped write wrote nothing twice");
    }
    Ok(())
}

/// What the reads that follow find.
fn check_read(target: &std::path::Path, workload: &Workload) -> TestCaseResult {
    let done: Done = super::run::run(target, workload).expect();
    let (write, read) = (done.phase("write"), done.phase("read"));
    prop_assert_eq!(read.verify_failures, 0);
    prop_assert_eq!(read.verified_bytes, read.bytes());
    let prepared = done.phases().any(|p| p.name == PREPARE);
    if prepared {
        prop_assert!(read.bytes() > Bytes::ZERO);
    } else if workload.phases[0].stop.wear_out {
        // Going round again to keep up adds bytes but no data.
        prop_assert!(read.bytes() <= write.bytes());
    } else {
        prop_assert_eq!(read.bytes(), write.bytes(), "all that was written, and no more");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn files_in_memory_hold_what_the_model_says(workload in write_then_read()) {
        let target = memory();
        check_write(target.path(), &workload)?;
        check_read(target.path(), &workload)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn files_on_disk_hold_what_the_model_says(workload in write_then_read()) {
        let target = disk();
        check_write(target.path(), &workload)?;
        check_read(target.path(), &workload)?;
    }
}
