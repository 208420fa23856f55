use std::sync::Arc;

use slated_model::key::{MAX_OVERLAP_SECONDS, OVERLAP_SECONDS, Secret};
use utoipa::ToSchema;

use super::carry_out_and_reveal;
use crate::api::v1::responses::key::KeyRead;
use crate::http::{AdminRequest, ApiResult, Envelope};
use slated_operations::keys::{RotateKey, random_bytes};

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
    let reply = carry_out_and_reveal(request, work, &secret).await?;
    // A repeat changed nothing, and what is forgotten counts anew.
    if !reply.is_replay {
        app.forget_key(id);
    }
    Ok(reply)
}
