use model::id::{KeyId, NoteId, PersonId, WorkspaceId};

use crate::{StoreError, Tx, params};

pub async fn insert(tx: &mut Tx, workspace: WorkspaceId, person: PersonId, key: Option<KeyId>, body: &str) -> Result<NoteId, StoreError> {
    let id = tx.new_id();
    let sql = "INSERT INTO note (workspace_id, person_id, id, body, key_id, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)";
    tx.tell(sql, params![workspace, person, id, body, key, tx.now()]).await?;
    Ok(id)
}

/// True if the person has a note of exactly that text.
pub async fn exists(tx: &mut Tx, workspace: WorkspaceId, person: PersonId, body: &str) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM note WHERE workspace_id = ?1 AND person_id = ?2 AND body = ?3 LIMIT 1";
    Ok(tx.row(sql, params![workspace, person, body], |_| Ok(())).await?.is_some())
}
