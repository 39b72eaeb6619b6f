//! What rd says: which loads, how fast, for how long, and the loops over all of it.

use std::time::Duration;

use units::{Bytes, Ratio};

use super::definitions::{Operation, file_sizes, operation};
use super::lexer::{Parameter, Word};
use super::statements::Definition;
use super::values::{Flags, Rate, Read, Reader, Seek};
use crate::workload::{Arrival, RateStep, TransferSize, WeightedSize};

/// How long a run takes unless it says.
const ELAPSED: Duration = Duration::from_secs(30);
/// The shares of a curve.
const CURVE: [f64; 6] = [10.0, 50.0, 70.0, 80.0, 90.0, 100.0];

/// One value of a loop.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// xfersize.
    Size(TransferSize),
    /// rdpct.
    Read(f64),
    /// seekpct.
    Seek(Seek),
    /// threads.
    Threads(u32),
    /// rhpct.
    ReadHits(f64),
    /// whpct.
    WriteHits(f64),
    /// hitarea.
    HitArea(Bytes),
    /// compratio.
    Compression(Ratio),
    /// operation.
    Operation(Operation),
    /// depth.
    Depth(u32),
    /// width.
    Width(u32),
    /// files.
    Files(u64),
    /// sizes.
    Sizes(Vec<WeightedSize>),
    /// totalsize.
    Total(Bytes),
}

/// A loop: what it sets, and its values as they are shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    /// `xfersize`.
    pub name: &'static str,
    /// Text and meaning.
    pub values: Vec<(String, Setting)>,
}

/// How fast.
#[derive(Debug, Clone, PartialEq)]
pub enum Rates {
    /// One after the other.
    List(Vec<Rate>),
    /// As fast as it goes, and then shares of that, in percent.
    Curve(Vec<f64>),
    /// Rates that vary within one run.
    Series(Vec<RateStep>),
}

/// What is made before a run on a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Nothing that the run does not need.
    No,
    /// Directories and files.
    Yes,
    /// Directories.
    Directories,
    /// Directories and files, and nothing else is done.
    Only,
}

/// A run.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its name, and where it is defined.
    pub name: Word,
    /// Its loads on files, as they were named.
    pub loads: Vec<Word>,
    /// Its loads on a tree.
    pub file_loads: Vec<Word>,
    /// Files instead of those of its loads.
    pub storages: Option<Vec<Word>>,
    /// Loops, the outermost first.
    pub loops: Vec<Loop>,
    /// Rates.
    pub rates: Rates,
    /// A curve ends when the mean latency is above this.
    pub stop_curve: Option<Duration>,
    /// Length, without the warm-up if one is given.
    pub elapsed: Duration,
    /// Length of a line of the report.
    pub interval: Duration,
    /// What totals leave out, when it is given.
    pub warm_up: Option<Duration>,
    /// Bytes after which it ends.
    pub most: Option<Bytes>,
    /// Rest before.
    pub pause: Duration,
    /// How starts are spread.
    pub arrival: Arrival,
    /// How files are opened.
    pub flags: Flags,
    /// What is made first.
    pub format: Format,
    /// The hosts it runs on, as they were named; all when empty.
    pub hosts: Vec<Word>,
}

