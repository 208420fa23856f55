//! Pipelines that jobs can be opened with.

use axum::http::StatusCode;
use slated_model::listing::Page;
use slated_model::template::{NewTemplate, TemplatePatch};
use slated_operations::templates::{
    CreateTemplate, DeleteTemplate, ListTemplates, ReadTemplate, UpdateTemplate,
};
use utoipa::ToSchema;

use crate::api::v1::jobs::create::NewStageBody;
use crate::api::v1::persons::update::Confirmation;
use crate::api::v1::responses::template::TemplateRead;
use crate::http::response::{answer, page_of, render};
use crate::http::{ApiResult, BodilessWriteRequest, Envelope, ListOf, ReadRequest, WriteRequest};

/// List pipeline templates
///
/// The templates of the workspace, oldest first. One of them is the default.
#[utoipa::path(get, path = "/v1/pipeline-templates", operation_id = "listPipelineTemplates",
    tag = "Pipelines",
    extensions(("x-errors" = json!(["INVALID_REQUEST"])), ("x-page" = json!(true))),
    responses((status = 200, description = "A page of templates.", body = ListOf<TemplateRead>)))]
pub async fn list_templates(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let page = Page::read(&mut query, &());
    let page = query.finish(page)?;
    let templates = request.app.store.read(ListTemplates { workspace: request.workspace }).await?;
    let (templates, meta) = page_of(&page, templates, |template| template.id);
    let data = templates.into_iter().map(TemplateRead::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}

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
        .execute(work, |template| answer(StatusCode::CREATED, TemplateRead::from(template)))
        .await
}

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
    request.execute(work, |template| answer(StatusCode::OK, TemplateRead::from(template))).await
}

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
        .execute(work, |()| {
            answer(StatusCode::OK, Confirmation { message: "The pipeline template was deleted." })
        })
        .await
}
