//! mdtest's command line: its options become a [`Workload`] for each number of tasks, its results the table it prints.

mod options;
mod phases;
mod table;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::SystemTime;

use fault::{Fault, Kind, Result};
use units::Bytes;

pub use options::{OPTIONS, help};
pub use table::{Capacity, Head, table};

use super::grammar::{Line, leading_integer, wrong};
use crate::workload::Workload;

/// The name of the test in records.
pub const TEST: &str = "mdtest";

/// What one mdtest command asks for, as far as it does not depend on the number of ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Mdtest {
    /// Directories under test (`-d a@b`).
    pub directories: Vec<PathBuf>,
    /// Directories per directory.
    branch: u32,
    depth: u32,
    leaf_only: bool,
    items: u64,
    directory_items: u64,
    /// Phases.
    create: bool,
    stat: bool,
    read: bool,
    rename: bool,
    remove: bool,
    /// What the items are.
    pub with_directories: bool,
    /// Whether files are among them.
    pub with_files: bool,
    shared: bool,
    collective: bool,
    nodes: bool,
    unique: bool,
    write_bytes: Bytes,
    read_bytes: Bytes,
    fsync: bool,
    sync: bool,
    verify_read: bool,
    verify_write: bool,
    seed: Option<u64>,
    stride: u32,
    random: bool,
    /// `-i`.
    pub iterations: u32,
    delay: u64,
    first: u32,
    last: u32,
    step: u32,
    stonewall: u64,
    /// Where the number of created items is kept for other processes (`-x`).
    pub status_file: Option<PathBuf>,
    direct: bool,
    /// Paths from the target instead of names in an open directory.
    full_paths: bool,
    /// mdtest's mistakes are made, too.
    pub strict: bool,
    /// `--savePerOpDataCSV`.
    operation_log: Option<String>,
    /// Whether the table of rates is shown.
    pub show_rates: bool,
    /// Whether the table of times is shown.
    pub show_times: bool,
    /// What is done otherwise than mdtest does it.
    pub deviations: Vec<String>,
}

/// What is known when a command becomes workloads.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surroundings {
    /// Ranks in all.
    pub ranks: u32,
    /// Ranks on the first host, where ranks are dealt to several hosts in blocks: `-N` goes over hosts then.
    pub ranks_on_first_host: Option<u32>,
    /// Items that an earlier, stopped creation has left for each rank (`-x`).
    pub items_left: Option<u64>,
}

/// One number of tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// How many take part.
    pub tasks: u32,
    /// What they do.
    pub workload: Workload,
}

impl Mdtest {
    /// Reads the words behind `mdtest`. `full_paths` is ours: it names items by whole paths, as mdtest does. `strict`: as mdtest
    /// does it, its mistakes included.
    pub fn read(words: &[String], full_paths: bool, strict: bool) -> Result<Self> {
        let line = Line::read(TEST, &options::known(), words)?;
        options::refuse(&line)?;
        let number = |name: &str, otherwise: u64| line.number(name).map(|found| found.unwrap_or(otherwise));
        let small =
            |name: &str, otherwise: u64| number(name, otherwise).and_then(|value| as_u32(name, value));
        let asked = ["-C", "-T", "-E", "-U", "-r"].map(|name| line.flag(name));
        let all = asked == [false; 5];
        let [create, stat, read, rename, remove] = asked.map(|one| one || all);
        let (only_directories, only_files) = (line.flag("-D"), line.flag("-F"));
        let both = only_directories == only_files;
        let shared = line.flag("-S");
        let mut mdtest = Self {
            directories: line.text("-d").unwrap_or("./out").split('@').map(PathBuf::from).collect(),
            branch: small("-b", 1)?,
            depth: small("-z", 0)?,
            leaf_only: line.flag("-L"),
            items: number("-n", 0)?,
            directory_items: number("-I", 0)?,
            create,
            stat,
            read,
            rename,
            remove,
            with_directories: (both || only_directories) && !shared,
            with_files: both || only_files || shared,
            shared,
            collective: line.flag("-c"),
            nodes: line.flag("-k"),
            unique: line.flag("-u"),
            write_bytes: line.size("-w")?.unwrap_or_default(),
            read_bytes: line.size("-e")?.unwrap_or_default(),
            fsync: line.flag("-y"),
            sync: line.flag("-Y"),
            verify_read: line.flag("-X"),
            verify_write: line.flag("--verify-write"),
            seed: seed(&line)?,
            stride: small("-N", 0)?,
            random: line.flag("-R"),
            iterations: small("-i", 1)?,
            delay: number("-p", 0)?,
            first: small("-f", 0)?,
            last: small("-l", 0)?,
            step: small("-s", 1)?,
            stonewall: number("-W", 0)?,
            status_file: line.text("-x").map(PathBuf::from),
            direct: line.flag("--posix.odirect"),
            full_paths: full_paths || strict,
            strict,
            operation_log: line.text("--savePerOpDataCSV").map(str::to_owned),
            show_rates: !line.flag("-Z") || line.flag("-P"),
            show_times: line.flag("-Z") || line.flag("-P"),
            deviations: Vec::new(),
        };
        mdtest.deviations = options::deviations(&line, &mdtest);
        mdtest.check()?;
        Ok(mdtest)
    }

