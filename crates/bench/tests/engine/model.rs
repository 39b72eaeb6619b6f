//! A naive reference: which bytes each file holds after a write.

use std::collections::{BTreeMap, BTreeSet};

use bench::Workload;
use bench::data::Generator;
use bench::workload::{Layout, Transfer};

/// What a write may, and what it must, have touched; in units of the transfer size, per file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Touched {
    pub may: BTreeMap<u64, BTreeSet<u64>>,
    pub sizes: BTreeMap<u64, u64>,
}

/// Every unit that a transfer of all ranks may touch: file by file, block by block.
pub fn reachable(workload: &Workload, transfer: &Transfer) -> Touched {
    let mut touched = Touched::default();
    let unit = transfer.transfer_size.unit().get();
    let (block, segments) = (workload.files.block_size.get(), workload.files.segments);
    let part = |length: u64| -> Vec<u64> {
        let first = (length as f64 * transfer.range_start.get()).floor() as u64;
        let end = (length as f64 * transfer.range_end.get()).ceil() as u64;
        if transfer.range_start > transfer.range_end {
            return (0..length).filter(|unit| *unit >= first.min(length - 1) || *unit < end).collect();
        }
        (first..end.min(length).max(first + 1)).collect()
    };
    let ranks = u64::from(workload.ranks);
    match workload.files.layout {
        Layout::PerRank => {
            for file in 0..ranks * u64::from(workload.files.files_per_rank) {
                let length = block * segments;
                touched.may.insert(file, part(length / unit).into_iter().collect());
                touched.sizes.insert(file, length);
            }
        }
        Layout::Shared => {
            let length = block * segments * ranks;
            let units = if transfer.roams(Layout::Shared) {
                part(length / unit).into_iter().collect()
            } else {
                let blocks = length / block;
                (0..blocks)
                    .flat_map(|b| part(block / unit).into_iter().map(move |u| b * (block / unit) + u))
                    .collect()
            };
            touched.may.insert(0, units);
            touched.sizes.insert(0, length);
        }
    }
    touched
}

/// Compares files with the model. Returns the units found written; everything else must be holes or beyond the end.
pub fn written_units(
    workload: &Workload,
    transfer: &Transfer,
    files: &BTreeMap<u64, Vec<u8>>,
) -> Result<BTreeMap<u64, BTreeSet<u64>>, String> {
    let reachable = reachable(workload, transfer);
    let generator = Generator::new(workload.data, workload.seed);
    let unit = transfer.transfer_size.unit().as_usize();
    if files.keys().ne(reachable.may.keys()) {
        return Err(format!("files {:?}, expected {:?}", files.keys(), reachable.may.keys()));
    }
    let mut found = BTreeMap::new();
    for (number, bytes) in files {
        if bytes.len() as u64 > reachable.sizes[number] {
            return Err(format!("file {number} has {} bytes", bytes.len()));
        }
        let mut units = BTreeSet::new();
        let mut expected = vec![0; bytes.len()];
        generator.fill(*number, 0, &mut expected);
        for (index, (found, expected)) in bytes.chunks(unit).zip(expected.chunks(unit)).enumerate() {
            let index = index as u64;
            if found == expected && found.len() == unit {
                units.insert(index);
            } else if found.iter().any(|byte| *byte != 0) {
                return Err(format!("file {number}, unit {index} holds what nobody wrote there"));
            }
        }
        if let Some(stray) = units.difference(&reachable.may[number]).next() {
            return Err(format!("file {number}, unit {stray} is out of range"));
        }
        found.insert(*number, units);
    }
    Ok(found)
}
