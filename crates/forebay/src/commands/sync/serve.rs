use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use console::{Format, Printer};
use jiff::Zoned;
use serde_json::json;
use sync::manager::{Audience, JobFile, RunEnd, Said, Serving, Unserved, load, serve, times};
use sync::printable;

use crate::cli::Serve;
use crate::commands::{Context, Result};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::signals;

/// Runs the jobs of a file, until a signal.
pub fn run(context: &Context, arguments: &Serve) -> Result {
    let words = "stopping the jobs; what they did is written down, and a second signal stops at once";
    let hang_up = signals::install_serving(&context.printer, words)?;
    let serving = Serving {
        file: arguments.jobs.clone(),
        state: arguments.place.state.clone(),
        at_once: arguments.at_once,
        once: arguments.once,
    };
    let teller = Teller { printer: &context.printer, hang_up: &hang_up };
    let worst = serve(&serving, &teller).map_err(|unserved| match unserved {
        Unserved::File(error) => Failure::from(error),
        Unserved::Fault(fault) => Failure::from(fault),
    })?;
    Ok(match (signals::received(), worst) {
        (Some(signal), _) => Outcome::Stopped(signal),
        (None, RunEnd::Complete) => Outcome::Done,
        (None, _) => Outcome::Partial,
    })
}

/// Says what a job file says.
pub fn check(context: &Context, arguments: &Serve) -> Result {
    let file = load(&arguments.jobs)?;
    let now = Zoned::now();
    let jobs: Vec<_> = file
        .job
        .iter()
        .map(|job| {
            let times = times(job, &now, 3);
            json!({
                "name": job.name,
                "sources": job.source.iter().zip(job.places()).map(|(source, place)| json!({
                    "path": source.path,
                    "destination": if place.is_empty() { job.destination.clone() } else { job.destination.join(place) },
                })).collect::<Vec<_>>(),
                "watch": job.watch,
                "next_runs": times.iter().map(ToString::to_string).collect::<Vec<_>>(),
            })
        })
        .collect();
    let data = json!({ "path": arguments.jobs, "at_once": file.at_once, "jobs": jobs });
    context.printer.document("sync_jobs_check", &data, || words(&arguments.jobs, &file, &now))?;
    Ok(Outcome::Done)
}

fn words(path: &Path, file: &JobFile, now: &Zoned) -> String {
    let count = file.job.len();
    let plural = if count == 1 { "" } else { "s" };
    let mut lines = vec![format!("{}: {count} job{plural}, {} at once", path.display(), file.at_once)];
    for job in &file.job {
        let when = match times(job, now, 1).first() {
            _ if job.watch => "watched".to_owned(),
            Some(time) if *time > *now => format!("next at {}", time.strftime("%Y-%m-%d %H:%M")),
            Some(_) if job.every.is_some() => "at once, and again and again".to_owned(),
            Some(_) => "once".to_owned(),
            None => "never".to_owned(),
        };
        lines.push(format!("{}: {when}", job.name));
        for (source, place) in job.source.iter().zip(job.places()) {
            let to = if place.is_empty() { job.destination.clone() } else { job.destination.join(place) };
            lines.push(format!("  {} -> {}", source.path.display(), to.display()));
        }
    }
    lines.join("\n")
}

/// Tells what the server does: lines for people, or one object a line.
struct Teller<'a> {
    printer: &'a Printer,
    hang_up: &'a AtomicBool,
}

impl Teller<'_> {
    fn tell(&self, event: &serde_json::Value, words: impl FnOnce() -> String) {
        if self.printer.format() == Format::Text {
            self.printer.say(format!("{} {}", Zoned::now().strftime("%Y-%m-%d %H:%M:%S"), words()));
        } else {
            // Standard output that is gone ends the output, not the jobs.
            let _ = self.printer.json_line(event);
        }
    }
}

impl Audience for Teller<'_> {
    fn said(&self, said: &Said<'_>) {
        match said {
            Said::Read(jobs) => {
                let plural = if *jobs == 1 { "" } else { "s" };
                self.tell(&json!({ "event": "read", "jobs": jobs }), || format!("{jobs} job{plural} read"));
            }
            Said::Unreadable(error) => {
                self.printer.warn("the job file changed and can't be used; the jobs stay as they were");
                Failure::from(Box::new((*error).clone())).tell(self.printer);
            }
            Said::Began(job) => {
                self.tell(&json!({ "event": "began", "job": job }), || format!("{job}: began"));
            }
            Said::Ended(job, end, words, again) => {
                let again = again.map(|again| again.to_string());
                let event = json!({
                    "event": "ended", "job": job, "result": end.word(), "words": words, "tried_again": again,
                });
                self.tell(&event, || match &again {
                    Some(again) => format!("{job}: {}: {words}; tried again at {again}", end.word()),
                    None => format!("{job}: {}: {words}", end.word()),
                });
            }
            Said::Failed(job, path, fault) => {
                let event = json!({
                    "event": "failed", "job": job, "path": printable(path),
                    "reason": fault.message(), "hint": fault.hint_text(),
                });
                self.tell(&event, || format!("{job}: {}", fault.message()));
            }
            Said::Note(job, text) => {
                self.tell(&json!({ "event": "note", "job": job, "text": text }), || format!("{job}: {text}"));
            }
        }
    }

    fn stopping(&self) -> bool {
        signals::received().is_some()
    }

    fn wants_reading(&self) -> bool {
        self.hang_up.swap(false, Ordering::Relaxed)
    }
}
