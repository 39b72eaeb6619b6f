//! Design files: the TOML form of a design, written by `plan --design` and read by whoever takes a design.

use std::ops::Range;
use std::path::Path;

use catalog::Catalog;
use fault::{Fault, Kind};
use plan::design::{Design, Layout, VERSION};
use plan::market::Market;
use plan::{Calibration, Guards};
use spec::{Constraints, LoadError, Problem};
use toml::de::{DeTable, DeValue};

/// A design with the text it was read from.
#[derive(Debug)]
pub struct DesignDocument {
    /// What it says.
    pub design: Design,
    text: String,
}

/// Reads the design file at `path`. Problems have their place in the text.
pub fn load(path: &Path) -> Result<DesignDocument, Box<LoadError>> {
    let failed = |text: String, problem| {
        Box::new(LoadError { what: "design", path: path.to_owned(), text, problems: vec![problem] })
    };
    let text = std::fs::read_to_string(path).map_err(|error| {
        let fault = Fault::os("open", path, error);
        let hint = "`forebay plan --design FILE` writes one".to_owned();
        failed(String::new(), problem(fault.message().to_owned(), "", Some(hint), None))
    })?;
    match toml::from_str::<Design>(&text) {
        Ok(design) if design.version != VERSION => {
            let message = format!("version {} of the design format is not known", design.version);
            let hint = Some(format!("this program reads version {VERSION}"));
            let span = text.find("version").map(|at| at..at + "version".len());
            Err(failed(text, problem(message, "not known", hint, span)))
        }
        Ok(design) => Ok(DesignDocument { design, text }),
        Err(error) => {
            let problem = wrong(&error);
            Err(failed(text, problem))
        }
    }
}

/// The file of a design, with a line that says what it is.
pub fn text(title: &str, design: &Design) -> fault::Result<String> {
    let body = toml::to_string_pretty(design)
        .map_err(|error| Fault::new(Kind::Bug, "cannot write a design as TOML").caused_by(error))?;
    Ok(format!("# {title}\n#\n#   forebay plan check design.toml\n{body}"))
}

impl DesignDocument {
    /// Fails when the design names something that the catalog does not have, each with its place.
    pub fn check_names(&self, path: &Path, catalog: &Catalog) -> Result<(), Box<LoadError>> {
        let (constraints, guards) = (Constraints::default(), Guards::default());
        let calibration = Calibration::default();
        let market = Market::new(catalog, self.design.place.clone(), &constraints, &guards, &calibration);
        let names = names(&self.design);
        let problems: Vec<Problem> = names
            .into_iter()
            .filter_map(|name| {
                let fault = name.look_up(&market)?;
                let span = span_of_text(&self.text, name.name());
                let hint = fault.hint_text().map(str::to_owned);
                Some(problem(fault.message().to_owned(), "not known", hint, span))
            })
            .chain(self.region(catalog))
            .collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(Box::new(LoadError { what: "design", path: path.to_owned(), text: self.text.clone(), problems }))
    }

    fn region(&self, catalog: &Catalog) -> Option<Problem> {
        let place = &self.design.place;
        let known = catalog.prices.regions(place.cloud);
        if known.iter().any(|region| **region == *place.region) {
            return None;
        }
        let names = || known.iter().map(|region| &**region);
        let hint = spec::nearest(&place.region, names()).map_or_else(
            || format!("it has prices for {}", spec::quoted(names())),
            |near| format!("did you mean `{near}`?"),
        );
        let message = format!(
            "the catalog has no prices for region `{}` of {}",
            place.region,
            plan::document::cloud(place.cloud)
        );
        Some(problem(message, "not known", Some(hint), span_of_text(&self.text, &place.region)))
    }
}

