use slated_model::clock::Timestamp;
use slated_model::id::WorkspaceId;
use slated_model::person::IdentifierKind;

use crate::driver::param::Param;
use crate::error::StoreError;
use crate::params;
use crate::tx::Tx;

/// An answer that was given, kept to be given again.
#[derive(Clone, Debug)]
pub struct KeptAnswer {
    pub request_hash: Vec<u8>,
    pub status: i64,
    pub etag: Option<String>,
    pub matched_by: Option<IdentifierKind>,
    pub body: Vec<u8>,
    pub created_at: Timestamp,
}

pub async fn find(
    tx: &mut Tx,
    workspace: WorkspaceId,
    key: &str,
) -> Result<Option<KeptAnswer>, StoreError> {
    let sql = "SELECT request_hash, status, etag, body, created_at, matched_by FROM \
        idempotent_answer WHERE workspace_id = ?1 AND key = ?2";
    tx.row(sql, params![workspace, key], |row| {
        Ok(KeptAnswer {
            request_hash: row.bytes(0)?.to_vec(),
            status: row.int(1)?,
            etag: row.optional_text(2)?,
            matched_by: row.optional_int(5)?.and_then(IdentifierKind::of_number),
            body: row.bytes(3)?.to_vec(),
            created_at: row.time(4)?,
        })
    })
    .await
}

/// Takes back the answer that was kept at that moment, and not a newer one that another may have
/// put in its place.
pub async fn drop_kept(
    tx: &mut Tx,
    workspace: WorkspaceId,
    key: &str,
    kept_at: Timestamp,
) -> Result<(), StoreError> {
    let sql =
        "DELETE FROM idempotent_answer WHERE workspace_id = ?1 AND key = ?2 AND created_at = ?3";
    tx.execute_deferred(sql, params![workspace, key, kept_at]).await
}

/// Keeps the answer. Of two at the same time one fails, and finds the other's answer when it runs
/// again.
pub async fn keep(
    tx: &mut Tx,
    workspace: WorkspaceId,
    key: &str,
    answer: &KeptAnswer,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO idempotent_answer (workspace_id, key, request_hash, status, etag, \
               body, created_at, matched_by) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let KeptAnswer { request_hash, status, etag, matched_by, body, created_at } = answer;
    let params = [
        workspace.into(),
        key.into(),
        Param::Bytes(request_hash),
        (*status).into(),
        etag.as_deref().into(),
        Param::Bytes(body),
        (*created_at).into(),
        matched_by.map(|kind| kind as i64).into(),
    ];
    tx.execute_deferred(sql, &params).await
}

/// Forgets some of the answers from before that moment; says how many.
pub async fn forget(
    tx: &mut Tx,
    workspace: WorkspaceId,
    before: Timestamp,
    most: usize,
) -> Result<usize, StoreError> {
    let sql = "DELETE FROM idempotent_answer WHERE workspace_id = ?1 AND key IN \
               (SELECT key FROM idempotent_answer WHERE workspace_id = ?1 AND created_at < ?2 \
               LIMIT ?3)";
    tx.execute(sql, params![workspace, before, i64::try_from(most).unwrap_or(i64::MAX)]).await
}
