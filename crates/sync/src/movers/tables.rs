//! The queue as tables of a database.
//!
//! A part is leased for a short time by the database's clock, and the lease is renewed while it is worked on. Each lease has
//! a higher token than the one before: who lost one can write nothing any more.

use std::collections::BTreeSet;
use std::time::Duration;

use fault::{Fault, Kind};

use super::database::{Database, Row, Statements, Value};
use super::merge::Verdict;
use super::queue::{Begun, Doubt, Found, Joined, Lease, Piece, Queue, Results, Stretch, Work, lost};
use super::{division, stretches};

/// How often a part is tried before it is given up.
const MOST_ATTEMPTS: i64 = 3;
/// Pauses before a transaction is tried again: the first, and where they end; each is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(10);
/// Whoever divides the job has so many leases for it.
const PLANNING: i64 = 4;
/// Bytes of one piece of a blob.
const PIECE: usize = 8 << 20;

/// The queue of one job.
pub struct Tables {
    database: Box<dyn Database>,
    /// Stands for source and destination.
    key: String,
    lease: Duration,
}

impl Tables {
    /// Around a connection.
    pub fn new(database: Box<dyn Database>, key: String, lease: Duration) -> Self {
        Self { database, key, lease }
    }

    /// Ends, as its owner who knows that nobody else is there, what an earlier run left: its parts are looked at anew. With
    /// `forget`, nothing is known of them any more.
    pub fn abandon(&mut self, forget: bool) -> fault::Result<()> {
        self.transact(|queue, job, _| {
            let sql = "UPDATE forebay_sync_piece SET doubt = 1 WHERE job = $1 AND doubt = 0 AND EXISTS
                       (SELECT 1 FROM forebay_sync_job WHERE key = $1 AND phase <> 'done')";
            queue.execute(sql, &[job.into()])?;
            queue.execute("UPDATE forebay_sync_job SET phase = 'done' WHERE key = $1", &[job.into()])?;
            if forget {
                queue.execute("DELETE FROM forebay_sync_blob WHERE job = $1", &[job.into()])?;
                queue.execute("DELETE FROM forebay_sync_stretch WHERE job = $1", &[job.into()])?;
            }
            Ok(())
        })
    }

    /// Keys of all parts and how well their destinations are known; empty where there was no job yet.
    pub fn doubts(&mut self) -> fault::Result<Vec<(Vec<u8>, Doubt)>> {
        self.transact(|queue, job, _| {
            let sql = "SELECT path, doubt FROM forebay_sync_piece WHERE job = $1";
            let rows = queue.query(sql, &[job.into()])?;
            Ok(rows.iter().map(|row| (row[0].bytes().to_vec(), Doubt::of(row[1].number()))).collect())
        })
    }

    fn transact<T>(
        &mut self,
        mut work: impl FnMut(&mut dyn Statements, &str, i64) -> fault::Result<T>,
    ) -> fault::Result<T> {
        let (key, lease) = (self.key.clone(), i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX));
        let (mut done, mut pause) = (None, FIRST_PAUSE);
        loop {
            let tried = self.database.transact(&mut |statements| {
                done = Some(work(statements, &key, lease)?);
                Ok(())
            });
            match tried {
                // A server that starts again is worth waiting for.
                Err(fault) if fault.may_retry() && pause < LAST_PAUSE => {
                    std::thread::sleep(pause);
                    pause *= 2;
                }
                Err(fault) => return Err(fault),
                Ok(()) => break,
            }
        }
        done.ok_or_else(|| Fault::new(Kind::Bug, "a transaction without an outcome"))
    }
}

