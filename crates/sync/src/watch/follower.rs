use std::time::Duration;

use crate::scope::Changes;

/// What was heard of a source.
#[derive(Debug, Default)]
pub struct Told {
    /// Which entries may have changed.
    pub changes: Changes,
    /// Why changes were lost, if any were: then everything must be looked at.
    pub gap: Option<String>,
    /// What a person should know.
    pub notes: Vec<String>,
}

impl Told {
    /// Changes were lost: everything must be looked at.
    pub fn lost(&mut self, why: &str) {
        self.changes.everything();
        self.gap = Some(why.to_owned());
    }
}

/// Hears what changes in a source.
pub trait Follower: Send {
    /// What it is called.
    fn by(&self) -> &'static str;

    /// Adds what was heard since the last call to `told`. Waits at most `wait` if that is nothing.
    fn take(&mut self, told: &mut Told, wait: Duration) -> fault::Result<()>;

    /// Everything that was taken in the first `takes` calls is at the destination, durably.
    fn committed(&mut self, takes: u64) -> fault::Result<()> {
        let _ = takes;
        Ok(())
    }
}

/// Hears nothing: all that is left is to look at everything from time to time.
#[derive(Debug)]
pub struct Deaf;

impl Follower for Deaf {
    fn by(&self) -> &'static str {
        "rescan"
    }

    fn take(&mut self, _: &mut Told, wait: Duration) -> fault::Result<()> {
        std::thread::sleep(wait);
        Ok(())
    }
}
