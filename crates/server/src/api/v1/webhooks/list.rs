use axum::http::StatusCode;
use slated_model::listing::Page;
use slated_operations::webhooks::read::ListWebhooks;

use crate::api::v1::responses::webhook::WebhookRead;
use crate::http::response::{page_of, render};
use crate::http::{AdminReadRequest, ApiResult, ListOf};

/// List webhooks
///
/// The webhooks of the workspace, oldest first.
#[utoipa::path(get, path = "/v1/webhooks", operation_id = "listWebhooks", tag = "Webhooks",
    extensions(("x-errors" = json!(["INVALID_REQUEST"])), ("x-page" = json!(true))),
    responses((status = 200, description = "A page of webhooks.", body = ListOf<WebhookRead>)))]
pub async fn list(AdminReadRequest(request): AdminReadRequest) -> ApiResult {
    let mut query = request.query();
    let page = Page::read(&mut query, &());
    let page = query.finish(page)?;
    let webhooks = request.app.store.read(ListWebhooks { workspace: request.workspace }).await?;
    let (webhooks, meta) = page_of(&page, webhooks, |webhook| webhook.id);
    let data = webhooks.iter().map(WebhookRead::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}
