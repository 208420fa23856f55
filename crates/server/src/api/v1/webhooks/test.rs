use axum::http::StatusCode;
use slated_operations::webhooks::test::TestWebhook;

use crate::api::v1::responses::event::EventRead;
use crate::http::response::answer;
use crate::http::{AdminRequest, ApiResult, Envelope};

/// Test a webhook
///
/// Writes an event `webhook.test` that is sent to this webhook only, whatever its types. Its
/// delivery shows the result.
#[utoipa::path(post, path = "/v1/webhooks/{id}/test", operation_id = "testWebhook",
    tag = "Webhooks",
    params(("id" = String, Path, description = "The webhook's id.",
        example = "whk_01m1v0e8k7v2x4z6b8d0f3h5kn")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"])), ("x-writes" = json!(true))),
    responses((status = 202, description = "The event that is being sent.",
        body = Envelope<EventRead>)))]
pub async fn test(AdminRequest(request): AdminRequest) -> ApiResult {
    request.no_query()?;
    request.read(|_| ())?;
    let work = TestWebhook { actor: request.actor.clone(), id: request.id()? };
    request.execute(work, |event| answer(StatusCode::ACCEPTED, event)).await
}
