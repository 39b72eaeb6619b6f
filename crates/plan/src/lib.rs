//! From a requirement to designs: which cloud, which service or servers, which disks, how many, laid out how, what will it
//! deliver, what will limit it, what does it cost, and where does each figure come from.
//!
//! Pure functions: facts in (`catalog`), designs out. Nothing is read, written or timed here.

pub mod calibration;
pub mod clients;
pub mod concurrency;
pub mod cost;
pub mod demand;
pub mod design;
pub mod document;
pub mod evaluate;
pub mod grow;
pub mod guard;
pub mod layout;
pub mod limit;
pub mod market;
pub mod search;
pub mod upgrade;
pub mod volume;
pub mod words;

pub use calibration::{Basis, Calibration, Factor, Share};
pub use cost::{CostLine, Part};
pub use demand::{Demand, Requirement};
pub use design::{Design, Family, Layout};
pub use document::{document, sheet};
pub use evaluate::{Evaluation, StorageEvaluation, evaluate};
pub use grow::grow;
pub use guard::Guards;
pub use limit::{Capability, Limit, Operation, Place, Rates, UnknownLimit};
pub use market::Market;
pub use search::{Objective, Options, OverBudget, Plan, Refused, search};
pub use upgrade::upgrade;
