use axum::http::StatusCode;
use slated_model::template::TemplatePatch;
use utoipa::ToSchema;

use crate::api::v1::jobs::create::NewStageBody;
use crate::api::v1::responses::template::TemplateRead;
use crate::http::response::answer;
use crate::http::{ApiResult, Envelope, WriteRequest};
use slated_operations::templates::UpdateTemplate;

/// The fields of a template to change. None of them can be cleared.
#[derive(ToSchema)]
#[schema(example = json!({"name": "Engineering, senior", "is_default": true}))]
#[expect(dead_code, reason = "describes what TemplatePatch reads")]
pub struct UpdateTemplateBody {
    #[schema(nullable = false)]
    name: Option<String>,
    /// Replaces all stages. Jobs that were opened with the template keep theirs.
    #[schema(nullable = false, min_items = 1, max_items = 50)]
    pipeline_stages: Option<Vec<NewStageBody>>,
    /// True to make it the default. The current default stays so until another replaces it.
    #[schema(nullable = false)]
    is_default: Option<bool>,
}

/// Change a pipeline template
///
/// Absent fields are kept. Jobs that were opened with the template do not change.
#[utoipa::path(patch, path = "/v1/pipeline-templates/{id}", operation_id = "updatePipelineTemplate",
    tag = "Pipelines",
    params(("id" = String, Path, description = "The template's id.",
        example = "tpl_01m1v0e8k7t5v7x9z1b3d5f7hj")),
    request_body = UpdateTemplateBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "NAME_TAKEN", "DEFAULT_TEMPLATE"]))),
    responses((status = 200, description = "The template after the change.",
        body = Envelope<TemplateRead>)))]
pub async fn update_template(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let patch = request.read(TemplatePatch::read)?;
    let work = UpdateTemplate { actor: request.actor.clone(), id: request.id()?, patch };
    request.carry_out(work, |template| answer(StatusCode::OK, TemplateRead::from(template))).await
}
