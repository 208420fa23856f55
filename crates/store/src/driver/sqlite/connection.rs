//! One connection to the file, and how it is set up.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{CachedStatement, Connection, ErrorCode, OpenFlags};
use slated_model::id::PersonId;

use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::driver::sqlite::shortage;
use crate::error::StoreError;
use crate::limit::Limit;

/// How long a statement waits for another process that writes.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const STATEMENTS_KEPT: usize = 256;
/// So many steps of the engine take about a tenth of a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 4000;

pub(crate) struct SqliteTx {
    connection: Connection,
}

impl SqliteTx {
    /// A connection that writes, to a database that is ours or empty.
    pub(crate) fn open_writer(path: &Path) -> Result<Self, StoreError> {
        let tx = Self::open(path)?;
        let setup = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = \
            ON; PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON;";
        tx.connection.execute_batch(setup).map_err(|error| unusable(path, &error))?;
        Ok(tx)
    }

    pub(crate) fn open_reader(path: &Path) -> Result<Self, StoreError> {
        let tx = Self::open(path)?;
        tx.connection
            .execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -8192;")
            .map_err(|error| unusable(path, &error))?;
        Ok(tx)
    }

    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(path, flags).map_err(|error| unusable(path, &error))?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(|error| unusable(path, &error))?;
        // Without this a statement is planned anew whenever a parameter changes.
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
            .map_err(|error| unusable(path, &error))?;
        connection
            .execute_batch("PRAGMA mmap_size = 1099511627776;")
            .map_err(|error| unusable(path, &error))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
        provide_place_of(&connection).map_err(|error| unusable(path, &error))?;
        Ok(Self { connection })
    }

    pub(crate) const fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) const fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Ends statements that are under way when the limit is reached; with none they may go on.
    pub(crate) fn limit(&mut self, limit: Option<Arc<Limit>>) -> Result<(), StoreError> {
        let is_reached = limit.map(|limit| move || limit.is_reached());
        self.connection
            .progress_handler(STEPS_BETWEEN_LOOKS, is_reached)
            .map_err(|error| broken(&error))
    }

    /// How many rows this connection ever changed.
    pub(crate) fn changes(&self) -> u64 {
        self.connection.total_changes()
    }

    /// True when no transaction is open: none was begun, or the engine gave it up.
    pub(crate) fn is_idle(&self) -> bool {
        self.connection.is_autocommit()
    }

    fn prepare(&self, sql: &str, params: &[Param<'_>]) -> Result<CachedStatement<'_>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(|error| broken(&error))?;
        for (index, param) in params.iter().enumerate() {
            statement.raw_bind_parameter(index + 1, param).map_err(|error| broken(&error))?;
        }
        Ok(statement)
    }

    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut map: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.prepare(sql, params)?;
        let mut rows = statement.raw_query();
        let mut mapped = Vec::new();
        while let Some(row) = rows.next().map_err(|error| broken(&error))? {
            mapped.push(map(&Row::Sqlite(row))?);
        }
        Ok(mapped)
    }

    pub(crate) fn row<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        map: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = self.prepare(sql, params)?;
        let mut rows = statement.raw_query();
        match rows.next().map_err(|error| broken(&error))? {
            Some(row) => map(&Row::Sqlite(row)).map(Some),
            None => Ok(None),
        }
    }

    pub(crate) fn execute(&self, sql: &str, params: &[Param<'_>]) -> Result<usize, StoreError> {
        self.prepare(sql, params)?.raw_execute().map_err(|error| broken(&error))
    }
}

/// `place_of(id)`: the row at which a person with that id is kept, if it was free when they came.
fn provide_place_of(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("place_of", 1, flags, |call| {
        Ok(PersonId::from_bytes(call.get(0)?).number())
    })
}

/// What to say when the file cannot even be opened.
pub(crate) fn unusable(path: &Path, error: &rusqlite::Error) -> StoreError {
    match shortage::of(path) {
        Some(cause) => StoreError::Unusable(format!(
            "{} cannot be opened as a database: {cause} ({error})",
            path.display()
        )),
        None => StoreError::Unusable(format!(
            "{} cannot be opened as a database: {error}",
            path.display()
        )),
    }
}

pub(crate) fn broken(error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::OutOfMemory
            | ErrorCode::ReadOnly,
        ) => StoreError::Unavailable(error.to_string()),
        Some(ErrorCode::DiskFull) => StoreError::DiskFull,
        Some(ErrorCode::OperationInterrupted) => StoreError::TookTooLong,
        _ => StoreError::Internal(error.to_string()),
    }
}
