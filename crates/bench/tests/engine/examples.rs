//! The workloads in `examples/workloads` run: what IOR, mdtest, vdbench, IO500, fio and the SAS test do can be said.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bench::Workload;
use record::RunState;

use super::counts::check_phase;
use super::run::{disk, memory, run};

/// Deadlines of the examples are for people; here this is enough.
const TIME: Duration = Duration::from_millis(60);

fn examples() -> Vec<(String, Workload)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/workloads");
    let mut paths: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# "), "{} names the command it stands for", path.display());
        let workload =
            Workload::from_toml(&text).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
        (path.file_stem().unwrap().to_str().unwrap().to_owned(), workload)
    };
    paths.into_iter().map(read).collect()
}

fn shortened(workload: &Workload) -> Workload {
    let mut short = workload.clone();
    for phase in &mut short.phases {
        phase.stop.time = phase.stop.time.map(|time| time.min(TIME));
    }
    short
}

fn run_all(target: &Path) {
    for (name, workload) in examples() {
        let done = run(target, &shortened(&workload));
        assert!(done.failure.is_none(), "{name}: {:?}", done.failure);
        let done = done.expect();
        assert_eq!(done.record.state, RunState::Complete, "{name}");
        for phase in done.phases() {
            check_phase(phase).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(phase.operation_count() > 0, "{name}: `{}` did nothing", phase.name);
            assert_eq!(phase.verify_failures, 0, "{name}: `{}`", phase.name);
        }
    }
}

#[test]
fn every_example_is_named_after_its_file() {
    for (file, workload) in examples() {
        assert_eq!(workload.name, file);
        assert_eq!(Workload::from_toml(&toml::to_string(&workload).unwrap()).unwrap(), workload, "{file}");
    }
}

#[test]
fn every_example_runs_on_disk() {
    run_all(disk().path());
}

#[test]
fn every_example_runs_in_memory() {
    run_all(memory().path());
}

/// The words in backticks of a cell, but for what belongs to the command line and to files.
fn words(cell: &str) -> Vec<&str> {
    let code = cell.split('`').skip(1).step_by(2);
    let model = code.filter(|code| {
        !code.starts_with("forebay")
            && !code.starts_with('-')
            && !code.contains(".toml")
            && !code.contains("lfs ")
    });
    let of = |code| str::split(code, |c: char| !c.is_ascii_alphanumeric() && c != '_');
    model
        .flat_map(of)
        .filter(|word| word.len() > 1 && word.starts_with(|c: char| c.is_ascii_lowercase()))
        .collect()
}

#[test]
fn every_word_of_the_table_is_one_of_the_model() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/WORKLOADS.md"))
        .unwrap();
    let schema = serde_json::to_string(&schemars::schema_for!(Workload)).unwrap();
    let known =
        |word: &str| ["true", "max", "prepare"].contains(&word) || schema.contains(&format!("\"{word}\""));
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
    let mut unknown = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.split('|').collect();
        assert_eq!(cells.len(), 5, "{row}");
        unknown.extend(words(cells[3]).into_iter().filter(|word| !known(word)).map(|word| (word, row)));
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}
