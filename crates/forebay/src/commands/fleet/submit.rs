//! `--slurm`: the same command again, under `srun`, followed to its end.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use console::Printer;
use fault::{Fault, Kind};
use fleet::ssh::split_words;
use rustix::process::{Pid, Signal, kill_process};

use super::super::{Context, Result};
use crate::exit::{self, Outcome};
use crate::signals;

/// How often it is looked what a job waits for.
const LOOK: Duration = Duration::from_secs(5);

/// Runs this command line, without `--slurm`, by `srun` with the options `words`. Output comes as it is written; a signal ends
/// the job; its exit code is ours.
pub fn follow(context: &Context<'_>, words: &str) -> Result {
    let options = split_words(words)?;
    let program = std::env::current_exe()
        .map_err(|error| Fault::os("find", std::path::Path::new("this program"), error))?;
    let mut command = Command::new("srun");
    command.args(options).arg("--").arg(program).args(without_slurm(&context.settings.command));
    // Ctrl-C is for us: srun hears of it once, and by a signal that reaches the tasks.
    command.stdin(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Fault::new(Kind::NotFound, "there is no `srun` here")
            .hint("`--slurm` needs Slurm's commands in the PATH; `--hosts` does without"),
        _ => Fault::os("start", std::path::Path::new("srun"), error),
    })?;
    let job = Arc::new(Mutex::new(None));
    let listener = child.stderr.take().map(|stderr| {
        let (job, printer) = (Arc::clone(&job), context.printer.clone());
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(std::result::Result::ok) {
                if let Some(number) = job_number(&line) {
                    *job.lock().unwrap_or_else(PoisonError::into_inner) = Some(number);
                }
                printer.complain(line);
            }
        })
    });
    let (status, cancelled) = wait(&mut child, &job, &context.printer)?;
    if let Some(listener) = listener {
        let _ = listener.join();
    }
    if cancelled {
        return Ok(Outcome::Stopped(signals::received().unwrap_or(exit::Signal::Interrupt)));
    }
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(1));
    Ok(Outcome::AsTheRoot(u8::try_from(code).unwrap_or(1)))
}

/// Waits for the end; tells what a job waits for. A signal goes on to a job that runs, and cancels one that waits: then the
/// second is true.
fn wait(
    child: &mut Child,
    job: &Mutex<Option<u32>>,
    printer: &Printer,
) -> fault::Result<(std::process::ExitStatus, bool)> {
    let failed = |error| Fault::os("wait for", std::path::Path::new("srun"), error);
    let mut told = String::new();
    let mut looked: Option<Instant> = None;
    let mut stopped = false;
    let mut cancelled = false;
    loop {
        let number = *job.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok((status, cancelled));
        }
        if bench::interrupt::requested().is_some() && !stopped {
            stopped = true;
            // Nobody is there yet whom a signal could reach.
            if let Some(number) = number.filter(|number| waits(*number)) {
                cancelled = cancel(number, printer);
            }
            if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
                let _ = kill_process(pid, Signal::TERM);
            }
        }
        if let Some(number) = number
            && looked.is_none_or(|looked| looked.elapsed() >= LOOK)
        {
            looked = Some(Instant::now());
            let state = state(number).unwrap_or_default();
            if !state.is_empty() && state != told {
                printer.say(format!("Slurm: job {number} is {state}"));
                told = state;
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Whether a job has not begun.
fn waits(job: u32) -> bool {
    state(job).is_some_and(|state| state.starts_with("pending"))
}

/// Takes a job that waits out of the queue, and says so.
fn cancel(job: u32, printer: &Printer) -> bool {
    let done = Command::new("scancel").arg(job.to_string()).output();
    match done {
        Ok(output) if output.status.success() => {
            printer.say(format!("Slurm: job {job} is cancelled; it had not begun"));
            true
        }
        Ok(output) => {
            let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            printer.warn(format!("Slurm: job {job} could not be cancelled: {words}; try `scancel {job}`"));
            false
        }
        Err(error) => {
            let words = fault::plain(&error);
            printer.warn(format!("Slurm: job {job} could not be cancelled: `scancel`: {words}"));
            false
        }
    }
}

/// `srun: job 12 queued and waiting for resources`
fn job_number(line: &str) -> Option<u32> {
    line.strip_prefix("srun: job ")?.split(' ').next()?.parse().ok()
}

/// What `squeue` says of a job, such as `pending (Resources)`.
fn state(job: u32) -> Option<String> {
    let mut command = Command::new("squeue");
    let output = command.args(["-h", "-j", &job.to_string(), "-o", "%T %r"]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let (state, reason) = text.split_once(' ')?;
    let state = state.to_lowercase();
    Some(if reason == "None" { state } else { format!("{state} ({reason})") })
}

/// The arguments, without `--slurm` and its value.
fn without_slurm(command: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = command.iter().skip(1);
    while let Some(word) = words.next() {
        if word == "--slurm" {
            words.next();
        } else if !word.starts_with("--slurm=") {
            kept.push(word.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_the_same_but_for_slurm() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for line in ["forebay ior --slurm -N8 -w -o x", "forebay ior --slurm=-N8 -w -o x"] {
            assert_eq!(without_slurm(&words(line)), ["ior", "-w", "-o", "x"]);
        }
    }

    #[test]
    fn a_waiting_job_is_known_by_what_srun_says() {
        assert_eq!(job_number("srun: job 12 queued and waiting for resources"), Some(12));
        assert_eq!(job_number("srun: error: Unable to allocate"), None);
    }
}
