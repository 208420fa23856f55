//! What points at a person. An identifier may stand with several persons; the one with the lowest rank holds it.

use model::id::{PersonId, WorkspaceId};
use model::person::Identifier;

use crate::{Asked, StoreError, Tx, params};

/// Asks who holds the identifier: one person, or nobody.
pub async fn ask_holder(tx: &mut Tx, workspace: WorkspaceId, identifier: &Identifier) -> Result<Asked<PersonId>, StoreError> {
    let sql = "SELECT person_id FROM person_identifier WHERE workspace_id = ?1 AND kind = ?2 AND key = ?3 ORDER BY rank LIMIT 1";
    tx.ask(sql, params![workspace, identifier.kind as i64, &identifier.key], |row| row.id(0)).await
}

pub async fn holder(tx: &mut Tx, workspace: WorkspaceId, identifier: &Identifier) -> Result<Option<PersonId>, StoreError> {
    let asked = ask_holder(tx, workspace, identifier).await?;
    Ok(tx.answer(asked).await?.pop())
}

/// Makes the person the holder of an identifier that nobody has.
pub async fn claim(tx: &mut Tx, workspace: WorkspaceId, identifier: &Identifier, person: PersonId) -> Result<(), StoreError> {
    let sql = "INSERT INTO person_identifier (workspace_id, kind, key, rank, person_id) VALUES (?1, ?2, ?3, 0, ?4)";
    tx.tell(sql, params![workspace, identifier.kind as i64, &identifier.key, person]).await
}

/// Puts the person behind all who have the identifier already.
pub async fn share(tx: &mut Tx, workspace: WorkspaceId, identifier: &Identifier, person: PersonId) -> Result<(), StoreError> {
    let sql = "SELECT COALESCE(MAX(rank) + 1, 0) FROM person_identifier WHERE workspace_id = ?1 AND kind = ?2 AND key = ?3";
    let rank = tx.row(sql, params![workspace, identifier.kind as i64, &identifier.key], |row| row.int(0)).await?.unwrap_or(0);
    let sql = "INSERT INTO person_identifier (workspace_id, kind, key, rank, person_id) VALUES (?1, ?2, ?3, ?4, ?5)";
    tx.tell(sql, params![workspace, identifier.kind as i64, &identifier.key, rank, person]).await
}

/// Takes the identifier from the person; whoever stood behind holds it now.
pub async fn release(tx: &mut Tx, workspace: WorkspaceId, identifier: &Identifier, person: PersonId) -> Result<(), StoreError> {
    let sql = "DELETE FROM person_identifier WHERE workspace_id = ?1 AND kind = ?2 AND key = ?3 AND person_id = ?4";
    tx.tell(sql, params![workspace, identifier.kind as i64, &identifier.key, person]).await
}