impl Queue for Tables {
    fn join(&mut self, shown: &str, digest: &str, may_begin: bool) -> fault::Result<Joined> {
        self.transact(|queue, job, lease| {
            queue.execute(
                "INSERT INTO forebay_sync_job (key, words, digest, probe, round, phase, token, lease_ms, started_ms)
                 VALUES ($1, $2, $3, '', 0, 'done', 0, 0, 0) ON CONFLICT (key) DO NOTHING",
                &[job.into(), shown.into(), digest.into()],
            )?;
            let sql = "UPDATE forebay_sync_job SET words = words WHERE key = $1
                       RETURNING phase, digest, round, probe, token, lease_ms";
            let rows = queue.query(sql, &[job.into()])?;
            let row = one(&rows)?;
            let (phase, now) = (row[0].text(), queue.now()?);
            let (round, token) = (row[2].number(), row[4].number() + 1);
            let begins = phase == "done" && may_begin;
            if phase != "done" && row[1].text() != digest {
                let text = format!("movers of {shown} are at work with other options");
                return Err(Fault::new(Kind::Refused, text).hint("give every mover the same command"));
            }
            if !begins && (phase != "planning" || row[5].number() >= now) {
                return Ok(Joined::Mover { round, probe: row[3].text().to_owned() });
            }
            let round = round + i64::from(begins);
            let started = if begins { "$6" } else { "CASE WHEN started_ms = 0 THEN $6 ELSE started_ms END" };
            let sql = format!(
                "UPDATE forebay_sync_job SET phase = 'planning', digest = $2, round = $3, token = $4, lease_ms = $5,
                 started_ms = {started}, probe = '' WHERE key = $1"
            );
            let values =
                [job.into(), digest.into(), round.into(), token.into(), (now + PLANNING * lease).into(), now.into()];
            queue.execute(&sql, &values)?;
            Ok(Joined::Planner { token, round })
        })
    }

    fn plan_on(&mut self, token: i64) -> fault::Result<bool> {
        self.transact(|queue, job, lease| {
            let until = queue.now()? + PLANNING * lease;
            let sql = "UPDATE forebay_sync_job SET lease_ms = $3
                       WHERE key = $1 AND token = $2 AND phase = 'planning'";
            Ok(queue.execute(sql, &[job.into(), token.into(), until.into()])? == 1)
        })
    }

    fn divide(
        &mut self,
        token: i64,
        probe: &str,
        parts: &BTreeSet<Vec<u8>>,
        anew: bool,
    ) -> fault::Result<()> {
        self.transact(|queue, job, _| {
            let sql = "UPDATE forebay_sync_job SET phase = 'moving', probe = $3
                       WHERE key = $1 AND token = $2 AND phase = 'planning'";
            if queue.execute(sql, &[job.into(), token.into(), probe.into()])? == 0 {
                return Err(lost());
            }
            division::set(queue, job, parts, anew)?;
            stretches::free(queue, job)?;
            queue.wake()
        })
    }

    fn take(&mut self, round: i64) -> fault::Result<Work> {
        self.transact(|queue, job, lease| {
            let sql = "SELECT phase, round, record FROM forebay_sync_job WHERE key = $1";
            let rows = queue.query(sql, &[job.into()])?;
            let row = one(&rows)?;
            if row[1].number() != round || row[0].text() == "done" {
                return Ok(Work::Over(Verdict::read(row[2].text())?));
            }
            if row[0].text() != "moving" {
                return Ok(Work::Wait);
            }
            let now = queue.now()?;
            give_up(queue, job, now)?;
            let mut free = find(queue, job, now, 0)?;
            if free.is_none() {
                let sql = "SELECT count(*) FROM forebay_sync_piece
                           WHERE job = $1 AND is_rest = 0 AND state IN ('waiting', 'taken')";
                if one(&queue.query(sql, &[job.into()])?)?[0].number() == 0 {
                    free = find(queue, job, now, 1)?;
                }
            }
            let Some(row) = free else {
                let stretch = stretches::take(queue, job, now + lease, now, None)?;
                return Ok(stretch.map_or(Work::Wait, Work::Stretch));
            };
            let (path, token) = (row[0].bytes().to_vec(), row[1].number() + 1);
            queue.execute(
                "UPDATE forebay_sync_piece SET state = 'taken', token = $3, lease_ms = $4, attempt = attempt + 1,
                 doubt = 2 WHERE job = $1 AND path = $2",
                &[job.into(), path[..].into(), token.into(), (now + lease).into()],
            )?;
            let doubt = Doubt::of(row[3].number());
            Ok(Work::Part(Lease { path, is_rest: row[2].number() == 1, doubt, token }))
        })
    }

    fn extend(&mut self, held: &Lease) -> fault::Result<bool> {
        self.transact(|queue, job, lease| {
            let until = queue.now()? + lease;
            let sql = "UPDATE forebay_sync_piece SET lease_ms = $4
                       WHERE job = $1 AND path = $2 AND token = $3 AND state = 'taken'";
            let values = [job.into(), held.path[..].into(), held.token.into(), until.into()];
            Ok(queue.execute(sql, &values)? == 1)
        })
    }

