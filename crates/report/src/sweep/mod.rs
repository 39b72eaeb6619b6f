//! A sweep: one page over many runs, a chart per direction as studies of scaling have it: MB/s per pCore over what varies,
//! beside the requirement and the limits of clients and storage.

mod chart;

use fault::{Fault, Kind};
use maud::{Markup, html};
use record::{Direction, RequirementVerdict, RunRecord, SweepPoint};

use crate::charts::{Entry, Ink, Look, legend};
use crate::html::{Frame, Section, figure};
use crate::table::{Table, Tone};
use crate::text;

pub use chart::{Line, chart};

/// One row per point and direction. Column names carry the unit.
pub fn csv(records: &[RunRecord]) -> fault::Result<String> {
    let broken = |error: &dyn std::fmt::Display| Fault::new(Kind::Bug, format!("cannot write CSV: {error}"));
    let axes = axes(records);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let fixed = ["run", "sweep"].map(str::to_owned).into_iter();
    let figures = [
        "storage",
        "direction",
        "pcores",
        "required_per_pcore_bytes_per_second",
        "measured_per_pcore_bytes_per_second",
        "min_per_pcore_bytes_per_second",
        "max_per_pcore_bytes_per_second",
        "met",
        "validity",
    ];
    let header: Vec<String> = fixed.chain(axes.iter().cloned()).chain(figures.map(str::to_owned)).collect();
    writer.write_record(header).map_err(|error| broken(&error))?;
    for (record, point) in of_sweeps(records) {
        for verdict in &record.requirements {
            let spread = verdict.measured_per_pcore;
            let rate = |pick: fn(&record::Spread) -> units::Bandwidth| {
                spread.as_ref().map_or_else(String::new, |spread| pick(spread).get().to_string())
            };
            let mut row = vec![record.id.clone(), point.sweep.clone()];
            row.extend(axes.iter().map(|name| point.get(name).unwrap_or_default().to_owned()));
            row.extend([
                verdict.storage.clone(),
                verdict.direction.word().to_owned(),
                verdict.pcores.to_string(),
                verdict.required_per_pcore.get().to_string(),
                rate(|spread| spread.median_bytes_per_second),
                rate(|spread| spread.min_bytes_per_second),
                rate(|spread| spread.max_bytes_per_second),
                verdict.met.to_string(),
                verdict.validity.words().to_owned(),
            ]);
            writer.write_record(row).map_err(|error| broken(&error))?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| broken(&error))?;
    String::from_utf8(bytes).map_err(|error| broken(&error))
}

/// The page.
pub fn page(records: &[RunRecord]) -> fault::Result<String> {
    let mut names: Vec<&str> = of_sweeps(records).map(|(_, point)| point.sweep.as_str()).collect();
    names.dedup();
    let mut parts = Vec::new();
    for name in &names {
        let own: Vec<&RunRecord> =
            of_sweeps(records).filter(|(_, point)| point.sweep == *name).map(|(record, _)| record).collect();
        parts.push(sweep(name, &own)?);
    }
    let first = records.first();
    let frame = Frame {
        title: format!("Forebay: sweep {}", names.join(", ")),
        program: first.map(|record| record.program.clone()).unwrap_or_default(),
        what: "report",
        header: html! {
            header {
                p.brand { "Forebay storage report" }
                h1 { "Sweep " (names.join(", ")) }
                p.facts {
                    @if let Some(spec) = first.and_then(|record| record.spec.as_ref()) { span { "Grid " b { (spec.grid) } } }
                    @if let Some(record) = first { span { "Host " b { (record.environment.hostname) } } }
                    span { b { (text::count(records.len(), "run")) } }
                }
            }
        },
        sections: vec![
            Section::new("scaling", "How does it scale?", html! { @for part in &parts { (part) } }),
            Section::new("points", "All points", points(records).html()),
        ],
        footer: html! { p { "Each point is a run of its own: " code { "forebay runs report RUN" } " shows it whole." } },
    };
    Ok(frame.page())
}

fn of_sweeps(records: &[RunRecord]) -> impl Iterator<Item = (&RunRecord, &SweepPoint)> {
    records.iter().filter_map(|record| Some((record, record.sweep.as_ref()?)))
}

/// The settings of all points, in order of appearance.
fn axes(records: &[RunRecord]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for setting in of_sweeps(records).flat_map(|(_, point)| &point.settings) {
        if !names.contains(&setting.name) {
            names.push(setting.name.clone());
        }
    }
    names
}

/// The charts of one sweep: per direction, over the first setting that varies; a line for each combination of the others.
fn sweep(name: &str, records: &[&RunRecord]) -> fault::Result<Markup> {
    let points: Vec<&SweepPoint> = records.iter().filter_map(|record| record.sweep.as_ref()).collect();
    let settings = points.first().map_or(&[][..], |point| &point.settings);
    let varies = |setting: &&record::SweepSetting| {
        points.iter().any(|point| point.get(&setting.name) != Some(setting.value.as_str()))
    };
    let across = settings
        .iter()
        .find(varies)
        .or(settings.first())
        .map(|setting| setting.name.clone())
        .unwrap_or_default();
    let mut figures = Vec::new();
    for direction in [Direction::Read, Direction::Write] {
        let found: Vec<(&SweepPoint, &RunRecord, &RequirementVerdict)> = records
            .iter()
            .filter_map(|record| {
                let verdict = record.requirements.iter().find(|own| own.direction == direction)?;
                Some((record.sweep.as_ref()?, *record, verdict))
            })
            .collect();
        if found.iter().any(|(.., verdict)| verdict.measured_per_pcore.is_some()) {
            figures.push(one(name, &across, direction, &found)?);
        }
    }
    Ok(html! {
        @if figures.is_empty() { p { "Nothing was measured that a requirement asks for." } }
        div.pairs { @for figure in &figures { (figure) } }
    })
}

fn one(
    name: &str,
    across: &str,
    direction: Direction,
    found: &[(&SweepPoint, &RunRecord, &RequirementVerdict)],
) -> fault::Result<Markup> {
    let mut places: Vec<String> = Vec::new();
    for (point, ..) in found {
        let value = point.get(across).unwrap_or_default().to_owned();
        if !places.contains(&value) {
            places.push(value);
        }
    }
    let place = |point: &SweepPoint| {
        let value = point.get(across).unwrap_or_default();
        places.iter().position(|own| own == value).unwrap_or(0) as f64
    };
    let mut lines: Vec<Line> = Vec::new();
    let mut add =
        |text: String, look: Look, at: (f64, f64)| match lines.iter_mut().find(|line| line.text == text) {
            Some(line) => line.points.push(at),
            None => lines.push(Line { text, look, points: vec![at] }),
        };
    let mut series: Vec<String> = Vec::new();
    for (point, record, verdict) in found {
        let others: Vec<String> = point
            .settings
            .iter()
            .filter(|own| own.name != across)
            .map(|own| format!("{}={}", own.name.rsplit('.').next().unwrap_or(&own.name), own.value))
            .collect();
        let text = if others.is_empty() { "measured".to_owned() } else { others.join(" ") };
        if !series.contains(&text) {
            series.push(text.clone());
        }
        let index = series.iter().position(|own| *own == text).unwrap_or(0);
        if let Some(spread) = verdict.measured_per_pcore {
            add(text, Look::series(index), (place(point), spread.median_bytes_per_second.as_mb()));
        }
        add(
            "required".to_owned(),
            Look::solid(Ink::Required),
            (place(point), verdict.required_per_pcore.as_mb()),
        );
        for (words, look, rate) in limits(record, verdict) {
            add(words.to_owned(), look, (place(point), rate));
        }
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        line.points.dedup();
    }
    let title = across.rsplit('.').next().unwrap_or(across);
    let caption = format!("{name}: {} per pCore over {title} (MB/s)", direction.word());
    let drawn = chart(&places, title, &lines, caption.clone())?;
    let entries: Vec<Entry> = lines.iter().map(|line| Entry::line(line.look, line.text.clone())).collect();
    Ok(figure(&caption, &drawn, Some(legend(&entries)), &html! {}))
}

/// The limits of the design, for as much of it as the run used: that of its clients, and that of the storage they share.
fn limits(record: &RunRecord, verdict: &RequirementVerdict) -> Vec<(&'static str, Look, f64)> {
    let Some(design) = &record.design else { return Vec::new() };
    let hosts = record.sweep.as_ref().and_then(|point| point.get("hosts")?.parse().ok()).unwrap_or(1);
    let Some(compared) = record::compare_design(design, verdict, hosts) else { return Vec::new() };
    let least = |shared: bool| {
        let rates = compared
            .limits
            .iter()
            .filter(|limit| limit.shared == shared)
            .map(|limit| limit.stated_per_pcore.as_mb());
        rates.filter(|rate| rate.is_finite()).reduce(f64::min)
    };
    let dashed = |dash| Look { ink: Ink::Muted, dash };
    let client = least(false).map(|rate| ("limit of the clients", dashed(1), rate));
    let storage = least(true).map(|rate| ("limit of the storage", dashed(3), rate));
    client.into_iter().chain(storage).collect()
}

fn points(records: &[RunRecord]) -> Table {
    let mut table = Table::new("The points of the sweep")
        .words(["Point", "Direction"])
        .figures(["Required per pCore", "Measured per pCore", "Lowest", "Highest"])
        .words(["Verdict", "Numbers", "Run"]);
    for (record, point) in of_sweeps(records) {
        for verdict in &record.requirements {
            let rate = |pick: fn(&record::Spread) -> units::Bandwidth| {
                verdict
                    .measured_per_pcore
                    .as_ref()
                    .map_or_else(|| "–".to_owned(), |spread| pick(spread).to_string())
            };
            let word = crate::table::Cell::from(if verdict.met { "met" } else { "not met" });
            table.row(vec![
                point.words().into(),
                verdict.direction.word().into(),
                verdict.required_per_pcore.to_string().into(),
                rate(|spread| spread.median_bytes_per_second).into(),
                rate(|spread| spread.min_bytes_per_second).into(),
                rate(|spread| spread.max_bytes_per_second).into(),
                word.tone(if verdict.met { Tone::Good } else { Tone::Bad }),
                verdict.validity.words().into(),
                record.id.clone().into(),
            ]);
        }
    }
    table
}
