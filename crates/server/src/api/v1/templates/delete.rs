use axum::http::StatusCode;

use crate::api::v1::persons::update::Confirmation;
use crate::http::response::answer;
use crate::http::{ApiResult, BodilessWriteRequest, Envelope};
use slated_operations::templates::DeleteTemplate;

/// Delete a pipeline template
///
/// Jobs that were opened with it do not change. The default template cannot be deleted.
#[utoipa::path(delete, path = "/v1/pipeline-templates/{id}",
    operation_id = "deletePipelineTemplate", tag = "Pipelines",
    params(("id" = String, Path, description = "The template's id.",
        example = "tpl_01m1v0e8k7t5v7x9z1b3d5f7hj")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "DEFAULT_TEMPLATE"])),
        ("x-writes" = json!(true))),
    responses((status = 200, description = "The template was deleted.", body = Envelope<Confirmation>)))]
pub async fn delete_template(BodilessWriteRequest(request): BodilessWriteRequest) -> ApiResult {
    request.no_query()?;
    request.read(|_| ())?;
    let work = DeleteTemplate { actor: request.actor.clone(), id: request.id()? };
    request
        .carry_out(work, |()| {
            answer(StatusCode::OK, Confirmation { message: "The pipeline template was deleted." })
        })
        .await
}
