//! A queue for the movers of several hosts.

use std::time::Duration;

use fault::{Fault, Kind};
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, Transaction};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::database::{Database, Row, Statements, TABLES, Value};
use super::login::Login;
use super::tls;

/// A number that nothing else in the database locks by: "forebay" in hexadecimal digits.
const LOCK: i64 = 0x66_6f72_6562_6179;
/// A mover that falls asleep in a transaction keeps the others waiting no longer than this.
const ASLEEP: &str = "30s";
const CHANNEL: &str = "forebay_sync";

/// A connection to PostgreSQL.
pub struct Postgres {
    login: Login,
    client: Client,
    /// It reads, and writes nothing.
    looks: bool,
}

impl Postgres {
    /// Connects, and makes the tables where there are none.
    pub fn open(login: Login) -> fault::Result<Self> {
        let mut client = connect(&login)?;
        let mut make = || -> Result<(), postgres::Error> {
            let mut making = client.transaction()?;
            // Two that make one table at the same time get into each other's way.
            making.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
            for table in TABLES {
                making.batch_execute(table)?;
            }
            making.commit()?;
            client.batch_execute(&format!(
                "SET idle_in_transaction_session_timeout = '{ASLEEP}'; LISTEN {CHANNEL}"
            ))
        };
        make().map_err(|error| unusable(&login.shown, error))?;
        Ok(Self { login, client, looks: false })
    }

    /// The same to look only; `None` where no movers met yet.
    pub fn look(login: Login) -> fault::Result<Option<Self>> {
        let mut client = connect(&login)?;
        let sql = "SELECT to_regclass('forebay_sync_stretch') IS NOT NULL";
        let seen = client
            .batch_execute("SET default_transaction_read_only = on")
            .and_then(|()| client.query_one(sql, &[])?.try_get(0));
        let has_tables: bool = seen.map_err(|error| unusable(&login.shown, error))?;
        Ok(has_tables.then_some(Self { login, client, looks: true }))
    }

    /// A connection that was lost is made anew.
    fn renew(&mut self) -> fault::Result<()> {
        if !self.client.is_closed() {
            return Ok(());
        }
        let login = self.login.clone();
        if !self.looks {
            *self = Self::open(login)?;
        } else if let Some(again) = Self::look(login)? {
            *self = again;
        }
        Ok(())
    }
}

fn connect(login: &Login) -> fault::Result<Client> {
    let tls = MakeRustlsConnect::new(login.tls.client()?);
    login.config.connect(tls).map_err(|error| unusable(&login.shown, error))
}

impl Database for Postgres {
    fn transact(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Statements) -> fault::Result<()>,
    ) -> fault::Result<()> {
        self.renew()?;
        let shown = self.login.shown.clone();
        let begun = self.client.transaction();
        let transaction = begun.map_err(|error| unusable(&shown, error))?;
        let mut within = Within { shown: &shown, transaction };
        work(&mut within)?;
        within.transaction.commit().map_err(|error| unusable(&shown, error))
    }

    fn wait(&mut self, longest: Duration) -> fault::Result<()> {
        self.renew()?;
        let shown = self.login.shown.clone();
        let heard = self.client.notifications().timeout_iter(longest).next();
        heard.map_err(|error| unusable(&shown, error))?;
        // What came with it was for the same.
        while self.client.notifications().iter().next().map_err(|error| unusable(&shown, error))?.is_some() {}
        Ok(())
    }
}

struct Within<'a> {
    shown: &'a str,
    transaction: Transaction<'a>,
}

impl Statements for Within<'_> {
    fn query(&mut self, sql: &str, values: &[Value]) -> fault::Result<Vec<Row>> {
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        let rows = self.transaction.query(sql, &values).map_err(|error| unusable(self.shown, error))?;
        rows.iter()
            .map(|row| (0..row.len()).map(|column| value_of(row, column)).collect::<Result<Row, _>>())
            .collect::<Result<_, _>>()
            .map_err(|error| unusable(self.shown, error))
    }

    fn execute(&mut self, sql: &str, values: &[Value]) -> fault::Result<u64> {
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        self.transaction.execute(sql, &values).map_err(|error| unusable(self.shown, error))
    }

    fn now(&mut self) -> fault::Result<i64> {
        let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        Ok(self.query(sql, &[])?.first().map_or(0, |row| row[0].number()))
    }

    fn skip_locked(&self) -> &'static str {
        " FOR UPDATE SKIP LOCKED"
    }

    fn wake(&mut self) -> fault::Result<()> {
        self.transaction
            .batch_execute(&format!("NOTIFY {CHANNEL}"))
            .map_err(|error| unusable(self.shown, error))
    }
}

fn value_of(row: &postgres::Row, column: usize) -> Result<Value, postgres::Error> {
    let kind = row.columns()[column].type_();
    Ok(match *kind {
        Type::INT8 => row.try_get::<_, Option<i64>>(column)?.map(Value::Number),
        Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(column)?.map(Value::Bytes),
        _ => row.try_get::<_, Option<String>>(column)?.map(Value::Text),
    }
    .unwrap_or(Value::Null))
}

impl ToSql for Value {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut postgres::types::private::BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Number(number) => number.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT8 | Type::TEXT | Type::BYTEA)
    }

    to_sql_checked!();
}

fn unusable(shown: &str, error: postgres::Error) -> Fault {
    if let Some((words, hint)) = tls::trouble(&error) {
        // It is the same next time, and never tried without.
        let text = format!("cannot use the queue `{shown}`: {words}");
        return Fault::new(Kind::Io, text).hint(hint).caused_by(error);
    }
    // The server's own words, which the outer message leaves out.
    let words = error.as_db_error().map_or_else(
        || std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string),
        |told| told.message().to_owned(),
    );
    // Lost connections and transactions that got into each other's way; not what the server refuses.
    let may_pass = |code: &str| ["40", "57P", "25P03"].iter().any(|class| code.starts_with(class));
    let passes = error.code().is_none_or(|code| may_pass(code.code()));
    let fault = Fault::new(Kind::Io, format!("cannot use the queue `{shown}`: {words}"))
        .hint("does the server run, and may this user log in? passwords come from PGPASSWORD or ~/.pgpass")
        .caused_by(error);
    if passes { fault.temporary() } else { fault }
}
