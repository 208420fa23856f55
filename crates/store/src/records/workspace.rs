use slated_model::id::WorkspaceId;
use slated_model::text::comparison_key;

use crate::error::StoreError;
use crate::params;
use crate::tx::Tx;

pub async fn find_by_name(tx: &mut Tx, name: &str) -> Result<Option<WorkspaceId>, StoreError> {
    let sql = "SELECT workspace_id FROM workspace WHERE name_key = ?1 ORDER BY created_at LIMIT 1";
    tx.row(sql, params![&comparison_key(name)], |row| row.workspace(0)).await
}

/// Keeps others from making workspaces until this work is done, so that no two get the same name.
pub async fn lock_all(tx: &mut Tx) -> Result<(), StoreError> {
    tx.row_for_update("SELECT version FROM schema_migration WHERE version = 0", &[], |_| Ok(()))
        .await
        .map(|_| ())
}

/// Keeps others from what may be done in the workspace by one at a time, until this work is done.
pub async fn lock(tx: &mut Tx, id: WorkspaceId) -> Result<(), StoreError> {
    let sql = "SELECT workspace_id FROM workspace WHERE workspace_id = ?1";
    tx.row_for_update(sql, params![id], |_| Ok(())).await.map(|_| ())
}

pub async fn insert(tx: &mut Tx, name: &str) -> Result<WorkspaceId, StoreError> {
    let id = WorkspaceId::from_random(rand::random());
    let sql =
        "INSERT INTO workspace (workspace_id, name, name_key, created_at) VALUES (?1, ?2, ?3, ?4)";
    tx.execute_deferred(sql, params![id, name, &comparison_key(name), tx.now()]).await?;
    Ok(id)
}

pub async fn all(tx: &mut Tx) -> Result<Vec<(WorkspaceId, String)>, StoreError> {
    let sql = "SELECT workspace_id, name FROM workspace ORDER BY created_at, workspace_id";
    tx.rows(sql, &[], |row| Ok((row.workspace(0)?, row.text(1)?))).await
}

pub async fn any(tx: &mut Tx) -> Result<bool, StoreError> {
    Ok(tx.row("SELECT 1 FROM workspace LIMIT 1", &[], |_| Ok(())).await?.is_some())
}

/// Looks into a table that is nobody's. Where a database is spread over machines, it is where the
/// statement goes, and says nothing of the others.
pub async fn try_to_read(tx: &mut Tx) -> Result<(), StoreError> {
    tx.row("SELECT 1 FROM schema_migration LIMIT 1", &[], |_| Ok(())).await.map(|_| ())
}

/// Changes nothing there, which works only where something could be changed.
pub async fn try_to_write(tx: &mut Tx) -> Result<(), StoreError> {
    tx.execute("UPDATE schema_migration SET name = name WHERE 1 = 0", &[]).await.map(|_| ())
}

/// How many jobs the workspace has.
pub async fn job_count(tx: &mut Tx, workspace: WorkspaceId) -> Result<i64, StoreError> {
    let sql = "SELECT job_count FROM workspace WHERE workspace_id = ?1";
    Ok(tx.row(sql, params![workspace], |row| row.int(0)).await?.unwrap_or(0))
}

/// Counts one more job; says its place among the jobs of the workspace.
pub async fn count_job(tx: &mut Tx, workspace: WorkspaceId) -> Result<i64, StoreError> {
    let sql = "UPDATE workspace SET job_count = job_count + 1 WHERE workspace_id = ?1 RETURNING \
        job_count";
    let place = tx.row(sql, params![workspace], |row| row.int(0)).await?;
    place.ok_or_else(|| StoreError::Internal(format!("workspace {workspace} no longer exists")))
}
