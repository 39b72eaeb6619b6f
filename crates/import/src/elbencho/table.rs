//! What elbencho prints on the terminal.

use fault::Result;

use super::Stated;
use crate::found::{Found, FoundTest};
use crate::page::Page;

/// Width of the first column, with the operation's name on the first line of a phase.
const NAME_WIDTH: usize = 12;

/// Reads the table.
pub fn read(page: &Page) -> Result<Found> {
    let command = page.after("$ ").unwrap_or_default();
    let mut test = FoundTest {
        name: "elbencho".to_owned(),
        kind: "elbencho",
        summary: "threads and sizes as in the command".to_owned(),
        ..FoundTest::default()
    };
    let mut current = Stated::default();
    let mut inside = false;
    for (number, line) in page.lines() {
        if line.starts_with("OPERATION ") {
            inside = true;
            continue;
        }
        if !inside || line.starts_with("===") {
            continue;
        }
        if line.starts_with("---") {
            end(&mut test, &std::mem::take(&mut current));
            continue;
        }
        let Some((label, values)) = line.split_once(':') else { continue };
        let name: String = label.chars().take(NAME_WIDTH).collect();
        if !name.trim().is_empty() {
            end(&mut test, &std::mem::take(&mut current));
            name.trim().clone_into(&mut current.operation);
        }
        let what: String = label.chars().skip(NAME_WIDTH).collect();
        note(page, number, &mut current, what.trim(), values)?;
    }
    end(&mut test, &current);
    if test.is_empty() {
        return Err(page.missing("a phase with its `Elapsed time` below `OPERATION   RESULT TYPE`"));
    }
    Ok(Found { tool: "elbencho", command: command.to_owned(), tests: vec![test], ..Found::default() })
}

fn end(test: &mut FoundTest, stated: &Stated) {
    let Some(phase) = stated.phase() else { return };
    let known =
        test.repetitions.iter().filter(|phases| phases.iter().any(|other| other.name == phase.name)).count();
    test.add(known, phase);
}

fn note(page: &Page, number: usize, current: &mut Stated, what: &str, values: &str) -> Result<()> {
    if what.contains("latency") {
        current.latency.push(format!("elbencho's own {what}: {}", values.trim()));
        return Ok(());
    }
    let words: Vec<&str> = values.split_whitespace().collect();
    let wanted = ["Elapsed time", "IOPS", "Throughput MiB/s", "Total MiB"].contains(&what)
        || what.ends_with("/s")
        || what.ends_with(" total");
    if !wanted {
        return Ok(());
    }
    let [first, last] = words.as_slice() else {
        return Err(page.wrong(number, "two values, of the first and of the last thread", values));
    };
    if what == "Elapsed time" {
        let time = |text: &str| {
            duration(text).ok_or_else(|| page.wrong(number, "a time such as `11ms` or `1m3.5s`", text))
        };
        current.seconds = [time(first)?, time(last)?];
        return Ok(());
    }
    let value = |text: &str| page.number(number, &format!("a number for `{what}`"), text);
    let (first, last) = (value(first)?, value(last)?);
    match what {
        "IOPS" => current.iops = Some(last),
        "Throughput MiB/s" => current.mib_per_second = Some(last),
        "Total MiB" => current.mib = [Some(first), Some(last)],
        _ if what.ends_with("/s") => current.entries_per_second = Some(last),
        _ => current.entries = [Some(first), Some(last)],
    }
    Ok(())
}

/// `11ms`, `1.5s`, `1m3.5s`, `2h1m3s`.
fn duration(text: &str) -> Option<f64> {
    if let Some(milliseconds) = text.strip_suffix("ms") {
        return milliseconds.parse::<f64>().ok().filter(|value| *value >= 0.0).map(|value| value / 1000.0);
    }
    let mut seconds = 0.0;
    let mut rest = text;
    for (unit, factor) in [('h', 3600.0), ('m', 60.0), ('s', 1.0)] {
        if let Some((value, after)) = rest.split_once(unit) {
            seconds += value.parse::<f64>().ok().filter(|value| *value >= 0.0)? * factor;
            rest = after;
        }
    }
    rest.is_empty().then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_elbencho_prints_them() {
        assert_eq!(
            [duration("11ms"), duration("1.5s"), duration("1m3.5s")],
            [Some(0.011), Some(1.5), Some(63.5)]
        );
        assert_eq!([duration("11"), duration("x"), duration("-1s")], [None; 3]);
    }
}
