//! `summaryFormat=JSON`: IOR's keys, order and nesting, but always valid JSON, and numbers with all their digits.

use host::Mount;
use record::TestRecord;

use super::super::{Parameters, Test};
use super::figures::{Figures, Row, Summary};
use super::ordered::Json;
use super::{Document, human};

/// The whole document.
pub fn document(document: &Document) -> String {
    let tests = (0..).zip(&document.tests);
    let tests =
        tests.map(|(number, (test, result, figures))| test_of(document, number, test, *result, figures));
    let summary = (0..).zip(&document.tests).flat_map(|(number, (test, _, figures))| {
        figures.summaries.iter().map(move |summary| summary_of(number, test, summary))
    });
    let all = Json::Object(vec![
        ("Version", document.version().into()),
        ("Began", document.clock(0).into()),
        ("Command line", document.command().into()),
        ("Machine", document.machine().into()),
        ("tests", Json::List(tests.collect())),
        ("summary", Json::List(summary.collect())),
        ("Finished", document.clock(document.record.elapsed_ns).into()),
    ]);
    serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"
}

fn test_of(
    document: &Document,
    number: u32,
    test: &Test,
    result: Option<&TestRecord>,
    figures: &Figures,
) -> Json {
    let mut entries = vec![
        ("TestID", number.into()),
        ("StartTime", document.test_clock(result).into()),
        ("Path", super::text::first_file(test).into()),
    ];
    if let Some(mount) = &document.record.environment.target {
        let space = Space::of(mount);
        entries.push(("Capacity", space.capacity.into()));
        entries.push(("Used Capacity", space.used.into()));
        entries.push(("Inodes", space.inodes.into()));
        entries.push(("Used Inodes", space.used_inodes.into()));
    }
    let parameters = parameters(number, test, &document.record.environment.hostname);
    entries.push(("Parameters", Json::Object(parameters)));
    entries.push(("Options", Json::Object(options(test))));
    let rows = figures.rows.iter().filter(|row| row.moved.is_some() || test.parameters.verbose > 0);
    entries.push(("Results", Json::List(rows.map(|row| row_of(row, &test.parameters)).collect())));
    if test.parameters.verbose > 0 {
        let most = figures.summaries.iter().flat_map(|summary| {
            let (mib, mb) =
                if summary.operation == "write" { ("writeMiB", "writeMB") } else { ("readMiB", "readMB") };
            [(mib, summary.bandwidth.max.into()), (mb, (summary.bandwidth.max * 1.048_576).into())]
        });
        entries.push(("max", Json::Object(most.collect())));
    }
    Json::Object(entries)
}

/// What IOR says of a file system.
pub struct Space {
    /// `23.5 GiB`.
    pub capacity: String,
    /// `20.5%`.
    pub used: String,
    /// `2.9 Mi`.
    pub inodes: String,
    /// `8.6%`.
    pub used_inodes: String,
}

impl Space {
    /// Of a mounted file system.
    pub fn of(mount: &Mount) -> Self {
        let size = mount.size_bytes.get() as f64;
        let gib = size / f64::from(1u32 << 30);
        let capacity =
            if gib > 1024.0 { format!("{:.1} TiB", gib / 1024.0) } else { format!("{gib:.1} GiB") };
        let used = |all: f64, free: f64| if all > 0.0 { (1.0 - free / all) * 100.0 } else { 0.0 };
        let inodes = mount.inodes as f64;
        Self {
            capacity,
            used: format!("{:.1}%", used(size, mount.free_bytes.max(mount.available_bytes).get() as f64)),
            inodes: format!("{:.1} Mi", inodes / f64::from(1u32 << 20)),
            used_inodes: format!("{:.1}%", used(inodes, mount.inodes_free as f64)),
        }
    }
}

