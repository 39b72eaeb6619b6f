//! Values: sizes, percentages, times, names, and the lists that loops go through.

use std::time::Duration;

use units::{Bytes, Ratio};

use super::lexer::{Parameter, Word};
use super::trouble::Troubles;
use crate::workload::{Arrival, TransferSize, WeightedSize};

/// A loop of more points than this is a slip of the keyboard.
const MOST_POINTS: usize = 10_000;

/// Where transfers go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seek {
    /// A new random address with this probability in percent, else the next one: 100 is random, 0 sequential.
    Percent(f64),
    /// In order from a random start.
    RandomStart,
    /// In order, and stop at the end of the file.
    ToTheEnd,
    /// Backwards.
    Backwards,
}

/// How files are opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags {
    /// `o_direct`, `directio`.
    pub direct: bool,
    /// `o_sync`, `o_dsync`.
    pub synchronous: bool,
    /// `fsync`: at the end, before closing.
    pub fsync: bool,
}

impl Flags {
    /// Those of both.
    pub fn and(self, other: Self) -> Self {
        Self {
            direct: self.direct || other.direct,
            synchronous: self.synchronous || other.synchronous,
            fsync: self.fsync || other.fsync,
        }
    }
}

/// A part of a file: in percent or bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Part {
    /// From and to, in percent of the file.
    Percent(f64, f64),
    /// From and to, in bytes.
    Bytes(Bytes, Bytes),
}

/// How fast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// As fast as it goes.
    Max,
    /// Operations per second.
    Fixed(f64),
}

impl Rate {
    /// As a header says it.
    pub fn text(self) -> String {
        match self {
            Self::Max => "max".to_owned(),
            Self::Fixed(rate) => format!("{rate}"),
        }
    }
}

/// Reads values and keeps what is wrong with them.
pub struct Reader<'a> {
    /// Everything that is wrong so far.
    pub troubles: &'a mut Troubles,
}

/// `None` of everything that is wrong and has been told.
pub type Read<T> = Option<T>;

