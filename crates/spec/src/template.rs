//! The commented `grid.toml` that a user starts from.

use std::fmt::Write as _;

use units::Bandwidth;

use crate::exact::{bandwidth_text, mix_text};
use crate::{Grid, Storage, VERSION, default_per_pcore};

/// What `forebay init` asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// The compute side.
    pub grid: Grid,
    /// The requirements, one test each. What a storage leaves open is written as SAS's default.
    pub storage: Vec<Storage>,
    /// Directory under test, for the test of the first storage. Text, because TOML holds no other paths.
    pub target: Option<String>,
}

/// The text of a commented spec that means what `answers` say.
pub fn template(answers: &Answers) -> String {
    let mut out = Page::default();
    out.comment("What this grid needs from its storage, and the tests that decide whether it gets it.");
    out.comment("");
    out.comment("  forebay spec check grid.toml    is it right?");
    out.comment("  forebay plan grid.toml          what would deliver it, and at what cost?");
    out.comment("  forebay prove grid.toml         does the storage deliver?");
    out.comment("");
    out.comment("Quantities are text with a unit: \"64 KiB\" \"100 TiB\" (binary), \"100 TB\" (decimal), \"150 MB/s\"");
    out.comment("(10^6 bytes per second), \"150 MiB/s\" (2^20), \"60s\", \"80:20\".");
    out.line(&format!("version = {VERSION}"));
    out.grid(&answers.grid);
    for storage in &answers.storage {
        out.storage(storage);
    }
    out.constraints();
    for (index, storage) in answers.storage.iter().enumerate() {
        out.test(storage, answers.target.as_deref().filter(|_| index == 0));
    }
    out.0
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    fn comment(&mut self, text: &str) {
        self.line(format!("# {text}").trim_end());
    }

    fn section(&mut self, header: &str) {
        self.line("");
        self.line(header);
    }

    fn text(&mut self, key: &str, value: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{key} = {}", quoted(value));
    }

    /// The key with its value, or commented out with an example.
    fn optional(&mut self, key: &str, value: Option<String>, example: &str) {
        match value {
            Some(value) => self.text(key, &value),
            None => self.comment(&format!("{key} = {}", quoted(example))),
        }
    }

    fn grid(&mut self, grid: &Grid) {
        self.section("[grid]");
        self.text("name", &grid.name);
        self.comment("Physical cores of all clients together. With hyper-threading, 2 vCPUs are 1 pCore.");
        self.line(&format!("pcores = {}", grid.pcores));
        self.comment("SAS asks for at least 8 GiB of memory per pCore.");
        self.text("memory_per_pcore", &format!("{:#}", grid.memory_per_pcore));
        self.comment("Hosts the pCores are spread over.");
        match grid.clients {
            Some(clients) => self.line(&format!("clients = {clients}")),
            None => self.comment("clients = 6"),
        }
        self.comment("Their VM SKU, when it is decided; `forebay plan` chooses one otherwise.");
        self.optional("client_sku", grid.client_sku.clone(), "Standard_E16s_v5");
    }

    fn storage(&mut self, storage: &Storage) {
        self.section("[[storage]]");
        self.text("name", &storage.name);
        self.comment("data (permanent), work (temporary files of running jobs), home, or other.");
        self.text("role", storage.role.as_str());
        self.comment("Usable capacity.");
        self.optional("capacity", storage.capacity.map(|capacity| format!("{capacity:#}")), "100 TiB");
        self.comment(
            "SAS's guidance for rhel_iotest is 100 to 150 MB/s per physical core; without these two lines",
        );
        self.comment("150 MB/s hold for both. `read_aggregate` and `write_aggregate` state a total instead.");
        self.rate("read", storage.read_per_pcore, storage.read_aggregate);
        self.rate("write", storage.write_per_pcore, storage.write_aggregate);
        self.comment(
            "Reads to writes when both happen together: SAS sees about 80:20 on data and 50:50 on work.",
        );
        self.text("mix", &mix_text(storage.read_share()));
        self.comment("Bytes of one I/O; the rates must hold at this size. SAS's test uses 64 KiB.");
        self.text("io_size", &format!("{:#}", storage.io_size));
        self.comment("In which order: sequential (file systems merge neighbours) or random.");
        self.text("access", storage.access.as_str());
        self.comment("What all clients write at once and then fsync, if writes come in such bursts only.");
        self.optional("checkpoint", storage.checkpoint.map(|bytes| format!("{bytes:#}")), "500 GiB");
        self.comment(
            "What it must survive: scratch (nothing), zone (a disk or a server), region (a whole zone).",
        );
        self.text("durability", storage.required_durability().as_str());
    }

    fn rate(&mut self, direction: &str, per_pcore: Option<Bandwidth>, aggregate: Option<Bandwidth>) {
        match (per_pcore, aggregate) {
            (None, Some(total)) => self.text(&format!("{direction}_aggregate"), &bandwidth_text(total)),
            (stated, _) => {
                let rate = stated.unwrap_or_else(default_per_pcore);
                self.text(&format!("{direction}_per_pcore"), &bandwidth_text(rate));
            }
        }
    }

    fn constraints(&mut self) {
        self.line("");
        self.comment("What a design may use, for `forebay plan`. Measuring doesn't look at it.");
        self.line("[constraints]");
        self.comment("clouds = [\"azure\", \"aws\", \"gcp\"]");
        self.comment("regions = [\"westeurope\"]");
        self.comment("commitment = \"payg\"             # or one_year, three_years");
        self.comment("figures = \"calibrated\"          # or spec_sheet: limits as providers print them");
        self.comment("encryption = { at_rest = true, in_transit = false }");
        self.comment("skus = { deny = [\"Standard_B*\"] }");
        self.comment("min_servers = 3");
        self.comment("monthly_budget_usd = 25000");
    }

    fn test(&mut self, storage: &Storage, target: Option<&str>) {
        self.line("");
        self.comment("One writer, then one reader per pCore, sequential: the test SAS judges storage by.");
        self.line("[[test]]");
        self.text("name", &format!("{} iotest", storage.name));
        self.text("test", "iotest");
        self.text("storage", &storage.name);
        self.comment("Directory on the storage under test; `--target` overrides it.");
        self.optional("target", target.map(str::to_owned), "/mnt/data");
        self.comment("Refuse to measure anything else when the storage is not mounted:");
        self.comment("expect_file_system = \"lustre\"");
        self.line("repetitions = 3");
        self.comment("Each file is as large as the memory, which takes its time; this makes it short:");
        self.comment("time_boxed = \"60s\"");
        self.comment("Bypass the page cache:");
        self.comment("direct = true");
    }
}

/// A TOML string.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
