//! Rules across keys, checked once every single value is right.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use units::{Bandwidth, Bytes};

use crate::constraints::Filter;
use crate::document::Spec;
use crate::nearest::{nearest, quoted};
use crate::places::{Places, join};
use crate::problem::Problem;
use crate::storage::Storage;
use crate::sweep::Sweep;
use crate::test::{Test, TestKind};

/// Linux moves at most 2 GiB less a page in one call.
const LARGEST_IO: Bytes = Bytes::gib(1);
/// What every device that takes O_DIRECT can be addressed in.
const SECTOR: Bytes = Bytes::new(512);
/// More points than this are a slip of the keyboard.
const MOST_POINTS: usize = 10_000;
/// Shorter phases measure their own start.
const SHORTEST_TIME_BOX: Duration = Duration::from_secs(1);

/// Everything that is wrong between the keys of `spec`.
pub fn check(spec: &Spec, places: &Places) -> Vec<Problem> {
    let mut rules = Rules { spec, places, problems: Vec::new() };
    rules.grid();
    rules.names("storage", spec.storage.iter().map(|storage| storage.name.as_str()));
    rules.names("test", spec.test.iter().map(|test| test.name.as_str()));
    if spec.storage.is_empty() {
        rules.report(
            "",
            "storage",
            Problem::new("`storage` is empty", "empty").hint("add a section `[[storage]]`"),
        );
    }
    for (index, storage) in spec.storage.iter().enumerate() {
        rules.storage(&format!("storage[{index}]"), storage);
    }
    rules.constraints();
    for (index, test) in spec.test.iter().enumerate() {
        rules.test(&format!("test[{index}]"), test);
    }
    rules.names("sweep", spec.sweep.iter().map(|sweep| sweep.name.as_str()));
    for (index, sweep) in spec.sweep.iter().enumerate() {
        rules.sweep(&format!("sweep[{index}]"), sweep);
    }
    rules.problems
}

struct Rules<'a> {
    spec: &'a Spec,
    places: &'a Places,
    problems: Vec<Problem>,
}