/// A name of the catalog in a design.
enum Name<'a> {
    Sku(&'a str),
    Disk(&'a str),
    Service(&'a str),
}

impl Name<'_> {
    const fn name(&self) -> &str {
        match self {
            Self::Sku(name) | Self::Disk(name) | Self::Service(name) => name,
        }
    }

    fn look_up(&self, market: &Market<'_>) -> Option<Fault> {
        match self {
            Self::Sku(sku) => market.vm(sku).err(),
            Self::Disk(tier) => market.disk(tier).err(),
            Self::Service(tier) => market.service(tier).err(),
        }
    }
}

fn names(design: &Design) -> Vec<Name<'_>> {
    let mut names = vec![Name::Sku(&design.clients.sku)];
    for storage in &design.storage {
        match &storage.layout {
            Layout::LustreOnVms(lustre) => names.extend([
                Name::Sku(&lustre.sku),
                Name::Disk(&lustre.disk.tier),
                Name::Sku(&lustre.metadata.sku),
                Name::Disk(&lustre.metadata.disk.tier),
            ]),
            Layout::Service(service) => names.push(Name::Service(&service.tier)),
            Layout::StripedVolumes(striped) => names.push(Name::Disk(&striped.volume.tier)),
            Layout::SharedVolumes(shared) => names.push(Name::Disk(&shared.volume.tier)),
            Layout::LocalNvme(_) => {}
        }
    }
    names
}

fn problem(message: String, label: &str, hint: Option<String>, span: Option<Range<usize>>) -> Problem {
    Problem { message, label: label.to_owned(), hint, span, place: String::new() }
}

/// What serde says of a wrong key or value, in our words.
fn wrong(error: &toml::de::Error) -> Problem {
    let message = error.message();
    let quoted =
        |text: &str| -> Vec<String> { text.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let (said, label, hint) = if let Some(rest) = message.strip_prefix("unknown field ") {
        let words = quoted(rest);
        let (name, known) = words.split_first().map_or((String::new(), &[][..]), |(a, b)| (a.clone(), b));
        let hint = match spec::nearest(&name, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("accepted keys: {}", spec::quoted(known.iter().map(String::as_str))),
        };
        (format!("unknown key `{name}`"), "unknown key", Some(hint))
    } else if let Some(rest) = message.strip_prefix("unknown variant ") {
        let words = quoted(rest);
        let (name, known) = words.split_first().map_or((String::new(), &[][..]), |(a, b)| (a.clone(), b));
        let list = spec::quoted(known.iter().map(String::as_str));
        let hint = spec::nearest(&name, known.iter().map(String::as_str))
            .map(|near| format!("did you mean `{near}`?"));
        (format!("`{name}` must be one of {list}"), "not one of the accepted words", hint)
    } else if let Some(rest) = message.strip_prefix("missing field ") {
        (format!("{rest} is missing"), "missing here", None)
    } else {
        (message.trim_end().to_owned(), "here", None)
    };
    problem(said, label, hint, error.span())
}

/// Where a name first stands in a TOML text: as a value, else as a key.
pub fn span_of_text(text: &str, name: &str) -> Option<Range<usize>> {
    let tree = DeTable::parse(text).ok()?;
    in_table(tree.get_ref(), name, true).or_else(|| in_table(tree.get_ref(), name, false))
}

fn in_table(table: &DeTable<'_>, name: &str, values: bool) -> Option<Range<usize>> {
    table.iter().find_map(|(key, value)| {
        if !values && key.get_ref().as_ref() == name {
            return Some(key.span());
        }
        in_value(value.get_ref(), value.span(), name, values)
    })
}

fn in_value(value: &DeValue<'_>, span: Range<usize>, name: &str, values: bool) -> Option<Range<usize>> {
    match value {
        DeValue::String(text) if values && text.as_ref() == name => Some(span),
        DeValue::Array(list) => {
            list.iter().find_map(|item| in_value(item.get_ref(), item.span(), name, values))
        }
        DeValue::Table(table) => in_table(table, name, values),
        _ => None,
    }
}
