use slated_model::id::{StatusId, WorkspaceId};
use slated_model::text::comparison_key;

use crate::error::StoreError;
use crate::params;
use crate::tx::Tx;

pub async fn insert(
    tx: &mut Tx,
    workspace: WorkspaceId,
    name: &str,
    position: i64,
) -> Result<StatusId, StoreError> {
    let id = tx.new_id();
    let sql = "INSERT INTO job_status (workspace_id, id, name, name_key, position) VALUES (?1, \
        ?2, ?3, ?4, ?5)";
    tx.execute_deferred(sql, params![workspace, id, name, &comparison_key(name), position]).await?;
    Ok(id)
}

pub async fn rename(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: StatusId,
    name: &str,
) -> Result<(), StoreError> {
    let sql = "UPDATE job_status SET name = ?3, name_key = ?4 WHERE workspace_id = ?1 AND id = ?2";
    tx.execute_deferred(sql, params![workspace, id, name, &comparison_key(name)]).await
}

/// The statuses of the workspace, the one that a new job has first.
pub async fn all(
    tx: &mut Tx,
    workspace: WorkspaceId,
) -> Result<Vec<(StatusId, String)>, StoreError> {
    let sql = "SELECT id, name FROM job_status WHERE workspace_id = ?1 ORDER BY position, id";
    tx.rows(sql, params![workspace], |row| Ok((row.id(0)?, row.text(1)?))).await
}
