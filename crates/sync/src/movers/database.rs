//! Where movers meet: a database of few verbs, so that the queue is written once for SQLite and PostgreSQL.

use std::time::Duration;

/// A value in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Null,
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// The values of a row.
pub type Row = Vec<Value>;

/// Statements inside of a transaction. Values are `$1`, `$2` in the order in which they first appear.
pub trait Statements {
    /// Rows that a statement returns.
    fn query(&mut self, sql: &str, values: &[Value]) -> fault::Result<Vec<Row>>;
    /// How many rows a statement changed.
    fn execute(&mut self, sql: &str, values: &[Value]) -> fault::Result<u64>;
    /// Milliseconds since 1970 by the database's clock, which is the only one that leases are judged by.
    fn now(&mut self) -> fault::Result<i64>;
    /// What makes a query pass over rows that somebody else holds.
    fn skip_locked(&self) -> &'static str;
    /// Wakes who waits, when the transaction is done.
    fn wake(&mut self) -> fault::Result<()>;
}

/// One connection to a database.
pub trait Database: Send {
    /// Does `work` as a whole, or not at all.
    fn transact(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Statements) -> fault::Result<()>,
    ) -> fault::Result<()>;
    /// Returns when somebody woke us, or after this time.
    fn wait(&mut self, longest: Duration) -> fault::Result<()>;
}

impl Value {
    /// As a number; zero where it is none.
    pub fn number(&self) -> i64 {
        if let Self::Number(number) = self { *number } else { 0 }
    }

    /// As a text; empty where it is none.
    pub fn text(&self) -> &str {
        if let Self::Text(text) = self { text } else { "" }
    }

    /// As bytes; empty where it has none.
    pub fn bytes(&self) -> &[u8] {
        if let Self::Bytes(bytes) = self { bytes } else { &[] }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

/// The tables, in words that both databases know.
pub const TABLES: [&str; 4] = [
    "CREATE TABLE IF NOT EXISTS forebay_sync_job (
        key TEXT PRIMARY KEY, words TEXT NOT NULL, digest TEXT NOT NULL, probe TEXT NOT NULL,
        round BIGINT NOT NULL, phase TEXT NOT NULL, token BIGINT NOT NULL, lease_ms BIGINT NOT NULL,
        started_ms BIGINT NOT NULL, record TEXT)",
    "CREATE TABLE IF NOT EXISTS forebay_sync_piece (
        job TEXT NOT NULL, path BYTEA NOT NULL, is_rest BIGINT NOT NULL, state TEXT NOT NULL, token BIGINT NOT NULL,
        lease_ms BIGINT NOT NULL, attempt BIGINT NOT NULL, entries BIGINT NOT NULL, doubt BIGINT NOT NULL,
        record TEXT, PRIMARY KEY (job, path))",
    "CREATE TABLE IF NOT EXISTS forebay_sync_blob (
        job TEXT NOT NULL, path BYTEA NOT NULL, kind TEXT NOT NULL, number BIGINT NOT NULL, bytes BYTEA NOT NULL,
        PRIMARY KEY (job, path, kind, number))",
    "CREATE TABLE IF NOT EXISTS forebay_sync_stretch (
        job TEXT NOT NULL, path BYTEA NOT NULL, number BIGINT NOT NULL, part BYTEA NOT NULL, head BYTEA NOT NULL,
        state TEXT NOT NULL, token BIGINT NOT NULL, lease_ms BIGINT NOT NULL, done BYTEA,
        PRIMARY KEY (job, path, number))",
];
