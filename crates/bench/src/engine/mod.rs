//! How a phase is done on one host: ranks that open their files, meet, move bytes, make them durable, close, and count.

mod buffer;
mod clock;
mod contents;
mod descriptors;
mod entries;
mod failures;
mod files;
mod find;
mod flow;
mod items;
mod meter;
mod pacer;
mod pool;
mod prefill;
mod probe;
mod psync;
mod rank;
mod share;
mod stop_flag;
mod ticks;
mod transfer;
mod turn;
mod uring;

pub use clock::now;
pub use descriptors::own_table;
pub use failures::Failures;
pub use files::{owner as data_owner, path as data_path};
pub use meter::{Board, INTERVAL_NS, RankInterval};
pub use pool::Pool;
pub use probe::{Chosen, EngineKind, choose};
pub use rank::{PhaseContext, RankOutcome, main_kinds, run_rank};
pub use share::Share;
pub use stop_flag::StopFlag;
pub use uring::available as uring_available;
