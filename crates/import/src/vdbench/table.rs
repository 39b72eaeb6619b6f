//! The tables for people: `summary.html`, `totals.html`, and what vdbench prints.

use fault::Result;
use record::OperationKind;

use super::columns::{Columns, operations};
use super::{Part, Point, Row, found, interval, shares, version};
use crate::clock;
use crate::found::Found;
use crate::page::Page;

/// Values before the first metadata operation of a file system's row: rate, resp, cpu total and sys, read pct, read rate
/// and resp, write rate and resp, MB/sec read, write and total, transfer size.
const FILE_SYSTEM_VALUES: usize = 13;

enum Heading {
    Raw(Columns),
    FileSystem(Vec<String>),
}

/// Reads the tables.
pub fn read(page: &Page) -> Result<Found> {
    let mut heading = None;
    let mut previous = "";
    let mut date = None;
    let mut points: Vec<Point> = Vec::new();
    for (number, line) in page.lines() {
        if let Some((_, started)) = line.split_once("Starting RD=") {
            points.push(point(started));
        } else if let Some(columns) = Columns::of(previous, line) {
            date = date.or_else(|| stamp(previous));
            heading = Some(Heading::Raw(columns));
        } else if line.contains("ReqstdOps") {
            date = date.or_else(|| stamp(line));
            heading = Some(Heading::FileSystem(operations(line)));
        } else if let Some(heading) = &heading
            && let Some(row) = row(page, number, line, heading)?
        {
            if points.is_empty() {
                points.push(Point { name: "rd".to_owned(), ..Point::default() });
            }
            if let Some(point) = points.last_mut() {
                point.rows.push(row);
            }
        }
        previous = line;
    }
    if points.iter().all(|point| point.total().is_none()) {
        return Err(page.missing("a line of totals with the interval `avg_FIRST-LAST`"));
    }
    Ok(found(&points, version(page), date.as_deref()))
}

/// `rd1; I/O rate: Uncontrolled MAX; elapsed=60 warmup=30; For loops: xfersize=4k rdpct=70`.
fn point(started: &str) -> Point {
    let (name, rest) = started.split_once(';').unwrap_or((started, ""));
    let loops = rest.split_once("For loops:").map_or("", |(_, loops)| loops.trim());
    let loops = loops.trim_end_matches("</a>").trim();
    let value = |key: &str| {
        let rest = rest.split_once(key)?.1;
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
        rest[..end].parse::<f64>().ok()
    };
    let name = name.trim();
    Point {
        name: if loops.is_empty() || loops == "None" { name.to_owned() } else { format!("{name} {loops}") },
        elapsed: value("elapsed=").filter(|elapsed| *elapsed > 0.0),
        threads: value("threads=").map(|threads| threads as u32),
        rows: Vec::new(),
    }
}

/// The day in a heading: `Feb 18, 2019  interval ...`.
fn stamp(heading: &str) -> Option<String> {
    let words: Vec<&str> = heading.split_whitespace().take(3).collect();
    let day = words.get(2)?.parse::<u32>().ok()?;
    (day > 1990).then(|| format!("{} 00:00:00", words.join(" ")))
}

/// A row of values; `None` for any other line.
fn row(page: &Page, number: usize, line: &str, heading: &Heading) -> Result<Option<Row>> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let time = words.first().and_then(|word| clock::seconds_of_day(word));
    if time.is_some() {
        words.remove(0);
    }
    let Some((last, total_from)) = words.first().and_then(|word| interval(word)) else { return Ok(None) };
    let values = &words[1..];
    let mut row = Row { time, interval: last, total_from, ..Row::default() };
    match heading {
        Heading::Raw(columns) => raw(page, number, line, columns, values, &mut row)?,
        Heading::FileSystem(names) => file_system(page, number, line, names, values, &mut row)?,
    }
    Ok(Some(row))
}

fn raw(
    page: &Page,
    number: usize,
    line: &str,
    columns: &Columns,
    values: &[&str],
    row: &mut Row,
) -> Result<()> {
    if values.len() != columns.len() {
        return Err(page.wrong(number, &format!("{} values after the interval", columns.len()), line));
    }
    let value = |name: &str| {
        page.number(
            number,
            &format!("a number in column `{name}`"),
            columns.get(values, name).unwrap_or_default(),
        )
    };
    row.parts = shares(value("i/o rate")?, value("MB/sec 1024**2")?, value("read pct")?);
    row.transfer = Some(value("bytes i/o")? as u64);
    let stated = ["resp time", "read resp", "write resp", "resp max", "read max", "write max", "resp stddev"];
    let stated = stated.iter().filter_map(|name| Some(format!("{name} {} ms", columns.get(values, name)?)));
    row.stated = format!("vdbench's own: {}", stated.collect::<Vec<_>>().join(", "));
    Ok(())
}

fn file_system(
    page: &Page,
    number: usize,
    line: &str,
    names: &[String],
    values: &[&str],
    row: &mut Row,
) -> Result<()> {
    if values.len() < FILE_SYSTEM_VALUES + 2 * names.len() {
        let expected = format!("{} values after the interval", FILE_SYSTEM_VALUES + 2 * names.len());
        return Err(page.wrong(number, &expected, line));
    }
    let value =
        |place: usize| page.number(number, &format!("a number as value {}", place + 1), values[place]);
    row.parts = vec![
        Part { kind: OperationKind::Read, per_second: value(5)?, mib_per_second: value(9)? },
        Part { kind: OperationKind::Write, per_second: value(7)?, mib_per_second: value(10)? },
    ];
    for (index, name) in names.iter().enumerate() {
        if let Some(kind) = kind(name) {
            let per_second = value(FILE_SYSTEM_VALUES + 2 * index)?;
            row.parts.push(Part { kind, per_second, mib_per_second: 0.0 });
        }
    }
    row.transfer = Some(value(12)? as u64);
    row.stated = format!(
        "vdbench's own: resp {} ms, read resp {} ms, write resp {} ms",
        values[1], values[6], values[8]
    );
    Ok(())
}

fn kind(name: &str) -> Option<OperationKind> {
    match name {
        "mkdir" => Some(OperationKind::MakeDirectory),
        "rmdir" => Some(OperationKind::RemoveDirectory),
        "create" => Some(OperationKind::Create),
        "open" => Some(OperationKind::Open),
        "close" => Some(OperationKind::Close),
        "delete" => Some(OperationKind::Remove),
        "getattr" => Some(OperationKind::Stat),
        "setattr" => Some(OperationKind::SetAttributes),
        _ => None,
    }
}
