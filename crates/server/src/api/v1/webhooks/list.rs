use axum::http::StatusCode;
use model::listing::read_offset;

use crate::api::v1::events::list::read_limit;
use crate::api::v1::shape::webhook::WebhookRead;
use crate::http::answer::render;
use crate::http::{Inspect, ListMeta, ListOf, Reply};
use crate::ops::webhooks::ListWebhooks;

const MOST_PER_PAGE: i64 = 100;

/// List webhooks
///
/// The webhooks of the workspace, the oldest first.
#[utoipa::path(get, path = "/v1/webhooks", operation_id = "listWebhooks", tag = "Webhooks",
    params(
        ("offset" = Option<i64>, Query, description = "How many webhooks to skip."),
        ("limit" = Option<i64>, Query, description = "How many webhooks a page has."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST"]))),
    responses((status = 200, description = "A page of webhooks.", body = ListOf<WebhookRead>)))]
pub async fn list(Inspect(request): Inspect) -> Reply {
    let mut query = request.query();
    let offset = read_offset(&mut query);
    let limit = read_limit(&mut query, MOST_PER_PAGE, MOST_PER_PAGE);
    let (offset, limit) = query.finish((offset, limit))?;
    let webhooks = request.app.store.read(ListWebhooks { workspace: request.workspace }).await?;
    let part = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
    let data = webhooks.iter().skip(part(offset)).take(part(limit)).map(WebhookRead::from).collect();
    let meta = ListMeta::Offset { total: webhooks.len() as i64, offset, limit };
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}
