//! `result.txt`: sections of keys, with remarks behind semicolons.

use fault::Result;

use super::{SCORED, Stated, Total, found};
use crate::clock;
use crate::found::Found;
use crate::page::Page;

/// Reads the sections.
pub fn read(page: &Page) -> Result<Found> {
    let version = page.after("version").map(|text| text.trim_start_matches(['=', ' ']).to_owned());
    let mut started: Option<(String, jiff::Timestamp)> = None;
    let mut stated: Vec<Stated> = Vec::new();
    let mut total = Total::default();
    let mut section = "";
    for (number, line) in page.lines() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
            if !["SCORE", "SCOREX"].contains(&name) {
                stated.push(Stated { name: name.to_owned(), ..Stated::default() });
            }
            continue;
        }
        if let Some(reason) = line.strip_prefix(';').map(str::trim).filter(|text| text.contains("INVALID")) {
            if let Some(one) = stated.last_mut() {
                one.invalid.push(reason.to_owned());
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
            continue;
        };
        let value_of = || page.number(number, &format!("a number for `{key}`"), value);
        match (section, key) {
            ("SCORE", "BW") => total.bandwidth = value_of()?,
            ("SCORE", "MD") => total.metadata = value_of()?,
            ("SCORE", "SCORE") => total.total = value_of()?,
            ("" | "SCORE" | "SCOREX", _) => {}
            (_, "score") => {
                let value = value_of()?;
                set(&mut stated, |one| one.score = value);
            }
            (_, "t_delta") => {
                let value = value_of()?;
                set(&mut stated, |one| one.seconds = value);
            }
            (_, "t_start") => {
                let instant = clock::instant(value).and_then(|text| text.parse::<jiff::Timestamp>().ok());
                let instant = instant
                    .ok_or_else(|| page.wrong(number, "a date such as `2020-01-06 10:23:49`", value))?;
                let (_, first) = started.get_or_insert_with(|| (instant.to_string(), instant));
                let began = (instant.as_second() - first.as_second()).max(0) as f64;
                set(&mut stated, |one| one.began = Some(began));
            }
            _ => {}
        }
    }
    if stated.iter().all(|one| one.score <= 0.0) {
        return Err(page.missing("a `score` in a section such as `[ior-easy-write]`"));
    }
    let missing: Vec<&str> = SCORED
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| stated.iter().all(|one| one.name != *name))
        .collect();
    let total = (total.total > 0.0).then_some(total);
    let mut found = found(&stated, total, version, started.map(|(text, _)| text));
    if let (Some(test), false) = (found.tests.first_mut(), missing.is_empty()) {
        test.checks.push(record::Check::note(
            "io500-phases",
            format!("no section {}", missing.join(", ")),
            "the run did not come to its end, or left phases out",
        ));
    }
    Ok(found)
}

fn set(stated: &mut [Stated], change: impl FnOnce(&mut Stated)) {
    if let Some(one) = stated.last_mut() {
        change(one);
    }
}
