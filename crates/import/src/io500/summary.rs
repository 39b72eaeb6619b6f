//! `result_summary.txt`, which is also what IO500 prints.

use fault::Result;

use super::{Stated, Total, found};
use crate::found::Found;
use crate::page::Page;

/// Reads the lines.
pub fn read(page: &Page) -> Result<Found> {
    let version = page.after("IO500 version").map(|text| text.split(" (").next().unwrap_or(text).to_owned());
    let (mut stated, mut total) = (Vec::new(), None);
    let mut reasons: Vec<String> = Vec::new();
    for (number, line) in page.lines() {
        let line = line.trim();
        if line.starts_with("[RESULT") {
            let mut one = result(page, number, line)?;
            let invalid = line.contains("INVALID");
            if invalid && reasons.is_empty() {
                reasons.push("marked [INVALID]".to_owned());
            }
            if invalid {
                one.invalid = std::mem::take(&mut reasons);
            }
            reasons.clear();
            stated.push(one);
        } else if line.starts_with("[SCORE ") {
            total = Some(score(page, number, line)?);
        } else if line.starts_with("ERROR INVALID") {
            reasons.push(line.to_owned());
        }
    }
    if stated.is_empty() {
        return Err(page.missing("`[RESULT] PHASE N GiB/s : time N seconds`"));
    }
    Ok(found(&stated, total, version, None))
}

/// `[RESULT]       ior-easy-write        0.186620 GiB/s : time 0.027 seconds [INVALID]`.
fn result(page: &Page, number: usize, line: &str) -> Result<Stated> {
    let expected = "`[RESULT] PHASE N GiB/s|kIOPS : time N seconds`";
    let rest = line.split_once(']').map_or("", |(_, rest)| rest);
    let words: Vec<&str> = rest.split_whitespace().filter(|word| *word != ":").collect();
    let (Some(name), Some(score), Some(unit), Some(&"time"), Some(seconds)) =
        (words.first(), words.get(1), words.get(2), words.get(3), words.get(4))
    else {
        return Err(page.wrong(number, expected, line));
    };
    if !["gib/s", "gb/s", "kiops"].contains(&unit.to_lowercase().as_str()) {
        return Err(page.wrong(number, expected, line));
    }
    Ok(Stated {
        name: (*name).to_owned(),
        score: page.number(number, "a score", score)?,
        seconds: page.number(number, "a time in seconds", seconds)?,
        ..Stated::default()
    })
}

/// `[SCORE ] Bandwidth 0.172092 GiB/s : IOPS 292.625029 kiops : TOTAL 7.096374 [INVALID]`.
fn score(page: &Page, number: usize, line: &str) -> Result<Total> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let after = |name: &str| {
        let place = words.iter().position(|word| *word == name);
        let text = place.and_then(|place| words.get(place + 1)).copied().unwrap_or_default();
        page.number(number, &format!("a number after `{name}`"), text)
    };
    Ok(Total { bandwidth: after("Bandwidth")?, metadata: after("IOPS")?, total: after("TOTAL")? })
}