impl Reader<'_> {
    fn wrong<T>(&mut self, word: &Word, message: String, hint: &str) -> Read<T> {
        self.troubles.at(&word.place, message, "this value").hint(hint);
        None
    }

    /// The only value of a parameter.
    pub fn one<'p>(&mut self, parameter: &'p Parameter) -> Read<&'p Word> {
        if let [one] = parameter.values.as_slice() {
            return Some(one);
        }
        let message = format!("`{}` takes one value", parameter.key.text);
        self.troubles.at(&parameter.place(), message, "several").hint("write one value");
        None
    }

    /// A number of bytes.
    pub fn bytes(&mut self, word: &Word) -> Read<Bytes> {
        match word.text.parse::<Bytes>() {
            Ok(bytes) => Some(bytes),
            Err(error) => self.wrong(word, error.to_string(), "sizes are written as 4k, 1m, 64g, 1t"),
        }
    }

    /// A number.
    pub fn number(&mut self, word: &Word) -> Read<f64> {
        match word.text.parse::<f64>() {
            Ok(number) if number.is_finite() => Some(number),
            _ => self.wrong(word, format!("`{}` is not a number", word.text), "write a number, such as 100"),
        }
    }

    /// A whole number.
    pub fn count(&mut self, word: &Word) -> Read<u32> {
        match word.text.parse::<u32>() {
            Ok(count) if count > 0 => Some(count),
            _ => self.wrong(word, format!("`{}` is not a whole number above 0", word.text), "such as 8"),
        }
    }

    /// A percentage between 0 and 100.
    pub fn percent(&mut self, word: &Word) -> Read<f64> {
        let number = word.text.strip_suffix('%').unwrap_or(&word.text).parse::<f64>();
        match number {
            Ok(number) if (0.0..=100.0).contains(&number) => Some(number),
            _ => self.wrong(
                word,
                format!("`{}` is not a percentage between 0 and 100", word.text),
                "such as 70",
            ),
        }
    }

    /// Seconds, or a number with `s`, `m`, `h`.
    pub fn time(&mut self, word: &Word) -> Read<Duration> {
        let (digits, factor) = match word.text.char_indices().last() {
            Some((at, 'h')) => (&word.text[..at], 3600.0),
            Some((at, 'm')) => (&word.text[..at], 60.0),
            Some((at, 's')) => (&word.text[..at], 1.0),
            _ => (word.text.as_str(), 1.0),
        };
        match digits.parse::<f64>().map(|number| Duration::try_from_secs_f64(number * factor)) {
            Ok(Ok(time)) => Some(time),
            _ => self.wrong(
                word,
                format!("`{}` is not a time", word.text),
                "write seconds, such as 60, or 10m, 1h",
            ),
        }
    }

    /// A share of bytes that are left out: `compratio=2` halves.
    pub fn reduction(&mut self, word: &Word) -> Read<Ratio> {
        let text = word.text.split(':').next().unwrap_or(&word.text);
        match text.parse::<f64>() {
            Ok(ratio) if ratio >= 1.0 && ratio.is_finite() => Some(Ratio::new(1.0 - 1.0 / ratio)),
            _ => self.wrong(word, format!("`{}` is not a ratio of 1 or more", word.text), "2 stands for 2:1"),
        }
    }

    /// `seekpct`.
    pub fn seek(&mut self, word: &Word) -> Read<Seek> {
        let text = word.text.to_ascii_lowercase();
        let begins = |name: &str| text.len() >= 2 && name.starts_with(&text);
        Some(match text.as_str() {
            "-1" => Seek::Backwards,
            "eof" => Seek::ToTheEnd,
            "seqnz" | "sequentialnz" => Seek::RandomStart,
            _ if begins("random") => Seek::Percent(100.0),
            _ if begins("sequential") => Seek::Percent(0.0),
            _ => match text.parse::<f64>() {
                Ok(percent) if (0.0..=100.0).contains(&percent) => Seek::Percent(percent),
                _ => {
                    return self.wrong(
                        word,
                        format!("`{}` is no `seekpct`", word.text),
                        "0 to 100, `random`, `sequential`, `seqnz`, `eof` or -1",
                    );
                }
            },
        })
    }

    /// `xfersize` of a workload: one, `(4k,50,8k,50)`, or `(min,max,align)`.
    pub fn sizes(&mut self, parameter: &Parameter) -> Read<TransferSize> {
        match parameter.values.as_slice() {
            [one] => Some(TransferSize::Fixed(self.bytes(one)?)),
            [smallest, largest, step] => Some(TransferSize::Range {
                smallest: self.bytes(smallest)?,
                largest: self.bytes(largest)?,
                step: self.bytes(step)?,
            }),
            _ => self.weighted(parameter).map(TransferSize::Weighted),
        }
    }

    /// `(size,percent,size,percent,...)`; percentages add up to 100.
    pub fn weighted(&mut self, parameter: &Parameter) -> Read<Vec<WeightedSize>> {
        let mut sizes = Vec::new();
        let mut sum = 0.0;
        for pair in parameter.values.chunks(2) {
            let [size, share] = pair else {
                let message = format!("`{}` lists sizes with a percentage each", parameter.key.text);
                self.troubles.at(&parameter.place(), message, "one has none").hint("such as (4k,50,8k,50)");
                return None;
            };
            let (size, share) = (self.bytes(size)?, self.percent(share)?);
            sum += share;
            sizes.push(WeightedSize { size, weight: (share * 100.0).round() as u32 });
        }
        if (sum - 100.0).abs() > 1.0 {
            let message = format!("the percentages of `{}` add up to {sum}", parameter.key.text);
            self.troubles.at(&parameter.place(), message, "not 100").hint("together they must be 100");
            return None;
        }
        Some(sizes)
    }

    /// `openflags`.
    pub fn flags(&mut self, parameter: &Parameter) -> Read<Flags> {
        let mut flags = Flags::default();
        for word in &parameter.values {
            match word.text.to_ascii_lowercase().as_str() {
                "o_direct" | "directio" => flags.direct = true,
                "o_sync" | "o_dsync" | "o_rsync" => flags.synchronous = true,
                "fsync" => flags.fsync = true,
                "none" => {}
                _ => {
                    let message = format!("`{}` is no flag that files are opened with here", word.text);
                    return self.wrong(
                        word,
                        message,
                        "`o_direct`, `directio`, `o_sync`, `o_dsync`, `fsync` or `none`",
                    );
                }
            }
        }
        Some(flags)
    }

    /// `range=(min,max)`: percent, or bytes where they carry a unit.
    pub fn part(&mut self, parameter: &Parameter) -> Read<Part> {
        let [from, to] = parameter.values.as_slice() else {
            let message = "`range` is two values".to_owned();
            self.troubles.at(&parameter.place(), message, "not two").hint("such as (40,60) or (1g,2g)");
            return None;
        };
        let plain = |word: &Word| word.text.parse::<f64>().is_ok_and(|number| number <= 100.0);
        if plain(from) && plain(to) {
            return Some(Part::Percent(self.percent(from)?, self.percent(to)?));
        }
        Some(Part::Bytes(self.bytes(from)?, self.bytes(to)?))
    }

    /// `iorate=` and `fwdrate=` without series and curves.
    pub fn rates(&mut self, parameter: &Parameter) -> Read<Vec<Rate>> {
        if let [word] = parameter.values.as_slice()
            && "max".starts_with(&word.text.to_ascii_lowercase())
        {
            return Some(vec![Rate::Max]);
        }
        let mut rates = Vec::new();
        for (text, number) in self.numbers(parameter)? {
            match number {
                None => rates.push(Rate::Max),
                Some(number) if number > 0.0 => rates.push(Rate::Fixed(number)),
                Some(_) => {
                    return self.wrong(
                        &text,
                        format!("`{}` is no rate", text.text),
                        "write a number above 0, or `max`",
                    );
                }
            }
        }
        Some(rates)
    }

    /// `distribution=`: how starts are spread, and whether rates vary.
    pub fn distribution(&mut self, parameter: &Parameter) -> Read<(Arrival, bool)> {
        let (mut arrival, mut varies) = (Arrival::Poisson, false);
        for word in &parameter.values {
            let text = word.text.to_ascii_lowercase();
            let begins = |name: &str| !text.is_empty() && name.starts_with(&text);
            match () {
                () if begins("exponential") => arrival = Arrival::Poisson,
                () if begins("uniform") => arrival = Arrival::Jittered,
                () if begins("deterministic") => arrival = Arrival::Uniform,
                () if begins("variable") || begins("spike") => varies = true,
                () => {
                    let message = format!("`{}` is no distribution", word.text);
                    return self.wrong(
                        word,
                        message,
                        "`exponential`, `uniform`, `deterministic`, `variable` or `spike`",
                    );
                }
            }
        }
        Some((arrival, varies))
    }

    /// Numbers of a loop: values, `a-b,step`, or `a-b,d` for doubling (either way down when a is above b). A value that
    /// is `max` comes as none.
    pub fn numbers(&mut self, parameter: &Parameter) -> Read<Vec<(Word, Option<f64>)>> {
        self.listed(parameter, |reader, word| {
            if word.text.eq_ignore_ascii_case("max") { Some(None) } else { reader.number(word).map(Some) }
        })
        .map(|all| all.into_iter().collect())
    }

    /// Sizes of a loop, likewise: `(4k-64k,d)`.
    pub fn size_list(&mut self, parameter: &Parameter) -> Read<Vec<(Word, Bytes)>> {
        let listed =
            self.listed(parameter, |reader, word| reader.bytes(word).map(|size| Some(size.get() as f64)))?;
        Some(listed.into_iter().map(|(word, size)| (word, Bytes::new(size.unwrap_or(0.0) as u64))).collect())
    }

    /// What a loop goes through. `read` reads one value as a number.
    fn listed(
        &mut self,
        parameter: &Parameter,
        mut read: impl FnMut(&mut Self, &Word) -> Read<Option<f64>>,
    ) -> Read<Vec<(Word, Option<f64>)>> {
        if let [range, step] = parameter.values.as_slice()
            && let Some((from, to)) = ends(range)
        {
            let (Some(from), Some(to)) = (read(self, &from)?, read(self, &to)?) else {
                return self.wrong(range, format!("`{}` is no range", range.text), "such as (1-64,d)");
            };
            let sizes = range.text.contains(|c: char| c.is_ascii_alphabetic());
            let numbers = if step.text.eq_ignore_ascii_case("d") {
                doubling(from, to)
            } else {
                let by = read(self, step)?.unwrap_or(0.0);
                if by <= 0.0 {
                    return self.wrong(
                        step,
                        format!("`{}` is no step", step.text),
                        "a number above 0, or `d` for doubling",
                    );
                }
                stepping(from, to, by)
            };
            if numbers.len() >= MOST_POINTS {
                return self.wrong(
                    range,
                    format!("`{}` has {MOST_POINTS} values and more", range.text),
                    "use a larger step",
                );
            }
            let word = |number: f64| Word { text: shown(number, sizes), place: range.place.clone() };
            return Some(numbers.into_iter().map(|number| (word(number), Some(number))).collect());
        }
        parameter.values.iter().map(|word| Some((word.clone(), read(self, word)?))).collect()
    }
}

