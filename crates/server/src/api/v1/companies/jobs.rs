use axum::http::StatusCode;
use slated_model::id::CompanyId;
use slated_model::listing::Page;
use slated_operations::companies::jobs::ListJobsOfCompany;
use slated_operations::jobs::list::JobQuery;

use crate::api::v1::responses::job::JobListItem;
use crate::http::response::{list_meta, render};
use crate::http::{ApiResult, ListOf, ReadRequest};

/// List the jobs of a company
///
/// The jobs that the company is the client of, oldest first.
#[utoipa::path(get, path = "/v1/companies/{id}/jobs", operation_id = "listCompanyJobs",
    tag = "Companies",
    params(
        ("id" = String, Path, description = "The company's id.",
            example = "cmp_01m1v0e8k7d2r9w4t6y8p1q3sk"),
        ("status" = Option<String>, Query, description = "Only jobs with this status, by name or \
            id."),
        ("is_archived" = Option<bool>, Query, description = "`true` for archived jobs only, \
            `false` for all others."),
        ("q" = Option<String>, Query, description = "Only jobs whose name, or whose client's name, \
            contains this text."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"])), ("x-list" = json!(true))),
    responses((status = 200, description = "A page of jobs.", body = ListOf<JobListItem>)))]
pub async fn list_company_jobs(request: ReadRequest) -> ApiResult {
    let company = request.id();
    let named = company.as_ref().map_or(CompanyId::from_bytes([0; 16]), |id| *id);
    let mut query = request.query();
    let filters = JobQuery::read_of_client(&mut query);
    let page = Page::read(&mut query, &(named, &filters));
    let (filters, page) = query.finish((filters, page))?;
    let work = ListJobsOfCompany {
        workspace: request.workspace,
        company: company?,
        query: filters,
        page: page.clone(),
    };
    let listed = request.look_at_length(work).await?;
    let meta = list_meta(&page, &listed, |job| job.id);
    let data = listed.records.into_iter().map(JobListItem::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}
