//! Every option of IOR: its letter, its long name, its directives, and what it sets. The parser, the help and the
//! refusals read this table.

use std::fmt::Write as _;

use super::parameters::Parameters;

/// What an option sets.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Counts how often it is given, or takes the number behind it: `-F`, `-vv`, `-F=1`.
    Flag(fn(&mut Parameters) -> &mut i64),
    /// A number.
    Number(fn(&mut Parameters) -> &mut i64),
    /// A size: a number and k, m, g, t or p.
    Size(fn(&mut Parameters) -> &mut i64),
    /// A word.
    Text(fn(&mut Parameters) -> &mut String),
    /// A word that may be missing.
    Word(fn(&mut Parameters) -> &mut Option<String>),
    /// `key=value`, several with commas between.
    Directives,
    /// Not done here, and why. `true`: it takes a value.
    Refused(bool, &'static str),
    /// Changes nothing here, and why. `true`: it takes a value.
    Ignored(bool, &'static str),
}

/// One option.
#[derive(Clone, Copy)]
pub struct Description {
    /// Its letter.
    pub letter: Option<char>,
    /// Its long name on the command line.
    pub long: Option<&'static str>,
    /// Its names as a directive, in any case.
    pub directives: &'static [&'static str],
    /// What it sets.
    pub kind: Kind,
    /// One line of help; empty for those that are only understood.
    pub help: &'static str,
    /// What to say when it is used: it is an older name of another.
    pub note: Option<&'static str>,
}

const NO_MPI_IO: &str = "it is MPI-IO's, and this measures files through POSIX calls";
const NO_HDF5: &str = "it is HDF5's, and this measures files through POSIX calls";
const NO_GPU: &str = "buffers are in the host's memory";
const NO_MMAP: &str = "mapped files have no calls whose size and time could be told";
const NO_BEEGFS: &str = "only Lustre's files are striped here; set BeeGFS's pattern on the directory before, with `beegfs-ctl --setpattern`";
const NO_GPFS: &str = "hints of GPFS need its own library";

const fn plain(
    letter: char,
    directives: &'static [&'static str],
    kind: Kind,
    help: &'static str,
) -> Description {
    Description { letter: Some(letter), long: None, directives, kind, help, note: None }
}

const fn directive(directives: &'static [&'static str], kind: Kind, help: &'static str) -> Description {
    Description { letter: None, long: None, directives, kind, help, note: None }
}

const fn long(
    name: &'static str,
    directives: &'static [&'static str],
    kind: Kind,
    help: &'static str,
) -> Description {
    Description { letter: None, long: Some(name), directives, kind, help, note: None }
}

const fn refused(letter: char, value: bool, why: &'static str) -> Description {
    Description {
        letter: Some(letter),
        long: None,
        directives: &[],
        kind: Kind::Refused(value, why),
        help: "",
        note: None,
    }
}

use Kind::{Directives, Flag, Ignored, Number, Refused, Size, Text, Word};

