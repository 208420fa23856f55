use slated_model::clock::Timestamp;

use crate::driver::sqlite::connection::SqliteTx;
use crate::error::StoreError;
use crate::migrations::{Step, failed, log_applied, missing_from, newest_version};

pub(crate) fn bring_up_to_date(tx: &mut SqliteTx) -> Result<(), StoreError> {
    // Most starts find nothing to do, and looking needs no lock.
    if has_table(tx, "schema_migration")? && current_version(tx)? == newest_version() {
        return Ok(());
    }
    tx.execute("BEGIN IMMEDIATE", &[])?;
    let outcome = apply_missing(tx);
    tx.execute(if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" }, &[])?;
    outcome?.into_iter().for_each(log_applied);
    Ok(())
}

/// Says which ones it applied.
fn apply_missing(tx: &SqliteTx) -> Result<Vec<&'static Step>, StoreError> {
    if !has_table(tx, "schema_migration")? {
        tx.execute(
            "CREATE TABLE schema_migration (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT \
             NULL, applied_at INTEGER NOT NULL) STRICT",
            &[],
        )?;
    }
    let missing: Vec<_> = missing_from(current_version(tx)?)?.collect();
    for step in &missing {
        tx.connection()
            .execute_batch(step.sqlite)
            .map_err(|error| failed(step, &error.to_string()))?;
        tx.execute(
            "INSERT INTO schema_migration (version, name, applied_at) VALUES (?1, ?2, ?3)",
            crate::params![step.version, step.name, Timestamp::now()],
        )?;
    }
    Ok(missing)
}

/// True if the database has tables, and none that tells of our schema.
pub(crate) fn is_foreign(tx: &SqliteTx) -> Result<bool, StoreError> {
    Ok(has_any_table(tx)? && !has_table(tx, "schema_migration")?)
}

pub(crate) fn is_empty(tx: &SqliteTx) -> Result<bool, StoreError> {
    Ok(!has_any_table(tx)?)
}

fn current_version(tx: &SqliteTx) -> Result<i64, StoreError> {
    Ok(tx
        .row("SELECT COALESCE(MAX(version), 0) FROM schema_migration", &[], |row| row.int(0))?
        .unwrap_or(0))
}

fn has_table(tx: &SqliteTx, name: &str) -> Result<bool, StoreError> {
    Ok(tx
        .row(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1",
            crate::params![name],
            |_| Ok(()),
        )?
        .is_some())
}

fn has_any_table(tx: &SqliteTx) -> Result<bool, StoreError> {
    Ok(tx.row("SELECT 1 FROM sqlite_schema WHERE type = 'table'", &[], |_| Ok(()))?.is_some())
}
