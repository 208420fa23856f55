use axum::http::StatusCode;
use slated_model::listing::Page;

use crate::api::v1::responses::key::KeyRead;
use crate::http::response::{page_of, render};
use crate::http::{AdminReadRequest, ApiResult, ListOf};
use slated_operations::keys::ListKeys;

/// List keys
///
/// The keys of the workspace, oldest first, including revoked and expired ones.
#[utoipa::path(get, path = "/v1/keys", operation_id = "listKeys", tag = "Keys",
    extensions(("x-errors" = json!(["INVALID_REQUEST"])), ("x-page" = json!(true))),
    responses((status = 200, description = "A page of keys.", body = ListOf<KeyRead>)))]
pub async fn list_keys(AdminReadRequest(request): AdminReadRequest) -> ApiResult {
    let mut query = request.query();
    let page = Page::read(&mut query, &());
    let page = query.finish(page)?;
    let keys = request.app.store.read(ListKeys { workspace: request.workspace }).await?;
    let (keys, meta) = page_of(&page, keys, |key| key.id);
    let data = keys.iter().map(KeyRead::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}
