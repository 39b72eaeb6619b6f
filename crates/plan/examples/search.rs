//! How long planning takes on one thread: tab-separated lines of what, candidates, and the milliseconds of nine runs (median,
//! least, most).

use std::error::Error;
use std::io::{Write as _, stdout};
use std::time::Instant;

use catalog::Catalog;
use plan::{Calibration, Options, search};
use spec::Spec;

const REPETITIONS: usize = 9;

fn main() -> Result<(), Box<dyn Error>> {
    let load = || Ok(Catalog::embedded()?.vms.len() as u64);
    report("reading the catalog", measure(load)?)?;
    let catalog = Catalog::embedded()?;
    let options = Options { calibration: Calibration::of(&catalog), ..Options::default() };
    let examples = [
        ("examples/sas-azure.toml", include_str!("../../../examples/sas-azure.toml")),
        ("examples/sas-grid.toml", include_str!("../../../examples/sas-grid.toml")),
    ];
    for (name, text) in examples {
        let spec = everywhere(spec::parse(name, text.to_owned())?.spec);
        let run = || Ok(search(&catalog, &spec, &options)?.looked_at);
        report(&format!("{name}, {}", storages(&spec)), measure(run)?)?;
    }
    Ok(())
}

/// The same need without a cloud: all three are looked at.
fn everywhere(mut spec: Spec) -> Spec {
    spec.constraints.clouds.clear();
    spec.constraints.regions.clear();
    spec
}

fn storages(spec: &Spec) -> String {
    match spec.storage.len() {
        1 => "one storage".to_owned(),
        several => format!("{several} storages"),
    }
}

/// What was counted, and the milliseconds of every repetition in rising order.
fn measure(run: impl Fn() -> Result<u64, Box<dyn Error>>) -> Result<(u64, Vec<f64>), Box<dyn Error>> {
    let mut counted = 0;
    let mut times = Vec::new();
    for _ in 0..REPETITIONS {
        let started = Instant::now();
        counted = run()?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok((counted, times))
}

fn report(what: &str, (counted, times): (u64, Vec<f64>)) -> Result<(), Box<dyn Error>> {
    let (median, least, most) = (times[REPETITIONS / 2], times[0], times[REPETITIONS - 1]);
    writeln!(stdout(), "{what}\t{counted}\t{median:.3}\t{least:.3}\t{most:.3}")?;
    Ok(())
}
