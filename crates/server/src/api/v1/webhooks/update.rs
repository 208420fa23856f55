use axum::http::StatusCode;
use slated_model::webhook::WebhookPatch;
use slated_operations::webhooks::update::UpdateWebhook;
use utoipa::ToSchema;

use super::shown;
use crate::api::v1::responses::webhook::WebhookRead;
use crate::http::{AdminRequest, ApiResult, Envelope};

/// The fields of a webhook to change; absent fields are kept.
#[derive(ToSchema)]
#[schema(example = json!({"types": ["candidate.*"], "is_enabled": false}))]
#[expect(dead_code, reason = "describes what WebhookPatch reads")]
pub struct UpdateWebhookBody {
    #[schema(nullable = false)]
    url: Option<String>,
    /// Replaces all types; empty and null mean all types.
    types: Option<Vec<String>>,
    description: Option<String>,
    /// False to send nothing; once it is true again, delivery resumes where it stopped.
    #[schema(nullable = false)]
    is_enabled: Option<bool>,
}

/// Change a webhook
///
/// Pending deliveries go to the new URL. A failing webhook is retried at once.
#[utoipa::path(patch, path = "/v1/webhooks/{id}", operation_id = "updateWebhook", tag = "Webhooks",
    params(("id" = String, Path, description = "The webhook's id.",
        example = "whk_01m1v0e8k7v2x4z6b8d0f3h5kn")),
    request_body = UpdateWebhookBody,
    extensions(("x-errors" = json!(["NOT_FOUND"]))),
    responses((status = 200, description = "The webhook after the change.",
        body = Envelope<WebhookRead>)))]
pub async fn update(AdminRequest(request): AdminRequest) -> ApiResult {
    request.no_query()?;
    let patch =
        request.read(|fields| WebhookPatch::read(fields, &*request.app.delivering.targets))?;
    let work = UpdateWebhook { actor: request.actor.clone(), id: request.id()?, patch };
    request.execute(work, |webhook| shown(StatusCode::OK, &webhook)).await
}
