//! Run documents: what was run, what was measured, and why it can be believed; their versions, and where they are kept.
//!
//! [`RunRecord`] is the whole; [`PhaseResult`] one timed step; [`Event`] what engines emit on the way.
//! Progress, tables, JSON and HTML are readers of these and measure nothing.

mod bottleneck;
mod check;
mod compare;
mod event;
mod hosts;
mod id;
mod imported;
mod latency;
mod limit;
mod matrix;
mod phase;
mod plan;
mod process;
mod run;
#[cfg(test)]
mod sample;
mod schema;
mod search;
pub mod statistics;
mod store;
mod sweep;

pub use bottleneck::{DesignComparison, LimitComparison, NEAR, Standing, compare_design};
pub use check::{Check, Outcome, Validity};
pub use compare::{Comparison, Figure, FigureComparison, Sample, Verdict, compare, compare_anyway};
pub use event::{Event, HostMoment, Listener, Moment, MomentLatency, RankMoment};
pub use hosts::{HostResult, HostSeat, LayoutCount, LayoutOfFile, LayoutPart, LostProcess, StorageLayout};
pub use id::{is_id, local_time, new_id, timestamp, whole_seconds};
pub use imported::Imported;
pub use latency::{LONGEST_NS, Latency, PERCENTILES, SIGNIFICANT_DIGITS, Tally};
pub use limit::{Limit, LimitCause};
pub use matrix::{Matrix, MatrixPoint, Seek};
pub use phase::{
    CpuShare, EngineUsed, Interval, Mark, OperationError, OperationKind, OperationResult, PhaseResult,
    RankResult, StopCause,
};
pub use plan::{
    CostRow, DesignSheet, FactorRow, GrownDesign, GrowthStep, LimitRow, OverBudgetRow, PLAN_VERSION,
    PlanDocument, RatesRow, RefusedFamily, StorageSheet, Upgrade,
};
pub use process::{Origin, boot_id, is_alive, is_gone};
pub use run::{
    Direction, HeldMemory, Repetition, RequirementVerdict, RunError, RunRecord, RunState, SpecDocument,
    Spread, TestRecord, VERSION,
};
pub use schema::{plan_schema, schema};
pub use search::{Load, Search, SearchKind, SearchPoint};
pub use store::{Store, Summary};
pub use sweep::{SweepPoint, SweepSetting};
