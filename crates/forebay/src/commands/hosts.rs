//! `forebay hosts check`: what the processes of a run are, and how well they meet.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use console::{Align, Cell, Table};
use fault::{Fault, Kind};
use fleet::{Clock, Link};
use host::System;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fleet::{Fleet, Task};
use super::{Context, Result};
use crate::cli::CheckHosts;
use crate::exit::Outcome;

/// Bytes that each process brings to a gather: about what a phase's result is.
const GATHERED: usize = 16 << 10;

/// What all processes are asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Question {
    target: Option<PathBuf>,
    /// A file in the target that everyone should see.
    probe: Option<PathBuf>,
    rounds: u32,
}

/// What a process answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Answer {
    host: String,
    version: String,
    pcores: u32,
    vcpus: u32,
    memory_bytes: u64,
    clock_offset_ns: i64,
    clock_uncertainty_ns: u64,
    target: Option<Target>,
}

/// The target as a process sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Target {
    file_system: String,
    source: String,
    mount_point: String,
    fsid: Option<String>,
    sees_probe: bool,
    error: Option<String>,
}

/// Asks all processes, and shows their answers.
pub fn check(context: &Context<'_>, arguments: &CheckHosts) -> Result {
    let fleet = Fleet::open(&context.printer, &arguments.fleet, Task::Check)?;
    if fleet.link().process() > 0 {
        return Ok(fleet.take_part(Task::Check, &context.printer));
    }
    let outcome = lead(context, arguments, fleet.link());
    fleet.done();
    outcome
}

fn lead(context: &Context<'_>, arguments: &CheckHosts, link: &dyn Link) -> Result {
    let probe = arguments.target.as_deref().map(probe_name);
    let question = Question { target: arguments.target.clone(), probe, rounds: arguments.rounds };
    link.broadcast(pack(&question)?)?;
    let (barrier, gather, answers) = take_part(link, &question)?;
    let answers = answers
        .into_iter()
        .map(|bytes| bytes.map(|bytes| unpack::<Answer>(&bytes)).transpose())
        .collect::<fault::Result<Vec<_>>>()?;
    let seats = link.seats();
    let shown = |process: &usize| seats.get(*process).is_none_or(|seats| *seats > 0);
    let rows: Vec<(usize, &Option<Answer>)> =
        answers.iter().enumerate().filter(|(process, _)| shown(process)).collect();
    let differ = differences(&rows);
    let data = json!({
        "processes": rows.iter().map(|(process, answer)| row(*process, seats.get(*process), answer.as_ref())).collect::<Vec<_>>(),
        "barrier_ns": nanoseconds(barrier),
        "gather_ns": nanoseconds(gather),
        "gather_bytes_per_process": GATHERED,
        "problems": differ,
    });
    context.printer.document("hosts", &data, || words(&rows, &seats, barrier, gather))?;
    match differ.first() {
        None => Ok(Outcome::Done),
        Some(first) => Err(Fault::new(Kind::Refused, first)
            .hint("mount the same file system on all hosts, or leave those out of `--hosts`")
            .into()),
    }
}

/// The other processes.
pub fn answer(link: &dyn Link) -> fault::Result<()> {
    let question = unpack(&link.broadcast(Vec::new())?)?;
    take_part(link, &question).map(drop)
}

type Met = (Duration, Duration, Vec<Option<Vec<u8>>>);

/// What every process does: the first that hosts ranks makes the probe, all look for it.
fn take_part(link: &dyn Link, question: &Question) -> fault::Result<Met> {
    let clock = link.clock()?;
    // With agents, the process that leads need not have the target at all.
    let makes = u32::from(link.processes() > 1) == link.process();
    let probe = question.probe.as_deref().filter(|_| makes).map(Probe::make);
    let _ = link.all_max(Some(0))?;
    let own = own_answer(question, clock);
    let answers = link.gather(pack(&own)?)?;
    let _ = link.all_max(Some(0))?;
    drop(probe);
    // One after the other, and not one by one: who comes last to a barrier does not wait there.
    let barrier = each(question.rounds, || link.all_max(Some(0)).map(drop))?;
    let gather = each(question.rounds, || link.gather(vec![0; GATHERED]).map(drop))?;
    Ok((barrier, gather, answers))
}

/// The time that each of several calls took, on average.
fn each(rounds: u32, mut call: impl FnMut() -> fault::Result<()>) -> fault::Result<Duration> {
    let started = Instant::now();
    (0..rounds).try_for_each(|_| call())?;
    Ok(started.elapsed() / rounds.max(1))
}