/// A run definition.
pub fn run(definition: &Definition, reader: &mut Reader<'_>) -> Read<Run> {
    let words = |name| definition.get(name).map_or_else(Vec::new, |parameter| parameter.values.clone());
    let time = |name, reader: &mut Reader<'_>| match definition.get(name) {
        Some(parameter) => reader.one(parameter).and_then(|word| reader.time(word)).map(Some),
        None => Some(None),
    };
    let elapsed = time("elapsed", reader)?.unwrap_or(ELAPSED);
    let (arrival, varies) = match definition.get("distribution") {
        Some(parameter) => reader.distribution(parameter)?,
        None => (Arrival::Poisson, false),
    };
    let interval = time("interval", reader)?
        .unwrap_or_else(|| (elapsed / 2).min(Duration::from_mins(1)))
        .max(Duration::from_secs(1));
    let run = Run {
        name: definition.name.clone(),
        loads: words("wd"),
        file_loads: words("fwd"),
        storages: definition.get("sd").map(|parameter| parameter.values.clone()),
        loops: loops(definition, reader)?,
        rates: rates(definition, varies, reader)?,
        stop_curve: match definition.get("stopcurve") {
            Some(parameter) => {
                let milliseconds = reader.one(parameter).and_then(|word| reader.number(word))?;
                Some(Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or(Duration::MAX))
            }
            None => None,
        },
        elapsed,
        interval: Duration::from_secs(interval.as_secs()),
        warm_up: time("warmup", reader)?,
        most: match definition.get("maxdata") {
            Some(parameter) => reader.one(parameter).and_then(|word| reader.bytes(word)).map(Some)?,
            None => None,
        },
        pause: time("pause", reader)?.unwrap_or_default(),
        arrival,
        flags: match definition.get("openflags") {
            Some(parameter) => reader.flags(parameter)?,
            None => Flags::default(),
        },
        format: match definition.get("format") {
            Some(parameter) => format(parameter, reader)?,
            None => Format::No,
        },
        hosts: super::definitions::host_words(definition),
    };
    if run.loads.is_empty() == run.file_loads.is_empty() {
        reader
            .troubles
            .at(
                &definition.name.place,
                format!("rd `{}` needs either `wd` or `fwd`", definition.name.text),
                "what does it run?",
            )
            .hint("write wd=wd1, or wd=wd* for all");
        return None;
    }
    if elapsed.is_zero() {
        let message = format!("rd `{}` takes no time", definition.name.text);
        reader
            .troubles
            .at(&definition.name.place, message, "no time")
            .hint("set elapsed= to a second or more");
        return None;
    }
    Some(run)
}

fn rates(definition: &Definition, varies: bool, reader: &mut Reader<'_>) -> Read<Rates> {
    let name = if definition.get("fwd").is_some() { "fwdrate" } else { "iorate" };
    let Some(parameter) = definition.get(name) else {
        let message = format!("rd `{}` says no `{name}`", definition.name.text);
        reader
            .troubles
            .at(&definition.name.place, message, "how fast?")
            .hint(format!("write {name}=max, or a number per second"));
        return None;
    };
    if varies {
        return series(parameter, reader).map(Rates::Series);
    }
    let word = &parameter.values[0].text.to_ascii_lowercase();
    if word.len() >= 2 && "curve".starts_with(word.as_str()) {
        let Some(shares) = definition.get("curve") else { return Some(Rates::Curve(CURVE.to_vec())) };
        let shares: Vec<Option<f64>> =
            shares.values.iter().map(|word| reader.percent(word).filter(|share| *share > 0.0)).collect();
        let shares: Option<Vec<f64>> = shares.into_iter().collect();
        if shares.is_none() && reader.troubles.is_empty() {
            reader.troubles.at(&parameter.place(), "0 % of a rate is no rate", "nothing").hint("start at 1");
        }
        return shares.map(Rates::Curve);
    }
    reader.rates(parameter).map(Rates::List)
}

/// `(rate,seconds,rate,seconds,...)`.
fn series(parameter: &Parameter, reader: &mut Reader<'_>) -> Read<Vec<RateStep>> {
    let mut steps = Vec::new();
    for pair in parameter.values.chunks(2) {
        let [rate, time] = pair else {
            let message = "rates that vary are pairs of a rate and seconds";
            reader.troubles.at(&parameter.place(), message, "one is alone").hint("such as (100,10,500,2)");
            return None;
        };
        steps.push(RateStep { operations_per_second: reader.number(rate)?, time: reader.time(time)? });
    }
    Some(steps)
}

fn format(parameter: &Parameter, reader: &mut Reader<'_>) -> Read<Format> {
    let mut format = Format::No;
    for word in &parameter.values {
        let text = word.text.to_ascii_lowercase();
        let begins = |name: &str| !text.is_empty() && name.starts_with(&text);
        match () {
            () if begins("yes") || begins("restart") || begins("once") => format = Format::Yes,
            () if begins("no") => {}
            () if begins("only") => format = Format::Only,
            () if begins("directories") || begins("dir") => format = Format::Directories,
            () => {
                let hint = if begins("clean") || begins("complete") {
                    "every run has a fresh directory, and removes it: there is nothing to clean"
                } else {
                    "yes, no, only, restart, once or directories"
                };
                reader
                    .troubles
                    .at(&word.place, format!("`{}` is no `format` here", word.text), "this value")
                    .hint(hint);
                return None;
            }
        }
    }
    Some(format)
}

