//! IOR's own rules, each message with the option and the way out, before anything is created.

use fault::{Fault, Kind, Result};

use super::parameters::Parameters;
use super::parse::wrong;

impl Parameters {
    /// Says what is wrong, if anything is.
    pub fn check(&self) -> Result<()> {
        self.check_numbers()?;
        self.check_sizes()?;
        self.check_orders()?;
        self.check_ends()?;
        self.check_words()
    }

    fn check_numbers(&self) -> Result<()> {
        let at_least_one = [(self.segments, "-s"), (self.repetitions, "-i"), (self.task_offset, "-Q")];
        if let Some((number, name)) = at_least_one.into_iter().find(|(number, _)| *number < 1) {
            return Err(wrong(
                format!("`{name} {number}` is less than one"),
                format!("write `{name} 1` or more"),
            ));
        }
        let not_negative = [
            (self.inter_test_delay, "-d"),
            (self.inter_io_delay, "-O interIODelay"),
            (self.deadline, "-D"),
            (self.maximum_time, "-T"),
            (self.minimum_time, "-O minTimeDuration"),
            (self.outlier_threshold, "-j"),
            (self.tasks, "-N"),
            (self.wear_out_iterations, "-O stoneWallingWearOutIterations"),
        ];
        if self.stripe_count < -1 {
            return Err(wrong(
                format!("`--posix.lustre.stripecount={}` is no number of OSTs", self.stripe_count),
                "write how many, 0 for what the directory says, or -1 for all",
            ));
        }
        match not_negative.into_iter().find(|(number, _)| *number < 0) {
            Some((number, name)) => Err(wrong(
                format!("`{name} {number}` is negative"),
                format!("write 0 or more behind `{name}`"),
            )),
            None => Ok(()),
        }
    }

    fn check_sizes(&self) -> Result<()> {
        let (block, transfer) = (self.block_size, self.transfer_size);
        if transfer < 1 {
            return Err(wrong(
                format!("transfer size `-t {transfer}` moves nothing"),
                "write `-t 4k` or more",
            ));
        }
        if block < transfer {
            return Err(wrong(
                format!("block size `-b {block}` is smaller than transfer size `-t {transfer}`"),
                "raise `-b`, or lower `-t`",
            ));
        }
        if block % transfer != 0 {
            return Err(wrong(
                format!("block size `-b {block}` is no multiple of transfer size `-t {transfer}`"),
                "make `-b` a multiple of `-t`",
            ));
        }
        if block % 8 != 0 || transfer % 8 != 0 {
            return Err(wrong(
                format!("block size `-b {block}` or transfer size `-t {transfer}` is no multiple of 8"),
                "IOR's data are words of 8 bytes: make both multiples of 8",
            ));
        }
        if self.prefill != 0 && (self.prefill < 8 || block % self.prefill != 0 || self.random_offset == 0) {
            return Err(wrong(
                format!(
                    "`--randomPrefill={}` does not divide block size `-b {block}`, or `-z` is missing",
                    self.prefill
                ),
                "it fills what `-z` then writes: make it a divisor of `-b`",
            ));
        }
        Ok(())
    }

    fn check_orders(&self) -> Result<()> {
        if self.reorder_tasks > 0 && self.reorder_random > 0 {
            return Err(wrong("`-C` and `-Z` are two orders of tasks", "leave out one of them"));
        }
        if self.random_offset == 1 && self.block_size <= self.transfer_size {
            return Err(wrong(
                format!("`-z` has nothing to shuffle in a block of one transfer (`-b {}`)", self.block_size),
                "raise `-b` above `-t`, or use `-zz`",
            ));
        }
        let shared = self.file_per_process == 0;
        if shared && self.random_offset > 0 && (self.reorder_tasks > 0 || self.reorder_random > 0) {
            return Err(wrong(
                "`-z` in a file that all share already gives every task parts of others: `-C` and `-Z` say nothing",
                "leave out `-C` and `-Z`, or use `-F`",
            ));
        }
        if self.random_offset > 0 && self.check_read > 0 && self.random_seed == -1 {
            return Err(wrong(
                "`-z` with `-R` needs a seed, or the order of reading is another",
                "add `--random-offset-seed=N`",
            ));
        }
        if self.unique_directory > 0 && self.test_file.contains('@') {
            return Err(wrong(
                format!("`-u` makes directories in one place, and `-o {}` names several", self.test_file),
                "leave out `-u`, or name one file",
            ));
        }
        if shared && self.test_file.contains('@') {
            return Err(wrong(
                format!("`-o {}` names several file systems, and one file is shared", self.test_file),
                "add `-F`, or name one file",
            ));
        }
        Ok(())
    }

    fn check_ends(&self) -> Result<()> {
        if self.wear_out > 0 && self.deadline == 0 {
            return Err(wrong("`-O stoneWallingWearOut=1` needs a deadline", "add `-D SECONDS`"));
        }
        if self.status_file.is_some() && self.write > 0 {
            if self.wear_out == 0 {
                return Err(wrong(
                    "`-O stoneWallingStatusFile` has nothing to say of a write without wear-out",
                    "add `-D SECONDS -O stoneWallingWearOut=1`",
                ));
            }
            if self.keep_file == 0 {
                return Err(wrong(
                    "`-O stoneWallingStatusFile` tells a later run what to read, and the files are not kept",
                    "add `-k`",
                ));
            }
        }
        if self.minimum_time > 0 && self.deadline > 0 && self.minimum_time > self.deadline {
            return Err(wrong(
                format!(
                    "`-O minTimeDuration={}` is longer than deadline `-D {}`",
                    self.minimum_time, self.deadline
                ),
                "raise `-D`, or leave one of them out",
            ));
        }
        let checks_others = self.check_read > 0 || self.check_write > 0;
        if checks_others && self.write == 0 && self.signature == 0 {
            return Err(wrong(
                "`-R` and `-W` without `-w` compare with what an earlier run wrote, whose signature is not known",
                "add `-G N` with the number that it was written with",
            ));
        }
        Ok(())
    }

    fn check_words(&self) -> Result<()> {
        if !["POSIX", "AIO"].iter().any(|api| api.eq_ignore_ascii_case(&self.api)) {
            let why = match self.api.to_uppercase().as_str() {
                "MMAP" => "a page fault has no transfer size, and its errors are signals",
                "DUMMY" => "it does nothing",
                _ => "this measures files through POSIX calls",
            };
            return Err(Fault::new(
                Kind::Usage,
                format!("interface `-a {}` is not done here: {why}", self.api),
            )
            .hint("use `-a POSIX`, or `-a AIO` for several I/Os in flight"));
        }
        if self.pending < 1 || self.pending > 4096 {
            return Err(wrong(
                format!("`--aio.max-pending={}` is not between 1 and 4096", self.pending),
                "128 is IOR's default",
            ));
        }
        if !self.packet.to_lowercase().starts_with(['t', 'o', 'i', 'r']) {
            return Err(wrong(format!("`-l {}` is no kind of data", self.packet), "use t, o, i or r"));
        }
        if !["default", "json", "csv"].contains(&self.summary_format.to_lowercase().as_str()) {
            return Err(wrong(
                format!("`-O summaryFormat={}` is not known", self.summary_format),
                "use default, JSON or CSV",
            ));
        }
        Ok(())
    }
}
