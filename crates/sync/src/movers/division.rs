//! A new round in the tables: its parts, and what of the last round is still true of them.

use std::collections::BTreeSet;

use super::database::Statements;
use crate::span::outdated;

/// The job has these parts, and the rest. What is known of a part stays, unless it may be about what is, or was, another.
pub fn set(
    queue: &mut dyn Statements,
    job: &str,
    parts: &BTreeSet<Vec<u8>>,
    anew: bool,
) -> fault::Result<()> {
    let sql = "SELECT path, doubt FROM forebay_sync_piece WHERE job = $1 AND is_rest = 0";
    let before = queue.query(sql, &[job.into()])?;
    let old: BTreeSet<Vec<u8>> = before.iter().map(|row| row[0].bytes().to_vec()).collect();
    let gone = |row: &&Vec<super::database::Value>| !parts.contains(row[0].bytes());
    let doubt = before.iter().filter(gone).map(|row| row[1].number()).max().unwrap_or(0);
    queue.execute("DELETE FROM forebay_sync_blob WHERE job = $1 AND kind <> 'index'", &[job.into()])?;
    for path in old.difference(parts) {
        let sql = "DELETE FROM forebay_sync_piece WHERE job = $1 AND path = $2";
        queue.execute(sql, &[job.into(), path[..].into()])?;
        forget(queue, job, path)?;
    }
    let changed: Vec<&Vec<u8>> = old.symmetric_difference(parts).collect();
    if !changed.is_empty() || anew {
        // What it knows may be of directories that are, or were, parts of their own.
        forget(queue, job, b"")?;
    }
    for path in outdated(parts, &changed) {
        forget(queue, job, &path)?;
    }
    let sql = "UPDATE forebay_sync_piece SET state = 'waiting', attempt = 0, lease_ms = 0, record = NULL
               WHERE job = $1";
    queue.execute(sql, &[job.into()])?;
    for (path, is_rest) in parts.iter().map(|path| (&path[..], 0)).chain([(&b""[..], 1)]) {
        queue.execute(
            "INSERT INTO forebay_sync_piece (job, path, is_rest, state, token, lease_ms, attempt, entries, doubt)
             VALUES ($1, $2, $3, 'waiting', 0, 0, 0, 0, $4) ON CONFLICT (job, path) DO NOTHING",
            &[job.into(), path.into(), is_rest.into(), doubt.into()],
        )?;
    }
    Ok(())
}

fn forget(queue: &mut dyn Statements, job: &str, path: &[u8]) -> fault::Result<()> {
    let sql = "DELETE FROM forebay_sync_blob WHERE job = $1 AND path = $2";
    queue.execute(sql, &[job.into(), path.into()]).map(drop)
}
