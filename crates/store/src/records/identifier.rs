//! What points at a person. An identifier may stand with several persons; the one with the lowest
//! rank holds it.

use slated_model::id::{PersonId, WorkspaceId};
use slated_model::person::{Identifier, IdentifierKind};
use slated_model::social::SocialProfile;

use crate::error::StoreError;
use crate::params;
use crate::tx::{Asked, Tx};

/// Asks who holds the identifier: one person, or nobody.
pub async fn ask_holder(
    tx: &mut Tx,
    workspace: WorkspaceId,
    identifier: &Identifier,
) -> Result<Asked<PersonId>, StoreError> {
    let sql = "SELECT person_id FROM person_identifier WHERE workspace_id = ?1 AND kind = ?2 AND \
        key = ?3 ORDER BY rank LIMIT 1";
    tx.ask(sql, params![workspace, identifier.kind as i64, &identifier.key], |row| row.id(0)).await
}

/// Who holds an identifier, and what else says who they are.
pub struct Holder {
    pub person: PersonId,
    pub external_source_id: Option<String>,
    pub social: SocialProfile,
}

/// The same, with what else says who they are.
pub async fn ask_who_holds(
    tx: &mut Tx,
    workspace: WorkspaceId,
    identifier: &Identifier,
) -> Result<Asked<Holder>, StoreError> {
    let sql = "SELECT i.person_id, p.external_source_id, p.social_url, p.social_public_id FROM \
               person_identifier i \
               JOIN person p ON p.workspace_id = i.workspace_id AND p.id = i.person_id \
               WHERE i.workspace_id = ?1 AND i.kind = ?2 AND i.key = ?3 ORDER BY i.rank LIMIT 1";
    tx.ask(sql, params![workspace, identifier.kind as i64, &identifier.key], |row| {
        let social = SocialProfile { url: row.text(2)?, handle: row.text(3)? };
        Ok(Holder { person: row.id(0)?, external_source_id: row.optional_text(1)?, social })
    })
    .await
}

pub async fn holder(
    tx: &mut Tx,
    workspace: WorkspaceId,
    identifier: &Identifier,
) -> Result<Option<PersonId>, StoreError> {
    let asked = ask_holder(tx, workspace, identifier).await?;
    Ok(tx.answer(asked).await?.pop())
}

/// The order in which identifiers are written, so that of two who write the same ones none waits
/// for the other for ever.
pub fn in_order<'i>(identifiers: impl IntoIterator<Item = &'i Identifier>) -> Vec<&'i Identifier> {
    let mut sorted: Vec<_> = identifiers.into_iter().collect();
    sorted.sort_unstable();
    sorted
}

/// Makes the person the holder of an identifier that nobody has.
pub async fn claim(
    tx: &mut Tx,
    workspace: WorkspaceId,
    identifier: &Identifier,
    person: PersonId,
) -> Result<(), StoreError> {
    put(tx, workspace, identifier, 0, person).await
}

/// Puts the person behind all who have the identifier already.
pub async fn share(
    tx: &mut Tx,
    workspace: WorkspaceId,
    identifier: &Identifier,
    person: PersonId,
) -> Result<(), StoreError> {
    let sql = "SELECT COALESCE(MAX(rank) + 1, 0) FROM person_identifier WHERE workspace_id = ?1 \
        AND kind = ?2 AND key = ?3";
    let rank = tx
        .row(sql, params![workspace, identifier.kind as i64, &identifier.key], |row| row.int(0))
        .await?
        .unwrap_or(0);
    put(tx, workspace, identifier, rank, person).await
}

async fn put(
    tx: &mut Tx,
    workspace: WorkspaceId,
    identifier: &Identifier,
    rank: i64,
    person: PersonId,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO person_identifier (workspace_id, kind, key, rank, person_id) VALUES \
        (?1, ?2, ?3, ?4, ?5)";
    tx.execute_deferred(
        sql,
        params![workspace, identifier.kind as i64, &identifier.key, rank, person],
    )
    .await
}

/// All that points at the person, whether it is in front there or not.
pub async fn of_person(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<Vec<Identifier>, StoreError> {
    let sql = "SELECT kind, key FROM person_identifier WHERE workspace_id = ?1 AND person_id = ?2 \
        ORDER BY kind, key";
    tx.rows(sql, params![workspace, person], |row| {
        let number = row.int(0)?;
        let kind = IdentifierKind::of_number(number);
        let kind = kind.ok_or_else(|| {
            StoreError::Internal(format!("an identifier has the unknown kind {number}"))
        })?;
        Ok(Identifier { kind, key: row.text(1)? })
    })
    .await
}

/// Takes the identifier from the person; whoever stood behind holds it now.
pub async fn release(
    tx: &mut Tx,
    workspace: WorkspaceId,
    identifier: &Identifier,
    person: PersonId,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM person_identifier WHERE workspace_id = ?1 AND kind = ?2 AND key = ?3 \
        AND person_id = ?4";
    tx.execute_deferred(sql, params![workspace, identifier.kind as i64, &identifier.key, person])
        .await
}
