use console::{Align, Cell, Table};
use fault::{Fault, Kind};
use jiff::{Timestamp, Zoned};
use sync::manager::{Book, JobView, RunView, View, Wish, view};
use units::Bytes;

use crate::cli::{ListJobs, SteerJobs};
use crate::commands::{Context, Result};
use crate::exit::Outcome;

/// Runs of one job that are shown.
const MOST_RUNS: u32 = 100;

/// Shows how the jobs stand.
pub fn list(context: &Context, arguments: &ListJobs) -> Result {
    let book = Book::open(arguments.place.state.as_deref())?;
    let Some(name) = &arguments.job else {
        let view = view(&book, 1)?;
        context.printer.document("sync_jobs", &view, || words(&view))?;
        return Ok(Outcome::Done);
    };
    let view = view(&book, MOST_RUNS)?;
    let job = view.jobs.iter().find(|job| job.name == *name).ok_or_else(|| unknown(&book, name))?;
    context.printer.document("sync_job", job, || history(job))?;
    Ok(Outcome::Done)
}

/// Writes down what is wanted of jobs: of all of them, or of none where one can't have it.
pub fn steer(context: &Context, arguments: &SteerJobs, wish: Wish) -> Result {
    let mut book = Book::open(arguments.place.state.as_deref())?;
    let known = book.names()?;
    if let Some(name) = arguments.job.iter().find(|name| !known.contains(name)) {
        return Err(unknown(&book, name).into());
    }
    for name in &arguments.job {
        book.want(name, wish, Timestamp::now())?;
    }
    if !book.is_served()? {
        context.printer.say("no server runs these jobs now; the next one will know");
    }
    Ok(Outcome::Done)
}

fn unknown(book: &Book, name: &str) -> Fault {
    let fault = Fault::new(Kind::NotFound, format!("no job is called `{name}`"));
    let names = book.names().unwrap_or_default();
    match spec::nearest(name, names.iter().map(String::as_str)) {
        Some(near) => fault.hint(format!("did you mean `{near}`?")),
        None if names.is_empty() => {
            fault.hint("`forebay sync serve` has not run here yet; --state DIR names another place")
        }
        None => fault.hint(format!("there are {}", spec::quoted(names.iter().map(String::as_str)))),
    }
}

fn words(view: &View) -> String {
    if view.jobs.is_empty() {
        return "no jobs; `forebay sync serve` runs those of a job file".to_owned();
    }
    let mut table = Table::new([
        ("JOB", Align::Left),
        ("STATE", Align::Left),
        ("LAST RUN", Align::Left),
        ("RESULT", Align::Left),
        ("NEXT RUN", Align::Left),
        ("", Align::Left),
    ]);
    for job in &view.jobs {
        let last = job.runs.first();
        let state = match job.state {
            "failed" | "interrupted" => Cell::bad(job.state),
            "paused" | "retrying" | "cancelled" | "stopping" => Cell::note(job.state),
            "running" => Cell::good(job.state),
            other => Cell::new(other),
        };
        table.row([
            Cell::new(&job.name),
            state,
            Cell::new(last.map(|run| moment(&run.started)).unwrap_or_default()),
            Cell::new(last.and_then(|run| run.result).unwrap_or_default()),
            Cell::new(job.next_run.as_deref().map(moment).unwrap_or_default()),
            Cell::new(detail(job)),
        ]);
    }
    let mut lines = table.to_string();
    if !view.served {
        lines.push_str("\nno server runs these jobs now");
    }
    lines
}

/// How far what goes on is, else what the last run did.
fn detail(job: &JobView) -> String {
    let Some(progress) = &job.progress else {
        return job.runs.first().and_then(|run| run.words.clone()).unwrap_or_default();
    };
    let sent = Bytes::new(progress.sent_bytes);
    match progress.behind_seconds {
        Some(behind) => format!("{:.1} s behind, {} copied, {sent}", behind, progress.copied),
        None => {
            format!("{}: {} looked at, {} copied, {sent}", progress.stage, progress.scanned, progress.copied)
        }
    }
}

fn history(job: &JobView) -> String {
    let mut table = Table::new([
        ("BEGAN", Align::Left),
        ("ENDED", Align::Left),
        ("RESULT", Align::Left),
        ("", Align::Left),
    ]);
    for RunView { started, ended, result, words, .. } in &job.runs {
        table.row([
            Cell::new(moment(started)),
            Cell::new(ended.as_deref().map(moment).unwrap_or_default()),
            Cell::new(result.unwrap_or("running")),
            Cell::new(words.as_deref().unwrap_or_default()),
        ]);
    }
    format!("{}: {}\n{table}", job.name, job.state)
}

/// A moment in local time, as people read it.
fn moment(text: &str) -> String {
    let moment = text.parse::<Timestamp>().map(|moment| moment.to_zoned(Zoned::now().time_zone().clone()));
    moment.map_or_else(|_| text.to_owned(), |moment| moment.strftime("%Y-%m-%d %H:%M:%S").to_string())
}