    fn commit(
        &mut self,
        held: &Lease,
        found: &Found,
        record: &str,
        verdict: Option<&Verdict>,
    ) -> fault::Result<()> {
        let verdict = verdict.map(Verdict::written).transpose()?;
        self.transact(|queue, job, _| {
            let sql = "UPDATE forebay_sync_piece SET state = 'done', doubt = 0, entries = $4, record = $5
                       WHERE job = $1 AND path = $2 AND token = $3 AND state = 'taken'";
            let entries = i64::try_from(found.entries).unwrap_or(i64::MAX);
            let values = [job.into(), held.path[..].into(), held.token.into(), entries.into(), record.into()];
            if queue.execute(sql, &values)? == 0 {
                return Err(lost());
            }
            write(queue, job, &held.path, "index", &found.index)?;
            write(queue, job, &held.path, "left", &found.left)?;
            stretches::forget(queue, job, &held.path)?;
            if let Some(text) = &verdict {
                let sql = "UPDATE forebay_sync_job SET phase = 'done', record = $2 WHERE key = $1";
                queue.execute(sql, &[job.into(), text[..].into()])?;
            }
            queue.wake()
        })
    }

    fn give_back(&mut self, held: &Lease, index: &[u8]) -> fault::Result<()> {
        self.transact(|queue, job, _| {
            let sql = "UPDATE forebay_sync_piece SET state = 'waiting', doubt = 1, attempt = attempt - 1
                       WHERE job = $1 AND path = $2 AND token = $3 AND state = 'taken'";
            if queue.execute(sql, &[job.into(), held.path[..].into(), held.token.into()])? == 0 {
                return Err(lost());
            }
            write(queue, job, &held.path, "index", index)?;
            queue.wake()
        })
    }

    fn fail(&mut self, held: &Lease, words: &str) -> fault::Result<()> {
        self.transact(|queue, job, _| {
            let sql = "UPDATE forebay_sync_piece SET record = $4,
                       state = CASE WHEN attempt >= $5 THEN 'failed' ELSE 'waiting' END
                       WHERE job = $1 AND path = $2 AND token = $3 AND state = 'taken'";
            let most = Value::Number(MOST_ATTEMPTS);
            queue.execute(sql, &[job.into(), held.path[..].into(), held.token.into(), words.into(), most])?;
            queue.wake()
        })
    }

    fn end(&mut self, held: &Lease, verdict: &Verdict) -> fault::Result<()> {
        let text = verdict.written()?;
        self.transact(|queue, job, _| {
            let sql = "UPDATE forebay_sync_job SET phase = 'done', record = $3 WHERE key = $1 AND EXISTS
                       (SELECT 1 FROM forebay_sync_piece WHERE job = $1 AND path = $4 AND token = $2)";
            let values = [job.into(), held.token.into(), text[..].into(), held.path[..].into()];
            if queue.execute(sql, &values)? == 0 {
                return Err(lost());
            }
            let sql = "UPDATE forebay_sync_piece SET doubt = 1 WHERE job = $1 AND doubt = 0";
            queue.execute(sql, &[job.into()])?;
            queue.wake()
        })
    }

    fn open_file(&mut self, held: &Lease, path: &[u8], head: &[u8], count: u64) -> fault::Result<()> {
        self.transact(|queue, job, _| stretches::open(queue, job, held, (path, head, count)))
    }

    fn take_stretch(&mut self, path: &[u8]) -> fault::Result<Option<Stretch>> {
        self.transact(|queue, job, lease| {
            let now = queue.now()?;
            stretches::take(queue, job, now + lease, now, Some(path))
        })
    }

    fn extend_stretch(&mut self, held: &Stretch) -> fault::Result<bool> {
        self.transact(|queue, job, lease| {
            let until = queue.now()? + lease;
            stretches::set(queue, job, held, ("lease_ms", until.into()))
        })
    }

    fn commit_stretch(&mut self, held: &Stretch, done: &[u8]) -> fault::Result<bool> {
        self.transact(|queue, job, _| {
            let ours = stretches::set(queue, job, held, ("done", done.into()))?
                && stretches::set(queue, job, held, ("state", "done".into()))?;
            queue.wake()?;
            Ok(ours)
        })
    }

