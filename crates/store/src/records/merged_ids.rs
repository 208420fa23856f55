//! What ids that are gone stood for.

use slated_model::clock::Timestamp;
use slated_model::id::{Id, Kind, Person, WorkspaceId};

use crate::driver::param::Param;
use crate::error::StoreError;
use crate::params;
use crate::records::places;
use crate::tx::Tx;

/// A record that is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Former<K: Kind> {
    /// The record that it went into; none if it was erased.
    pub merged_into: Option<Id<K>>,
    pub gone_at: Timestamp,
}

pub async fn find<K: Kind>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: Id<K>,
) -> Result<Option<Former<K>>, StoreError> {
    let sql = "SELECT merged_into, gone_at FROM former_record WHERE workspace_id = ?1 AND id = ?2 \
        AND kind = ?3";
    tx.row(sql, params![workspace, id, K::NOUN], |row| {
        Ok(Former { merged_into: row.optional_id(0)?, gone_at: row.time(1)? })
    })
    .await
}

/// An id that is gone, and where it leads; nowhere if the record was erased.
type Gone = ([u8; 16], Option<[u8; 16]>);

/// Those of the ids that are gone, whatever kind of record they were.
pub async fn gone_among(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: &[[u8; 16]],
) -> Result<Vec<Gone>, StoreError> {
    find_gone(tx, workspace, ids, "").await
}

/// The same of one kind of record.
pub async fn gone_of<K: Kind>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: &[Id<K>],
) -> Result<Vec<(Id<K>, Option<Id<K>>)>, StoreError> {
    let ids: Vec<_> = ids.iter().map(|id| id.to_bytes()).collect();
    let gone = find_gone(tx, workspace, &ids, &format!("AND kind = '{}'", K::NOUN)).await?;
    Ok(gone.into_iter().map(|(id, into)| (Id::from_bytes(id), into.map(Id::from_bytes))).collect())
}

async fn find_gone(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: &[[u8; 16]],
    condition: &str,
) -> Result<Vec<Gone>, StoreError> {
    const AT_ONCE: usize = 100;
    let sql = format!(
        "SELECT id, merged_into FROM former_record WHERE workspace_id = ?1 AND id IN ({}) \
         {condition}",
        places(AT_ONCE, 2)
    );
    let mut asked = Vec::new();
    for some in ids.chunks(AT_ONCE) {
        let mut params = vec![workspace.into()];
        params.extend(some.iter().map(|id| Param::Id(*id)));
        // The text is always the same, whatever is left for the last one.
        params.resize(1 + AT_ONCE, Param::Null);
        asked.push(
            tx.ask(&sql, &params, |row| {
                Ok((
                    row.id::<Person>(0)?.to_bytes(),
                    row.optional_id::<Person>(1)?.map(|id| id.to_bytes()),
                ))
            })
            .await?,
        );
    }
    let mut found = Vec::new();
    for some in asked {
        found.extend(tx.answer(some).await?);
    }
    Ok(found)
}

/// The ids that led to this record, the oldest first.
pub async fn leading_to<K: Kind>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: Id<K>,
) -> Result<Vec<Id<K>>, StoreError> {
    let sql = "SELECT id FROM former_record WHERE workspace_id = ?1 AND merged_into = ?2 AND kind \
        = ?3 ORDER BY id";
    tx.rows(sql, params![workspace, id, K::NOUN], |row| row.id(0)).await
}

/// Forgets the ids that led to this record, which is gone itself.
pub async fn forget_leading_to<K: Kind>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: Id<K>,
) -> Result<(), StoreError> {
    let sql =
        "DELETE FROM former_record WHERE workspace_id = ?1 AND merged_into = ?2 AND kind = ?3";
    tx.execute_deferred(sql, params![workspace, id, K::NOUN]).await
}

/// Notes that the record went into another, or nowhere. Ids that led to it lead there too.
pub async fn insert<K: Kind>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: Id<K>,
    merged_into: Option<Id<K>>,
) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "UPDATE former_record SET merged_into = ?3, gone_at = CASE WHEN ?5 THEN ?4 ELSE \
        gone_at END WHERE workspace_id = ?1 AND merged_into = ?2";
    let is_erased = merged_into.is_none();
    tx.execute_deferred(
        sql,
        &[workspace.into(), id.into(), merged_into.into(), now.into(), Param::Flag(is_erased)],
    )
    .await?;
    let sql = "INSERT INTO former_record (workspace_id, id, kind, merged_into, gone_at) VALUES \
        (?1, ?2, ?3, ?4, ?5)";
    tx.execute_deferred(sql, params![workspace, id, K::NOUN, merged_into, now]).await
}