/// Both ends of `a-b`.
fn ends(word: &Word) -> Option<(Word, Word)> {
    let (from, to) = word.text.split_once('-')?;
    let part = |text: &str| Word { text: text.to_owned(), place: word.place.clone() };
    (!from.is_empty() && !to.is_empty()).then(|| (part(from), part(to)))
}

fn doubling(from: f64, to: f64) -> Vec<f64> {
    let factor = if from <= to { 2.0 } else { 0.5 };
    let mut numbers = Vec::new();
    let mut number = from;
    let inside = |number: f64| if from <= to { number <= to } else { number >= to };
    while number > 0.0 && inside(number) && numbers.len() < MOST_POINTS {
        numbers.push(number);
        number *= factor;
    }
    numbers
}

fn stepping(from: f64, to: f64, by: f64) -> Vec<f64> {
    let count = ((to - from).abs() / by + 1e-9).floor().min(MOST_POINTS as f64) as usize;
    let by = if from <= to { by } else { -by };
    (0..=count).map(|number| from + by * number as f64).take(MOST_POINTS).collect()
}

/// A number as a person writes it.
fn shown(number: f64, size: bool) -> String {
    const UNITS: [(&str, f64); 4] =
        [("t", 1.1e12), ("g", 1_073_741_824.0), ("m", 1_048_576.0), ("k", 1024.0)];
    let unit = UNITS.iter().find(|(_, unit)| size && *unit <= number && (number / unit).fract() == 0.0);
    match unit {
        Some((name, unit)) => format!("{}{name}", number / unit),
        None => format!("{number}"),
    }
}

