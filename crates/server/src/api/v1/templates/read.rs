use axum::http::StatusCode;

use crate::api::v1::responses::template::TemplateRead;
use crate::http::response::answer;
use crate::http::{ApiResult, Envelope, ReadRequest};
use slated_operations::templates::ReadTemplate;

/// Read a pipeline template
///
/// The template with its stages, in order.
#[utoipa::path(get, path = "/v1/pipeline-templates/{id}", operation_id = "readPipelineTemplate",
    tag = "Pipelines",
    params(("id" = String, Path, description = "The template's id.",
        example = "tpl_01m1v0e8k7t5v7x9z1b3d5f7hj")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"]))),
    responses((status = 200, description = "The template.", body = Envelope<TemplateRead>)))]
pub async fn read_template(request: ReadRequest) -> ApiResult {
    request.no_query()?;
    let work = ReadTemplate { workspace: request.workspace, id: request.id()? };
    let template = request.app.store.read(work).await?;
    Ok(answer(StatusCode::OK, TemplateRead::from(template)))
}