/// Everything that can be said, as it was understood.
pub fn parameters(number: u32, test: &Test, host: &str) -> Vec<(&'static str, Json)> {
    let p = &test.parameters;
    let memory = |text: &Option<String>| match text {
        None => Json::Whole(0),
        Some(text) => {
            super::super::parse::bytes("-M", text).map_or_else(|_| text.clone().into(), Json::Whole)
        }
    };
    let packet: u32 = match p.packet.chars().next().map(|letter| letter.to_ascii_lowercase()) {
        Some('i') => 1,
        Some('o') => 2,
        Some('r') => 3,
        _ => 0,
    };
    vec![
        ("testID", number.into()),
        ("refnum", p.reference_number.into()),
        ("api", p.api.to_uppercase().into()),
        ("platform", p.platform.clone().unwrap_or_else(|| format!("{host}(Linux)")).into()),
        ("testFileName", p.test_file.as_str().into()),
        ("deadlineForStonewall", p.deadline.into()),
        ("stoneWallingWearOut", p.wear_out.into()),
        ("maxTimeDuration", p.maximum_time.into()),
        ("outlierThreshold", p.outlier_threshold.into()),
        ("options", "(null)".into()),
        ("dryRun", p.dry_run.into()),
        ("nodes", i64::from(test.world.nodes).into()),
        ("memoryPerTask", memory(&p.memory_per_task)),
        ("memoryPerNode", memory(&p.memory_per_node)),
        ("tasksPerNode", tasks_per_node(test).into()),
        ("repetitions", p.repetitions.into()),
        ("multiFile", p.multi_file.into()),
        ("interTestDelay", p.inter_test_delay.into()),
        ("fsync", p.fsync.into()),
        ("fsyncperwrite", p.fsync_per_write.into()),
        ("useExistingTestFile", p.use_existing.into()),
        ("uniqueDir", p.unique_directory.into()),
        ("singleXferAttempt", p.single_attempt.into()),
        ("readFile", p.read.into()),
        ("writeFile", p.write.into()),
        ("filePerProc", p.file_per_process.into()),
        ("reorderTasks", p.reorder_tasks.into()),
        ("reorderTasksRandom", p.reorder_random.into()),
        ("reorderTasksRandomSeed", p.reorder_seed.into()),
        ("randomOffset", p.random_offset.into()),
        ("checkWrite", p.check_write.into()),
        ("checkRead", p.check_read.into()),
        ("dataPacketType", packet.into()),
        ("keepFile", p.keep_file.into()),
        ("keepFileWithError", p.keep_file_with_error.into()),
        ("warningAsErrors", p.warnings_are_errors.into()),
        ("verbose", p.verbose.into()),
        ("data packet type", "g".into()),
        ("setTimeStampSignature/incompressibleSeed", p.signature.into()),
        ("collective", 0_u32.into()),
        ("segmentCount", p.segments.into()),
        ("transferSize", p.transfer_size.into()),
        ("blockSize", p.block_size.into()),
    ]
}

/// Tasks on one host, as far as IOR knows.
pub fn tasks_per_node(test: &Test) -> i64 {
    i64::from(test.world.ranks_on_first_node).min(test.parameters.tasks)
}

