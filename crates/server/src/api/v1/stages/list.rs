use axum::http::StatusCode;
use slated_model::listing::Page;

use crate::api::v1::responses::stage::StageRead;
use crate::http::response::{page_of_ordered, render};
use crate::http::{ApiResult, ListOf, ReadRequest};
use slated_operations::jobs::stages::ListStages;

/// List the stages of a job
///
/// Sorted by `stage_order`, each with the number of candidates in it; `sort=-created_at` reverses
/// the order.
#[utoipa::path(get, path = "/v1/jobs/{id}/stages", operation_id = "listStages", tag = "Pipelines",
    params(("id" = String, Path, description = "The job's id.",
        example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"])), ("x-page" = json!(true))),
    responses((status = 200, description = "A page of stages.", body = ListOf<StageRead>)))]
pub async fn list_stages(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let page = Page::read(&mut query, &());
    let page = query.finish(page)?;
    let work = ListStages { workspace: request.workspace, job: request.id()? };
    let stages = request.look_at_length(work).await?;
    let (stages, meta) = page_of_ordered(&page, stages, |counted| counted.stage.id);
    let data = stages.into_iter().map(StageRead::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}
