use std::path::PathBuf;

use clap::{Args, Subcommand};

const SERVE_EXAMPLES: &str = "\
Examples:
  forebay sync serve                                the jobs of sync.toml, until Ctrl-C
  forebay sync serve --jobs /etc/forebay/sync.toml --state /var/lib/forebay
  forebay sync serve --check                        whether the file is right, and when each job would run
  forebay sync serve --once                         each job once, now

A job file:
  version = 1
  [[job]]
  name = \"projects\"
  source = \"/data/projects\"
  destination = \"/mnt/grid/projects\"
  every = \"15m\"             # or at = \"02:30\", cron = \"30 2 * * 1-5\", watch = true; without: once
  delete = true

  [[job]]
  name = \"teams\"
  destination = \"/mnt/grid/teams\"
  at = \"02:30\"
  [[job.source]]
  path = \"/teams/a\"         # becomes /mnt/grid/teams/teams/a
  [[job.source]]
  path = \"/export/b\"
  at = \"b\"                  # becomes /mnt/grid/teams/b

docs/JOBS.md explains every key.";

const JOBS_EXAMPLES: &str = "\
Examples:
  forebay sync jobs                    how each job stands, what it did, when it runs next
  forebay sync jobs projects           the last runs of one job
  forebay sync jobs --format json      the same for programs, with the records of the last runs";

const PAUSE_EXAMPLES: &str = "\
Examples:
  forebay sync pause projects          what goes on stops cleanly; `resume` goes on where it was";

const RESUME_EXAMPLES: &str = "\
Examples:
  forebay sync resume projects         run it now, whether it was paused, cancelled, failed or is waiting";

const CANCEL_EXAMPLES: &str = "\
Examples:
  forebay sync cancel projects         what goes on ends; the next run is that of its schedule";

/// What else `forebay sync` does.
#[derive(Debug, Subcommand)]
pub enum SyncAction {
    Serve(Serve),
    Jobs(ListJobs),
    /// Stop a job, and don't start it again until `resume`
    ///
    /// Remembered, also where no server runs now.
    #[command(after_help = PAUSE_EXAMPLES)]
    Pause(SteerJobs),
    /// Run a job now, and from then on when it is due
    #[command(after_help = RESUME_EXAMPLES)]
    Resume(SteerJobs),
    /// End the run of a job that goes on, or its retries
    ///
    /// What the run has done stays, and the next one goes on from there. A job with a schedule runs again at its next time.
    #[command(after_help = CANCEL_EXAMPLES)]
    Cancel(SteerJobs),
}

/// Run the jobs of a file when they are due, until Ctrl-C
///
/// Jobs are read from `sync.toml`, or the file that --jobs names; a change of the file is taken up at once, also on SIGHUP.
/// What each job did and what is wanted of it is kept in the state directory: a server that was killed goes on where it
/// was, and `forebay sync pause`, `resume` and `cancel` reach a running one within a second. Nothing listens.
#[derive(Debug, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub struct Serve {
    /// The job file
    #[arg(long, value_name = "FILE", default_value = "sync.toml")]
    pub jobs: PathBuf,
    #[command(flatten)]
    pub place: JobsPlace,
    /// Jobs that run at the same time [default: what the file says, else 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub at_once: Option<u32>,
    /// Run each job once, now, watches too, and end; exits 3 when one was not complete
    #[arg(long)]
    pub once: bool,
    /// Say what the file says, run nothing
    #[arg(long, conflicts_with = "once")]
    pub check: bool,
}

/// Show how the jobs stand: last run, next run, and what is going on
#[derive(Debug, Args)]
#[command(after_help = JOBS_EXAMPLES)]
pub struct ListJobs {
    /// Show the last runs of this job
    #[arg(value_name = "JOB")]
    pub job: Option<String>,
    #[command(flatten)]
    pub place: JobsPlace,
}

/// Which jobs.
#[derive(Debug, Args)]
pub struct SteerJobs {
    /// Names of jobs
    #[arg(value_name = "JOB", required = true)]
    pub job: Vec<String>,
    #[command(flatten)]
    pub place: JobsPlace,
}

/// Where a server keeps what it knows.
#[derive(Debug, Args)]
pub struct JobsPlace {
    /// Where the server keeps what it knows [default: a directory in the user's state directory]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
}
