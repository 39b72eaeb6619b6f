//! The machine and the storage that the figures belong to.

use host::Environment;
use record::{Imported, RunRecord, TestRecord};
use units::Bytes;

use crate::table::Table;
use crate::text;

/// All tables of the environment; those without rows show nothing.
pub fn tables(record: &RunRecord) -> Vec<Table> {
    let environment = &record.environment;
    let mut tables = vec![
        record.imported.as_ref().map_or_else(|| host(environment), |imported| source(imported, environment)),
    ];
    tables.extend(storage(environment));
    // Tests on other file systems: the host is the same, what is below the target is not.
    tables.extend(record.tests.iter().filter_map(|test| test.environment.as_ref()).flat_map(storage));
    tables.extend([interfaces(environment), engines(record)]);
    tables
}

fn storage(environment: &Environment) -> [Table; 3] {
    [mount(environment), devices(environment), parameters(environment)]
}

fn facts(caption: &str, rows: Vec<(&str, String)>) -> Table {
    let mut table = Table::new(caption).words(["Fact", "Value"]);
    for (name, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
        table.row(vec![name.into(), value.into()]);
    }
    table
}

/// What is known of results of another tool: where they stand, and the host if the file names it.
fn source(imported: &Imported, environment: &Environment) -> Table {
    facts(
        "Imported from another tool: what its file does not say is not known",
        vec![
            ("File", imported.file.display().to_string()),
            ("SHA-256", imported.sha256.clone()),
            ("Format", imported.format.clone()),
            ("Written by", imported.program()),
            ("Imported", imported.imported_at.clone()),
            ("Host", environment.hostname.clone()),
        ],
    )
}

fn host(environment: &Environment) -> Table {
    let (cpu, memory) = (&environment.cpu, &environment.memory);
    let shape = format!(
        "{}, {}, {}, {}; this run may use {} of the vCPUs",
        text::count(cpu.sockets as usize, "socket"),
        text::count(cpu.pcores as usize, "pCore"),
        text::count(cpu.vcpus as usize, "vCPU"),
        text::count(cpu.numa_nodes as usize, "NUMA node"),
        cpu.vcpus_allowed
    );
    let limit = memory.cgroup_limit_bytes.map_or_else(String::new, |limit| format!("; cgroup limit {limit}"));
    let dirty = format!(
        "background {} %, blocking {} % of memory",
        memory.dirty_background_ratio_percent, memory.dirty_ratio_percent
    );
    facts(
        "Host",
        vec![
            ("Name", environment.hostname.clone()),
            ("Machine", environment.machine.clone()),
            ("Operating system", environment.operating_system.clone()),
            ("Kernel", environment.kernel.clone()),
            ("CPU", cpu.model.clone()),
            ("CPU topology", shape),
            ("Memory", format!("{}{limit}", memory.total_bytes)),
            ("Dirty pages are written from", dirty),
            ("Clock source", environment.clock_source.clone()),
        ],
    )
}

fn mount(environment: &Environment) -> Table {
    let Some(mount) = &environment.target else { return Table::new("") };
    let inodes = if mount.inodes == 0 {
        "no fixed number".to_owned()
    } else {
        format!("{} free of {}", mount.inodes_free, mount.inodes)
    };
    facts(
        "File system under test",
        vec![
            ("Mounted at", mount.mount_point.clone()),
            ("Source", mount.source.clone()),
            ("Type", mount.file_system.clone()),
            ("Options", mount.options.replace(',', ", ")),
            ("Device number", mount.device_number.clone()),
            ("Space", format!("{} available of {}", mount.available_bytes, mount.size_bytes)),
            ("Inodes", inodes),
        ],
    )
}

