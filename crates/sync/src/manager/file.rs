//! `sync.toml`: the jobs of a task manager.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::{BytesText, DurationText, Form, LoadError};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::Bytes;

use super::rules;
use crate::options::{Conflict, Delta, Layout, Verify};
use crate::watch::By;

/// The version of the job file that we read.
const VERSION: u32 = 1;
const ORIGIN: &str = "`forebay sync serve --help` shows a short one, docs/JOBS.md explains every key";

/// A job file: what is synced to where, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobFile {
    /// Version of this format: 1.
    #[schemars(extend("const" = 1), example = 1)]
    pub version: u32,
    /// Jobs that run at the same time; watches don't count.
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 1000), example = 2)]
    pub at_once: u32,
    /// The jobs; at least one.
    #[schemars(length(min = 1))]
    pub job: Vec<Job>,
}

/// One job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// What you call it.
    #[schemars(example = &"projects")]
    pub name: String,
    /// What it reads: one directory or place in an object store, or several that become one tree.
    #[schemars(length(min = 1))]
    pub source: Vec<Source>,
    /// What it makes like it: a directory, or a place in an object store.
    #[schemars(example = &"/mnt/grid/projects")]
    pub destination: PathBuf,
    /// Time between the starts of two runs.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "units::text::duration::option")]
    #[schemars(with = "DurationText", example = &"15m")]
    pub every: Option<Duration>,
    /// Times of day at which it runs, local time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"02:30 14:30")]
    pub at: Option<String>,
    /// When it runs, as a crontab says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"30 2 * * 1-5")]
    pub cron: Option<String>,
    /// It goes on after the first sync: what changes follows at once.
    #[serde(default)]
    #[schemars(example = true)]
    pub watch: bool,
    /// How often a watch looks at everything again.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "units::text::duration::option")]
    #[schemars(with = "DurationText", example = &"1h")]
    pub rescan: Option<Duration>,
    /// What tells a watch of changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"best")]
    pub watch_by: Option<By>,
    /// Changelogs of a Lustre file system: `MDT=USER`, one for each MDT.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changelog: Vec<String>,
    /// Of the jobs that are due, the one with the highest starts first.
    #[serde(default)]
    #[schemars(range(min = -1000, max = 1000), example = 10)]
    pub priority: i32,
    /// How often a run that failed, or that failed for some entries, is tried again.
    #[serde(default = "three")]
    #[schemars(range(min = 0, max = 1000), example = 3)]
    pub retries: u32,
    /// Pause before the first retry; it doubles with each, up to an hour.
    #[serde(default = "half_a_minute", with = "units::text::duration")]
    #[schemars(with = "DurationText", example = &"30s")]
    pub retry_after: Duration,
    /// Remove at the destination what the source no longer has.
    #[serde(default)]
    #[schemars(example = true)]
    pub delete: bool,
    /// The most entries that may be removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000_000_i64), example = 1000)]
    pub max_delete: Option<u64>,
    /// Move removed files to `.forebay-trash` at the destination instead.
    #[serde(default)]
    #[schemars(example = true)]
    pub trash: bool,
    /// Go on though the source is empty and was not before.
    #[serde(default)]
    #[schemars(example = true)]
    pub allow_empty_source: bool,
    /// Go on though another file system is mounted at the source than last time.
    #[serde(default)]
    #[schemars(example = true)]
    pub allow_new_source: bool,
    /// Leave out what matches, as in `.gitignore`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Take what matches though `exclude` matches too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Names of files in the source whose lines are patterns for what is below.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore_file: Vec<String>,
    /// Only the paths in this file, one a line or NUL-separated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"paths.txt")]
    pub files_from: Option<PathBuf>,
    /// Only files of at least this size.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "units::text::option")]
    #[schemars(with = "BytesText", example = &"4 KiB")]
    pub min_size: Option<Bytes>,
    /// Only files of at most this size.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "units::text::option")]
    #[schemars(with = "BytesText", example = &"10 GiB")]
    pub max_size: Option<Bytes>,
    /// Only files changed within this time.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "units::text::duration::option")]
    #[schemars(with = "DurationText", example = &"7d")]
    pub newer_than: Option<Duration>,
    /// Only files not changed within this time.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "units::text::duration::option")]
    #[schemars(with = "DurationText", example = &"5m")]
    pub older_than: Option<Duration>,
    /// Only files of these user ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owner: Vec<u32>,
    /// Copy fifos and device files too.
    #[serde(default)]
    #[schemars(example = true)]
    pub special_files: bool,
    /// Leave ACLs alone on both sides.
    #[serde(default)]
    #[schemars(example = true)]
    pub no_acls: bool,
    /// Leave other extended attributes alone on both sides.
    #[serde(default)]
    #[schemars(example = true)]
    pub no_xattrs: bool,
    /// Go into other file systems mounted below the source.
    #[serde(default)]
    #[schemars(example = true)]
    pub cross_mounts: bool,
    /// Leave files alone that are newer at the destination.
    #[serde(default)]
    #[schemars(example = true)]
    pub update: bool,
    /// Where both sides changed since the last sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"newer")]
    pub conflict: Option<Conflict>,
    /// Look at the destination too, not only at what the last sync left there.
    #[serde(default)]
    #[schemars(example = true)]
    pub check_destination: bool,
    /// Change files of at least this size in place where they can't be cloned.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "units::text::option")]
    #[schemars(with = "BytesText", example = &"1 GiB")]
    pub in_place_from: Option<Bytes>,
    /// How a large file that changed is compared with its old copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"auto")]
    pub delta: Option<Delta>,
    /// How an object store holds the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"chunks")]
    pub layout: Option<Layout>,
    /// Keep so many manifests of a chunk store after each run, and what they need.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &7)]
    pub prune: Option<u64>,
    /// What is read back and compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"transferred")]
    pub verify: Option<Verify>,
    /// At most this much per second, perhaps by time of day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"08:00,100MB/s 18:00,off")]
    pub bwlimit: Option<String>,
    /// Threads that scan and copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024), example = 8)]
    pub workers: Option<u16>,
}

