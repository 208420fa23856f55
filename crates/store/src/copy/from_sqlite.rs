//! Reads the tables of a SQLite database.

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::copy::table::{Kind, Table};
use crate::driver::param::Param;
use crate::driver::sqlite::connection::SqliteTx;
use crate::driver::sqlite::connection::broken;
use crate::driver::sqlite::file_identity::provide;
use crate::driver::sqlite::lock::ServerLock;
use crate::error::StoreError;
use crate::executor::sqlite::examine::examine;
use crate::migrations::sqlite::bring_up_to_date;
use crate::purpose::Purpose;
use std::path::Path;

pub(super) fn count(connection: &Connection, tables: &[Table]) -> Result<u64, StoreError> {
    let mut total = 0;
    for table in tables {
        let sql = format!("SELECT COUNT(*) FROM {}", table.name);
        let rows: i64 =
            connection.query_row(&sql, [], |row| row.get(0)).map_err(|error| broken(&error))?;
        total += u64::try_from(rows).unwrap_or(0);
    }
    Ok(total)
}

/// Shows every row of the table, in the order of its primary key.
pub(super) fn each_row(
    connection: &Connection,
    table: &Table,
    mut look: impl FnMut(&[Param<'_>]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare(&table.select()).map_err(|error| broken(&error))?;
    let mut rows = statement.query([]).map_err(|error| broken(&error))?;
    while let Some(row) = rows.next().map_err(|error| broken(&error))? {
        let mut values = Vec::with_capacity(table.columns.len());
        for (index, column) in table.columns.iter().enumerate() {
            let value = row.get_ref(index).map_err(|error| broken(&error))?;
            values.push(read(column.kind, value).ok_or_else(|| wrong(table, &column.name))?);
        }
        look(&values)?;
    }
    Ok(())
}

fn read(kind: Kind, value: ValueRef<'_>) -> Option<Param<'_>> {
    Some(match (kind, value) {
        (_, ValueRef::Null) => Param::Null,
        (Kind::Int, ValueRef::Integer(number)) => Param::Int(number),
        (Kind::Flag, ValueRef::Integer(number)) => Param::Flag(number != 0),
        (Kind::Time, ValueRef::Integer(number)) => {
            Param::Time(slated_model::clock::Timestamp::from_millis(number))
        }
        (Kind::Text, ValueRef::Text(text)) => Param::Text(std::str::from_utf8(text).ok()?),
        (Kind::Json, ValueRef::Text(text)) => Param::Json(std::str::from_utf8(text).ok()?),
        (Kind::Bytes, ValueRef::Blob(bytes)) => Param::Bytes(bytes),
        (Kind::Id, ValueRef::Blob(bytes)) => Param::Id(bytes.try_into().ok()?),
        _ => return None,
    })
}

fn wrong(table: &Table, column: &str) -> StoreError {
    StoreError::Internal(format!("{}.{column} holds a value of the wrong type", table.name))
}

/// Sees to it that there is a database at that path, of the newest version, to read from, and that
/// no server has it while the lock is held.
pub(crate) fn prepare_source(path: &Path) -> Result<ServerLock, StoreError> {
    provide(path, Purpose::Inspect)?;
    examine(path, Purpose::Inspect)?;
    let lock = ServerLock::take(path)?;
    bring_up_to_date(&mut SqliteTx::open_writer(path)?)?;
    Ok(lock)
}
