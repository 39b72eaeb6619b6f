//! What a record says, as sentences and tables: the part that the HTML and the Markdown report share.

pub mod checks;
pub mod design;
pub mod ends;
pub mod environment;
pub mod glossary;
pub mod hosts;
pub mod latency;
pub mod layouts;
pub mod limits;
pub mod matrix;
pub mod phases;
pub mod ranks;
pub mod search;
pub mod series;
pub mod verdict;
