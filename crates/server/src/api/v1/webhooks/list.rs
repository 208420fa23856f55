use axum::http::StatusCode;
use model::listing::{MOST_OFFSET, whole_number};
use model::problem::Flaw;

use crate::api::v1::list_events::read_limit;
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
    let expected = format!("a whole number from 0 to {MOST_OFFSET}");
    let offset = query.parsed("offset", Flaw::OutOfRange, &expected, |written| match written {
        "" | "null" => Some(0),
        _ => whole_number(written).filter(|number| *number <= MOST_OFFSET),
    });
    let limit = read_limit(&mut query, MOST_PER_PAGE, MOST_PER_PAGE);
    let (offset, limit) = query.finish((offset.unwrap_or(0), limit))?;
    let webhooks = request.app.store.read(ListWebhooks { workspace: request.workspace }).await?;
    let part = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
    let data = webhooks.iter().skip(part(offset)).take(part(limit)).map(WebhookRead::from).collect();
    let meta = ListMeta::Offset { total: webhooks.len() as i64, offset, limit };
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}
