use axum::http::StatusCode;
use slated_model::webhook::{MAX_OVERLAP_SECONDS, OVERLAP_SECONDS};
use slated_operations::webhooks::secret::{RotateSecret, new_seed};
use utoipa::ToSchema;

use super::execute_and_reveal;
use crate::api::v1::responses::webhook::WebhookRead;
use crate::http::{AdminRequest, ApiResult, Envelope};

/// How to rotate a secret.
#[derive(ToSchema)]
#[schema(example = json!({"overlap_seconds": 3600}))]
#[expect(dead_code, reason = "describes what is read")]
pub struct RotateSecretBody {
    /// How long calls are also signed with the old secret; a day if absent.
    overlap_seconds: Option<i64>,
}

/// Rotate a webhook's secret
///
/// Creates a new secret and shows it once. Until the overlap ends, every call carries a signature
/// with each of the two secrets.
#[utoipa::path(post, path = "/v1/webhooks/{id}/rotate", operation_id = "rotateWebhookSecret",
    tag = "Webhooks",
    params(("id" = String, Path, description = "The webhook's id.",
        example = "whk_01m1v0e8k7v2x4z6b8d0f3h5kn")),
    request_body = RotateSecretBody,
    extensions(("x-may-be-empty" = json!(true)), ("x-errors" = json!(["NOT_FOUND"]))),
    responses((status = 200, description = "The webhook with its new secret.",
        body = Envelope<WebhookRead>)))]
pub async fn rotate(AdminRequest(request): AdminRequest) -> ApiResult {
    request.no_query()?;
    let overlap = request.read(|fields| fields.count("overlap_seconds", MAX_OVERLAP_SECONDS))?;
    let overlap_seconds = overlap.unwrap_or(OVERLAP_SECONDS);
    let seed = new_seed()?;
    let work = RotateSecret {
        actor: request.actor.clone(),
        id: request.id()?,
        seed: seed.clone(),
        overlap_seconds,
    };
    execute_and_reveal(request, work, StatusCode::OK, &seed).await
}
