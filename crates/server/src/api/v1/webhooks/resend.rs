use axum::http::StatusCode;
use slated_operations::webhooks::deliveries::ResendDelivery;

use crate::api::v1::responses::webhook::DeliveryRead;
use crate::http::response::answer;
use crate::http::{AdminRequest, ApiResult, Envelope};

/// Send an event again
///
/// Queues the delivery again, whatever its outcome.
#[utoipa::path(post, path = "/v1/webhooks/{id}/deliveries/{sequence}/resend",
    operation_id = "resendDelivery", tag = "Webhooks",
    params(
        ("id" = String, Path, description = "The webhook's id.",
            example = "whk_01m1v0e8k7v2x4z6b8d0f3h5kn"),
        ("sequence" = i64, Path, description = "The number of the event.", example = 42),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"])), ("x-writes" = json!(true))),
    responses((status = 202, description = "The delivery, which is pending.",
        body = Envelope<DeliveryRead>)))]
pub async fn resend(AdminRequest(request): AdminRequest) -> ApiResult {
    request.no_query()?;
    request.read(|_| ())?;
    let work = ResendDelivery {
        actor: request.actor.clone(),
        id: request.id()?,
        sequence: request.number("delivery")?,
    };
    request
        .execute(work, |delivered| answer(StatusCode::ACCEPTED, DeliveryRead::from(&delivered)))
        .await
}
