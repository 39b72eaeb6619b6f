//! What each host did, where there were several, and which one held up the others.

use record::HostResult;

use super::phases::{Phase, Rate, median};
use super::ranks::RankSpread;
use crate::table::Table;
use crate::text;

/// One host over the repetitions.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSpread {
    /// Its rate, in the phase's unit; `rank` is its place among the hosts.
    pub rate: RankSpread,
    /// Its ranks.
    pub ranks: u32,
    /// Median share of its CPU time that was in use.
    pub cpu: f64,
    /// What limited it, in the last repetition.
    pub limited_by: String,
    /// What is not known of its clock, at worst, and by how much its ranks began late, ns.
    pub clock: (u64, u64),
}

/// The hosts of a phase, in their order; none where there was one host.
pub fn spreads(phase: &Phase<'_>) -> Vec<HostSpread> {
    let rate = phase.rate();
    let mut names: Vec<&str> = Vec::new();
    for host in phase.results.iter().flat_map(|(_, result)| &result.hosts) {
        if !names.contains(&host.host.as_str()) {
            names.push(&host.host);
        }
    }
    let spread = |(place, name): (usize, &&str)| {
        let results: Vec<&HostResult> = phase
            .results
            .iter()
            .flat_map(|(_, result)| &result.hosts)
            .filter(|host| host.host == **name)
            .collect();
        let mut rates: Vec<f64> = results.iter().map(|host| rate.of_host(host)).collect();
        let mut cpu: Vec<f64> = results.iter().map(|host| host.cpu_busy_share).collect();
        let middle = median(&mut rates)?;
        let worst = |of: fn(&HostResult) -> u64| results.iter().map(|host| of(host)).max().unwrap_or(0);
        let limit = results.last().and_then(|host| host.limit.as_ref());
        Some(HostSpread {
            rate: RankSpread {
                rank: place as u32,
                host: (*name).to_owned(),
                min: *rates.first()?,
                median: middle,
                max: *rates.last()?,
            },
            ranks: results.last()?.ranks,
            cpu: median(&mut cpu)?,
            limited_by: limit.map_or_else(|| text::NONE.to_owned(), |limit| limit.cause.words().to_owned()),
            clock: (worst(|host| host.clock_uncertainty_ns), worst(|host| host.start_skew_ns)),
        })
    };
    names.iter().enumerate().filter_map(spread).collect()
}

/// Names the slowest host and says how far it is behind.
pub fn sentence(phase: &Phase<'_>, spreads: &[HostSpread]) -> String {
    let by_rate = |a: &&HostSpread, b: &&HostSpread| a.rate.median.total_cmp(&b.rate.median);
    let Some(slowest) = spreads.iter().min_by(by_rate) else {
        return "No host finished its share.".to_owned();
    };
    let middle = median(&mut spreads.iter().map(|s| s.rate.median).collect::<Vec<_>>()).unwrap_or(0.0);
    let behind = if middle > 0.0 { slowest.rate.median / middle - 1.0 } else { 0.0 };
    let rate = phase.rate();
    format!(
        "{} hosts. Slowest is {} at {} ({} against the median host at {}).",
        spreads.len(),
        slowest.rate.host,
        rate.show(slowest.rate.median),
        text::signed_percent(behind),
        rate.show(middle)
    )
}

/// Rows for the hosts: all of them up to `most`, else the slowest ones.
pub fn table(phase: &Phase<'_>, spreads: &[HostSpread], most: usize) -> Table {
    let mut shown: Vec<&HostSpread> = spreads.iter().collect();
    let caption = if shown.len() > most {
        shown.sort_by(|a, b| a.rate.median.total_cmp(&b.rate.median));
        shown.truncate(most);
        format!("{}: the {most} slowest of {} hosts", phase.title(), spreads.len())
    } else {
        format!("{}: rate of each host", phase.title())
    };
    let unit = phase.rate().unit();
    let digits = usize::from(phase.rate() == Rate::Bytes);
    let mut table = Table::new(format!("{caption} ({unit}), over the repetitions"))
        .words(["Host"])
        .figures(["Ranks", "Lowest", "Median", "Highest", "CPU busy", "Clock known to", "Began late by"])
        .words(["Limited by"]);
    for host in shown {
        table.row(vec![
            host.rate.host.as_str().into(),
            host.ranks.to_string().into(),
            format!("{:.digits$}", host.rate.min).into(),
            format!("{:.digits$}", host.rate.median).into(),
            format!("{:.digits$}", host.rate.max).into(),
            format!("{:.0} %", host.cpu * 100.0).into(),
            span(host.clock.0).into(),
            span(host.clock.1).into(),
            host.limited_by.as_str().into(),
        ]);
    }
    table
}

fn span(nanoseconds: u64) -> String {
    units::format_duration(std::time::Duration::from_nanos(nanoseconds))
}
