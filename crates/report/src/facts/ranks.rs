//! How evenly the ranks worked, and which one held up the others.

use super::phases::{Phase, Rate, median};
use crate::table::Table;
use crate::text;

/// One rank's rate over the repetitions, in the phase's unit.
#[derive(Debug, Clone, PartialEq)]
pub struct RankSpread {
    /// Number of the rank.
    pub rank: u32,
    /// Host it ran on.
    pub host: String,
    /// Lowest of the repetitions.
    pub min: f64,
    /// Median of the repetitions.
    pub median: f64,
    /// Highest of the repetitions.
    pub max: f64,
}

/// The ranks of a phase, by number.
pub fn spreads(phase: &Phase<'_>) -> Vec<RankSpread> {
    let rate = phase.rate();
    let mut values: std::collections::BTreeMap<u32, (String, Vec<f64>)> = std::collections::BTreeMap::new();
    for rank in phase.results.iter().flat_map(|(_, result)| &result.ranks) {
        let value = rate.of_rank(rank);
        if value.is_finite() {
            values.entry(rank.rank).or_insert_with(|| (rank.host.clone(), Vec::new())).1.push(value);
        }
    }
    values
        .into_iter()
        .filter_map(|(rank, (host, mut values))| {
            let median = median(&mut values)?;
            Some(RankSpread { rank, host, min: *values.first()?, median, max: *values.last()? })
        })
        .collect()
}

/// Names the slowest rank and says how far it is behind.
pub fn sentence(phase: &Phase<'_>, spreads: &[RankSpread]) -> String {
    let slowest = spreads.iter().min_by(|a, b| a.median.total_cmp(&b.median));
    let fastest = spreads.iter().max_by(|a, b| a.median.total_cmp(&b.median));
    let (Some(slowest), Some(fastest)) = (slowest, fastest) else {
        return "No rank finished its share.".to_owned();
    };
    let rate = phase.rate();
    if spreads.len() == 1 {
        return format!("One rank took part, at {}.", rate.show(slowest.median));
    }
    let middle = median(&mut spreads.iter().map(|s| s.median).collect::<Vec<_>>()).unwrap_or(0.0);
    let behind = if middle > 0.0 { slowest.median / middle - 1.0 } else { 0.0 };
    format!(
        "Slowest is rank {} on {} at {} ({} against the median rank at {}); fastest is rank {} at {}.",
        slowest.rank,
        slowest.host,
        rate.show(slowest.median),
        text::signed_percent(behind),
        rate.show(middle),
        fastest.rank,
        rate.show(fastest.median)
    )
}

/// Rows for the ranks: all of them up to `most`, else the slowest ones.
pub fn table(phase: &Phase<'_>, spreads: &[RankSpread], most: usize) -> Table {
    let mut shown: Vec<&RankSpread> = spreads.iter().collect();
    let caption = if shown.len() > most {
        shown.sort_by(|a, b| a.median.total_cmp(&b.median));
        shown.truncate(most);
        format!("{}: the {most} slowest of {} ranks", phase.title(), spreads.len())
    } else {
        format!("{}: rate of each rank", phase.title())
    };
    let unit = phase.rate().unit();
    let digits = usize::from(phase.rate() == Rate::Bytes);
    let mut table = Table::new(format!("{caption} ({unit}), over the repetitions"))
        .figures(["Rank"])
        .words(["Host"])
        .figures(["Lowest", "Median", "Highest"]);
    for rank in shown {
        table.row(vec![
            rank.rank.to_string().into(),
            rank.host.as_str().into(),
            format!("{:.digits$}", rank.min).into(),
            format!("{:.digits$}", rank.median).into(),
            format!("{:.digits$}", rank.max).into(),
        ]);
    }
    table
}
