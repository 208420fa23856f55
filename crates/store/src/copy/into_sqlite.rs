//! From PostgreSQL into a new SQLite file, which gets its name only when everything is in it.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tokio_postgres::Client;

use crate::copy::table::{self, Table};
use crate::copy::{Moved, Report, Stage, Tally, compare, from_postgres, from_sqlite};
use crate::driver::postgres::address::Address;
use crate::driver::postgres::error::describe;
use crate::driver::postgres::pool::connect;
use crate::driver::sqlite::connection::{SqliteTx, broken};
use crate::driver::sqlite::file_identity::{beside, provide, refuse_remains};
use crate::error::{OperationError, StoreError};
use crate::migrations;
use crate::operation::Operation;
use crate::options::Options;
use crate::purpose::Purpose;
use crate::records::events::outbox;
use crate::records::person_rowid::free_place;
use crate::schema;
use crate::schema::OUTBOX;
use crate::store::{Location, Store};
use crate::tx::Tx;

const ROWS_BETWEEN_REPORTS: u64 = 4096;

pub(super) async fn copy(
    from: &Address,
    to: &Path,
    report: &Report<'_>,
) -> Result<Moved, StoreError> {
    if to.exists() || to.is_symlink() {
        return Err(StoreError::Unusable(format!(
            "{} already exists; copy into a new file",
            to.display()
        )));
    }
    refuse_remains(to)?;
    number_events(from).await?;
    let client = connect(from).await?;
    let unfinished = Unfinished::new(to)?;
    let tables = table::all(&client).await?;
    let moved = fill(&client, &unfinished.path, &tables, report).await?;
    unfinished.complete(to)?;
    Ok(moved)
}

/// Gives all events their numbers: where they are copied to, nobody would.
async fn number_events(from: &Address) -> Result<(), StoreError> {
    let store = Store::open(
        &Location::Postgres(Box::new(from.clone())),
        Purpose::Inspect,
        &Options::default(),
    )
    .await?;
    store.write(NumberEvents).await.map_err(|failure| match failure {
        OperationError::Store(error) => error,
        OperationError::Rejected(problem) => StoreError::Internal(problem.to_string()),
    })
}

struct NumberEvents;

impl Operation for NumberEvents {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        for workspace in outbox::waiting(tx).await? {
            while outbox::number(tx, workspace).await? {}
        }
        Ok(())
    }
}

/// The file under another name. It goes away if it is not completed.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    fn new(to: &Path) -> Result<Self, StoreError> {
        let unfinished = Self { path: beside(to, ".unfinished") };
        unfinished.remove();
        provide(&unfinished.path, Purpose::Command)?;
        Ok(unfinished)
    }

    fn remove(&self) {
        for ending in ["", "-wal", "-shm", "-journal"] {
            let _ = fs::remove_file(beside(&self.path, ending));
        }
    }

    fn complete(self, to: &Path) -> Result<(), StoreError> {
        let failed = |error: std::io::Error| {
            StoreError::Unusable(format!("{} cannot be created: {error}", to.display()))
        };
        fs::File::open(&self.path).and_then(|file| file.sync_all()).map_err(failed)?;
        fs::rename(&self.path, to).map_err(failed)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.remove();
    }
}

async fn fill(
    client: &Client,
    path: &Path,
    tables: &[Table],
    report: &Report<'_>,
) -> Result<Moved, StoreError> {
    let refused = |error: tokio_postgres::Error| StoreError::Unavailable(describe(&error));
    let mut target = SqliteTx::open_writer(path)?;
    migrations::sqlite::bring_up_to_date(&mut target)?;
    let connection = target.connection();
    let run = |sql: &str| connection.execute_batch(sql).map_err(|error| broken(&error));
    // Nobody else sees the file before it is complete, and it is thrown away if anything goes
    // wrong.
    run("PRAGMA foreign_keys = OFF; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")?;
    client
        .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        .await
        .map_err(refused)?;
    if client
        .query_opt(&format!("SELECT 1 FROM {OUTBOX} LIMIT 1"), &[])
        .await
        .map_err(refused)?
        .is_some()
    {
        return Err(StoreError::Unusable(
            "the source database is being written to; stop its servers first".to_owned(),
        ));
    }
    let total = from_postgres::count(client, tables).await?;
    let mut done = 0;
    let mut sent = Vec::new();
    for table in tables {
        let tally = insert_table(client, connection, table, |rows| {
            report(Stage::Copying, done + rows, total)
        })
        .await?;
        done += tally.rows;
        sent.push(tally);
    }
    report(Stage::Finishing, 0, 1);
    run(schema::INDEX_ALL)?;
    run("COMMIT")?;
    check_foreign_keys(connection)?;
    let mut moved = Vec::new();
    let mut checked = 0;
    for (table, sent) in tables.iter().zip(sent) {
        let mut arrived = Tally::default();
        from_sqlite::each_row(connection, table, |row| {
            arrived.add(row);
            if arrived.rows.is_multiple_of(ROWS_BETWEEN_REPORTS) {
                report(Stage::Checking, checked + arrived.rows, total);
            }
            Ok(())
        })?;
        compare(&table.name, sent, arrived)?;
        checked += arrived.rows;
        moved.push((table.name.clone(), arrived.rows));
    }
    report(Stage::Checking, total, total);
    run("PRAGMA journal_mode = WAL")?;
    Ok(moved)
}

async fn insert_table(
    client: &Client,
    connection: &Connection,
    table: &Table,
    report: impl Fn(u64),
) -> Result<Tally, StoreError> {
    let sql = insert_statement(table);
    let mut statement = connection.prepare(&sql).map_err(|error| broken(&error))?;
    let mut tally = Tally::default();
    from_postgres::each_row(client, table, true, |row| {
        tally.add(row);
        statement.execute(rusqlite::params_from_iter(row)).map_err(|error| broken(&error))?;
        if tally.rows.is_multiple_of(ROWS_BETWEEN_REPORTS) {
            report(tally.rows);
        }
        Ok(())
    })
    .await?;
    Ok(tally)
}

/// Puts persons at their places, as creating them does.
fn insert_statement(table: &Table) -> String {
    let values: Vec<_> = (1..=table.columns.len()).map(|number| format!("?{number}")).collect();
    let (name, columns) = (&table.name, table.column_list());
    let id = table.columns.iter().zip(&values).find(|(column, _)| column.name == "id");
    match id.filter(|_| name == "person") {
        Some((_, id)) => {
            let place = free_place(id);
            format!("INSERT INTO {name} ({columns}, rowid) VALUES ({}, {place})", values.join(", "))
        }
        None => format!("INSERT INTO {name} ({columns}) VALUES ({})", values.join(", ")),
    }
}

fn check_foreign_keys(connection: &Connection) -> Result<(), StoreError> {
    let mut statement =
        connection.prepare("PRAGMA foreign_key_check").map_err(|error| broken(&error))?;
    match statement.exists([]).map_err(|error| broken(&error))? {
        true => Err(StoreError::Internal(
            "a row refers to one that does not exist; the copy was discarded".to_owned(),
        )),
        false => Ok(()),
    }
}