/// Loops in the order in which their keywords appear; a parameter of a workload that stands in a run is one, too.
fn loops(definition: &Definition, reader: &mut Reader<'_>) -> Read<Vec<Loop>> {
    let mut loops: Vec<Loop> = Vec::new();
    for (keyword, parameter) in &definition.settings {
        let name = match keyword.strip_prefix("for") {
            Some(rest) if *keyword != "format" => rest,
            _ => keyword,
        };
        let name = if name == "totalsize" { "total" } else { name };
        if let Some(values) = values(name, parameter, reader)? {
            loops.retain(|other| other.name != name);
            loops.push(Loop { name, values });
        }
    }
    Some(loops)
}

/// The values of a loop; `None` inside for what is no loop.
fn values(
    name: &'static str,
    parameter: &Parameter,
    reader: &mut Reader<'_>,
) -> Read<Option<Vec<(String, Setting)>>> {
    let numbers = |reader: &mut Reader<'_>| reader.numbers(parameter);
    let percents = |reader: &mut Reader<'_>, set: fn(f64) -> Setting| -> Read<Vec<(String, Setting)>> {
        numbers(reader)?
            .into_iter()
            .map(|(word, _)| reader.percent(&word).map(|percent| (word.text, set(percent))))
            .collect()
    };
    let counts = |reader: &mut Reader<'_>, set: fn(u32) -> Setting| -> Read<Vec<(String, Setting)>> {
        numbers(reader)?
            .into_iter()
            .map(|(word, _)| reader.count(&word).map(|count| (word.text, set(count))))
            .collect()
    };
    let sizes = |reader: &mut Reader<'_>, set: fn(Bytes) -> Setting| -> Read<Vec<(String, Setting)>> {
        Some(reader.size_list(parameter)?.into_iter().map(|(word, size)| (word.text, set(size))).collect())
    };
    let each = |reader: &mut Reader<'_>,
                read: fn(&Word, &mut Reader<'_>) -> Read<Setting>|
     -> Read<Vec<(String, Setting)>> {
        parameter.values.iter().map(|word| Some((word.text.clone(), read(word, reader)?))).collect()
    };
    Some(Some(match name {
        "xfersize" => sizes(reader, |size| Setting::Size(TransferSize::Fixed(size)))?,
        "rdpct" => percents(reader, Setting::Read)?,
        "rhpct" => percents(reader, Setting::ReadHits)?,
        "whpct" => percents(reader, Setting::WriteHits)?,
        "seekpct" => seeks(parameter, reader)?,
        "threads" => counts(reader, Setting::Threads)?,
        "hitarea" => sizes(reader, Setting::HitArea)?,
        "depth" => counts(reader, Setting::Depth)?,
        "width" => counts(reader, Setting::Width)?,
        "files" => counts(reader, |files| Setting::Files(u64::from(files)))?,
        "total" => sizes(reader, Setting::Total)?,
        "compratio" => each(reader, |word, reader| reader.reduction(word).map(Setting::Compression))?,
        "operation" => each(reader, |word, reader| operation(word, reader).map(Setting::Operation))?,
        "sizes" if parameter.key.text.starts_with("for") => {
            sizes(reader, |size| Setting::Sizes(vec![WeightedSize { size, weight: 1 }]))?
        }
        "sizes" => vec![(parameter.text(), Setting::Sizes(file_sizes(parameter, reader)?))],
        _ => return Some(None),
    }))
}

/// Numbers, ranges, and the guide's words.
fn seeks(parameter: &Parameter, reader: &mut Reader<'_>) -> Read<Vec<(String, Setting)>> {
    let range = parameter.values.first().is_some_and(|word| word.text.len() > 2 && word.text.contains('-'));
    if range {
        let numbers = reader.numbers(parameter)?;
        return numbers
            .into_iter()
            .map(|(word, _)| {
                reader.percent(&word).map(|percent| (word.text, Setting::Seek(Seek::Percent(percent))))
            })
            .collect();
    }
    parameter.values.iter().map(|word| Some((word.text.clone(), Setting::Seek(reader.seek(word)?)))).collect()
}
