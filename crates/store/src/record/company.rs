use model::id::{CompanyId, WorkspaceId};
use model::text::fold;

use crate::{Asked, StoreError, Tx, params};

pub async fn find_by_name(tx: &mut Tx, workspace: WorkspaceId, name: &str) -> Result<Option<CompanyId>, StoreError> {
    let sql = "SELECT id FROM company WHERE workspace_id = ?1 AND name_key = ?2";
    tx.row(sql, params![workspace, &fold(name)], |row| row.id(0)).await
}

pub async fn name(tx: &mut Tx, workspace: WorkspaceId, id: CompanyId) -> Result<Option<String>, StoreError> {
    tx.row("SELECT name FROM company WHERE workspace_id = ?1 AND id = ?2", params![workspace, id], |row| row.text(0)).await
}

/// Asks for the company of that name, and its name as it was first written.
pub async fn ask_by_name(tx: &mut Tx, workspace: WorkspaceId, name: &str) -> Result<Asked<(CompanyId, String)>, StoreError> {
    let sql = "SELECT id, name FROM company WHERE workspace_id = ?1 AND name_key = ?2";
    tx.ask(sql, params![workspace, &fold(name)], |row| Ok((row.id(0)?, row.text(1)?))).await
}

pub async fn insert(tx: &mut Tx, workspace: WorkspaceId, name: &str) -> Result<CompanyId, StoreError> {
    let id = tx.new_id();
    let sql = "INSERT INTO company (workspace_id, id, name, name_key, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)";
    tx.tell(sql, params![workspace, id, name, &fold(name), tx.now()]).await?;
    Ok(id)
}

/// Those of the ids that are companies of the workspace.
pub async fn existing(tx: &mut Tx, workspace: WorkspaceId, ids: &[CompanyId]) -> Result<Vec<CompanyId>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let places: Vec<_> = (0..ids.len()).map(|index| format!("?{}", index + 2)).collect();
    let sql = format!("SELECT id FROM company WHERE workspace_id = ?1 AND id IN ({})", places.join(", "));
    let mut params = vec![workspace.into()];
    params.extend(ids.iter().map(|id| crate::Param::from(*id)));
    tx.rows(&sql, &params, |row| row.id(0)).await
}
