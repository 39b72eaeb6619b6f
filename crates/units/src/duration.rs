//! Durations as people type them (`60s`, `5m`, `1h30m`, `250ms`); in documents they are `*_ns` integers.

use std::fmt::Write as _;
use std::time::Duration;

use crate::parse::{Grammar, ParseError};

const GRAMMAR: Grammar = Grammar { quantity: "duration", example: "60s", accepted: "ns, us, ms, s, m, h, d" };

/// Parses `60s`, `5m`, `1h30m`, `250ms`. A bare number is refused: seconds or minutes can't be guessed.
pub fn parse_duration(text: &str) -> Result<Duration, ParseError> {
    let mut rest = text.trim();
    let mut total = 0.0;
    loop {
        let (number, after) = GRAMMAR.split(rest)?;
        let end = after.find(|c: char| c.is_ascii_digit() || c.is_whitespace()).unwrap_or(after.len());
        let unit: f64 = match &after[..end] {
            "" => return Err(GRAMMAR.no_unit(text)),
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" | "sec" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            other => return Err(GRAMMAR.unknown_unit(text, other)),
        };
        total += number * unit;
        rest = after[end..].trim_start();
        if rest.is_empty() {
            return Duration::try_from_secs_f64(total).map_err(|_| GRAMMAR.out_of_range(text));
        }
    }
}

/// Prints with the unit that fits: `850 ns`, `1.25 ms`, `12.3 s`, `4m 05s`, `2h 10m`.
pub fn format_duration(duration: Duration) -> String {
    let nanos = duration.as_nanos() as f64;
    let seconds = duration.as_secs();
    match duration {
        d if d < Duration::from_micros(1) => format!("{nanos:.0} ns"),
        d if d < Duration::from_millis(1) => format!("{} µs", three_digits(nanos / 1e3)),
        d if d < Duration::from_secs(1) => format!("{} ms", three_digits(nanos / 1e6)),
        d if d < Duration::from_secs(100) => format!("{} s", three_digits(nanos / 1e9)),
        d if d < Duration::from_hours(1) => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

fn three_digits(value: f64) -> String {
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write!(text, "{value:.decimals$}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_what_people_type() {
        assert_eq!(parse_duration("60s").unwrap(), Duration::from_mins(1));
        assert_eq!(parse_duration("1h30m").unwrap(), Duration::from_mins(90));
        assert_eq!(parse_duration("250 ms").unwrap(), Duration::from_millis(250));
        assert_eq!(parse_duration("1m 5s").unwrap(), Duration::from_secs(65));
        assert!(parse_duration("60").unwrap_err().to_string().contains("has no unit"));
        assert!(parse_duration("5 parsecs").is_err());
    }

    #[test]
    fn prints_with_three_digits() {
        assert_eq!(format_duration(Duration::from_nanos(850)), "850 ns");
        assert_eq!(format_duration(Duration::from_micros(1250)), "1.25 ms");
        assert_eq!(format_duration(Duration::from_millis(12_340)), "12.3 s");
        assert_eq!(format_duration(Duration::from_secs(245)), "4m 05s");
        assert_eq!(format_duration(Duration::from_mins(130)), "2h 10m");
    }

    proptest::proptest! {
        #[test]
        fn parsing_never_panics(text in "[0-9.a-zµ ]{0,16}") {
            let _ = parse_duration(&text);
        }
    }
}
