//! Published results beside a figure of a run.

use ::catalog::{Catalog, Per, Published, Wanted};
use console::{Align, Cell, Table, paint};
use serde::Serialize;
use units::{Bandwidth, Iops};

use super::figures::Figure;
use super::{Compared, Comparison};

/// A published result with the run's figure as a multiple of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Beside {
    /// Its id in the catalog.
    pub id: String,
    /// The study.
    pub study: String,
    /// What ran on what, in short.
    pub system: String,
    /// The value, with an error of the source put right where that is known.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// `aggregate` or `pcore`.
    pub per: &'static str,
    /// The value as the source prints it, where that is wrong.
    pub printed: Option<f64>,
    /// What is wrong with it.
    pub error: Option<String>,
    /// Why memory of the servers took part.
    pub cached: Option<String>,
    /// The run's figure over this one, both of all together or both of a physical core.
    pub ratio: f64,
    /// The run's figure over this one, each for a physical core, where the cores of both are known.
    pub ratio_per_pcore: Option<f64>,
    /// The document.
    pub source: String,
    /// Its date.
    pub as_of: String,
}

/// What is published of a figure's test and operation.
pub fn published(catalog: &Catalog, figure: &Figure) -> Vec<Beside> {
    let wanted = Wanted { test: Some(&figure.test), operation: Some(figure.operation), ..Wanted::default() };
    catalog.published(wanted).filter_map(|result| beside(result, figure)).collect()
}

fn beside(result: &Published, figure: &Figure) -> Option<Beside> {
    let bandwidth = |per: Per| match per {
        Per::Aggregate => figure.bytes_per_second,
        Per::Pcore => figure.bytes_per_second_per_pcore,
    };
    // The value as it stands: of all together or of one core, whichever the study prints.
    let (own, other) = match (in_bytes(result), result.rate()) {
        (Some(theirs), _) => (bandwidth(result.per)?, theirs),
        (None, Some(rate)) => (figure.operations_per_second, rate.get()),
        (None, None) => return None,
    };
    let per_pcore = match (result.per, result.bandwidth(), result.pcores) {
        (Per::Aggregate, Some(all), Some(cores)) if cores > 0 => {
            figure.bytes_per_second_per_pcore.map(|own| own / (all.get() / f64::from(cores)))
        }
        (Per::Pcore, _, _) => Some(own / other),
        _ => None,
    };
    Some(Beside {
        id: result.id.to_string(),
        study: result.study.to_string(),
        system: system(result),
        value: result.right(),
        unit: result.unit.to_string(),
        per: if result.per == Per::Pcore { "pcore" } else { "aggregate" },
        printed: result.corrected.map(|_| result.value),
        error: result.error.as_ref().map(ToString::to_string),
        cached: result.cached.as_ref().map(ToString::to_string),
        ratio: Some(own / other).filter(|ratio| ratio.is_finite())?,
        ratio_per_pcore: per_pcore.filter(|ratio| ratio.is_finite()),
        source: result.source.document.to_string(),
        as_of: result.source.as_of.to_string(),
    })
}

/// A bandwidth in bytes per second, of whatever the value is of.
fn in_bytes(result: &Published) -> Option<f64> {
    let whole = Published { per: Per::Aggregate, ..result.clone() };
    whole.bandwidth().map(Bandwidth::get)
}

fn system(result: &Published) -> String {
    let hosts = |count: Option<u32>, sku: Option<&str>, what: &str| match (count, sku) {
        (Some(count), Some(sku)) => Some(format!("{count} x {sku}")),
        (Some(count), None) => Some(format!("{count} {what}")),
        (None, sku) => sku.map(str::to_owned),
    };
    let clients = hosts(result.clients, result.client_sku.as_deref(), "clients");
    let servers = hosts(result.servers, result.server_sku.as_deref(), "servers");
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let storage = [servers, text(&result.storage)].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let extra = [text(&result.access), text(&result.variant)];
    let size = result.transfer_size.map(|size| size.to_string());
    let how: Vec<String> = size.into_iter().chain(extra.into_iter().flatten()).collect();
    let how = if how.is_empty() { String::new() } else { format!(" ({})", how.join(", ")) };
    match clients {
        Some(clients) if !storage.is_empty() => format!("{clients} on {storage}{how}"),
        Some(clients) => format!("{clients}{how}"),
        None => format!("{storage}{how}"),
    }
}

/// All figures with what is published, for a terminal.
pub fn text(comparison: &Comparison) -> String {
    let mut parts = vec![format!("{} beside published results", paint::strong(&comparison.run))];
    for compared in comparison.figures.iter().filter(|compared| !compared.published.is_empty()) {
        parts.push(format!("{}\n{}", heading(&compared.figure), table(compared)));
    }
    let notes = comparison.notes.iter().map(|note| format!("{}: {note}", paint::note("note")));
    parts.push(notes.collect::<Vec<_>>().join("\n"));
    parts.join("\n\n")
}

fn heading(figure: &Figure) -> String {
    let Figure { name, phase, test, operation, .. } = figure;
    let rate = match (figure.bytes_per_second, figure.bytes_per_second_per_pcore) {
        (Some(all), Some(core)) => format!(
            "{}, {} per pCore ({} pCores)",
            Bandwidth::bytes_per_second(all),
            Bandwidth::bytes_per_second(core),
            figure.pcores
        ),
        _ => Iops::new(figure.operations_per_second).to_string(),
    };
    format!("{} {phase}: {rate}, beside {operation} of {test}", paint::strong(name))
}

fn table(compared: &Compared) -> Table {
    let mut table = Table::new([
        ("ratio", Align::Right),
        ("published", Align::Right),
        ("per pCore", Align::Right),
        ("system", Align::Left),
        ("study", Align::Left),
        ("mind", Align::Left),
    ]);
    for result in &compared.published {
        let times = |ratio: f64| format!("{ratio:.2} x");
        let per = if result.per == "pcore" { " per pCore" } else { "" };
        table.row([
            Cell::new(times(result.ratio)),
            Cell::new(format!("{} {}{per}", result.value, result.unit)),
            Cell::new(result.ratio_per_pcore.map_or_else(|| "-".to_owned(), times)),
            Cell::new(&result.system),
            Cell::new(format!("{} ({})", result.study, result.as_of)),
            Cell::note(mind(result)),
        ]);
    }
    table
}

/// What keeps a value from being taken as it stands.
fn mind(result: &Beside) -> String {
    let cached = result.cached.as_ref().map(|why| format!("from memory: {why}"));
    let error = result.error.as_ref().map(|why| match result.printed {
        Some(printed) => format!("printed as {printed}: {why}"),
        None => format!("in error: {why}"),
    });
    [cached, error].into_iter().flatten().collect::<Vec<_>>().join("; ")
}