/// All of them.
pub const OPTIONS: &[Description] = &[
    plain('a', &["api"], Text(|p| &mut p.api), "interface: POSIX, or AIO (io_uring, --aio.max-pending)"),
    plain('A', &["refnum"], Number(|p| &mut p.reference_number), "reference number, copied to results"),
    plain('b', &["blockSize"], Size(|p| &mut p.block_size), "contiguous bytes per task and segment [1m]"),
    plain('c', &["collective"], Refused(false, NO_MPI_IO), ""),
    plain(
        'C',
        &["reorderTasksConstant", "reorderTasks"],
        Flag(|p| &mut p.reorder_tasks),
        "read what the task on the next node wrote",
    ),
    plain('d', &["interTestDelay"], Number(|p| &mut p.inter_test_delay), "rest before each phase (s)"),
    plain(
        'D',
        &["deadlineForStonewalling"],
        Number(|p| &mut p.deadline),
        "stop writing and reading after so many seconds",
    ),
    plain('e', &["fsync"], Flag(|p| &mut p.fsync), "fsync each file after it is written, inside the time"),
    plain(
        'E',
        &["useExistingTestFile"],
        Flag(|p| &mut p.use_existing),
        "write into files that exist instead of removing them first",
    ),
    plain('f', &[], Word(|p| &mut p.script), "script with further tests"),
    plain('F', &["filePerProc"], Flag(|p| &mut p.file_per_process), "a file for each task"),
    plain(
        'g',
        &["intraTestBarriers"],
        Flag(|p| &mut p.barriers),
        "barriers between open, transfers and close",
    ),
    plain(
        'G',
        &["setTimeStampSignature"],
        Number(|p| &mut p.signature),
        "signature of the data [from the clock]; needed to verify files of another run",
    ),
    refused('H', false, NO_MPI_IO),
    plain('i', &["repetitions"], Number(|p| &mut p.repetitions), "repetitions [1]"),
    refused('I', false, NO_HDF5),
    plain(
        'j',
        &["outlierThreshold"],
        Number(|p| &mut p.outlier_threshold),
        "warn of tasks that are so much later than the mean (s)",
    ),
    refused('J', true, NO_HDF5),
    plain('k', &["keepFile"], Flag(|p| &mut p.keep_file), "keep the files"),
    plain(
        'K',
        &["keepFileWithError"],
        Flag(|p| &mut p.keep_file_with_error),
        "keep files in which errors were found",
    ),
    Description {
        letter: Some('l'),
        long: Some("dataPacketType"),
        directives: &["dataPacketType", "storeFileOffset"],
        kind: Text(|p| &mut p.packet),
        help: "data: t (time stamp), o (offset), i (IOR's incompressible), r (random) [t]",
        note: None,
    },
    plain(
        'm',
        &["multiFile"],
        Flag(|p| &mut p.multi_file),
        "files of their own for each repetition: .<repetition>",
    ),
    plain(
        'M',
        &["memoryPerNode"],
        Word(|p| &mut p.memory_per_node),
        "hold memory: bytes, or per cent of what there is (80%)",
    ),
    refused('n', false, NO_HDF5),
    plain('N', &["numTasks"], Number(|p| &mut p.tasks), "tasks that take part [all there are]"),
    plain(
        'o',
        &["testFile"],
        Text(|p| &mut p.test_file),
        "file under test; a@b: in turn by task, with -F [testFile]",
    ),
    plain('O', &[], Directives, "directives: key=value,key=value"),
    refused('p', false, NO_MPI_IO),
    refused('P', false, NO_MPI_IO),
    plain('q', &["quitOnError"], Ignored(false, "every error ends the run"), ""),
    plain('Q', &["taskPerNodeOffset"], Number(|p| &mut p.task_offset), "nodes that -C and -Z go further [1]"),
    plain('r', &["readFile"], Flag(|p| &mut p.read), "read [write and read]"),
    plain('R', &["checkRead"], Flag(|p| &mut p.check_read), "read and compare"),
    plain('s', &["segmentCount"], Size(|p| &mut p.segments), "segments [1]"),
    refused('S', false, NO_MPI_IO),
    plain('t', &["transferSize"], Size(|p| &mut p.transfer_size), "bytes per call [256k]"),
    plain('T', &["maxTimeDuration"], Number(|p| &mut p.maximum_time), "start no phase after so many minutes"),
    plain('u', &["uniqueDir"], Flag(|p| &mut p.unique_directory), "a directory for each task's file"),
    refused('U', true, NO_MPI_IO),
    plain('v', &["verbose"], Flag(|p| &mut p.verbose), "say more: -v, -vv ..."),
    refused('V', false, NO_MPI_IO),
    plain('w', &["writeFile"], Flag(|p| &mut p.write), "write [write and read]"),
    plain('W', &["checkWrite"], Flag(|p| &mut p.check_write), "read back what was written and compare"),
    plain(
        'x',
        &["singleXferAttempt"],
        Flag(|p| &mut p.single_attempt),
        "a short transfer fails instead of being completed",
    ),
    plain('X', &["reorderTasksRandomSeed"], Number(|p| &mut p.reorder_seed), "seed of -Z [0]"),
    plain(
        'y',
        &["dualMount"],
        Refused(
            false,
            "which socket a task runs on is the launcher's choice; `-F -o a@b` deals tasks to mounts in turn",
        ),
        "",
    ),
    plain('Y', &["fsyncPerWrite"], Flag(|p| &mut p.fsync_per_write), "fsync after each write"),
    plain(
        'z',
        &["randomOffset"],
        Flag(|p| &mut p.random_offset),
        "each transfer once, shuffled; -zz: any at any time",
    ),
    plain('Z', &["reorderTasksRandom"], Flag(|p| &mut p.reorder_random), "read what a random task wrote"),
    Description {
        note: Some("-B has been --posix.odirect since IOR 3.3"),
        ..plain('B', &[], Flag(|p| &mut p.direct), "")
    },
    long(
        "posix.odirect",
        &["useO_DIRECT", "posix.odirect"],
        Flag(|p| &mut p.direct),
        "bypass the page cache (O_DIRECT)",
    ),
    long(
        "aio.max-pending",
        &["aio.max-pending"],
        Number(|p| &mut p.pending),
        "I/Os in flight per task with -a AIO [128]",
    ),
    long("aio.granularity", &["aio.granularity"], Ignored(true, "io_uring submits by itself"), ""),
    long(
        "random-offset-seed",
        &["randomOffsetSeed", "random-offset-seed"],
        Number(|p| &mut p.random_seed),
        "seed of -z [from the clock]",
    ),
    long(
        "randomPrefill",
        &["randomPrefill"],
        Size(|p| &mut p.prefill),
        "with -z: first write everything in order with calls of this size, inside the time",
    ),
    long("dryRun", &["dryRun"], Flag(|p| &mut p.dry_run), "say what would be done, and do nothing"),
    long(
        "warningAsErrors",
        &["warningAsErrors"],
        Flag(|p| &mut p.warnings_are_errors),
        "a warning makes the command fail",
    ),
    directive(&["interIODelay"], Number(|p| &mut p.inter_io_delay), "rest after each transfer (µs)"),
    directive(
        &["stoneWallingWearOut"],
        Flag(|p| &mut p.wear_out),
        "with -D: go on until all have done as much as the first",
    ),
    directive(
        &["stoneWallingWearOutIterations"],
        Number(|p| &mut p.wear_out_iterations),
        "stop after so many transfers",
    ),
    directive(
        &["stoneWallingStatusFile"],
        Word(|p| &mut p.status_file),
        "file that tells a later run how much was written",
    ),
    directive(
        &["minTimeDuration"],
        Number(|p| &mut p.minimum_time),
        "go over the file again until so many seconds have passed",
    ),
    directive(&["memoryPerTask"], Word(|p| &mut p.memory_per_task), "memory that each task holds"),
    directive(&["summaryFile"], Word(|p| &mut p.summary_file), "file for the results"),
    directive(&["summaryFormat"], Text(|p| &mut p.summary_format), "default, JSON or CSV"),
    directive(&["summaryAlways"], Flag(|p| &mut p.summary_always), "a summary after each test"),
    directive(
        &["saveRankPerformanceDetailsCSV"],
        Word(|p| &mut p.rank_details),
        "file with a line for each task and phase",
    ),
    directive(&["platform"], Word(|p| &mut p.platform), "name of the platform, copied to results"),
    directive(
        &["savePerOpDataCSV"],
        Word(|p| &mut p.operation_log),
        "a line for each transfer, in files <S>-<repetition>-<task>.csv",
    ),
    directive(&["debug", "numNodes", "numTasksOnNode0"], Ignored(true, "it is found out"), ""),
    long(
        "posix.rangelocks",
        &["posix.rangelocks"],
        Refused(false, "it measures the lock manager and not the storage"),
        "",
    ),
    long(
        "posix.lustre.stripecount",
        &["lustreStripeCount", "posix.lustre.stripecount"],
        Number(|p| &mut p.stripe_count),
        "OSTs each new file spreads over, on Lustre; -1: all",
    ),
    long(
        "posix.lustre.stripesize",
        &["lustreStripeSize", "posix.lustre.stripesize"],
        Size(|p| &mut p.stripe_size),
        "bytes per OST in turn, a multiple of 64k",
    ),
    long(
        "posix.lustre.startost",
        &["lustreStartOST", "posix.lustre.startost"],
        Number(|p| &mut p.first_ost),
        "number of the OST that each new file begins on",
    ),
    long(
        "posix.lustre.pool",
        &["lustrePool", "posix.lustre.pool"],
        Word(|p| &mut p.ost_pool),
        "pool of OSTs for new files",
    ),
    long(
        "posix.lustre.ignorelocks",
        &["lustreIgnoreLocks", "posix.lustre.ignorelocks"],
        Refused(false, "it measures Lustre without what keeps data consistent"),
        "",
    ),
    long("posix.gpuDirect", &["posix.gpuDirect", "gpuDirect"], Refused(false, NO_GPU), ""),
    long("posix.gpfs.hintaccess", &["gpfsHintAccess", "posix.gpfs.hintaccess"], Refused(false, NO_GPFS), ""),
    long(
        "posix.gpfs.releasetoken",
        &["gpfsReleaseToken", "posix.gpfs.releasetoken"],
        Refused(false, NO_GPFS),
        "",
    ),
    long(
        "posix.beegfs.NumTargets",
        &["beegfsNumTargets", "posix.beegfs.NumTargets"],
        Refused(true, NO_BEEGFS),
        "",
    ),
    long(
        "posix.beegfs.ChunkSize",
        &["beegfsChunkSize", "posix.beegfs.ChunkSize"],
        Refused(true, NO_BEEGFS),
        "",
    ),
    long("mmap.madv_dont_need", &["mmap.madv_dont_need"], Refused(false, NO_MMAP), ""),
    long("mmap.madv_pattern", &["mmap.madv_pattern"], Refused(false, NO_MMAP), ""),
    long("mpiio.hintsFileName", &["hintsFileName"], Refused(true, NO_MPI_IO), ""),
    long("mpiio.showHints", &["showHints"], Refused(false, NO_MPI_IO), ""),
    long("mpiio.preallocate", &["preallocate"], Refused(false, NO_MPI_IO), ""),
    long("mpiio.useStridedDatatype", &["useStridedDatatype"], Refused(false, NO_MPI_IO), ""),
    long("mpiio.useFileView", &["useFileView"], Refused(false, NO_MPI_IO), ""),
    long("hdf5.setAlignment", &["setAlignment"], Refused(true, NO_HDF5), ""),
    directive(&["allocateBufferOnGPU", "GPUid", "GPUDirect"], Refused(true, NO_GPU), ""),
];

