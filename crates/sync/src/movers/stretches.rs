//! Large files in the queue: whoever has the part divides the file into stretches, and everyone takes them, each with a lease
//! and a token of its own. They stay when their mover dies: the next one goes on inside of the file.

use super::database::{Row, Statements, Value};
use super::queue::{Begun, Lease, Stretch, lost};

/// A file of a part that is ours: its path, its head, and the number of its stretches.
pub fn open(
    queue: &mut dyn Statements,
    job: &str,
    held: &Lease,
    (path, head, count): (&[u8], &[u8], u64),
) -> fault::Result<()> {
    let sql =
        "SELECT path FROM forebay_sync_piece WHERE job = $1 AND path = $2 AND token = $3 AND state = 'taken'";
    if queue.query(sql, &[job.into(), held.path[..].into(), held.token.into()])?.is_empty() {
        return Err(lost());
    }
    let sql = "DELETE FROM forebay_sync_stretch WHERE job = $1 AND path = $2 AND head <> $3";
    queue.execute(sql, &[job.into(), path.into(), head.into()])?;
    for number in 0..i64::try_from(count).unwrap_or(i64::MAX) {
        // Higher than those of an earlier content of the file, whose movers may still be at work.
        queue.execute(
            "INSERT INTO forebay_sync_stretch (job, path, number, part, head, state, token, lease_ms)
             VALUES ($1, $2, $3, $4, $5, 'waiting', $6, 0) ON CONFLICT (job, path, number) DO NOTHING",
            &[
                job.into(),
                path.into(),
                number.into(),
                held.path[..].into(),
                head.into(),
                (held.token << 32).into(),
            ],
        )?;
    }
    let sql = "UPDATE forebay_sync_stretch SET part = $3 WHERE job = $1 AND path = $2";
    queue.execute(sql, &[job.into(), path.into(), held.path[..].into()])?;
    queue.wake()
}

/// A stretch that nobody works on: of this file, for whoever has its part; else of any file whose part somebody has.
pub fn take(
    queue: &mut dyn Statements,
    job: &str,
    until: i64,
    now: i64,
    path: Option<&[u8]>,
) -> fault::Result<Option<Stretch>> {
    let skip = queue.skip_locked();
    let (whose, value): (&str, Value) = match path {
        Some(path) => ("path = $3 AND (state IN ('waiting', 'failed')", path.into()),
        None => (
            "EXISTS (SELECT 1 FROM forebay_sync_piece AS piece WHERE piece.job = $1 AND piece.path = stretch.part
             AND piece.state = $3) AND (state = 'waiting'",
            "taken".into(),
        ),
    };
    let sql = format!(
        "SELECT path, head, number, token FROM forebay_sync_stretch AS stretch
         WHERE job = $1 AND lease_ms < $2 AND {whose} OR state = 'taken') ORDER BY number, path LIMIT 1{skip}"
    );
    let Some(row) = queue.query(&sql, &[job.into(), now.into(), value])?.into_iter().next() else {
        return Ok(None);
    };
    let (path, token) = (row[0].bytes().to_vec(), row[3].number() + 1);
    let sql = "UPDATE forebay_sync_stretch SET state = 'taken', token = $4, lease_ms = $5
               WHERE job = $1 AND path = $2 AND number = $3";
    let number = row[2].number();
    queue.execute(sql, &[job.into(), path[..].into(), number.into(), token.into(), until.into()])?;
    let number = u64::try_from(number).unwrap_or(0);
    Ok(Some(Stretch { path, head: row[1].bytes().to_vec(), number, token }))
}

/// Sets a column of a stretch that is ours; false if it is not.
pub fn set(
    queue: &mut dyn Statements,
    job: &str,
    held: &Stretch,
    (column, value): (&str, Value),
) -> fault::Result<bool> {
    let freed = if column == "state" { ", lease_ms = 0" } else { "" };
    let sql = format!(
        "UPDATE forebay_sync_stretch SET {column} = $5{freed}
         WHERE job = $1 AND path = $2 AND number = $3 AND token = $4 AND state = 'taken' AND head = $6"
    );
    let number = i64::try_from(held.number).unwrap_or(i64::MAX);
    let head = held.head[..].into();
    let values = [job.into(), held.path[..].into(), number.into(), held.token.into(), value, head];
    Ok(queue.execute(&sql, &values)? == 1)
}

/// What is done of a file, but for the stretches in `known`.
pub fn finished(
    queue: &mut dyn Statements,
    job: &str,
    path: &[u8],
    known: &[u64],
) -> fault::Result<Vec<(u64, Vec<u8>)>> {
    let number = |row: &Row| u64::try_from(row[0].number()).unwrap_or(0);
    let sql = "SELECT number FROM forebay_sync_stretch WHERE job = $1 AND path = $2 AND state = 'done' ORDER BY number";
    let all: Vec<u64> = queue.query(sql, &[job.into(), path.into()])?.iter().map(number).collect();
    let mut news = Vec::new();
    for number in all.into_iter().filter(|number| !known.contains(number)) {
        let sql = "SELECT done FROM forebay_sync_stretch WHERE job = $1 AND path = $2 AND number = $3";
        let place = i64::try_from(number).unwrap_or(i64::MAX);
        for row in queue.query(sql, &[job.into(), path.into(), place.into()])? {
            news.push((number, row[0].bytes().to_vec()));
        }
    }
    Ok(news)
}

/// Files of a part that somebody began.
pub fn begun(queue: &mut dyn Statements, job: &str, part: &[u8]) -> fault::Result<Vec<Begun>> {
    let sql = "SELECT path, head FROM forebay_sync_stretch WHERE job = $1 AND part = $2 AND number = 0";
    let rows = queue.query(sql, &[job.into(), part.into()])?;
    let mut files = Vec::new();
    for row in rows {
        let path = row[0].bytes().to_vec();
        let done = finished(queue, job, &path, &[])?;
        files.push((path, row[1].bytes().to_vec(), done));
    }
    Ok(files)
}

/// A part is done, and with it all that was begun in it.
pub fn forget(queue: &mut dyn Statements, job: &str, part: &[u8]) -> fault::Result<()> {
    let sql = "DELETE FROM forebay_sync_stretch WHERE job = $1 AND part = $2";
    queue.execute(sql, &[job.into(), part.into()]).map(drop)
}

/// A new round: nobody works on anything, and what lies in no part any more is forgotten.
pub fn free(queue: &mut dyn Statements, job: &str) -> fault::Result<()> {
    let sql =
        "UPDATE forebay_sync_stretch SET state = 'waiting', lease_ms = 0 WHERE job = $1 AND state <> 'done'";
    queue.execute(sql, &[job.into()])?;
    let sql =
        "DELETE FROM forebay_sync_stretch WHERE job = $1 AND NOT EXISTS (SELECT 1 FROM forebay_sync_piece
               WHERE forebay_sync_piece.job = $1 AND forebay_sync_piece.path = forebay_sync_stretch.part)";
    queue.execute(sql, &[job.into()]).map(drop)
}