    fn give_back_stretch(&mut self, held: &Stretch, failed: bool) -> fault::Result<()> {
        self.transact(|queue, job, _| {
            let state = if failed { "failed" } else { "waiting" };
            stretches::set(queue, job, held, ("state", state.into())).map(drop)
        })
    }

    fn finished(&mut self, path: &[u8], known: &[u64]) -> fault::Result<Vec<(u64, Vec<u8>)>> {
        self.transact(|queue, job, _| stretches::finished(queue, job, path, known))
    }

    fn begun(&mut self, held: &Lease) -> fault::Result<Vec<Begun>> {
        self.transact(|queue, job, _| stretches::begun(queue, job, &held.path))
    }

    fn results(&mut self) -> fault::Result<Results> {
        self.transact(|queue, job, _| {
            let sql = "SELECT path, is_rest, state, entries, record FROM forebay_sync_piece WHERE job = $1";
            let rows = queue.query(sql, &[job.into()])?;
            let sql = "SELECT started_ms FROM forebay_sync_job WHERE key = $1";
            let started = one(&queue.query(sql, &[job.into()])?)?[0].number();
            let pieces = rows.iter().map(|row| piece_of(row)).collect();
            Ok(Results { pieces, started, now: queue.now()? })
        })
    }

    fn blob(&mut self, path: &[u8], kind: &str) -> fault::Result<Vec<u8>> {
        self.transact(|queue, job, _| {
            let sql = "SELECT bytes FROM forebay_sync_blob WHERE job = $1 AND path = $2 AND kind = $3 ORDER BY number";
            let rows = queue.query(sql, &[job.into(), path.into(), kind.into()])?;
            Ok(rows.iter().flat_map(|row| row[0].bytes()).copied().collect())
        })
    }

    fn wait(&mut self, longest: Duration) -> fault::Result<()> {
        self.database.wait(longest)
    }
}

fn piece_of(row: &[Value]) -> Piece {
    Piece {
        path: row[0].bytes().to_vec(),
        is_rest: row[1].number() == 1,
        state: row[2].text().to_owned(),
        entries: u64::try_from(row[3].number()).unwrap_or(0),
        words: row[4].text().to_owned(),
    }
}

/// Parts that killed as many movers as they were tried are given up.
fn give_up(queue: &mut dyn Statements, job: &str, now: i64) -> fault::Result<()> {
    let sql = "UPDATE forebay_sync_piece SET state = 'failed', record = coalesce(record, 'its movers died')
               WHERE job = $1 AND state = 'taken' AND lease_ms < $2 AND attempt >= $3 AND is_rest = 0";
    queue.execute(sql, &[job.into(), now.into(), (10 * MOST_ATTEMPTS).into()]).map(drop)
}

fn find(queue: &mut dyn Statements, job: &str, now: i64, is_rest: i64) -> fault::Result<Option<Row>> {
    let skip = queue.skip_locked();
    let sql = format!(
        "SELECT path, token, is_rest, doubt FROM forebay_sync_piece
         WHERE job = $1 AND is_rest = $2 AND (state = 'waiting' OR (state = 'taken' AND lease_ms < $3))
         ORDER BY attempt, path LIMIT 1{skip}"
    );
    Ok(queue.query(&sql, &[job.into(), is_rest.into(), now.into()])?.into_iter().next())
}

fn write(queue: &mut dyn Statements, job: &str, path: &[u8], kind: &str, bytes: &[u8]) -> fault::Result<()> {
    let sql = "DELETE FROM forebay_sync_blob WHERE job = $1 AND path = $2 AND kind = $3";
    queue.execute(sql, &[job.into(), path.into(), kind.into()])?;
    for (number, piece) in bytes.chunks(PIECE).enumerate() {
        let sql =
            "INSERT INTO forebay_sync_blob (job, path, kind, number, bytes) VALUES ($1, $2, $3, $4, $5)";
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        queue.execute(sql, &[job.into(), path.into(), kind.into(), number.into(), piece.into()])?;
    }
    Ok(())
}

fn one(rows: &[Row]) -> fault::Result<&Row> {
    rows.first().ok_or_else(|| Fault::new(Kind::Bug, "the queue has lost the job"))
}
