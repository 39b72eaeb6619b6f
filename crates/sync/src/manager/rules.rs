//! Rules across the keys of a job file.

use std::collections::BTreeMap;
use std::path::Path;

use spec::{Places, Problem};

use super::file::{Job, JobFile};
use super::schedule::Schedule;
use crate::filter::Filter;
use crate::objects::is_elsewhere;
use crate::throttle::Timetable;
use crate::watch::Reader;

/// Everything that is wrong between the keys.
pub fn check(file: &JobFile, places: &Places) -> Vec<Problem> {
    let mut rules = Rules { places, problems: Vec::new() };
    if file.job.is_empty() {
        let problem = Problem::new("`job` is empty", "empty").hint("add a section `[[job]]`");
        rules.report("", "job", problem);
    }
    rules.names(file);
    for (index, job) in file.job.iter().enumerate() {
        let table = format!("job[{index}]");
        rules.schedule(&table, job);
        rules.sources(&table, job);
        rules.texts(&table, job);
        rules.removing(&table, job);
        rules.watching(&table, job);
    }
    rules.destinations(file);
    rules.problems
}

struct Rules<'a> {
    places: &'a Places,
    problems: Vec<Problem>,
}

impl Rules<'_> {
    /// Reports a problem with the value of `key`, unless something else is wrong with that table already.
    fn report(&mut self, table: &str, key: &str, problem: Problem) {
        if !self.places.is_broken(table) || table.is_empty() {
            let place = if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") };
            let span = self.places.value(&place);
            self.problems.push(problem.at(place, span));
        }
    }

    fn names(&mut self, file: &JobFile) {
        let mut seen = BTreeMap::new();
        for (index, job) in file.job.iter().enumerate() {
            let (table, name) = (format!("job[{index}]"), job.name.as_str());
            if name.is_empty() || name.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
                let message = format!("`name` is `{}`", name.escape_debug());
                let problem = Problem::new(message, "no name").hint("one word, such as `projects`");
                self.report(&table, "name", problem);
            } else if let Some(first) = seen.insert(name, index) {
                let hint = format!("number {} has this name already; choose another", first + 1);
                let problem = Problem::new(format!("two jobs are named `{name}`"), "name taken").hint(hint);
                self.report(&table, "name", problem);
            }
        }
    }

    fn schedule(&mut self, table: &str, job: &Job) {
        let said = [("every", job.every.is_some()), ("at", job.at.is_some()), ("cron", job.cron.is_some())];
        let said: Vec<&str> = said.iter().filter(|(_, said)| *said).map(|(key, _)| *key).collect();
        match (said.as_slice(), job.watch) {
            ([key, ..], true) => {
                let message = format!("a watch goes on all the time, and `{key}` says when it runs");
                let problem = Problem::new(message, "watched already");
                self.report(table, key, problem.hint("leave one of both out; `rescan` looks at everything"));
            }
            ([first, second, ..], _) => {
                let message = format!("both `{first}` and `{second}` say when the job runs");
                self.report(table, second, Problem::new(message, "said twice").hint("keep one of them"));
            }
            ([key], false) => {
                if let Err(fault) = Schedule::of(job) {
                    self.report(table, key, problem_of(&fault, "no such time"));
                }
            }
            ([], _) => {}
        }
    }

    fn sources(&mut self, table: &str, job: &Job) {
        let places = job.places();
        for (index, source) in job.source.iter().enumerate() {
            let here = format!("{table}.source[{index}]");
            if source.at.is_none() && is_elsewhere(&source.path) {
                let problem = Problem::new("a place elsewhere has no path of its own", "no `at`");
                self.report(&here, "path", problem.hint("say where it goes: `at = \"name\"`"));
                continue;
            }
            if places[index].split('/').any(|name| name == "..") {
                let message = format!("`{}` leads out of the destination", places[index]);
                self.report(&here, "at", Problem::new(message, "leads out").hint("leave `..` out"));
            }
            let other = (0..index).find(|other| overlap(&places[*other], &places[index]));
            if let Some(other) = other {
                let (first, second) = (&job.source[other].path, &source.path);
                let message = format!(
                    "`{}` and `{}` would lie in each other at the destination",
                    first.display(),
                    second.display()
                );
                let problem = Problem::new(message, "overlaps");
                let key = if source.at.is_some() { "at" } else { "path" };
                self.report(&here, key, problem.hint("give each a place of its own with `at`"));
            }
            if !is_elsewhere(&source.path) && lie_in_each_other(&source.path, &job.destination) {
                let message = format!(
                    "`{}` and `{}` lie in each other",
                    source.path.display(),
                    job.destination.display()
                );
                let problem = Problem::new(message, "in the destination");
                self.report(&here, "path", problem.hint("choose a destination outside the source"));
            }
        }
    }

    /// Texts that have a grammar of their own.
    fn texts(&mut self, table: &str, job: &Job) {
        if let Some(Err(fault)) = job.bwlimit.as_ref().map(|text| text.parse::<Timetable>()) {
            self.report(table, "bwlimit", problem_of(&fault, "no limit"));
        }
        for (key, lines) in [("exclude", &job.exclude), ("include", &job.include)] {
            for (index, line) in lines.iter().enumerate() {
                let one = std::slice::from_ref(line);
                if let Err(fault) = Filter::default().set_patterns(one, &[]) {
                    self.report(table, &format!("{key}[{index}]"), problem_of(&fault, "no pattern"));
                }
            }
        }
        for (index, text) in job.changelog.iter().enumerate() {
            if let Err(fault) = text.parse::<Reader>() {
                self.report(table, &format!("changelog[{index}]"), problem_of(&fault, "no changelog"));
            }
        }
    }

    fn removing(&mut self, table: &str, job: &Job) {
        for (key, said) in [("max_delete", job.max_delete.is_some()), ("trash", job.trash)] {
            if said && !job.delete {
                let problem = Problem::new(format!("`{key}` says nothing without `delete`"), "no `delete`");
                self.report(table, key, problem.hint("add `delete = true`"));
            }
        }
        if job.delete && job.files_from.is_some() {
            let problem = Problem::new("`delete` and `files_from` do not go together", "not with `delete`");
            self.report(table, "files_from", problem.hint("leave one of both out"));
        }
    }

    fn watching(&mut self, table: &str, job: &Job) {
        let said = [
            ("rescan", job.rescan.is_some()),
            ("watch_by", job.watch_by.is_some()),
            ("changelog", !job.changelog.is_empty()),
        ];
        for (key, _) in said.iter().filter(|(_, said)| *said && !job.watch) {
            let problem = Problem::new(format!("`{key}` says nothing without `watch`"), "no `watch`");
            self.report(table, key, problem.hint("add `watch = true`"));
        }
        let store =
            job.source.iter().any(|source| is_elsewhere(&source.path)) || is_elsewhere(&job.destination);
        if job.watch && store {
            let problem = Problem::new("only trees of this host can be watched", "elsewhere");
            self.report(table, "watch", problem.hint("sync it from time to time: `every = \"15m\"`"));
        }
    }

    /// Two jobs never write to one place.
    fn destinations(&mut self, file: &JobFile) {
        let mut seen: Vec<(&str, String)> = Vec::new();
        for (index, job) in file.job.iter().enumerate() {
            for place in job.places() {
                let whole = job.destination.join(place).to_string_lossy().trim_end_matches('/').to_owned();
                if let Some((other, _)) =
                    seen.iter().find(|(name, theirs)| *name != job.name && overlap(theirs, &whole))
                {
                    let message = format!("jobs `{other}` and `{}` write to the same place", job.name);
                    let problem = Problem::new(message, "written by two");
                    let hint = "give each a directory of its own, or make it one job with several sources";
                    self.report(&format!("job[{index}]"), "destination", problem.hint(hint));
                    break;
                }
                seen.push((&job.name, whole));
            }
        }
    }
}

fn problem_of(fault: &fault::Fault, label: &str) -> Problem {
    let problem = Problem::new(fault.message(), label);
    match fault.hint_text() {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

/// Whether one is the other or lies in it; the empty place holds all.
fn overlap(a: &str, b: &str) -> bool {
    let within = |inner: &str, outer: &str| {
        outer.is_empty()
            || inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    within(a, b) || within(b, a)
}

fn lie_in_each_other(a: &Path, b: &Path) -> bool {
    a.starts_with(b) || b.starts_with(a)
}
