//! Every figure, formula, price and requirement of the source documents (`golden.csv`), computed by this program.
//!
//! `expected` is what is right; `printed` is what the document has where that is another thing. A row names what it is
//! about (`subject`); a subject that nothing here computes fails, and all rows that fail are told at once. Rows of what
//! can't be right, is lost, or says nothing that is planned with are `absent`: the catalog must not have their text.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]

mod facts;
mod ground;
mod machines;
mod published;
mod row;
mod services;
mod volumes;

use std::panic::{AssertUnwindSafe, catch_unwind};

use row::{Answer, Row};

#[test]
fn every_row_of_the_documents() {
    let rows = row::all();
    assert!(rows.len() > 370, "{} rows", rows.len());
    let wrong: Vec<String> = rows.iter().filter_map(check).collect();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// What is wrong with a row. A name that the catalog lacks is one row's failure and must not hide the others.
fn check(row: &Row) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(|| compute(row))) {
        Ok(answer) => row.wrong(answer),
        Err(_) => Some(format!("{}: can't be computed; the message stands above", row.id)),
    }
}

/// What the program makes of a row; `None` when nothing here knows its subject.
fn compute(row: &Row) -> Option<Answer> {
    facts::compute(row)
        .or_else(|| machines::compute(row))
        .or_else(|| volumes::compute(row))
        .or_else(|| services::compute(row))
        .or_else(|| published::compute(row))
}
