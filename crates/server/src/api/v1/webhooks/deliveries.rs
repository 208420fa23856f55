use axum::http::StatusCode;
use slated_model::problem::FieldErrorCode;
use slated_operations::webhooks::deliveries::{ListDeliveries, ReadDelivery};
use slated_store::records::webhook::DeliveryStatus;

use crate::api::v1::events::list::{read_before, read_limit};
use crate::api::v1::responses::event::BackwardMeta;
use crate::api::v1::responses::webhook::{DeliveryPage, DeliveryRead};
use crate::http::response::{answer, render};
use crate::http::{AdminReadRequest, ApiResult, Envelope};

const MAX_PER_PAGE: i64 = 100;

/// List deliveries
///
/// The sent and pending deliveries of the webhook, newest first.
#[utoipa::path(get, path = "/v1/webhooks/{id}/deliveries", operation_id = "listDeliveries",
    tag = "Webhooks",
    params(
        ("id" = String, Path, description = "The webhook's id.",
            example = "whk_01m1v0e8k7v2x4z6b8d0f3h5kn"),
        ("status" = Option<String>, Query, description = "Only deliveries with this status: \
            `pending`, `delivered` or `failed`."),
        ("before" = Option<i64>, Query, description = "Only deliveries of events before this \
            number: `next_before` of the previous page."),
        ("limit" = Option<i64>, Query, description = "The maximum number of deliveries on a page."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"]))),
    responses((status = 200, description = "A page of deliveries.", body = DeliveryPage)))]
pub async fn list(AdminReadRequest(request): AdminReadRequest) -> ApiResult {
    let mut query = request.query();
    let status = query.parsed(
        "status",
        FieldErrorCode::InvalidValue,
        "pending, delivered or failed",
        DeliveryStatus::parse,
    );
    let before = read_before(&mut query);
    let limit = read_limit(&mut query, MAX_PER_PAGE, MAX_PER_PAGE);
    let (before, limit) = query.finish((before, limit))?;
    let work =
        ListDeliveries { workspace: request.workspace, id: request.id()?, status, before, limit };
    let (deliveries, next_before) = request.app.store.read_consistent(work).await?;
    let data = deliveries.iter().map(DeliveryRead::from).collect();
    Ok(render(
        StatusCode::OK,
        &DeliveryPage { success: true, data, meta: BackwardMeta { next_before } },
    ))
}

/// Read a delivery
///
/// The delivery with its attempts and the response to each.
#[utoipa::path(get, path = "/v1/webhooks/{id}/deliveries/{sequence}", operation_id = "readDelivery",
    tag = "Webhooks",
    params(
        ("id" = String, Path, description = "The webhook's id.",
            example = "whk_01m1v0e8k7v2x4z6b8d0f3h5kn"),
        ("sequence" = i64, Path, description = "The number of the event.", example = 42),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"]))),
    responses((status = 200, description = "The delivery.", body = Envelope<DeliveryRead>)))]
pub async fn read(AdminReadRequest(request): AdminReadRequest) -> ApiResult {
    request.no_query()?;
    let work = ReadDelivery {
        workspace: request.workspace,
        id: request.id()?,
        sequence: request.number("delivery")?,
    };
    Ok(answer(
        StatusCode::OK,
        DeliveryRead::with_attempts(&request.app.store.read_consistent(work).await?),
    ))
}
