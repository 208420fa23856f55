use axum::http::StatusCode;
use slated_model::company::read_merged;
use slated_model::problem::{FieldErrorCode, Problem};
use utoipa::ToSchema;

use super::shown;
use crate::api::v1::responses::company::CompanyRead;
use crate::http::{ApiResult, Envelope, WriteRequest};
use slated_operations::companies::merge::MergeCompany;

/// The company that goes into the one that the path names.
#[derive(ToSchema)]
#[schema(example = json!({"company_id": "cmp_01m1v0e8k7c5qd0m3w8x9b2hsn"}))]
#[expect(dead_code, reason = "describes what read_merged reads")]
pub struct MergeCompanyBody {
    company_id: String,
}

/// Merge a company into this one
///
/// The persons, jobs and contacts of the company that the body names belong to this one from now
/// on, and its id leads here. This cannot be undone.
#[utoipa::path(post, path = "/v1/companies/{id}/merge", operation_id = "mergeCompany",
    tag = "Companies",
    params(("id" = String, Path, description = "The id of the company that stays.",
        example = "cmp_01m1v0e8k7d2r9w4t6y8p1q3sk")),
    request_body = MergeCompanyBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "INVALID_MERGE"])), ("x-etag" = json!(true))),
    responses((status = 200, description = "The company that is left.",
        body = Envelope<CompanyRead>)))]
pub async fn merge_company(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let other = request
        .read(read_merged)?
        .ok_or_else(|| Problem::invalid("company_id", FieldErrorCode::Required, "must be given"))?;
    let work = MergeCompany { actor: request.actor.clone(), id: request.id()?, other };
    request.carry_out(work, |view| shown(StatusCode::OK, view)).await
}
