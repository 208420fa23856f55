use slated_model::clock::Timestamp;
use slated_model::id::{KeyId, WorkspaceId};
use slated_model::key::{KeyHash, Scope};

use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::tx::Tx;

/// A key without its secret.
#[derive(Clone, Debug)]
pub struct KeyRecord {
    pub id: KeyId,
    pub name: String,
    pub scope: Scope,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    /// The key that took its place when it was rotated.
    pub replaced_by: Option<KeyId>,
}

impl KeyRecord {
    #[must_use]
    pub fn is_usable(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expiry| now < expiry)
    }
}

const COLUMNS: &str =
    "id, name, scope, created_at, expires_at, revoked_at, last_used_at, replaced_by";

fn record(row: &Row<'_>) -> Result<KeyRecord, StoreError> {
    Ok(KeyRecord {
        id: row.id(0)?,
        name: row.text(1)?,
        scope: Scope::parse(row.str(2)?)
            .ok_or_else(|| StoreError::Internal("a key has an unknown scope".to_owned()))?,
        created_at: row.time(3)?,
        expires_at: row.optional_time(4)?,
        revoked_at: row.optional_time(5)?,
        last_used_at: row.optional_time(6)?,
        replaced_by: row.optional_id(7)?,
    })
}

pub struct NewKey<'k> {
    pub name: &'k str,
    pub scope: Scope,
    pub hash: KeyHash,
    pub expires_at: Option<Timestamp>,
}

pub async fn insert(
    tx: &mut Tx,
    workspace: WorkspaceId,
    key: &NewKey<'_>,
) -> Result<KeyId, StoreError> {
    let id = tx.new_id();
    let sql = "INSERT INTO api_key (workspace_id, id, name, scope, hash, created_at, expires_at) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let hash = Param::Bytes(key.hash.as_bytes());
    tx.execute_deferred(
        sql,
        &[
            workspace.into(),
            id.into(),
            key.name.into(),
            key.scope.name().into(),
            hash,
            tx.now().into(),
            key.expires_at.into(),
        ],
    )
    .await?;
    Ok(id)
}

/// The key with that hash, usable or not.
pub async fn find_by_hash(
    tx: &mut Tx,
    workspace: WorkspaceId,
    hash: &KeyHash,
) -> Result<Option<KeyRecord>, StoreError> {
    let sql = format!("SELECT {COLUMNS}, hash FROM api_key WHERE workspace_id = ?1 AND hash = ?2");
    let found = tx
        .row(&sql, &[workspace.into(), Param::Bytes(hash.as_bytes())], |row| {
            Ok((record(row)?, KeyHash::from_slice(row.bytes(8)?)))
        })
        .await?;
    Ok(found.filter(|(_, kept)| kept.is_some_and(|kept| kept.matches(hash))).map(|(key, _)| key))
}

pub async fn find(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: KeyId,
) -> Result<Option<KeyRecord>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM api_key WHERE workspace_id = ?1 AND id = ?2");
    tx.row(&sql, params![workspace, id], record).await
}

pub async fn all(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<KeyRecord>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM api_key WHERE workspace_id = ?1 ORDER BY id");
    tx.rows(&sql, params![workspace], record).await
}

/// The key together with the name of its workspace.
pub async fn find_with_workspace(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: KeyId,
) -> Result<Option<(KeyRecord, String)>, StoreError> {
    let sql = "SELECT k.id, k.name, k.scope, k.created_at, k.expires_at, k.revoked_at, \
               k.last_used_at, k.replaced_by, w.name FROM api_key k \
               JOIN workspace w ON w.workspace_id = k.workspace_id WHERE k.workspace_id = ?1 AND \
               k.id = ?2";
    tx.row(sql, params![workspace, id], |row| Ok((record(row)?, row.text(8)?))).await
}

/// How many keys are good now, but for one.
pub async fn count_usable(
    tx: &mut Tx,
    workspace: WorkspaceId,
    but: Option<KeyId>,
) -> Result<i64, StoreError> {
    let sql = "SELECT COUNT(*) FROM api_key WHERE workspace_id = ?1 AND revoked_at IS NULL AND \
               (expires_at IS NULL OR expires_at > ?2) \
               AND id <> ?3";
    let but = but.unwrap_or(KeyId::from_bytes([0; 16]));
    Ok(tx.row(sql, params![workspace, tx.now(), but], |row| row.int(0)).await?.unwrap_or(0))
}

/// Lets another key take its place; it works until that moment.
pub async fn replace(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: KeyId,
    replaced_by: KeyId,
    expires_at: Timestamp,
) -> Result<(), StoreError> {
    let sql =
        "UPDATE api_key SET expires_at = ?3, replaced_by = ?4 WHERE workspace_id = ?1 AND id = ?2";
    tx.execute_deferred(sql, params![workspace, id, expires_at, replaced_by]).await
}

pub async fn revoke(tx: &mut Tx, workspace: WorkspaceId, id: KeyId) -> Result<(), StoreError> {
    let sql = "UPDATE api_key SET revoked_at = ?3 WHERE workspace_id = ?1 AND id = ?2 AND \
        revoked_at IS NULL";
    tx.execute_deferred(sql, params![workspace, id, tx.now()]).await
}

pub async fn touch(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: KeyId,
    used_at: Timestamp,
) -> Result<(), StoreError> {
    let sql = "UPDATE api_key SET last_used_at = ?3 WHERE workspace_id = ?1 AND id = ?2 AND \
        (last_used_at IS NULL OR last_used_at < ?3)";
    tx.execute_deferred(sql, params![workspace, id, used_at]).await
}
