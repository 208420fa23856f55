use axum::http::StatusCode;
use slated_model::listing::Page;

use crate::api::v1::responses::enrichment::RunRead;
use crate::http::response::{list_meta, render};
use crate::http::{ApiResult, ListOf, ReadRequest};
use slated_operations::enrichment::runs::ListRuns;

/// List enrichment runs
///
/// The runs of the workspace, oldest first, including finished ones.
#[utoipa::path(get, path = "/v1/enrichments", operation_id = "listEnrichmentRuns",
    tag = "Enrichment",
    extensions(("x-errors" = json!(["INVALID_REQUEST"])), ("x-page" = json!(true))),
    responses((status = 200, description = "A page of runs.", body = ListOf<RunRead>)))]
pub async fn list_runs(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let page = Page::read(&mut query, &());
    let page = query.finish(page)?;
    let work = ListRuns { workspace: request.workspace, page: page.clone() };
    let listed = request.app.store.read_consistent(work).await?;
    let meta = list_meta(&page, &listed, |run| run.id);
    let data = listed.records.into_iter().map(RunRead::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}