/// Whether `name` is one that a word of a list means: itself, `sd*`, or `sd1-sd4`.
pub fn means(word: &str, name: &str) -> bool {
    if let Some((from, to)) = word.split_once('-')
        && let (Some((head, first)), Some((other, last)), Some((own, number))) =
            (numbered(from), numbered(to), numbered(name))
    {
        return head == other && own == head && (first..=last).contains(&number);
    }
    match word.split_once('*') {
        Some((head, tail)) => {
            name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
        }
        None => word == name,
    }
}

/// `sd12` as (`sd`, 12).
fn numbered(name: &str) -> Option<(&str, u64)> {
    let at = name.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    let at = if name.is_char_boundary(at) { at } else { return None };
    Some((&name[..at], name[at..].parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::vdbench::trouble::Place;

    fn parameter(values: &[&str]) -> Parameter {
        let word = |text: &&str| Word { text: (*text).to_owned(), place: Place::new(0, 0..1) };
        Parameter { key: word(&"x"), values: values.iter().map(word).collect(), list: true }
    }

    fn numbers(values: &[&str]) -> Vec<String> {
        let mut troubles = Troubles::default();
        let listed = Reader { troubles: &mut troubles }.numbers(&parameter(values));
        listed.unwrap_or_default().into_iter().map(|(word, _)| word.text).collect()
    }

    #[test]
    fn loops_step_double_and_go_back() {
        assert_eq!(numbers(&["1", "2", "8"]), ["1", "2", "8"]);
        assert_eq!(numbers(&["1-64", "d"]), ["1", "2", "4", "8", "16", "32", "64"]);
        assert_eq!(numbers(&["64-8", "d"]), ["64", "32", "16", "8"]);
        assert_eq!(numbers(&["10-50", "20"]), ["10", "30", "50"]);
        assert_eq!(numbers(&["100-0", "50"]), ["100", "50", "0"]);
        assert!(numbers(&["1-64", "0"]).is_empty() && numbers(&["1-x", "1"]).is_empty());
    }

    #[test]
    fn sizes_keep_their_units() {
        let mut troubles = Troubles::default();
        let sizes = Reader { troubles: &mut troubles }.size_list(&parameter(&["4k-64k", "d"])).unwrap();
        let texts: Vec<&str> = sizes.iter().map(|(word, _)| word.text.as_str()).collect();
        assert_eq!(texts, ["4k", "8k", "16k", "32k", "64k"]);
        assert_eq!(sizes[4].1, Bytes::kib(64));
    }

    #[test]
    fn names_are_meant_by_wildcards_and_ranges() {
        assert!(means("sd*", "sd1") && means("sd1", "sd1") && !means("sd1", "sd11"));
        assert!(means("sd1-sd4", "sd4") && !means("sd1-sd4", "sd5") && !means("sd1-sd4", "wd2"));
        assert!(means("*", "anything") && !means("a*b", "a") && means("a*b", "axb"));
    }
}
