use axum::http::StatusCode;
use slated_operations::webhooks::delete::DeleteWebhook;

use crate::api::v1::persons::update::Confirmation;
use crate::http::response::answer;
use crate::http::{AdminRequest, ApiResult, Envelope};

/// Delete a webhook
///
/// Nothing more is sent to it, and its deliveries are deleted.
#[utoipa::path(delete, path = "/v1/webhooks/{id}", operation_id = "deleteWebhook", tag = "Webhooks",
    params(("id" = String, Path, description = "The webhook's id.",
        example = "whk_01m1v0e8k7v2x4z6b8d0f3h5kn")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"])), ("x-writes" = json!(true))),
    responses((status = 200, description = "The webhook was deleted.", body = Envelope<Confirmation>)))]
pub async fn delete(AdminRequest(request): AdminRequest) -> ApiResult {
    request.no_query()?;
    request.read(|_| ())?;
    let work = DeleteWebhook { actor: request.actor.clone(), id: request.id()? };
    request
        .execute(work, |()| {
            answer(StatusCode::OK, Confirmation { message: "The webhook was deleted." })
        })
        .await
}
