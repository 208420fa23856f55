use axum::http::StatusCode;
use slated_model::listing::Page;
use slated_operations::candidates::list_of_job::{CandidateQuery, ListCandidates};

use crate::api::v1::responses::candidate::CandidateListItem;
use crate::http::response::{list_meta, render};
use crate::http::{ApiResult, ListOf, ReadRequest};

/// List the candidates of a job
///
/// Oldest first. Page with `offset` and `limit`, or with `cursor`; every page costs the same.
#[utoipa::path(get, path = "/v1/jobs/{id}/candidates", operation_id = "listCandidates",
    tag = "Candidates",
    params(
        ("id" = String, Path, description = "The job's id.",
            example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz"),
        ("stage_id" = Option<String>, Query, description = "Only candidates currently in this \
            stage."),
        ("stage_name" = Option<String>, Query, description = "Only candidates currently in the \
            stage of this name."),
        ("q" = Option<String>, Query, description = "Words that candidates must have in their \
            name, handle, current job title, current company or e-mail addresses. A word of two or \
            more letters also matches longer words that begin with it; case and accents are \
            ignored."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"])), ("x-list" = json!(true))),
    responses((status = 200, description = "A page of candidates.",
        body = ListOf<CandidateListItem>)))]
pub async fn list_candidates(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let filters = CandidateQuery::read(&mut query);
    let page = Page::read(&mut query, &filters);
    let (filters, page) = query.finish((filters, page))?;
    let work = ListCandidates {
        workspace: request.workspace,
        job: request.id()?,
        query: filters,
        page: page.clone(),
    };
    let (listed, stages) = request.look_for_page(work.query.wants_all(), &page, work).await?;
    let meta = list_meta(&page, &listed, |candidate| candidate.id);
    let data =
        listed.records.into_iter().map(|item| CandidateListItem::new(item, &stages)).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}
