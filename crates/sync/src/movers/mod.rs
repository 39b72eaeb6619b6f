//! One job, done by several processes, on one host or on several.
//!
//! ```text
//! join -> the first divides the tree: directories, ranges, the rest       plan, cuts
//!     -> parts in a queue: leases, tokens, what was found                queue (tables: sqlite, postgres; distant)
//!     -> each mover takes parts until there are none                     mover
//!         -> a part is a sync of a part of the tree, with an index       crate::part
//!     -> the rest comes last: names of files that lie in several parts,
//!        deletes, counted over all, attributes of the directories above
//!     -> one record of all                                               merge
//! ```
//!
//! The index of a part lies in the queue: whoever takes the part takes it from there, and puts it back when the part is done.

mod answer;
mod call;
mod cuts;
mod database;
mod distant;
mod division;
mod keeper;
mod login;
mod merge;
mod mover;
mod plan;
mod postgres;
mod queue;
mod ranks;
mod rehearsal;
mod scratch;
mod sharing;
mod sight;
mod sqlite;
mod stretches;
mod tables;
#[cfg(test)]
mod tests;
mod tls;
mod told;

use std::path::PathBuf;
use std::time::Duration;

use fault::{Fault, Kind};

use self::database::Database;
use self::login::Login;
pub use self::mover::{PROBE, move_together};
use self::postgres::Postgres;
pub use self::ranks::{Ranks, move_ranks};
use self::sqlite::Sqlite;

/// Where movers meet, and how.
#[derive(Debug, Clone)]
pub struct Meeting {
    /// `postgres://user@host/database`, or `sqlite:FILE`.
    pub url: String,
    /// How long a mover that says nothing keeps its part.
    pub lease: Duration,
    /// The options, in any words: all movers of a job have the same.
    pub alike: String,
}

impl Meeting {
    /// Whether a state is a place to meet, and no directory.
    pub fn is_one(state: &str) -> bool {
        ["postgres:", "postgresql:", "sqlite:"].iter().any(|scheme| state.starts_with(scheme))
    }

    fn open(&self) -> fault::Result<Box<dyn Database>> {
        Ok(match self.file()? {
            Some(path) => Box::new(Sqlite::open(&path)?),
            None => Box::new(Postgres::open(Login::of(&self.url)?)?),
        })
    }

    /// The same to look only, where there is something to be seen.
    fn look(&self) -> fault::Result<Option<Box<dyn Database>>> {
        Ok(match self.file()? {
            Some(path) => Sqlite::look(&path)?.map(|found| Box::new(found) as Box<dyn Database>),
            None => Postgres::look(Login::of(&self.url)?)?.map(|found| Box::new(found) as Box<dyn Database>),
        })
    }

    /// The file of a queue for one host.
    fn file(&self) -> fault::Result<Option<PathBuf>> {
        let Some(path) = self.url.strip_prefix("sqlite:") else { return Ok(None) };
        if path.is_empty() {
            let fault = Fault::new(Kind::Usage, "`sqlite:` names no file");
            return Err(fault.hint("write for example `sqlite:/var/tmp/queue.db`"));
        }
        Ok(Some(PathBuf::from(path)))
    }
}