impl Rules<'_> {
    /// A sweep runs a test that there is, and something varies in it.
    fn sweep(&mut self, place: &str, sweep: &Sweep) {
        let names = || self.spec.test.iter().map(|test| test.name.as_str());
        match &sweep.test {
            Some(name) if names().all(|own| own != name) => {
                let message = format!("there is no test `{name}`");
                let hint = match nearest(name, names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "add a section `[[test]]` of that name".to_owned(),
                };
                self.report(place, "test", Problem::new(message, "no such test").hint(hint));
            }
            None if self.spec.test.len() > 1 => {
                let problem = Problem::new(
                    format!("sweep `{}` does not say which test it runs", sweep.name),
                    "which test?",
                );
                let hint = format!("write `test = ` with one of {}", quoted(names()));
                self.report(place, "name", problem.hint(hint));
            }
            _ => {}
        }
        let axes = sweep.axes();
        if axes.is_empty() {
            let problem = Problem::new(format!("nothing varies in sweep `{}`", sweep.name), "no settings");
            self.report(
                place,
                "name",
                problem
                    .hint("list values of `hosts`, `ranks`, `transfer_size`, `stripe_count` or `parameter`"),
            );
        }
        if axes.iter().map(|(_, values)| values.len()).fold(1usize, usize::saturating_mul) > MOST_POINTS {
            let problem = Problem::new(
                format!("sweep `{}` has more than {MOST_POINTS} points", sweep.name),
                "too many",
            );
            self.report(place, "name", problem.hint("list fewer values, or write several sweeps"));
        }
        let stripes = !sweep.stripe_count.is_empty() || !sweep.stripe_size.is_empty();
        if stripes && !sweep.stripe_layout.is_empty() {
            let problem = Problem::new("a layout says stripe count and size itself", "both");
            self.report(
                place,
                "stripe_layout",
                problem.hint("leave out `stripe_count` and `stripe_size`, or `stripe_layout`"),
            );
        }
    }

    /// Reports a problem with the value of `key`, unless something else is wrong with that table already.
    fn report(&mut self, table: &str, key: &str, problem: Problem) {
        if !self.places.is_broken(table) || table.is_empty() {
            let place = join(table, key);
            let span = self.places.value(&place);
            self.problems.push(problem.at(place, span));
        }
    }

    /// The same, pointing at the key instead of its value.
    fn report_key(&mut self, table: &str, key: &str, problem: Problem) {
        self.report(table, key, problem);
        if let Some(last) = self.problems.last_mut().filter(|last| last.place == join(table, key)) {
            last.span = self.places.key(&last.place).or_else(|| last.span.take());
        }
    }

    fn grid(&mut self) {
        let grid = &self.spec.grid;
        self.name("grid", &grid.name);
        if let Some(clients) = grid.clients.filter(|clients| *clients > grid.pcores) {
            let message =
                format!("`clients` is {clients}, more than the {} pCores they would share", grid.pcores);
            let hint = "`pcores` counts the physical cores of all clients together";
            self.report("grid", "clients", Problem::new(message, "more clients than pCores").hint(hint));
        }
    }

    fn name(&mut self, table: &str, name: &str) {
        if name.trim().is_empty() {
            self.report(table, "name", Problem::new("`name` is empty", "empty"));
        } else if name.chars().any(char::is_control) {
            let message = format!("`name` is `{}`, with a control character in it", name.escape_debug());
            self.report(table, "name", Problem::new(message, "control character"));
        }
    }

    fn names<'n>(&mut self, list: &str, names: impl Iterator<Item = &'n str>) {
        let mut seen = BTreeMap::new();
        for (index, name) in names.enumerate() {
            let table = format!("{list}[{index}]");
            self.name(&table, name);
            if let Some(first) = seen.insert(name, index) {
                let message = format!("two `[[{list}]]` are named `{}`", name.escape_debug());
                let hint = format!("number {} has this name already; choose another", first + 1);
                self.report(&table, "name", Problem::new(message, "name taken").hint(hint));
            }
        }
    }

    fn storage(&mut self, table: &str, storage: &Storage) {
        let Storage { read_per_pcore, read_aggregate, write_per_pcore, write_aggregate, .. } = storage;
        self.one_of(table, "read", *read_per_pcore, *read_aggregate);
        self.one_of(table, "write", *write_per_pcore, *write_aggregate);
        self.io_size(table, "io_size", storage.io_size);
    }

    /// A direction is stated per pCore or in total, never both.
    fn one_of(
        &mut self,
        table: &str,
        direction: &str,
        per_pcore: Option<Bandwidth>,
        aggregate: Option<Bandwidth>,
    ) {
        let (Some(per_pcore), Some(aggregate)) = (per_pcore, aggregate) else { return };
        let pcores = self.spec.grid.pcores;
        let message = format!("both `{direction}_per_pcore` and `{direction}_aggregate` are given");
        let total = per_pcore * f64::from(pcores);
        let hint = format!("keep one: {pcores} pCores x {per_pcore:#} are {total:#}, not {aggregate:#}");
        let same = format!("keep one: {pcores} pCores x {per_pcore:#} are {total:#}");
        let problem = Problem::new(message, "the other way to state it").hint(if total == aggregate {
            same
        } else {
            hint
        });
        self.report_key(table, &format!("{direction}_aggregate"), problem);
    }

    fn io_size(&mut self, table: &str, key: &str, size: Bytes) {
        if size > LARGEST_IO {
            let message = format!("`{key}` is {size:#}, more than the {LARGEST_IO} of one I/O call");
            self.report(table, key, Problem::new(message, "too large"));
        }
    }

    fn constraints(&mut self) {
        let constraints = &self.spec.constraints;
        for (index, region) in constraints.regions.iter().enumerate() {
            if region.trim().is_empty() {
                let problem = Problem::new("a region without a name", "empty");
                self.report("constraints", &format!("regions[{index}]"), problem);
            }
        }
        self.filter("constraints.skus", &constraints.skus);
        self.filter("constraints.tiers", &constraints.tiers);
    }

    fn filter(&mut self, table: &str, filter: &Filter) {
        for (index, name) in filter.deny.iter().enumerate() {
            if filter.allow.contains(name) {
                let message = format!("`{}` is both allowed and denied", name.escape_debug());
                let problem = Problem::new(message, "allowed above").hint("take it out of one of the lists");
                self.report(table, &format!("deny[{index}]"), problem);
            }
        }
    }

    fn test(&mut self, table: &str, test: &Test) {
        self.judged(table, test);
        self.workload(table, test);
        self.sizes(table, test);
        if let Some(time) = test.time_boxed.filter(|time| *time < SHORTEST_TIME_BOX) {
            let message =
                format!("`time_boxed` is {}, but must be at least 1 s", units::format_duration(time));
            self.report(table, "time_boxed", Problem::new(message, "too short"));
        }
    }

    /// The storage a test judges exists, and is named where there is a choice.
    fn judged(&mut self, table: &str, test: &Test) {
        let known: BTreeSet<&str> = self.spec.storage.iter().map(|storage| storage.name.as_str()).collect();
        let names = || known.iter().copied();
        match &test.storage {
            Some(name) if known.contains(name.as_str()) => {}
            Some(name) => {
                let message =
                    format!("`storage` is `{}`, but no `[[storage]]` has this name", name.escape_debug());
                let hint = match nearest(name, names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there is {}", quoted(names())),
                };
                self.report(table, "storage", Problem::new(message, "no such storage").hint(hint));
            }
            None if self.spec.storage.len() > 1 => {
                let message =
                    format!("test `{}` doesn't say which storage it judges", test.name.escape_debug());
                let hint = format!("add `storage = ...` with one of {}", quoted(names()));
                self.report(table, "storage", Problem::new(message, "`storage` is missing here").hint(hint));
            }
            None => {}
        }
    }

    fn workload(&mut self, table: &str, test: &Test) {
        match (test.test, &test.workload) {
            (TestKind::Workload, None) => {
                let problem = Problem::new("`workload` is missing", "`workload` is missing here")
                    .hint("a test of the kind `workload` needs its file: `workload = \"checkpoint.toml\"`");
                self.report(table, "workload", problem);
            }
            (TestKind::Iotest, Some(_)) => {
                let problem = Problem::new("`workload` is not used by an `iotest`", "not used")
                    .hint("write `test = \"workload\"`, or remove this line");
                self.report_key(table, "workload", problem);
            }
            (TestKind::Workload, Some(_)) | (TestKind::Iotest, None) => {}
        }
    }

    fn sizes(&mut self, table: &str, test: &Test) {
        if let Some(size) = test.transfer_size {
            self.io_size(table, "transfer_size", size);
        }
        let transfer = self.spec.transfer_size(test);
        if let Some(file) = test.file_size.filter(|file| *file < transfer) {
            let message = format!("`file_size` is {file:#}, less than one transfer of {transfer:#}");
            self.report(table, "file_size", Problem::new(message, "too small"));
        }
        if test.direct == Some(true) && transfer.round_down(SECTOR) != transfer {
            let message = format!("`direct` needs transfers in multiples of 512 B, not of {transfer:#}");
            let problem = Problem::new(message, "not possible with this transfer size")
                .hint("use a multiple of 4 KiB, or remove `direct`");
            self.report(table, "direct", problem);
        }
    }
}
