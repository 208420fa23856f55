//! The schema, as a list of steps. Each is applied once, in order, inside a transaction; a step that was released never changes.

use crate::error::StoreError;
use crate::sqlite::SqliteTx;
use model::clock::Timestamp;

struct Step {
    version: i64,
    name: &'static str,
    sqlite: &'static str,
}

const STEPS: &[Step] = &[Step { version: 1, name: "records", sqlite: include_str!("sqlite/0001_records.sql") }];

pub(crate) fn bring_up_to_date(tx: &mut SqliteTx) -> Result<(), StoreError> {
    let newest = STEPS.last().map_or(0, |step| step.version);
    // Most starts find nothing to do, and looking needs no lock.
    if has_table(tx, "schema_migration")? && current_version(tx)? == newest {
        return Ok(());
    }
    tx.execute("BEGIN IMMEDIATE", &[])?;
    let outcome = apply_missing(tx, newest);
    tx.execute(if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" }, &[])?;
    outcome
}

fn apply_missing(tx: &SqliteTx, newest: i64) -> Result<(), StoreError> {
    if !has_table(tx, "schema_migration")? {
        tx.execute(
            "CREATE TABLE schema_migration (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT",
            &[],
        )?;
    }
    let current = current_version(tx)?;
    if current > newest {
        return Err(StoreError::Unusable(format!(
            "the database has schema version {current}, made by a newer slated; this one knows versions up to {newest}: install the newer program"
        )));
    }
    for step in STEPS.iter().filter(|step| step.version > current) {
        let failed = |error: rusqlite::Error| StoreError::Unusable(format!("schema step {} ({}) failed: {error}", step.version, step.name));
        tx.connection().execute_batch(step.sqlite).map_err(failed)?;
        tx.execute(
            "INSERT INTO schema_migration (version, name, applied_at) VALUES (?1, ?2, ?3)",
            crate::params![step.version, step.name, Timestamp::now()],
        )?;
        tracing::info!(schema.version = step.version, schema.step = step.name, "schema step applied");
    }
    Ok(())
}

/// True if the database has tables, and none that tells of our schema.
pub(crate) fn is_foreign(tx: &SqliteTx) -> Result<bool, StoreError> {
    Ok(has_any_table(tx)? && !has_table(tx, "schema_migration")?)
}

fn current_version(tx: &SqliteTx) -> Result<i64, StoreError> {
    Ok(tx.row("SELECT COALESCE(MAX(version), 0) FROM schema_migration", &[], |row| row.int(0))?.unwrap_or(0))
}

fn has_table(tx: &SqliteTx, name: &str) -> Result<bool, StoreError> {
    Ok(tx.row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1", crate::params![name], |_| Ok(()))?.is_some())
}

fn has_any_table(tx: &SqliteTx) -> Result<bool, StoreError> {
    Ok(tx.row("SELECT 1 FROM sqlite_schema WHERE type = 'table'", &[], |_| Ok(()))?.is_some())
}
