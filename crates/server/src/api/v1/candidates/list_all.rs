use axum::http::StatusCode;
use slated_model::listing::Page;
use slated_operations::candidates::list_all::{AllCandidatesQuery, ListAllCandidates};

use crate::api::v1::responses::candidate::AnyCandidateItem;
use crate::http::response::{list_meta, render};
use crate::http::{ApiResult, ListOf, ReadRequest};

/// List all candidates
///
/// The candidates of all jobs, oldest first. Page with `offset` and `limit`, or with `cursor`.
#[utoipa::path(get, path = "/v1/candidates", operation_id = "listAllCandidates", tag = "Candidates",
    params(
        ("job_id" = Option<String>, Query, description = "Only candidates of this job."),
        ("person_id" = Option<String>, Query, description = "Only candidates of this \
            person."),
        ("stage_id" = Option<String>, Query, description = "Only candidates currently in this \
            stage."),
        ("stage_name" = Option<String>, Query, description = "Only candidates currently in a stage \
            of this name."),
        ("is_rejected" = Option<bool>, Query, description = "`true` for candidates currently in a \
            rejection stage only, `false` for all others."),
        ("entered_stage_after" = Option<String>, Query, description = "Only candidates that \
            entered their current stage after this time."),
        ("entered_stage_before" = Option<String>, Query, description = "Only candidates that \
            entered their current stage before this time."),
        ("q" = Option<String>, Query, description = "Words that candidates must have in their \
            name, handle, current job title, current company or e-mail addresses. A word of two or \
            more letters also matches longer words that begin with it; case and accents are \
            ignored."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST"])), ("x-list" = json!(true))),
    responses((status = 200, description = "A page of candidates.",
        body = ListOf<AnyCandidateItem>)))]
pub async fn list_all_candidates(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let filters = AllCandidatesQuery::read(&mut query);
    let page = Page::read(&mut query, &filters);
    let (filters, page) = query.finish((filters, page))?;
    let work =
        ListAllCandidates { workspace: request.workspace, query: filters, page: page.clone() };
    let listed = request.look_for_page(work.query.wants_all(), &page, work).await?;
    let meta = list_meta(&page, &listed, |candidate| candidate.item.id);
    let data = listed.records.into_iter().map(AnyCandidateItem::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}
