use axum::http::StatusCode;
use slated_operations::webhooks::read::ReadWebhook;

use super::shown;
use crate::api::v1::responses::webhook::WebhookRead;
use crate::http::{AdminReadRequest, ApiResult, Envelope};

/// Read a webhook
///
/// The webhook with its status and its last error.
#[utoipa::path(get, path = "/v1/webhooks/{id}", operation_id = "readWebhook", tag = "Webhooks",
    params(("id" = String, Path, description = "The webhook's id.",
        example = "whk_01m1v0e8k7v2x4z6b8d0f3h5kn")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"]))),
    responses((status = 200, description = "The webhook.", body = Envelope<WebhookRead>)))]
pub async fn read(AdminReadRequest(request): AdminReadRequest) -> ApiResult {
    request.no_query()?;
    let work = ReadWebhook { workspace: request.workspace, id: request.id()? };
    Ok(shown(StatusCode::OK, &request.app.store.read(work).await?))
}
