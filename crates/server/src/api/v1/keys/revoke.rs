use std::sync::Arc;

use axum::http::StatusCode;

use crate::api::v1::responses::key::KeyRead;
use crate::http::response::answer;
use crate::http::{AdminRequest, ApiResult, Envelope};
use slated_operations::keys::RevokeKey;

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
    let reply = request.carry_out(work, |key| answer(StatusCode::OK, KeyRead::from(&key))).await?;
    app.forget_key(id);
    Ok(reply)
}
