use axum::http::StatusCode;
use slated_model::listing::Page;
use slated_operations::companies::list::{ListCompanies, read_filter};

use crate::api::v1::responses::company::CompanyRead;
use crate::http::response::{list_meta, render};
use crate::http::{ApiResult, ListOf, ReadRequest};

/// List companies
///
/// All companies of the workspace, employers and clients, oldest first. Page with `offset` and
/// `limit`, or with `cursor`.
#[utoipa::path(get, path = "/v1/companies", operation_id = "listCompanies", tag = "Companies",
    params(("q" = Option<String>, Query, description = "Only companies whose name contains this \
        text.")),
    extensions(("x-errors" = json!(["INVALID_REQUEST"])), ("x-list" = json!(true))),
    responses((status = 200, description = "A page of companies.", body = ListOf<CompanyRead>)))]
pub async fn list_companies(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let filter = read_filter(&mut query);
    let page = Page::read(&mut query, &filter);
    let (filter, page) = query.finish((filter, page))?;
    let work = ListCompanies { workspace: request.workspace, filter, page: page.clone() };
    let listed = request.look_for_page(work.wants_all(), &page, work).await?;
    let meta = list_meta(&page, &listed, |company| company.id);
    let data = listed.records.into_iter().map(CompanyRead::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}
