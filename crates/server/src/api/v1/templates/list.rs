use axum::http::StatusCode;
use slated_model::listing::Page;

use crate::api::v1::responses::template::TemplateRead;
use crate::http::response::{page_of, render};
use crate::http::{ApiResult, ListOf, ReadRequest};
use slated_operations::templates::ListTemplates;

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
