//! Workload files, as small as the trouble needs.

use std::fmt::Write as _;

/// The beginning of a workload: `ranks` with a file of `mebibytes` each.
pub fn workload(ranks: u32, mebibytes: u64, phases: &[String]) -> String {
    format!(
        "version = 1\nname = \"trouble\"\nengine = \"psync\"\nranks = {ranks}\n\
         [files]\nblock_size = \"{mebibytes} MiB\"\n[files.tree]\nitems = 100\n{}",
        phases.concat()
    )
}

/// A phase of transfers; `more` are further lines of the transfer.
pub fn transfer(name: &str, read_percent: u32, more: &str) -> String {
    let mut text =
        format!("[[phases]]\nname = \"{name}\"\n[[phases.jobs]]\n[phases.jobs.activity.transfer]\n");
    writeln!(text, "read = \"{read_percent}%\"\ntransfer_size = {{ fixed = \"64 KiB\" }}\n{more}").unwrap();
    text
}

/// The same, again and again for an hour: until something goes wrong.
pub fn endless(name: &str, read_percent: u32, more: &str) -> String {
    transfer(name, read_percent, more) + "[phases.stop]\ntime = \"1 h\"\nrepeat = true\n"
}

/// A phase that creates the items of the tree.
pub fn create_items() -> String {
    "[[phases]]\nname = \"create\"\n[[phases.jobs]]\n[phases.jobs.activity.entries]\noperation = \"create\"\n"
        .to_owned()
}

/// Fifty transfers a second: slow enough for something to happen meanwhile.
pub const SLOWLY: &str = "pacing = { open = { operations_per_second = 50.0 } }";
/// Past the page cache, so that the device is asked each time.
pub const DIRECTLY: &str = "direct = true";
