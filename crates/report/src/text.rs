//! Figures and lists as text. Every figure comes out with its unit, and figures of one kind always with the same digits.

use std::fmt::Write as _;
use std::time::Duration;

use units::Bandwidth;

/// Stands where a figure would have no meaning.
pub const NONE: &str = "–";

/// A finite figure through `show`, or a dash.
fn finite(value: f64, show: impl Fn(f64) -> String) -> String {
    if value.is_finite() { show(value) } else { NONE.to_owned() }
}

/// `171.2 MB/s`, always in MB/s (10^6) with one decimal.
pub fn mb(rate: Bandwidth) -> String {
    finite(rate.as_mb(), |mb| format!("{mb:.1} MB/s"))
}

/// `9,216 MB/s` of MB/s: figures of planning have no decimals, except small ones.
pub fn whole_mb(mb: f64) -> String {
    finite(mb, |mb| format!("{} MB/s", grouped(mb)))
}

/// `$12,345`, with cents below a hundred.
pub fn usd(amount: f64) -> String {
    finite(amount, |amount| {
        if amount.abs() < 99.995 { format!("${amount:.2}") } else { format!("${}", grouped(amount)) }
    })
}

/// `$12k`, for axes.
pub fn short_usd(amount: f64) -> String {
    let (value, unit) = match amount {
        amount if amount.abs() >= 1e6 => (amount / 1e6, "M"),
        amount if amount.abs() >= 1e3 => (amount / 1e3, "k"),
        amount => (amount, ""),
    };
    finite(value, |value| format!("${}{unit}", (value * 100.0).round() / 100.0))
}

/// Capacity in TiB, or GiB below one.
pub fn capacity(bytes: u64) -> String {
    let tib = bytes as f64 / (1u64 << 40) as f64;
    if tib >= 1.0 { format!("{} TiB", grouped(tib)) } else { format!("{} GiB", grouped(tib * 1024.0)) }
}

/// Digits in groups of three; one decimal below a hundred.
pub fn grouped(value: f64) -> String {
    if value.abs() < 99.95 {
        let text = format!("{value:.1}");
        return text.strip_suffix(".0").map_or(text.clone(), str::to_owned);
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = if value < 0.0 { "−".to_owned() } else { String::new() };
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `163.3 MiB/s`, always in MiB/s (2^20) with one decimal.
pub fn mib(rate: Bandwidth) -> String {
    finite(rate.as_mib(), |mib| format!("{mib:.1} MiB/s"))
}

/// `40.31 s`.
pub fn seconds(nanoseconds: u64) -> String {
    format!("{:.2} s", nanoseconds as f64 / 1e9)
}

/// `+12.3 %`, with a true minus sign.
pub fn signed_percent(share: f64) -> String {
    finite(share * 100.0, |percent| {
        let sign = if percent < 0.0 { '−' } else { '+' };
        format!("{sign}{:.1} %", percent.abs())
    })
}

/// `1 rank`, `8 ranks`.
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// `a, b and c`.
pub fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `repetition 2`, `repetitions 1–3`, `repetitions 1, 3`.
pub fn repetitions(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, end)) if *number == end.saturating_add(1) => *end = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let parts: Vec<String> = runs
        .iter()
        .map(|(start, end)| if start == end { start.to_string() } else { format!("{start}–{end}") })
        .collect();
    let word = if numbers.len() == 1 { "repetition" } else { "repetitions" };
    format!("{word} {}", parts.join(", "))
}

/// A command line that a POSIX shell splits back into `words`.
pub fn shell(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    let quote = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// At most `limit` characters, with an ellipsis where something was left out.
pub fn shorten(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit.saturating_sub(1)).chain(['…']).collect()
}

/// A power of ten or a simple multiple of it as a latency: `10 µs`, `2 ms`.
pub fn round_latency(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        n if n < 1e3 => (n, "ns"),
        n if n < 1e6 => (n / 1e3, "µs"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    format!("{} {unit}", (value * 1e3).round() / 1e3)
}

/// A latency with three digits, or a dash for a distribution without operations.
pub fn latency(duration: Option<Duration>) -> String {
    duration.map_or_else(|| NONE.to_owned(), units::format_duration)
}

/// One character per value, from the lowest block for zero to the full block for the largest.
pub fn sparkline(values: &[f64]) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = values.iter().copied().fold(0.0, f64::max);
    values
        .iter()
        .map(
            |value| {
                if most > 0.0 { BLOCKS[((value / most * 7.0).round() as usize).min(7)] } else { BLOCKS[0] }
            },
        )
        .collect()
}

/// Adds a line to a document under construction.
pub fn line(document: &mut String, text: impl AsRef<str>) {
    // Writing to a String cannot fail.
    let _ = writeln!(document, "{}", text.as_ref());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        let words = ["forebay", "prove", "it's here", "", "$(rm x)"].map(str::to_owned);
        assert_eq!(shell(&words), r"forebay prove 'it'\''s here' '' '$(rm x)'");
    }

    #[test]
    fn runs_of_repetitions_are_joined() {
        assert_eq!(repetitions(&[2]), "repetition 2");
        assert_eq!(repetitions(&[1, 2, 3, 5]), "repetitions 1–3, 5");
    }

    #[test]
    fn figures_keep_their_unit_and_never_say_nan() {
        assert_eq!(mb(Bandwidth::mb_per_second(171.23)), "171.2 MB/s");
        assert_eq!(mb(Bandwidth::bytes_per_second(f64::NAN)), "–");
        assert_eq!(signed_percent(-0.123), "−12.3 %");
        assert_eq!(round_latency(2e6), "2 ms");
        assert_eq!([whole_mb(9216.2), usd(12_345.6), usd(3.5)], ["9,216 MB/s", "$12,346", "$3.50"]);
        assert_eq!([short_usd(120_000.0), short_usd(1.5e6)], ["$120k", "$1.5M"]);
        assert_eq!([capacity(100 << 40), capacity(1 << 39)], ["100 TiB", "512 GiB"]);
        assert_eq!(sparkline(&[0.0, 1.0, 2.0]), "▁▅█");
        assert_eq!(sparkline(&[0.0]), "▁");
    }
}
