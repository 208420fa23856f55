use axum::http::StatusCode;
use slated_model::template::NewTemplate;
use utoipa::ToSchema;

use crate::api::v1::jobs::create::NewStageBody;
use crate::api::v1::responses::template::TemplateRead;
use crate::http::response::answer;
use crate::http::{ApiResult, Envelope, WriteRequest};
use slated_operations::templates::CreateTemplate;

/// A template to create.
#[derive(ToSchema)]
#[schema(example = json!({"name": "Engineering",
    "pipeline_stages": [{"name": "Applied"}, {"name": "Code review", "is_interviewing_stage": true},
        {"name": "Hired"}, {"name": "Rejected", "is_rejection_stage": true}]}))]
#[expect(dead_code, reason = "describes what NewTemplate reads")]
pub struct CreateTemplateBody {
    /// Unique among templates, regardless of case.
    name: String,
    /// The pipeline in order, with at least one stage that is not a rejection stage.
    #[schema(min_items = 1, max_items = 50)]
    pipeline_stages: Vec<NewStageBody>,
    /// True to make it the default in place of the current one.
    is_default: Option<bool>,
}

/// Create a pipeline template
///
/// The new template comes last. A workspace has at most 100 templates.
#[utoipa::path(post, path = "/v1/pipeline-templates", operation_id = "createPipelineTemplate",
    tag = "Pipelines",
    request_body = CreateTemplateBody,
    extensions(("x-errors" = json!(["NAME_TAKEN", "TOO_MANY"]))),
    responses((status = 201, description = "The template was created.",
        body = Envelope<TemplateRead>)))]
pub async fn create_template(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let new = request.read(NewTemplate::read)?;
    let work = CreateTemplate { actor: request.actor.clone(), new };
    request
        .carry_out(work, |template| answer(StatusCode::CREATED, TemplateRead::from(template)))
        .await
}
