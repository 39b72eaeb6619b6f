//! `flatfile.html`: one line of column names, then one line of values per interval.

use fault::Result;

use super::{Point, Row, found, interval, shares, version};
use crate::clock;
use crate::found::Found;
use crate::page::Page;

/// Columns that tell points of one run apart.
const LOOPS: [&str; 7] = ["xfersize", "threads", "rdpct", "rhpct", "whpct", "seekpct", "reqrate"];

/// Reads the file.
pub fn read(page: &Page) -> Result<Found> {
    let mut columns: Vec<&str> = Vec::new();
    let mut points: Vec<(Point, Vec<String>)> = Vec::new();
    for (number, line) in page.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.first() {
            Some(&"tod") => columns = words,
            Some(first) if !columns.is_empty() && clock::seconds_of_day(first).is_some() => {
                row(page, number, &columns, &words, &mut points)?;
            }
            _ => {}
        }
    }
    let points = named(points);
    if points.iter().all(|point| point.total().is_none()) {
        return Err(page.missing("a line of totals with the interval `avg_FIRST-LAST`"));
    }
    Ok(found(&points, version(page), None))
}

fn row<'a>(
    page: &Page,
    number: usize,
    columns: &[&str],
    words: &[&'a str],
    points: &mut Vec<(Point, Vec<String>)>,
) -> Result<()> {
    if words.len() != columns.len() {
        return Err(page.wrong(
            number,
            &format!("{} values, as the heading names", columns.len()),
            &words.join(" "),
        ));
    }
    let text = |name: &str| -> Option<&'a str> {
        columns.iter().position(|column| column.eq_ignore_ascii_case(name)).map(|place| words[place])
    };
    let value = |name: &str| {
        let text = text(name).unwrap_or_default();
        page.number(number, &format!("a number in column `{name}`"), text)
    };
    let run = text("Run").unwrap_or("rd").to_owned();
    let label = text("Interval").unwrap_or_default();
    let Some((last, total_from)) = interval(label) else {
        // Lines of other totals, such as those of a format.
        return Ok(());
    };
    let (rate, mib, percent) = (value("rate")?, value("MB/sec")?, value("read%")?);
    let responses = ["resp", "read_resp", "write_resp", "resp_max", "resp_std"];
    let stated: Vec<String> =
        responses.iter().filter_map(|name| Some(format!("{name} {} ms", text(name)?))).collect();
    let loops = LOOPS.iter().map(|name| text(name).map_or(String::new(), |value| format!("{name}={value}")));
    let row = Row {
        time: text("tod").and_then(clock::seconds_of_day),
        interval: last,
        total_from,
        parts: shares(rate, mib, percent),
        stated: format!("vdbench's own: {}", stated.join(", ")),
        transfer: text("bytes/io").and_then(|text| text.parse::<f64>().ok()).map(|bytes| bytes as u64),
    };
    let ended = |point: &Point| {
        point.name != run
            || point.total().is_some()
            || point.rows.last().is_some_and(|before| before.interval >= last)
    };
    let fresh = points.last().is_none_or(|(point, _)| {
        ended(point) && !(point.name == run && total_from.is_some() && point.total().is_none())
    });
    if fresh {
        let threads = text("threads").and_then(|text| text.parse().ok());
        points.push((Point { name: run, threads, ..Point::default() }, loops.collect()));
    }
    if let Some((point, _)) = points.last_mut() {
        point.rows.push(row);
    }
    Ok(())
}

/// Points of one run are named by what differs between them.
fn named(points: Vec<(Point, Vec<String>)>) -> Vec<Point> {
    let all: Vec<(String, Vec<String>)> =
        points.iter().map(|(point, loops)| (point.name.clone(), loops.clone())).collect();
    points
        .into_iter()
        .map(|(mut point, loops)| {
            let same = || all.iter().filter(|(name, _)| *name == point.name);
            let differing = loops
                .iter()
                .enumerate()
                .filter(|(place, value)| same().any(|(_, other)| other.get(*place) != Some(value)));
            let words: Vec<&str> =
                differing.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty()).collect();
            if !words.is_empty() {
                point.name = format!("{} {}", point.name, words.join(" "));
            }
            point
        })
        .collect()
}
