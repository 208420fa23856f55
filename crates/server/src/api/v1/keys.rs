//! Keys, for whoever may manage the workspace.

use std::sync::Arc;

use axum::http::StatusCode;
use slated_model::clock::Timestamp;
use slated_model::key::{MAX_OVERLAP_SECONDS, NewKey, OVERLAP_SECONDS, Secret};
use slated_model::listing::Page;
use slated_operations::keys::{
    AddKey, CreatedKey, ListKeys, ReadKey, RevokeKey, RotateKey, random_bytes,
};
use slated_store::Operation;
use utoipa::ToSchema;

use crate::api::v1::responses::key::KeyRead;
use crate::http::response::{answer, page_of, render, with_secret};
use crate::http::{AdminReadRequest, AdminRequest, ApiResult, Envelope, ListOf, WriteRequest};

/// Carries out what makes a key, and shows it. The answer is kept without the key, so that it
/// stands nowhere; given again, it has none.
async fn execute_and_reveal<W: Operation<Output = CreatedKey>>(
    request: WriteRequest,
    work: W,
    secret: &Secret,
) -> ApiResult {
    let without = |created: CreatedKey| {
        answer(
            StatusCode::CREATED,
            KeyRead { key: Some(String::new()), ..KeyRead::from(&created.key) },
        )
    };
    Ok(with_secret(request.execute(work, without).await?, "key", secret.reveal()))
}

/// A key to create.
#[derive(ToSchema)]
#[schema(example = json!({"name": "importer", "scope": "write",
    "expires_at": "2127-01-31T00:00:00Z"}))]
#[expect(dead_code, reason = "describes what NewKey reads")]
pub struct CreateKeyBody {
    /// A name that says what the key is for.
    name: String,
    /// What the key may do; each scope includes those before it.
    scope: String,
    /// When the key expires, which must be in the future; never if absent. A date means 00:00 UTC
    /// on that day.
    expires_at: Option<String>,
}

/// Create a key
///
/// The response contains the key itself, which is not shown again. The key works at once.
#[utoipa::path(post, path = "/v1/keys", operation_id = "createKey", tag = "Keys",
    request_body = CreateKeyBody,
    extensions(("x-errors" = json!(["TOO_MANY"]))),
    responses((status = 201, description = "The key, with its secret.",
        body = Envelope<KeyRead>)))]
pub async fn create_key(AdminRequest(request): AdminRequest) -> ApiResult {
    request.no_query()?;
    let new = request.read(|fields| NewKey::read(fields, Timestamp::now()))?;
    let secret = Secret::new(request.actor.workspace, random_bytes()?);
    let work = AddKey { actor: request.actor.clone(), new, secret: secret.clone() };
    execute_and_reveal(request, work, &secret).await
}

/// List keys
///
/// The keys of the workspace, oldest first, including revoked and expired ones.
#[utoipa::path(get, path = "/v1/keys", operation_id = "listKeys", tag = "Keys",
    extensions(("x-errors" = json!(["INVALID_REQUEST"])), ("x-page" = json!(true))),
    responses((status = 200, description = "A page of keys.", body = ListOf<KeyRead>)))]
pub async fn list_keys(AdminReadRequest(request): AdminReadRequest) -> ApiResult {
    let mut query = request.query();
    let page = Page::read(&mut query, &());
    let page = query.finish(page)?;
    let keys = request.app.store.read(ListKeys { workspace: request.workspace }).await?;
    let (keys, meta) = page_of(&page, keys, |key| key.id);
    let data = keys.iter().map(KeyRead::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}

/// Read a key
///
/// The key with its scope, its expiry and its last use.
#[utoipa::path(get, path = "/v1/keys/{id}", operation_id = "readKey", tag = "Keys",
    params(("id" = String, Path, description = "The key's id.",
        example = "key_01m1v0e8k7c6m9r2t4w8y1a3ef")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"]))),
    responses((status = 200, description = "The key.", body = Envelope<KeyRead>)))]
pub async fn read_key(AdminReadRequest(request): AdminReadRequest) -> ApiResult {
    request.no_query()?;
    let key =
        request.app.store.read(ReadKey { workspace: request.workspace, id: request.id()? }).await?;
    Ok(answer(StatusCode::OK, KeyRead::from(&key)))
}

/// Revoke a key
///
/// The key is permanently refused from now on. A key may revoke itself.
#[utoipa::path(delete, path = "/v1/keys/{id}", operation_id = "revokeKey", tag = "Keys",
    params(("id" = String, Path, description = "The key's id.",
        example = "key_01m1v0e8k7c6m9r2t4w8y1a3ef")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"])), ("x-writes" = json!(true))),
    responses((status = 200, description = "The revoked key.",
        body = Envelope<KeyRead>)))]
pub async fn revoke_key(AdminRequest(request): AdminRequest) -> ApiResult {
    request.no_query()?;
    request.read(|_| ())?;
    let (app, id) = (Arc::clone(&request.app), request.id()?);
    let work = RevokeKey { actor: request.actor.clone(), id };
    let reply = request.execute(work, |key| answer(StatusCode::OK, KeyRead::from(&key))).await?;
    app.forget_key(id);
    Ok(reply)
}

/// How to rotate a key.
#[derive(ToSchema)]
#[schema(example = json!({"overlap_seconds": 3600}))]
#[expect(dead_code, reason = "describes what is read")]
pub struct RotateKeyBody {
    /// How long the old key keeps working, at most until it expires; a day if absent, 0 to end it
    /// at once.
    overlap_seconds: Option<i64>,
}

/// Rotate a key
///
/// Creates a new key with the name, scope and expiry of the old one, and shows it once. The old one
/// keeps working until the overlap ends.
#[utoipa::path(post, path = "/v1/keys/{id}/rotate", operation_id = "rotateKey", tag = "Keys",
    params(("id" = String, Path, description = "The key's id.",
        example = "key_01m1v0e8k7c6m9r2t4w8y1a3ef")),
    request_body = RotateKeyBody,
    extensions(("x-may-be-empty" = json!(true)),
        ("x-errors" = json!(["NOT_FOUND", "KEY_REPLACED", "TOO_MANY"]))),
    responses((status = 201, description = "The new key, with its secret.",
        body = Envelope<KeyRead>)))]
pub async fn rotate_key(AdminRequest(request): AdminRequest) -> ApiResult {
    request.no_query()?;
    let overlap = request.read(|fields| fields.count("overlap_seconds", MAX_OVERLAP_SECONDS))?;
    let overlap_millis = overlap.unwrap_or(OVERLAP_SECONDS) * 1000;
    let (app, id) = (Arc::clone(&request.app), request.id()?);
    let secret = Secret::new(request.actor.workspace, random_bytes()?);
    let work =
        RotateKey { actor: request.actor.clone(), id, overlap_millis, secret: secret.clone() };
    let reply = execute_and_reveal(request, work, &secret).await?;
    // A repeat changed nothing, and what is forgotten counts anew.
    if !reply.is_replay {
        app.forget_key(id);
    }
    Ok(reply)
}
