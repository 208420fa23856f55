use axum::http::StatusCode;
use slated_model::listing::Page;

use crate::api::v1::responses::status::JobStatusRead;
use crate::http::response::{page_of, render};
use crate::http::{ApiResult, ListOf, ReadRequest};
use slated_operations::statuses::ListStatuses;

/// List job statuses
///
/// The statuses of the workspace, in order. A new job gets the first unless it names another.
#[utoipa::path(get, path = "/v1/job-statuses", operation_id = "listJobStatuses", tag = "Pipelines",
    extensions(("x-errors" = json!(["INVALID_REQUEST"])), ("x-page" = json!(true))),
    responses((status = 200, description = "A page of statuses.", body = ListOf<JobStatusRead>)))]
pub async fn list_statuses(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let page = Page::read(&mut query, &());
    let page = query.finish(page)?;
    let statuses = request.app.store.read(ListStatuses { workspace: request.workspace }).await?;
    let (statuses, meta) = page_of(&page, statuses, |status| status.id);
    let data = statuses.into_iter().map(JobStatusRead::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}
