//! Figures as tables show them: without a unit, which the column's name has.

use record::DesignSheet;
use units::Money;

/// MB/s with digits in groups of three; `-` where nothing is known.
pub fn mb(bytes_per_second: Option<f64>) -> String {
    bytes_per_second.map_or_else(|| "-".to_owned(), |rate| number(rate / 1e6))
}

/// US dollars without their sign; `?` where a price is not known, and `~` before one that is in doubt.
pub fn usd(amount: Option<f64>, doubtful: bool) -> String {
    let sign = if doubtful { "~" } else { "" };
    amount.map_or_else(|| "?".to_owned(), |amount| format!("{sign}{}", number(amount)))
}

/// US dollars with their sign.
pub fn dollars(amount: Option<f64>) -> String {
    amount.map_or_else(|| "an unknown price".to_owned(), |amount| Money::usd(amount).to_string())
}

/// Whether a price of the storage or the clients (`None`) is in doubt.
pub fn doubtful(sheet: &DesignSheet, storage: Option<&str>) -> bool {
    sheet.costs.iter().any(|cost| cost.storage.as_deref() == storage && cost.doubt.is_some())
}

/// Digits in groups of three; one decimal below a hundred.
pub fn number(value: f64) -> String {
    if value.abs() < 99.95 {
        let text = format!("{value:.1}");
        return text.strip_suffix(".0").map_or(text.clone(), str::to_owned);
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0.0 { format!("-{text}") } else { text }
}

/// `80:20` of a share of reads.
pub fn mix(read_share: f64) -> String {
    let reads = (read_share * 1e4).round() / 100.0;
    format!("{reads}:{}", 100.0 - reads)
}

/// Capacity in TiB.
pub fn tib(bytes: u64) -> String {
    format!("{} TiB", number(bytes as f64 / (1u64 << 40) as f64))
}

/// `+12 %`; `-` where there is no next limit.
pub fn headroom(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:+.0} %", share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups() {
        let shown = |value| number(value);
        assert_eq!(
            [shown(9_216.0), shown(1_234_567.4), shown(99.96), shown(61.32), shown(0.0)],
            ["9,216", "1,234,567", "100", "61.3", "0"]
        );
        assert_eq!(number(-1_500.0), "-1,500");
        assert_eq!(mb(None), "-");
        assert_eq!(usd(Some(18_757.6), true), "~18,758");
        assert_eq!(mix(0.8), "80:20");
    }
}
