use fault::Fault;
use store::Kind;

/// What is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Finishing what a killed job left.
    Recover,
    /// Scanning, comparing and copying.
    Copy,
    /// Names of files with several.
    Link,
    /// Removing what the source no longer has.
    Delete,
    /// Modes and times of directories.
    Finish,
    /// Writing the index.
    Index,
    /// Waiting for changes.
    Watch,
}

/// One step of the plan.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// What would be done.
    pub act: Act,
    /// With what kind of entry.
    pub kind: Kind,
    /// Where, relative to the roots.
    pub path: &'a [u8],
    /// Bytes to copy, at most.
    pub bytes: u64,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Makes an entry that is not there.
    Create,
    /// Replaces one that differs.
    Change,
    /// Sets attributes alone.
    Attributes,
    /// Takes the content of a file from where the destination has it under another name.
    Rename,
    /// Gives a file a further name.
    Link,
    /// Removes an entry.
    Delete,
}

/// What a job tells while it goes on.
#[derive(Debug)]
pub enum Event<'a> {
    /// A stage begins.
    Stage(Stage),
    /// A step of the plan, in a dry run.
    Planned(Step<'a>),
    /// An entry could not be done; the job goes on.
    Failed(&'a [u8], &'a Fault),
    /// A file changed whenever it was read; what the destination has of it was left alone.
    Unstable(&'a [u8], &'a Fault),
    /// Something worth knowing that is no failure.
    Note(&'a str),
}

/// Listens to a job. Called from many threads.
pub trait Watcher: Sync {
    /// Something happened.
    fn event(&self, event: &Event<'_>);
    /// Whether the job should stop cleanly. Asked often.
    fn stopping(&self) -> bool;
}

impl Act {
    /// In one word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Change => "change",
            Self::Attributes => "attributes",
            Self::Rename => "rename",
            Self::Link => "link",
            Self::Delete => "delete",
        }
    }
}