impl Description {
    /// Whether a value must follow.
    pub fn takes_value(&self) -> bool {
        match self.kind {
            Kind::Flag(_) => false,
            Kind::Refused(value, _) | Kind::Ignored(value, _) => value,
            _ => true,
        }
    }
}

/// The table for people: what is understood, and what is refused and why.
pub fn help() -> String {
    let mut text =
        String::from("IOR's options (those of IOR 4, by its own rules: -b4k, -b=4k, -wr, -F=1):\n");
    for option in OPTIONS.iter().filter(|option| !option.help.is_empty()) {
        let value = match option.kind {
            Kind::Number(_) => " N",
            Kind::Size(_) => " SIZE",
            Kind::Text(_) | Kind::Word(_) | Kind::Directives => " S",
            _ => "",
        };
        let name = match (option.letter, option.long) {
            (Some(letter), _) => format!("-{letter}{value}"),
            (None, Some(long)) => format!("--{long}{}", value.replacen(' ', "=", 1)),
            (None, None) => format!("-O {}={}", option.directives[0], value.trim_start()),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {name:<40} {}", option.help);
    }
    text.push_str("\nRefused, with the reason: -c, -y, those of MPI-IO and HDF5 (-H -I -J -n -p -P -S -U -V), of mapped files, BeeGFS and\n");
    text.push_str("GPFS, --posix.rangelocks, --posix.lustre.ignorelocks, buffers on GPUs. -B means --posix.odirect; -q changes nothing.\n");
    text
}