/// The block of options, which the text has, too.
pub fn options(test: &Test) -> Vec<(&'static str, Json)> {
    let p = &test.parameters;
    let between = match (p.reorder_tasks > 0, p.reorder_random > 0) {
        (true, _) => "constant task offset",
        (_, true) => "random task offset",
        _ => "no tasks offsets",
    };
    let mut options: Vec<(&'static str, Json)> = vec![
        ("api", p.api.to_uppercase().into()),
        ("apiVersion", "".into()),
        ("test filename", p.test_file.as_str().into()),
        ("access", if p.file_per_process > 0 { "file-per-process" } else { "single-shared-file" }.into()),
        ("type", "independent".into()),
        ("segments", p.segments.into()),
        ("ordering in a file", if p.random_offset > 0 { "random" } else { "sequential" }.into()),
        ("ordering inter file", between.into()),
    ];
    if p.reorder_tasks > 0 || p.reorder_random > 0 {
        options.push(("task offset", p.task_offset.into()));
    }
    if p.reorder_random > 0 {
        options.push(("reorder random seed", p.reorder_seed.into()));
    }
    options.extend([
        ("nodes", i64::from(test.world.nodes).into()),
        ("tasks", p.tasks.into()),
        ("clients per node", tasks_per_node(test).into()),
    ]);
    let memory = [("memoryPerTask", &p.memory_per_task), ("memoryPerNode", &p.memory_per_node)];
    options.extend(memory.into_iter().filter_map(|(key, text)| Some((key, text.as_deref()?.into()))));
    let all = (p.block_size * p.segments * p.tasks).cast_unsigned();
    options.extend([
        ("memoryBuffer", "CPU".into()),
        ("dataAccess", "CPU".into()),
        ("GPUDirect", "0".into()),
        ("repetitions", p.repetitions.into()),
        ("xfersize", human(p.transfer_size.cast_unsigned()).into()),
        ("blocksize", human(p.block_size.cast_unsigned()).into()),
        ("aggregate filesize", human(all).into()),
    ]);
    if p.dry_run > 0 {
        options.push(("dryRun", p.dry_run.into()));
    }
    if p.verbose > 0 {
        options.push(("verbose", p.verbose.into()));
    }
    if p.deadline > 0 {
        options.push(("stonewallingTime", p.deadline.into()));
        options.push(("stoneWallingWearOut", p.wear_out.into()));
    }
    options
}

fn row_of(row: &Row, p: &Parameters) -> Json {
    let Some(moved) = row.moved else {
        return Json::Object(vec![("access", row.access.into()), ("totalTime", row.total.into())]);
    };
    Json::Object(vec![
        ("access", row.access.into()),
        ("bwMiB", moved.bandwidth.into()),
        ("blockKiB", (p.block_size as f64 / 1024.0).into()),
        ("xferKiB", (p.transfer_size as f64 / 1024.0).into()),
        ("iops", moved.iops.into()),
        ("latency", moved.latency.into()),
        ("openTime", moved.open.into()),
        ("wrRdTime", moved.transfer.into()),
        ("closeTime", moved.close.into()),
        ("totalTime", row.total.into()),
    ])
}

fn summary_of(number: u32, test: &Test, summary: &Summary) -> Json {
    let p = &test.parameters;
    let mut entries: Vec<(&'static str, Json)> = vec![
        ("operation", summary.operation.into()),
        ("API", p.api.to_uppercase().into()),
        ("TestID", number.into()),
        ("ReferenceNumber", p.reference_number.into()),
        ("segmentCount", p.segments.into()),
        ("blockSize", p.block_size.into()),
        ("transferSize", p.transfer_size.into()),
        ("numTasks", p.tasks.into()),
        ("tasksPerNode", tasks_per_node(test).into()),
        ("repetitions", p.repetitions.into()),
        ("filePerProc", p.file_per_process.into()),
        ("reorderTasks", p.reorder_tasks.into()),
        ("taskPerNodeOffset", p.task_offset.into()),
        ("reorderTasksRandom", p.reorder_random.into()),
        ("reorderTasksRandomSeed", p.reorder_seed.into()),
        ("bwMaxMIB", summary.bandwidth.max.into()),
        ("bwMinMIB", summary.bandwidth.min.into()),
        ("bwMeanMIB", summary.bandwidth.mean.into()),
        ("bwStdMIB", summary.bandwidth.deviation.into()),
        ("OPsMax", summary.operations.max.into()),
        ("OPsMin", summary.operations.min.into()),
        ("OPsMean", summary.operations.mean.into()),
        ("OPsSD", summary.operations.deviation.into()),
        ("MeanTime", summary.mean_time.into()),
    ];
    if let Some((time, rate)) = summary.stonewall {
        entries.push(("StoneWallTime", time.into()));
        entries.push(("StoneWallbwMeanMIB", rate.into()));
    }
    entries.push(("xsizeMiB", summary.aggregate.into()));
    Json::Object(entries)
}
