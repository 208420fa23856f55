use axum::http::StatusCode;
use slated_model::webhook::NewWebhook;
use slated_operations::webhooks::create::CreateWebhook;
use slated_operations::webhooks::secret::new_seed;
use utoipa::ToSchema;

use super::execute_and_reveal;
use crate::api::v1::responses::webhook::WebhookRead;
use crate::http::{AdminRequest, ApiResult, Envelope};

/// A webhook to create.
#[derive(ToSchema)]
#[schema(example = json!({"url": "https://hooks.example/slated",
    "types": ["person.*", "candidate.moved"], "description": "To the CRM"}))]
#[expect(dead_code, reason = "describes what NewWebhook reads")]
pub struct CreateWebhookBody {
    /// The URL to call: http or https, without a user or password, and with a public address.
    url: String,
    /// The types of events to send: names, families such as `person.*`, or `*`. All if
    /// absent.
    types: Option<Vec<String>>,
    description: Option<String>,
}

/// Create a webhook
///
/// The webhook gets all events from now on. The response contains the secret that calls are signed
/// with; it is not shown again.
#[utoipa::path(post, path = "/v1/webhooks", operation_id = "createWebhook", tag = "Webhooks",
    request_body = CreateWebhookBody,
    extensions(("x-errors" = json!(["TOO_MANY_WEBHOOKS"]))),
    responses((status = 201, description = "The webhook with its secret.",
        body = Envelope<WebhookRead>)))]
pub async fn create(AdminRequest(request): AdminRequest) -> ApiResult {
    request.no_query()?;
    let new = request.read(|fields| NewWebhook::read(fields, &*request.app.delivering.targets))?;
    let seed = new_seed()?;
    let work = CreateWebhook { actor: request.actor.clone(), new, seed: seed.clone() };
    execute_and_reveal(request, work, StatusCode::CREATED, &seed).await
}
