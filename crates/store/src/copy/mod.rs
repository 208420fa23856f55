//! Moves a whole database from one engine to the other: every table, row for row, with all ids. It
//! happens as a whole or not at all, and what arrived is read back and compared with what was sent.

mod binary;
mod from_postgres;
mod from_sqlite;
mod into_postgres;
mod into_sqlite;
mod table;

use std::hash::Hasher;

use xxhash_rust::xxh3::Xxh3;

use crate::driver::param::Param;
use crate::error::StoreError;
use crate::store::Location;

/// What is shown of the work while it goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Rows are on their way.
    Copying,
    /// Indexes and constraints are made.
    Finishing,
    /// What arrived is read back.
    Checking,
}

/// Told now and then: the stage, the rows done in it and the rows in all.
pub type Report<'r> = dyn Fn(Stage, u64, u64) + Send + Sync + 'r;

/// What was moved: each table with its number of rows.
pub type Moved = Vec<(String, u64)>;

/// Copies the database at `from` into `to`, which must be empty.
pub async fn copy(
    from: &Location,
    to: &Location,
    report: &Report<'_>,
) -> Result<Moved, StoreError> {
    match (from, to) {
        (Location::Sqlite(from), Location::Postgres(to)) => {
            into_postgres::copy(from, to, report).await
        }
        (Location::Postgres(from), Location::Sqlite(to)) => {
            into_sqlite::copy(from, to, report).await
        }
        (Location::Sqlite(_), Location::Sqlite(_)) => Err(StoreError::Unusable(
            "both databases are SQLite files; stop the server and copy the file itself".to_owned(),
        )),
        (Location::Postgres(_), Location::Postgres(_)) => Err(StoreError::Unusable(
            "both are PostgreSQL databases; use pg_dump and pg_restore to copy them".to_owned(),
        )),
    }
}

/// The rows of a table as a number and a sum over their contents, whatever their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Tally {
    rows: u64,
    sum: u64,
}

impl Tally {
    fn add(&mut self, row: &[Param<'_>]) {
        let mut hasher = Xxh3::new();
        for value in row {
            match value {
                Param::Null => hasher.write_u8(0),
                Param::Int(number) => write(&mut hasher, &number.to_le_bytes()),
                Param::Flag(flag) => write(&mut hasher, &[u8::from(*flag)]),
                Param::Text(text) | Param::Json(text) => write(&mut hasher, text.as_bytes()),
                Param::Bytes(bytes) => write(&mut hasher, bytes),
                Param::Id(id) => write(&mut hasher, id),
                Param::Time(moment) => write(&mut hasher, &moment.millis().to_le_bytes()),
            }
        }
        self.rows += 1;
        self.sum = self.sum.wrapping_add(hasher.finish());
    }
}

fn write(hasher: &mut Xxh3, bytes: &[u8]) {
    hasher.write_u8(1);
    hasher.write_usize(bytes.len());
    hasher.write(bytes);
}

fn compare(table: &str, sent: Tally, arrived: Tally) -> Result<(), StoreError> {
    match sent == arrived {
        true => Ok(()),
        false => Err(StoreError::Internal(format!(
            "table {table} was not copied correctly: {} rows with checksum {:016x} became {} \
             with {:016x}; the copy was discarded",
            sent.rows, sent.sum, arrived.rows, arrived.sum
        ))),
    }
}
