use axum::http::StatusCode;
use slated_model::template::NewTemplate;
use utoipa::ToSchema;

use crate::api::v1::jobs::create::NewStageBody;
use crate::api::v1::responses::template::TemplateRead;
use crate::http::response::answer;
use crate::http::{ApiResult, Envelope, WriteRequest};
use slated_operations::templates::CreateTemplate;

/// A template to make.
#[derive(ToSchema)]
#[schema(example = json!({"name": "Engineering",
    "pipeline_stages": [{"name": "Applied"}, {"name": "Code review", "is_interviewing_stage": true},
        {"name": "Hired"}, {"name": "Rejected", "is_rejection_stage": true}]}))]
#[expect(dead_code, reason = "describes what NewTemplate reads")]
pub struct CreateTemplateBody {
    /// No two templates have the same name, whatever its case.
    name: String,
    /// The pipeline in order, with at least one stage that is no rejection stage.
    #[schema(min_items = 1, max_items = 50)]
    pipeline_stages: Vec<NewStageBody>,
    /// True to make it the default; the one that was is it no longer.
    is_default: Option<bool>,
}

/// Make a pipeline template
///
/// It comes behind all others. A workspace has at most 100.
#[utoipa::path(post, path = "/v1/pipeline-templates", operation_id = "createPipelineTemplate",
    tag = "Pipelines",
    request_body = CreateTemplateBody,
    extensions(("x-errors" = json!(["NAME_TAKEN", "TOO_MANY"]))),
    responses((status = 201, description = "The template was made.",
        body = Envelope<TemplateRead>)))]
pub async fn create_template(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let new = request.read(NewTemplate::read)?;
    let work = CreateTemplate { actor: request.actor.clone(), new };
    request
        .carry_out(work, |template| answer(StatusCode::CREATED, TemplateRead::from(template)))
        .await
}