    /// Tasks of each run: `-f`, `-l`, `-s`.
    pub fn task_counts(&self, ranks: u32) -> Result<Vec<u32>> {
        if self.first == 0 {
            return Ok(vec![ranks]);
        }
        let last = if self.last == 0 { ranks } else { self.last };
        if last > ranks || self.first > last {
            return Err(wrong(format!(
                "mdtest: `-f {} -l {last}` asks for other numbers of tasks than there are: {ranks}",
                self.first
            ))
            .hint("use 1 <= f <= l <= the number of ranks"));
        }
        Ok((self.first..=last).step_by(self.step.max(1) as usize).collect())
    }

    /// Directories of one tree.
    fn tree_directories(&self) -> u64 {
        crate::workload::Tree { branch: self.branch, depth: self.depth, ..Default::default() }.directories()
    }

    /// Directories of one tree that hold items.
    fn item_directories(&self) -> u64 {
        if self.leaf_only {
            u64::from(self.branch).saturating_pow(self.depth)
        } else {
            self.tree_directories()
        }
    }

    /// Items of each task, and of each directory, by mdtest's rules.
    fn counts(&self) -> (u64, u64) {
        match (self.items, self.directory_items) {
            (0, each) => (each.saturating_mul(self.item_directories()), each),
            (all, 0) => {
                let each = all / self.item_directories().max(1);
                (each * self.item_directories(), each)
            }
            (all, each) => (all, each),
        }
    }

    /// Whether it creates items itself.
    pub fn creates(&self) -> bool {
        self.create
    }

    /// Items of one task.
    pub fn items_per_task(&self) -> u64 {
        self.counts().0
    }

    fn check(&self) -> Result<()> {
        let rules = [
            (self.iterations == 0, "-i 0", "repeats nothing", "use -i 1 or more"),
            (self.branch == 0, "-b 0", "makes a tree without leaves", "use -b 1 or more"),
            (self.depth > 60, "-z", "makes paths longer than the system takes", "use -z 60 or less"),
            (
                self.items == 0 && self.directory_items == 0,
                "-n 0",
                "leaves nothing to do",
                "say how many items with `-n N`, or per directory with `-I N`",
            ),
            (
                self.items > 0 && self.counts().0 == 0,
                "-n",
                "gives fewer items than the tree has directories",
                "raise -n, or lower -b and -z",
            ),
            (
                self.items > 0
                    && self.directory_items > 0
                    && !self.items.is_multiple_of(self.directory_items),
                "-n",
                "is no multiple of -I",
                "make -n a multiple of -I, or leave one of them out",
            ),
            (
                self.leaf_only && self.depth == 0 && self.branch > 1,
                "-L",
                "needs a tree with leaves",
                "set -z 1 or more",
            ),
            (
                self.shared && (self.unique || self.collective),
                "-S",
                "has one set of files for all, and -u and -c have not",
                "leave out -u and -c, or -S",
            ),
            (
                self.shared && !self.with_files,
                "-S",
                "shares files, and -D leaves them out",
                "leave out -D or -S",
            ),
            (
                self.directories.len() > 1 && !self.unique,
                "-d a@b",
                "puts tasks on several paths, which needs trees of their own",
                "add -u",
            ),
            (
                self.collective && self.unique,
                "-c",
                "lets one task create for all, and -u gives each a tree of its own",
                "leave out -c or -u",
            ),
            (
                self.nodes && (self.write_bytes > Bytes::ZERO || self.read_bytes > Bytes::ZERO),
                "-k",
                "makes nodes, which hold no bytes",
                "leave out -w and -e",
            ),
            (self.stonewall > 0 && self.branch > 1, "-W", "works with one branch only", "use -b 1"),
            (
                self.stonewall > 0 && !self.create,
                "-W",
                "stops the creation of files, which this does not do",
                "add -C, or leave out -W",
            ),
            (
                self.status_file.is_some() && self.create && self.stonewall == 0,
                "-x",
                "keeps the number of items that a deadline left",
                "add -W SECONDS, or leave out -x",
            ),
            (
                self.create && self.read && self.read_bytes > self.write_bytes,
                "-e",
                "reads more than -w writes",
                "make -e at most -w",
            ),
            (
                (self.verify_read || self.verify_write) && !self.with_files,
                "-X",
                "compares files, and -D leaves them out",
                "leave out -D or -X",
            ),
            (
                self.verify_read && self.read_bytes == Bytes::ZERO && self.read,
                "-X",
                "compares what is read, which is nothing",
                "say with -e how many bytes to read",
            ),
            (self.step == 0, "-s 0", "never gets from -f to -l", "use -s 1 or more"),
        ];
        match rules.into_iter().find(|(broken, ..)| *broken) {
            None => Ok(()),
            Some((_, option, what, fix)) => Err(wrong(format!("mdtest: `{option}` {what}")).hint(fix)),
        }
    }
}

fn as_u32(name: &str, value: u64) -> Result<u32> {
    u32::try_from(value).map_err(|_| {
        wrong(format!("mdtest: `{name} {value}` is more than there can be")).hint("use a smaller number")
    })
}

/// `-G`, or `--random-seed` where there is no other; -1 takes the clock.
fn seed(line: &Line) -> Result<Option<u64>> {
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |time| time.as_secs());
    let of =
        |name| line.signed(name).map(|seed| seed.map(|seed| u64::try_from(seed).unwrap_or_else(|_| now())));
    Ok(of("-G")?.or(of("--random-seed")?))
}

/// The number in a status file.
pub fn read_status(text: &str, path: &std::path::Path) -> Result<u64> {
    let number =
        leading_integer(text).and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0);
    number.ok_or_else(|| {
        Fault::new(Kind::Corrupt, format!("`{}` holds no number of items", path.display()))
            .hint("it is written by `-C -W SECONDS -x FILE`; leave out -x to work on all -n items")
    })
}
