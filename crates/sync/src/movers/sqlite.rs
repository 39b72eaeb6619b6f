//! A queue for the movers of one host.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fault::{Fault, Kind};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, ToSql, TransactionBehavior};

use super::database::{Database, Row, Statements, TABLES, Value};

/// How long one mover waits for another that is writing.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often it looks whether somebody else changed something.
const LOOK: Duration = Duration::from_millis(100);

/// An SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    connection: Connection,
    version: i64,
    /// It reads, and writes nothing.
    looks: bool,
}

impl Sqlite {
    /// The queue at `path`; made if there is none.
    pub fn open(path: &Path) -> fault::Result<Self> {
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open(path)?;
            connection.busy_timeout(PATIENCE)?;
            connection.pragma_update(None, "journal_mode", "TRUNCATE")?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            TABLES.iter().try_for_each(|table| connection.execute_batch(table))?;
            Ok(connection)
        };
        let connection = open().map_err(|error| unusable(path, error))?;
        Ok(Self { path: path.to_owned(), connection, version: 0, looks: false })
    }

    /// The same to look only; `None` where no movers met yet.
    pub fn look(path: &Path) -> fault::Result<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        let open = || -> rusqlite::Result<(Connection, bool)> {
            let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            connection.busy_timeout(PATIENCE)?;
            let has_tables = connection.table_exists(None, "forebay_sync_stretch")?;
            connection.pragma_update(None, "query_only", true)?;
            Ok((connection, has_tables))
        };
        let (connection, has_tables) = open().map_err(|error| unusable(path, error))?;
        Ok(has_tables.then(|| Self { path: path.to_owned(), connection, version: 0, looks: true }))
    }

    /// Another number after every change by somebody else.
    fn version(&self) -> fault::Result<i64> {
        let version = self.connection.pragma_query_value(None, "data_version", |row| row.get(0));
        version.map_err(|error| unusable(&self.path, error))
    }
}

impl Database for Sqlite {
    fn transact(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Statements) -> fault::Result<()>,
    ) -> fault::Result<()> {
        let how = if self.looks { TransactionBehavior::Deferred } else { TransactionBehavior::Immediate };
        let begun = self.connection.transaction_with_behavior(how);
        let transaction = begun.map_err(|error| unusable(&self.path, error))?;
        work(&mut Within { path: &self.path, connection: &transaction })?;
        transaction.commit().map_err(|error| unusable(&self.path, error))
    }

    fn wait(&mut self, longest: Duration) -> fault::Result<()> {
        let began = Instant::now();
        loop {
            let version = self.version()?;
            if version != self.version {
                self.version = version;
                return Ok(());
            }
            let left = longest.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(LOOK));
        }
    }
}

struct Within<'a> {
    path: &'a Path,
    connection: &'a Connection,
}

impl Within<'_> {
    fn wrong(&self) -> impl Fn(rusqlite::Error) -> Fault {
        |error| unusable(self.path, error)
    }
}

impl Statements for Within<'_> {
    fn query(&mut self, sql: &str, values: &[Value]) -> fault::Result<Vec<Row>> {
        let rows = || -> rusqlite::Result<Vec<Row>> {
            let mut statement = self.connection.prepare(&numbered(sql))?;
            let columns = statement.column_count();
            let rows = statement.query_map(rusqlite::params_from_iter(values), |row| {
                (0..columns).map(|column| Ok(value_of(row.get_ref(column)?))).collect()
            })?;
            rows.collect()
        };
        rows().map_err(self.wrong())
    }

    fn execute(&mut self, sql: &str, values: &[Value]) -> fault::Result<u64> {
        let done = self.connection.execute(&numbered(sql), rusqlite::params_from_iter(values));
        done.map(|count| count as u64).map_err(self.wrong())
    }

    fn now(&mut self) -> fault::Result<i64> {
        let sql = "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)";
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(self.wrong())
    }

    fn skip_locked(&self) -> &'static str {
        // A transaction has the whole file.
        ""
    }

    fn wake(&mut self) -> fault::Result<()> {
        // The others see that the file changed.
        Ok(())
    }
}

/// `$2` is a name here, and `?2` the second value.
fn numbered(sql: &str) -> String {
    sql.replace('$', "?")
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn value_of(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Integer(number) => Value::Number(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
        ValueRef::Null | ValueRef::Real(_) => Value::Null,
    }
}

fn unusable(path: &Path, error: rusqlite::Error) -> Fault {
    Fault::new(Kind::Io, format!("cannot use the queue `{}`: {error}", path.display()))
        .hint("it must lie on a file system of this host; movers of several hosts meet with --state postgres://...")
        .caused_by(error)
}
