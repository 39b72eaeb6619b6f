//! Trees on other hosts: `forebay agent` there serves one over OpenSSH, to a sync here.
//!
//! ```text
//! address -> fleet::ssh::connect: agents of our version, their standard streams     address
//!     -> frames: a length, a number, a body; answers in any order                   frame, line
//!     -> questions and answers                                                      words, content
//!     -> Far: an ObjectStore, and what only a tree can                              tree
//!     -> the agent: a Root, and nothing outside of it                               serve
//! ```
//!
//! What is at the other end is a real tree: files, links, holes, attributes. Labels are how attributes travel, in the form
//! that objects carry them too (`objects::labels`).

mod address;
mod content;
mod frame;
mod line;
mod parts;
mod serve;
mod tree;
mod words;

pub use address::Address;
pub use content::Compress;
pub use parts::Parts;
pub use serve::{inode_of, opened, serve};
pub use tree::{Entry, Far, FarStore, Reading, Role, Summing, Writing};
pub use words::{Listed, Wanted, foreign};

/// What the program's agents call it to serve a tree.
const TASK: &str = "Serve";

/// How hosts are reached.
#[derive(Clone)]
pub struct Reach {
    /// ssh and its options, as words.
    pub ssh: Vec<String>,
    /// Copy the program over where it is missing or of another version.
    pub push: bool,
    /// Connections to each host.
    pub connections: usize,
    /// How content is pressed on its way.
    pub compress: Compress,
    /// Gets a line of an agent's standard error, and its host.
    pub tell: fleet::ssh::Tell,
    /// Whether somebody wants the start to end.
    pub cancelled: fn() -> bool,
    /// What the agent is asked to be.
    pub task: serde_json::Value,
}

impl Default for Reach {
    fn default() -> Self {
        Self {
            ssh: vec!["ssh".to_owned()],
            push: false,
            connections: 1,
            compress: Compress::Auto,
            tell: std::sync::Arc::new(|_, _| {}),
            cancelled: || false,
            task: TASK.into(),
        }
    }
}

impl std::fmt::Debug for Reach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What ssh is given is nobody's business.
        write!(f, "Reach with {} connections", self.connections)
    }
}
