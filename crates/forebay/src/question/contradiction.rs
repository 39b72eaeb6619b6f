//! Constraints that no design can keep, found before anything is searched, each with its place in the spec.

use catalog::Catalog;
use plan::market::allows;
use spec::{Cloud, Constraints, Document, Filter, LoadError, Problem, Spec};

use crate::design::span_of_text;

/// Fails when constraints contradict each other or name what the catalog does not have.
pub fn check(catalog: &Catalog, document: &Document, spec: &Spec) -> Result<(), LoadError> {
    let mut found = Found { text: &document.text, problems: Vec::new() };
    regions(catalog, &spec.constraints, &mut found);
    client(catalog, spec, &mut found);
    let constraints = &spec.constraints;
    let skus = || catalog.vms.iter().map(|vm| &*vm.sku);
    filter("machine SKUs", &constraints.skus, &skus().collect::<Vec<_>>(), &mut found);
    let tiers = catalog.disks.iter().map(|disk| &*disk.tier);
    let tiers: Vec<&str> = tiers.chain(catalog.services.iter().map(|service| &*service.tier)).collect();
    filter("tiers", &constraints.tiers, &tiers, &mut found);
    if let (Some(servers), Some(osts)) = (constraints.min_servers, constraints.max_osts)
        && servers > osts
    {
        let message = format!("`min_servers` is {servers}, but `max_osts` allows only {osts} OSTs");
        found.add(
            message,
            "every OSS has at least one OST",
            "min_servers",
            Some("raise `max_osts`".to_owned()),
        );
    }
    if found.problems.is_empty() {
        return Ok(());
    }
    Err(LoadError {
        what: "spec",
        path: document.path.clone(),
        text: document.text.clone(),
        problems: found.problems,
    })
}

struct Found<'a> {
    text: &'a str,
    problems: Vec<Problem>,
}

impl Found<'_> {
    /// A problem about a name that stands somewhere in the spec; from a flag it stands nowhere.
    fn add(&mut self, message: String, label: &str, name: &str, hint: Option<String>) {
        let span = span_of_text(self.text, name);
        self.problems.push(Problem {
            message,
            label: label.to_owned(),
            hint,
            span,
            place: "constraints".to_owned(),
        });
    }
}

const CLOUDS: [Cloud; 3] = [Cloud::Azure, Cloud::Aws, Cloud::Gcp];

fn regions(catalog: &Catalog, constraints: &Constraints, found: &mut Found<'_>) {
    let allowed = |cloud: &Cloud| constraints.clouds.is_empty() || constraints.clouds.contains(cloud);
    for region in &constraints.regions {
        let of = CLOUDS
            .into_iter()
            .filter(|cloud| catalog.prices.regions(*cloud).iter().any(|known| **known == **region));
        let of: Vec<Cloud> = of.collect();
        if of.iter().any(allowed) {
            continue;
        }
        if let Some(cloud) = of.first() {
            let cloud = plan::document::cloud(*cloud);
            let message = format!("region `{region}` is of {cloud}, which `clouds` does not allow");
            found.add(message, "not of an allowed cloud", region, Some(format!("add `{cloud}` to `clouds`")));
        } else {
            let known: Vec<_> =
                CLOUDS.into_iter().filter(allowed).flat_map(|cloud| catalog.prices.regions(cloud)).collect();
            let names = || known.iter().map(|name| &**name);
            let hint = match spec::nearest(region, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has prices for {}", spec::quoted(names())),
            };
            let message = format!("the catalog has no prices for region `{region}`");
            found.add(message, "not known", region, Some(hint));
        }
    }
}

/// The clients' SKU is one of the catalog's, of an allowed cloud, and allowed itself.
fn client(catalog: &Catalog, spec: &Spec, found: &mut Found<'_>) {
    let Some(sku) = &spec.grid.client_sku else { return };
    let constraints = &spec.constraints;
    match catalog.vm(sku) {
        Err(fault) => {
            let hint = fault.hint_text().map(str::to_owned);
            found.add(fault.message().to_owned(), "not known", sku, hint);
        }
        Ok(vm) if !constraints.clouds.is_empty() && !constraints.clouds.contains(&vm.cloud) => {
            let cloud = plan::document::cloud(vm.cloud);
            let message = format!("`client_sku` {sku} is of {cloud}, which `clouds` does not allow");
            found.add(message, "not of an allowed cloud", sku, None);
        }
        Ok(_) if !allows(&constraints.skus, sku) => {
            let message = format!("`client_sku` {sku} is not allowed by `[constraints.skus]`");
            found.add(message, "not allowed", sku, Some("allow it, or leave `client_sku` out".to_owned()));
        }
        Ok(_) => {}
    }
}

/// A pattern that matches nothing is a slip; a filter that leaves nothing allows no design.
fn filter(what: &str, filter: &Filter, names: &[&str], found: &mut Found<'_>) {
    for pattern in &filter.allow {
        let one = Filter { allow: vec![pattern.clone()], deny: Vec::new() };
        if names.iter().any(|name| allows(&one, name)) {
            continue;
        }
        let near = spec::nearest(pattern, names.iter().copied());
        let hint = near.map(|near| format!("did you mean `{near}`?"));
        found.add(
            format!("`{pattern}` matches none of the catalog's {what}"),
            "matches nothing",
            pattern,
            hint,
        );
    }
    if found.problems.is_empty() && !names.iter().any(|name| allows(filter, name)) {
        let name = filter.deny.first().map_or("deny", String::as_str);
        found.add(format!("the filters leave none of the catalog's {what}"), "denies all", name, None);
    }
}
