//! From SQLite into PostgreSQL. Indexes and constraints are taken off for the time being and made
//! anew over all rows, which is much faster than keeping them up row by row.

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::SinkExt;
use tokio::sync::mpsc;
use tokio_postgres::Client;

use crate::copy::from_sqlite::{self, prepare_source};
use crate::copy::table::{self, Table};
use crate::copy::{Moved, Report, Stage, Tally, binary, compare, from_postgres};
use crate::driver::postgres::address::Address;
use crate::driver::postgres::constraints::{TakenOff, execute};
use crate::driver::postgres::error::{classify, describe};
use crate::driver::postgres::pool::connect;
use crate::driver::sqlite::connection::SqliteTx;
use crate::error::StoreError;
use crate::migrations;
use crate::purpose::Purpose;
use crate::schema;

/// How much is sent at once.
const CHUNK: usize = 1 << 20;
/// Chunks that wait for the network at most.
const CHUNKS_WAITING: usize = 4;
/// Rows between two reports.
const ROWS_BETWEEN_REPORTS: u64 = 4096;

/// Long values are compressed; lz4 does that several times as fast as the older way, where the
/// server has it.
const COMPRESS_FAST: &str = "SELECT set_config('default_toast_compression', 'lz4', true) FROM \
                             pg_settings \
                             WHERE name = 'default_toast_compression' AND 'lz4' = ANY(enumvals)";

pub(super) async fn copy(
    from: &Path,
    to: &Address,
    report: &Report<'_>,
) -> Result<Moved, StoreError> {
    let _lock = prepare_source(from)?;
    let client = connect(to).await?;
    // Before anything of it is changed or kept from others: the address may be that of a database
    // that is in use.
    if migrations::postgres::has_table(&client, "workspace").await? {
        refuse_full(&client).await?;
    }
    migrations::postgres::bring_up_to_date(to, Purpose::Command).await?;
    let tables = Arc::new(table::all(&client).await?);
    let total = from_sqlite::count(SqliteTx::open_reader(from)?.connection(), &tables)?;
    execute(&client, "BEGIN").await?;
    let moved = fill(from, &client, &tables, total, report).await?;
    execute(&client, schema::INDEX_ALL).await?;
    execute(&client, &format!("ANALYZE {}", all_tables(&tables))).await?;
    execute(&client, "COMMIT").await?;
    Ok(moved)
}

/// Those that are copied, and those that PostgreSQL has beside them, in which something may be left
/// of what was there before.
fn all_tables(tables: &[Table]) -> String {
    let copied = tables.iter().map(|table| table.name.as_str());
    let names: Vec<_> = copied.chain(schema::SEARCH).chain(schema::ONLY_POSTGRES).collect();
    names.join(", ")
}

async fn refuse_full(client: &Client) -> Result<(), StoreError> {
    match client
        .query_opt("SELECT 1 FROM workspace LIMIT 1", &[])
        .await
        .map_err(|error| classify(&error))?
    {
        Some(_) => Err(StoreError::Unusable(
            "the target database already holds records; copy into an empty one".to_owned(),
        )),
        None => Ok(()),
    }
}

async fn fill(
    from: &Path,
    client: &Client,
    tables: &Arc<Vec<Table>>,
    total: u64,
    report: &Report<'_>,
) -> Result<Moved, StoreError> {
    let names = all_tables(tables);
    execute(client, &format!("LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")).await?;
    refuse_full(client).await?;
    let taken_off = TakenOff::all(client).await?;
    // Rows that go into a table emptied by the same transaction need no look at whether it was
    // committed, ever.
    execute(client, &format!("TRUNCATE {names}")).await?;
    execute(client, COMPRESS_FAST).await?;
    let (chunks, mut arriving) = mpsc::channel(CHUNKS_WAITING);
    let reading = tokio::task::spawn_blocking({
        let (path, tables) = (from.to_owned(), Arc::clone(tables));
        move || read_all(&path, &tables, &chunks)
    });
    let mut done = 0;
    for table in tables.iter() {
        done += send_table(client, table, &mut arriving, |rows| {
            report(Stage::Copying, done + rows, total)
        })
        .await?;
    }
    let sent = reading.await.map_err(|error| StoreError::Internal(error.to_string()))??;
    report(Stage::Finishing, 0, 1);
    execute(client, "SET LOCAL maintenance_work_mem = '512MB'").await?;
    taken_off.put_back(client, |done, total| report(Stage::Finishing, done, total)).await?;
    let mut moved = Vec::new();
    let mut checked = 0;
    for (table, sent) in tables.iter().zip(sent) {
        let mut arrived = Tally::default();
        from_postgres::each_row(client, table, false, |row| {
            arrived.add(row);
            if arrived.rows.is_multiple_of(ROWS_BETWEEN_REPORTS) {
                report(Stage::Checking, checked + arrived.rows, total);
            }
            Ok(())
        })
        .await?;
        compare(&table.name, sent, arrived)?;
        checked += arrived.rows;
        moved.push((table.name.clone(), arrived.rows));
    }
    report(Stage::Checking, total, total);
    Ok(moved)
}

/// A part of a table on its way.
enum Chunk {
    Rows(Bytes, u64),
    TableEnds,
}

fn read_all(
    path: &Path,
    tables: &[Table],
    chunks: &mpsc::Sender<Chunk>,
) -> Result<Vec<Tally>, StoreError> {
    let gone = |_| StoreError::Lost("the database to copy into".to_owned());
    let source = SqliteTx::open_reader(path)?;
    source.execute("BEGIN", &[])?;
    let mut tallies = Vec::new();
    for table in tables {
        let mut tally = Tally::default();
        let mut buffer = BytesMut::with_capacity(CHUNK * 2);
        let mut waiting = 0;
        binary::begin(&mut buffer);
        from_sqlite::each_row(source.connection(), table, |row| {
            table.in_order(row, |row| tally.add(row))?;
            binary::write_row(row, &mut buffer)?;
            waiting += 1;
            if buffer.len() >= CHUNK {
                let full = std::mem::replace(&mut buffer, BytesMut::with_capacity(CHUNK * 2));
                chunks
                    .blocking_send(Chunk::Rows(full.freeze(), std::mem::take(&mut waiting)))
                    .map_err(gone)?;
            }
            Ok(())
        })?;
        binary::end(&mut buffer);
        chunks.blocking_send(Chunk::Rows(buffer.freeze(), waiting)).map_err(gone)?;
        chunks.blocking_send(Chunk::TableEnds).map_err(gone)?;
        tallies.push(tally);
    }
    Ok(tallies)
}

async fn send_table(
    client: &Client,
    table: &Table,
    arriving: &mut mpsc::Receiver<Chunk>,
    report: impl Fn(u64),
) -> Result<u64, StoreError> {
    let broken = |error: tokio_postgres::Error| {
        StoreError::Internal(format!("table {}: {}", table.name, describe(&error)))
    };
    let sql =
        format!("COPY {} ({}) FROM STDIN (FORMAT BINARY, FREEZE)", table.name, table.column_list());
    let sink = client.copy_in(&sql).await.map_err(broken)?;
    let mut sink = pin!(sink);
    let mut rows = 0;
    while let Some(Chunk::Rows(bytes, count)) = arriving.recv().await {
        sink.send(bytes).await.map_err(broken)?;
        rows += count;
        report(rows);
    }
    sink.finish().await.map_err(broken)
}