fn own_answer(question: &Question, clock: Clock) -> Answer {
    let system = System::here();
    let cpu = system.cpu();
    Answer {
        host: system.hostname(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pcores: cpu.pcores,
        vcpus: cpu.vcpus,
        memory_bytes: system.memory().total_bytes.get(),
        clock_offset_ns: clock.offset_ns,
        clock_uncertainty_ns: clock.uncertainty_ns,
        target: question.target.as_deref().map(|path| target(&system, path, question.probe.as_deref())),
    }
}

fn target(system: &System, path: &Path, probe: Option<&Path>) -> Target {
    let fsid = rustix::fs::statvfs(path).ok().map(|facts| format!("{:016x}", facts.f_fsid));
    let sees_probe = probe.is_some_and(Path::exists);
    match system.environment(Some(path)) {
        Ok(environment) => {
            let mount = environment.target.unwrap_or_default();
            let host::Mount { file_system, source, mount_point, .. } = mount;
            Target { file_system, source, mount_point, fsid, sees_probe, error: None }
        }
        Err(fault) => Target {
            file_system: String::new(),
            source: String::new(),
            mount_point: String::new(),
            fsid,
            sees_probe,
            error: Some(fault.message().to_owned()),
        },
    }
}

fn probe_name(target: &Path) -> PathBuf {
    target.join(format!(".forebay-hosts-check-{}", record::new_id()))
}

/// A file that is removed when dropped.
struct Probe<'a>(&'a Path);

impl<'a> Probe<'a> {
    fn make(path: &'a Path) -> Option<Self> {
        std::fs::File::create_new(path).ok().map(|_| Self(path))
    }
}

impl Drop for Probe<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.0);
    }
}

/// What keeps the processes from being one run on one storage.
fn differences(rows: &[(usize, &Option<Answer>)]) -> Vec<String> {
    let mut found = Vec::new();
    for (process, answer) in rows {
        let Some(answer) = answer else {
            found.push(format!("process {process} is gone"));
            continue;
        };
        let Some(target) = &answer.target else { continue };
        if let Some(error) = &target.error {
            found.push(format!("{}: {error}", answer.host));
        } else if !target.sees_probe {
            found.push(format!(
                "{}: the target is not the same storage: `{}` ({}) at {}",
                answer.host, target.source, target.file_system, target.mount_point
            ));
        }
    }
    found
}

fn row(process: usize, seats: Option<&u32>, answer: Option<&Answer>) -> Value {
    json!({ "process": process, "ranks": seats, "answer": answer })
}

fn words(rows: &[(usize, &Option<Answer>)], seats: &[u32], barrier: Duration, gather: Duration) -> String {
    let mut table = Table::new([
        ("#", Align::Right),
        ("host", Align::Left),
        ("ranks", Align::Right),
        ("pCores", Align::Right),
        ("vCPUs", Align::Right),
        ("memory", Align::Right),
        ("clock", Align::Right),
        ("+-", Align::Right),
        ("target", Align::Left),
    ]);
    for (process, answer) in rows {
        let Some(answer) = answer else { continue };
        let target = answer.target.as_ref().map_or_else(|| Cell::new("-"), shown_target);
        table.row([
            Cell::new(process),
            Cell::new(&answer.host),
            Cell::new(seats.get(*process).copied().unwrap_or(1)),
            Cell::new(answer.pcores),
            Cell::new(answer.vcpus),
            Cell::new(units::Bytes::new(answer.memory_bytes)),
            Cell::new(signed(answer.clock_offset_ns)),
            Cell::new(units::format_duration(Duration::from_nanos(answer.clock_uncertainty_ns))),
            target,
        ]);
    }
    format!(
        "{table}\nbarrier {}, gather of {} per process {} (mean)\n",
        units::format_duration(barrier),
        units::Bytes::new(GATHERED as u64),
        units::format_duration(gather)
    )
}

fn shown_target(target: &Target) -> Cell {
    match &target.error {
        Some(error) => Cell::bad(error),
        None if !target.sees_probe => Cell::bad(format!("other: {} {}", target.file_system, target.source)),
        None => Cell::good(&target.file_system),
    }
}

fn signed(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    format!("{sign}{}", units::format_duration(Duration::from_nanos(nanoseconds.unsigned_abs())))
}

fn nanoseconds(time: Duration) -> u64 {
    time.as_nanos() as u64
}

fn pack<T: Serialize>(words: &T) -> fault::Result<Vec<u8>> {
    serde_json::to_vec(words).map_err(|error| Fault::new(Kind::Bug, format!("cannot ask or answer: {error}")))
}

fn unpack<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> fault::Result<T> {
    serde_json::from_slice(bytes)
        .map_err(|error| Fault::new(Kind::Unsupported, format!("words of another version: {error}")))
}