/// One of the trees that a job reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Directory, or place in an object store.
    #[schemars(example = &"/projects/a")]
    pub path: PathBuf,
    /// Directory below the destination that it becomes; `.` is the destination itself. Without it: its own path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"projects/a")]
    pub at: Option<String>,
}

const fn two() -> u32 {
    2
}

const fn three() -> u32 {
    3
}

const fn half_a_minute() -> Duration {
    Duration::from_secs(30)
}

/// Reads the job file at `path`. Relative paths in it start at its directory.
pub fn load(path: &Path) -> Result<JobFile, Box<LoadError>> {
    let text = form().read(path)?;
    parse(path, text)
}

/// Reads a job file from `text`; `path` is where it came from, for messages and relative paths.
pub fn parse(path: &Path, text: String) -> Result<JobFile, Box<LoadError>> {
    let file = form().understand(&text, write_out_sources, rules::check);
    let mut file: JobFile = file.map_err(|problems| form().error(path, text, problems))?;
    let base = path.parent().unwrap_or(Path::new(""));
    file.job.iter_mut().for_each(|job| job.resolve(base));
    Ok(file)
}

fn form() -> &'static Form {
    static FORM: LazyLock<Form> = LazyLock::new(|| Form::of::<JobFile>("job file", VERSION, ORIGIN));
    &FORM
}

/// `source = "/data"` is short for one source that becomes the destination itself.
fn write_out_sources(tree: &mut DeTable<'_>) {
    let Some(DeValue::Array(jobs)) = tree.get_mut("job").map(Spanned::get_mut) else { return };
    for job in jobs.iter_mut() {
        let DeValue::Table(job) = job.get_mut() else { continue };
        let Some(source) = job.get_mut("source") else { continue };
        let span = source.span();
        if let DeValue::String(path) = source.get_ref() {
            let text =
                |text: std::borrow::Cow<'static, str>| Spanned::new(span.clone(), DeValue::String(text));
            let key = |name: &'static str| Spanned::new(span.clone(), name.into());
            let mut table = DeTable::new();
            table.insert(key("path"), text(path.to_string().into()));
            table.insert(key("at"), text(".".into()));
            let one = Spanned::new(span.clone(), DeValue::Table(table));
            *source.get_mut() = DeValue::Array([one].into_iter().collect());
        }
    }
}

impl Job {
    /// Relative paths start at `base`.
    fn resolve(&mut self, base: &Path) {
        let paths = self.source.iter_mut().map(|source| &mut source.path);
        for path in paths.chain([&mut self.destination]).chain(&mut self.files_from) {
            if !crate::objects::is_elsewhere(path) {
                *path = base.join(&*path);
            }
        }
    }

    /// The name below the destination that each source gets: empty where it is the destination itself.
    pub fn places(&self) -> Vec<String> {
        self.source.iter().map(Source::place).collect()
    }

    /// What stands for all it says: another definition has another.
    pub fn digest(&self) -> String {
        let text = serde_json::to_vec(self).unwrap_or_default();
        chunk::Id::of(&text).to_string()[..16].to_owned()
    }
}

impl Source {
    /// The name below the destination: empty where it is the destination itself.
    pub fn place(&self) -> String {
        let own = self.path.to_string_lossy();
        let names = self.at.as_deref().unwrap_or(&own).split('/');
        names.filter(|name| !matches!(*name, "" | ".")).collect::<Vec<_>>().join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
    }

    #[test]
    fn the_example_is_right_and_the_documentation_has_every_key() {
        let file = load(&root("examples/sync.toml")).unwrap();
        assert_eq!(file.job.len(), 4);
        let text = std::fs::read_to_string(root("docs/JOBS.md")).unwrap();
        let schema = spec::schema_of::<JobFile>("job file");
        let keys = schema["properties"]["job"]["items"]["properties"].as_object().unwrap();
        assert!(keys.len() > 30);
        let missing: Vec<_> = keys.keys().filter(|key| !text.contains(key.as_str())).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "(version = 1\n)?(\\[\\[job(.source)?\\]\\]\n|(name|source|at|every|cron|path) = ('[a-z/.0-9: ]{0,8}'|[0-9]{1,3}|\\[\\])\n){0,12}") {
            let _ = parse(Path::new("sync.toml"), text);
        }
    }
}
