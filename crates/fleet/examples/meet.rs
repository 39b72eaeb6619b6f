//! Processes that meet again and again, for the tests and for `bench/fleet`: what joins them is what `forebay` uses.
//!
//! `meet agent [--pushed DIR]` is what ssh starts; anything else leads, or takes part in what `mpirun` or `srun` started:
//!
//! `meet [--hosts LIST] [--ssh COMMAND] [--push] [--fan-out N] [--allow-lost N] [--patience SECONDS] [--exit CODE]
//! [--rounds N | --until-stopped]`

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for tests")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use fault::{Fault, Kind, Result};
use fleet::launcher::{Launch, Launcher, Pmi};
use fleet::{Link, Node, hosts, mpi, socket, ssh};
use serde_json::{Value, json};

const USER_STOP: u8 = 7;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let code = match run(&words) {
        Ok(code) => code,
        Err(fault) => {
            let leads = Launch::here().is_none_or(|launch| launch.number == 0);
            if leads {
                eprintln!("error: {fault}\nhint: {}", fault.hint_text().unwrap_or_default());
            }
            1
        }
    };
    std::process::exit(code.into());
}

fn run(words: &[String]) -> Result<u8> {
    let after =
        |name: &str| words.iter().position(|word| word == name).and_then(|place| words.get(place + 1));
    let number = |name: &str, default: u64| after(name).and_then(|word| word.parse().ok()).unwrap_or(default);
    if words.first().is_some_and(|word| word == "agent") {
        let agent = ssh::join(json!({}), after("--pushed").map(std::path::Path::new), &tell())?;
        let ssh::Way::Run(node) = agent.way else { return Err(Fault::new(Kind::Unsupported, "no run")) };
        return Ok(take_part(node, &agent.task));
    }
    if words.iter().any(|word| word == "--version") {
        return Ok(0);
    }
    let task = json!({
        "rounds": number("--rounds", 100),
        "until_stopped": words.iter().any(|word| word == "--until-stopped"),
    });
    let allow_lost = number("--allow-lost", 0) as u32;
    let (node, found) = if let Some(list) = after("--hosts") {
        let options = ssh::Options {
            ssh: ssh::split_words(after("--ssh").map_or("ssh", String::as_str))?,
            push: words.iter().any(|word| word == "--push"),
            allow_lost,
            patience: Duration::from_secs(number("--patience", 10)),
            fan_out: number("--fan-out", 64) as usize,
            task: task.clone(),
            tell: tell(),
            cancelled: || false,
        };
        let hosts = hosts::read(list)?;
        let (node, up) = ssh::lead(&hosts, &options)?;
        (node, format!("ssh: {} hosts", up.len()))
    } else {
        let launch = Launch::here().ok_or_else(|| Fault::new(fault::Kind::Usage, "alone"))?;
        if let Launcher::Slurm(Pmi::None) = launch.launcher {
            (socket::join(&launch, allow_lost, &|| false)?, "Slurm".to_owned())
        } else {
            let joined = mpi::join(&launch, allow_lost)?;
            (joined.node, joined.words)
        }
    };
    if node.process() > 0 {
        return Ok(take_part(node, &task));
    }
    let report = lead(&node, &task, &found)?;
    println!("{report}");
    Ok(node.end(number("--exit", 0) as u8))
}

fn tell() -> ssh::Tell {
    Arc::new(|host, line| eprintln!("{host}: {line}"))
}

/// What every process does, the root too: rounds until there have been enough.
fn rounds(link: &dyn Link, task: &Value) -> Result<Value> {
    let clock = link.clock()?;
    if task["until_stopped"] == true {
        // In one piece: standard error is one pipe for all of them.
        let (own, number, all) = (std::process::id(), link.process(), link.processes());
        let line = format!("{own} waits as process {number} of {all}\n");
        let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
        while link.stopped().is_none() {
            link.post(b"here".to_vec());
            std::thread::sleep(Duration::from_millis(20));
        }
        let agreed = link.all_max(Some(1))?;
        return Ok(
            json!({ "clock": clock.offset_ns, "uncertainty": clock.uncertainty_ns, "aborted": agreed.is_err() }),
        );
    }
    let count = task["rounds"].as_u64().unwrap_or(0);
    let mut barriers = Vec::new();
    let mut gathers = Vec::new();
    for round in 0..count {
        let own = u64::from(link.process()) * round;
        let most = u64::from(link.processes() - 1) * round;
        let started = Instant::now();
        let agreed = link.all_max(Some(own))?;
        barriers.push(started.elapsed());
        assert!(agreed.is_err() || agreed == Ok(most), "round {round}: {agreed:?} and not {most}");
        let started = Instant::now();
        let gathered = link.gather(vec![link.process() as u8; 4096])?;
        gathers.push(started.elapsed());
        for (process, bytes) in gathered.iter().enumerate() {
            assert!(bytes.as_ref().is_none_or(|bytes| *bytes == vec![process as u8; 4096]));
        }
    }
    barriers.sort_unstable();
    gathers.sort_unstable();
    let middle = |times: &[Duration]| times.get(times.len() / 2).map(Duration::as_micros).map(|us| us as u64);
    Ok(json!({
        "clock": clock.offset_ns,
        "uncertainty": clock.uncertainty_ns,
        "barrier_us": middle(&barriers),
        "gather_us": middle(&gathers),
    }))
}

fn take_part(node: Node, task: &Value) -> u8 {
    let own = rounds(&node, task).and_then(|own| node.gather(own.to_string().into_bytes()));
    if let Err(fault) = own {
        eprintln!("process {}: {fault}", node.process());
    }
    node.end(0)
}

fn lead(node: &Node, task: &Value, found: &str) -> Result<Value> {
    if task["until_stopped"] != true {
        return report(node, task, found);
    }
    // Somebody types a line, or closes the input, to stop it.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut line = String::new();
            if std::io::stdin().read_line(&mut line).is_ok() {
                node.stop(USER_STOP);
            }
        });
        let report = report(node, task, found)?;
        if node.stopped() != Some(USER_STOP) {
            // The thread above waits for a line that never comes.
            println!("{report}");
            std::process::exit(3);
        }
        Ok(report)
    })
}

fn report(node: &Node, task: &Value, found: &str) -> Result<Value> {
    let own = rounds(node, task)?;
    let all = node.gather(own.to_string().into_bytes())?;
    let text = |bytes: Option<Vec<u8>>| bytes.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let lost: Vec<Value> = node
        .lost()
        .iter()
        .map(|lost| json!({ "process": lost.process, "host": lost.host, "why": lost.why }))
        .collect();
    Ok(json!({
        "found": found,
        "processes": node.processes(),
        "stopped": node.stopped(),
        "posts": node.posts().len(),
        "lost": lost,
        "all": all.into_iter().map(text).collect::<Vec<_>>(),
    }))
}