fn devices(environment: &Environment) -> Table {
    let mut table = Table::new("Block devices below the file system")
        .words(["Device", "Model", "Kind", "Scheduler", "Write cache"])
        .figures(["Size", "Queue (requests)", "Read-ahead", "Largest request", "Logical block"]);
    for device in &environment.devices {
        table.row(vec![
            device.name.as_str().into(),
            or_dash(&device.model).into(),
            if device.rotational { "spinning" } else { "solid state" }.into(),
            or_dash(&device.scheduler).into(),
            or_dash(&device.write_cache).into(),
            device.size_bytes.to_string().into(),
            device.nr_requests.to_string().into(),
            device.read_ahead_bytes.to_string().into(),
            device.max_request_bytes.to_string().into(),
            device.logical_block_bytes.to_string().into(),
        ]);
    }
    table
}

fn interfaces(environment: &Environment) -> Table {
    let mut table =
        Table::new("Network interfaces").words(["Interface", "Driver"]).figures(["Speed", "MTU (bytes)"]);
    for interface in &environment.interfaces {
        let speed = interface.speed_bytes_per_second.map_or_else(
            || "not told by the driver".to_owned(),
            |speed| format!("{} Gbit/s", (speed.get() * 8.0 / 1e7).round() / 100.0),
        );
        table.row(vec![
            interface.name.as_str().into(),
            or_dash(&interface.driver).into(),
            speed.into(),
            interface.mtu.to_string().into(),
        ]);
    }
    table
}

fn parameters(environment: &Environment) -> Table {
    let mut table = Table::new("Parameters of the file system's client").words(["Parameter", "Value"]);
    for parameter in &environment.client_parameters {
        table.row(vec![parameter.name.as_str().into(), parameter.value.as_str().into()]);
    }
    table
}

fn engines(record: &RunRecord) -> Table {
    let mut table = Table::new("How the I/O was made")
        .words(["Test and phase", "Engine", "O_DIRECT"])
        .figures(["Queue depth per rank", "Transfer size"])
        .words(["Why this engine"]);
    for phase in super::phases::Phase::all(record) {
        let Some((_, result)) = phase.results.first() else { continue };
        let engine = &result.engine;
        table.row(vec![
            phase.title().into(),
            or_dash(&engine.name).into(),
            if engine.direct { "yes" } else { "no" }.into(),
            engine.queue_depth.to_string().into(),
            result
                .transfer_bytes
                .map_or_else(|| text::NONE.to_owned(), |size: Bytes| size.to_string())
                .into(),
            or_dash(&engine.reason).into(),
        ]);
    }
    table
}

fn or_dash(text: &str) -> &str {
    if text.is_empty() { text::NONE } else { text }
}

/// What was run, test by test.
pub fn tests(record: &RunRecord) -> Table {
    let mut table = Table::new("What was run")
        .words(["Test", "Kind", "What", "Target", "Stands for"])
        .figures(["Repetitions", "pCores"]);
    for test in &record.tests {
        table.row(vec![
            test.name.as_str().into(),
            test.test.as_str().into(),
            what(test).into(),
            test.target.display().to_string().into(),
            test.equivalence.as_deref().unwrap_or("itself").into(),
            test.repetitions.len().to_string().into(),
            test.pcores.to_string().into(),
        ]);
    }
    table
}

/// What it did, and what was kept from the page cache meanwhile.
fn what(test: &TestRecord) -> String {
    let held = test.held_memory.map(|held| format!(", {} of memory held", held.size_bytes));
    format!("{}{}", test.summary, held.unwrap_or_default())
}

/// The run itself: id, versions, times.
pub fn run(record: &RunRecord) -> Table {
    let state = match record.state {
        record::RunState::Running => "running, or killed",
        record::RunState::Complete => "complete",
        record::RunState::Interrupted => "interrupted",
        record::RunState::Failed => "failed",
    };
    facts(
        "The run",
        vec![
            ("Run", record.id.clone()),
            ("Label", record.label.clone().unwrap_or_default()),
            ("State", state.to_owned()),
            ("Belief", record.validity().words().to_owned()),
            ("Started", record::whole_seconds(&record.started_at)),
            ("Took", units::format_duration(std::time::Duration::from_nanos(record.elapsed_ns))),
            ("Program", record.program.clone()),
            ("Record layout", format!("version {}", record.version)),
            ("Grid", record.spec.as_ref().map(|spec| spec.grid.clone()).unwrap_or_default()),
        ],
    )
}
