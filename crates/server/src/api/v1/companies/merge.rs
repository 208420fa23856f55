use axum::http::StatusCode;
use slated_model::company::read_merged;
use slated_model::problem::{FieldErrorCode, Problem};
use slated_operations::companies::merge::MergeCompany;
use utoipa::ToSchema;

use super::shown;
use crate::api::v1::responses::company::CompanyRead;
use crate::http::{ApiResult, Envelope, WriteRequest};

/// The company to merge into the one in the path.
#[derive(ToSchema)]
#[schema(example = json!({"company_id": "cmp_01m1v0e8k7c5qd0m3w8x9b2hsn"}))]
#[expect(dead_code, reason = "describes what read_merged reads")]
pub struct MergeCompanyBody {
    company_id: String,
}

/// Merge a company into this one
///
/// Moves the persons, jobs and contacts of the company in the body to the one in the path. The id
/// of the merged company then leads to the remaining one. This cannot be undone.
#[utoipa::path(post, path = "/v1/companies/{id}/merge", operation_id = "mergeCompany",
    tag = "Companies",
    params(("id" = String, Path, description = "The id of the company to keep.",
        example = "cmp_01m1v0e8k7d2r9w4t6y8p1q3sk")),
    request_body = MergeCompanyBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "INVALID_MERGE"])), ("x-etag" = json!(true))),
    responses((status = 200, description = "The remaining company.",
        body = Envelope<CompanyRead>)))]
pub async fn merge_company(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let other = request
        .read(read_merged)?
        .ok_or_else(|| Problem::invalid("company_id", FieldErrorCode::Required, "is required"))?;
    let work = MergeCompany { actor: request.actor.clone(), id: request.id()?, other };
    request.execute(work, |view| shown(StatusCode::OK, view)).await
}
