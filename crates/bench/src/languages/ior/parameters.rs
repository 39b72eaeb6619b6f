/// What can be said to IOR, with its defaults. Sizes are in bytes; what IOR keeps as an `int` is one here.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// `-a`.
    pub api: String,
    /// `-A`.
    pub reference_number: i64,
    /// `-b`.
    pub block_size: i64,
    /// `-t`.
    pub transfer_size: i64,
    /// `-s`.
    pub segments: i64,
    /// `-N`; 0: all there are.
    pub tasks: i64,
    /// `-i`.
    pub repetitions: i64,
    /// `-o`.
    pub test_file: String,
    /// `-f`.
    pub script: Option<String>,
    /// `-w`, `-r`, `-W`, `-R`.
    pub write: i64,
    /// See above.
    pub read: i64,
    /// See above.
    pub check_write: i64,
    /// See above.
    pub check_read: i64,
    /// `-F`.
    pub file_per_process: i64,
    /// `-C`, `-Q`, `-Z`, `-X`.
    pub reorder_tasks: i64,
    /// See above.
    pub task_offset: i64,
    /// See above.
    pub reorder_random: i64,
    /// See above.
    pub reorder_seed: i64,
    /// `-z`.
    pub random_offset: i64,
    /// `--random-offset-seed`; -1: from the clock.
    pub random_seed: i64,
    /// `--randomPrefill`.
    pub prefill: i64,
    /// `-e`, `-Y`.
    pub fsync: i64,
    /// See above.
    pub fsync_per_write: i64,
    /// `-E`.
    pub use_existing: i64,
    /// `-k`, `-K`.
    pub keep_file: i64,
    /// See above.
    pub keep_file_with_error: i64,
    /// `-m`.
    pub multi_file: i64,
    /// `-u`.
    pub unique_directory: i64,
    /// `-g`.
    pub barriers: i64,
    /// `-x`.
    pub single_attempt: i64,
    /// `-d` (s).
    pub inter_test_delay: i64,
    /// `-O interIODelay` (µs).
    pub inter_io_delay: i64,
    /// `-D` (s), 0: none.
    pub deadline: i64,
    /// `-O stoneWallingWearOut`.
    pub wear_out: i64,
    /// `-O stoneWallingWearOutIterations`.
    pub wear_out_iterations: i64,
    /// `-O stoneWallingStatusFile`.
    pub status_file: Option<String>,
    /// `-O minTimeDuration` (s).
    pub minimum_time: i64,
    /// `-T` (minutes).
    pub maximum_time: i64,
    /// `-j` (s).
    pub outlier_threshold: i64,
    /// `-l`.
    pub packet: String,
    /// `-G`; 0: from the clock.
    pub signature: i64,
    /// `-M`.
    pub memory_per_node: Option<String>,
    /// `-O memoryPerTask`.
    pub memory_per_task: Option<String>,
    /// `--posix.odirect`.
    pub direct: i64,
    /// `--aio.max-pending`.
    pub pending: i64,
    /// `-v`.
    pub verbose: i64,
    /// `--dryRun`.
    pub dry_run: i64,
    /// `--warningAsErrors`.
    pub warnings_are_errors: i64,
    /// `-O summaryFile`.
    pub summary_file: Option<String>,
    /// `-O summaryFormat`.
    pub summary_format: String,
    /// `-O summaryAlways`.
    pub summary_always: i64,
    /// `-O saveRankPerformanceDetailsCSV`.
    pub rank_details: Option<String>,
    /// `-O platform`.
    pub platform: Option<String>,
    /// `-O savePerOpDataCSV`.
    pub operation_log: Option<String>,
    /// `--posix.lustre.stripecount`; 0: as the directory has it.
    pub stripe_count: i64,
    /// `--posix.lustre.stripesize`; 0: as the directory has it.
    pub stripe_size: i64,
    /// `--posix.lustre.startost`; -1: any.
    pub first_ost: i64,
    /// `--posix.lustre.pool`.
    pub ost_pool: Option<String>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            api: "POSIX".to_owned(),
            reference_number: 0,
            block_size: 1 << 20,
            transfer_size: 256 << 10,
            segments: 1,
            tasks: 0,
            repetitions: 1,
            test_file: "testFile".to_owned(),
            script: None,
            write: 0,
            read: 0,
            check_write: 0,
            check_read: 0,
            file_per_process: 0,
            reorder_tasks: 0,
            task_offset: 1,
            reorder_random: 0,
            reorder_seed: 0,
            random_offset: 0,
            random_seed: -1,
            prefill: 0,
            fsync: 0,
            fsync_per_write: 0,
            use_existing: 0,
            keep_file: 0,
            keep_file_with_error: 0,
            multi_file: 0,
            unique_directory: 0,
            barriers: 0,
            single_attempt: 0,
            inter_test_delay: 0,
            inter_io_delay: 0,
            deadline: 0,
            wear_out: 0,
            wear_out_iterations: 0,
            status_file: None,
            minimum_time: 0,
            maximum_time: 0,
            outlier_threshold: 0,
            packet: "t".to_owned(),
            signature: 0,
            memory_per_node: None,
            memory_per_task: None,
            direct: 0,
            pending: 128,
            verbose: 0,
            dry_run: 0,
            warnings_are_errors: 0,
            summary_file: None,
            summary_format: "default".to_owned(),
            summary_always: 0,
            rank_details: None,
            platform: None,
            operation_log: None,
            stripe_count: 0,
            stripe_size: 0,
            first_ost: -1,
            ost_pool: None,
        }
    }
}

impl Parameters {
    /// IOR writes and reads when neither is asked for.
    pub fn settled(&self) -> Self {
        let none = self.write + self.read + self.check_write + self.check_read == 0;
        let both = i64::from(none);
        Self { write: self.write.max(both), read: self.read.max(both), ..self.clone() }
    }
}
