use axum::http::StatusCode;
use slated_model::listing::Page;
use slated_operations::jobs::list::{JobQuery, ListJobs};

use crate::api::v1::responses::job::JobListItem;
use crate::http::response::{list_meta, render};
use crate::http::{ApiResult, ListOf, ReadRequest};

/// List jobs
///
/// All jobs of the workspace, oldest first. Page with `offset` and `limit`, or with `cursor`.
#[utoipa::path(get, path = "/v1/jobs", operation_id = "listJobs", tag = "Jobs",
    params(
        ("status" = Option<String>, Query, description = "Only jobs with this status, by name or \
            id."),
        ("is_archived" = Option<bool>, Query, description = "`true` for archived jobs only, \
            `false` for all others."),
        ("client_company_id" = Option<String>, Query, description = "Only jobs of this client."),
        ("q" = Option<String>, Query, description = "Only jobs whose name, or whose client's name, \
            contains this text."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST"])), ("x-list" = json!(true))),
    responses((status = 200, description = "A page of jobs.", body = ListOf<JobListItem>)))]
pub async fn list_jobs(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let filters = JobQuery::read(&mut query);
    let page = Page::read(&mut query, &filters);
    let (filters, page) = query.finish((filters, page))?;
    let work = ListJobs { workspace: request.workspace, query: filters, page: page.clone() };
    let listed = request.look_for_page(work.query.wants_all(), &page, work).await?;
    let meta = list_meta(&page, &listed, |job| job.id);
    let data = listed.records.into_iter().map(JobListItem::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}
